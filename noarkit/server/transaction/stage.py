"""The objects that a transaction touches, with their old and new values, in memory; nothing is written from here.

Permanent ids that the actions name are looked up in one batch per family; other objects that a rule needs are looked up
once and kept. New objects get their ids at once, so that links between them need no database access.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from noarkit.server.database import allocate
from noarkit.server.schema import schema
from noarkit.server.settings import Settings
from noarkit.server.transaction.plan import Leniency, TypePlan, plans
from noarkit.server.transaction.request import Action, Key
from noarkit.server.values import Stored
from noarkit.server.wire import Caller, Refusal

OBJECT_IDS = "object"
Pair = tuple[str, int, int]


class StagedEntity:
    """One object in a transaction: `old` as the database holds it (None if it is new), `values` as it becomes."""

    __slots__ = (
        "above",
        "action",
        "child_counts",
        "claimed_values",
        "id",
        "is_deleted",
        "is_version_bumped",
        "nulled_columns",
        "old",
        "plan",
        "secondary_class_ids",
        "sets_journal_status",
        "system_columns",
        "touched_columns",
        "values",
    )

    def __init__(self, object_id: int, plan: TypePlan, action: int, old: dict[str, Stored] | None = None) -> None:
        self.id = object_id
        self.plan = plan
        self.action = action
        self.old = old
        # The same dict as `old` until something is set: most objects of a transaction are only linked to, and copying
        # them all would be wasted.
        self.values: dict[str, Stored] = {} if old is None else old
        # the parent of a new object, once all links are made: see `Stage.find_parents`
        self.above: StagedEntity | None = None
        # columns written to; of an existing object they may still hold what they held
        self.touched_columns: set[str] | None = None
        # system-managed fields that the caller wrote with another value
        self.system_columns: set[str] | None = None
        # fields of a new object that the caller set to null
        self.nulled_columns: set[str] | None = None
        # what the caller says of fields that only the archive may fill in
        self.claimed_values: dict[str, Stored] | None = None
        # how many children a rule-bound reference gained here
        self.child_counts: dict[str, int] | None = None
        self.secondary_class_ids: list[int] | None = None
        self.is_version_bumped = False
        self.is_deleted = False
        # the caller set a new entry's journal status, rather than leaving it to the archive
        self.sets_journal_status = False

    def set_value(self, column: str, value: Stored) -> None:
        """Sets a column; the row that the database holds stays as it was in `old`."""
        if self.old is not None:
            if self.touched_columns is None:
                self.touched_columns = set()
                self.values = dict(self.old)
            self.touched_columns.add(column)
        self.values[column] = value

    def mark_system(self, column: str) -> None:
        """Notes that the caller wrote a system-managed field."""
        if self.system_columns is None:
            self.system_columns = {column}
        else:
            self.system_columns.add(column)

    def changed_columns(self) -> list[str]:
        """The columns of an existing object that differ from what the database holds."""
        if self.old is None or self.touched_columns is None:
            return []
        old, values = self.old, self.values
        return [
            column
            for column in self.plan.columns
            if column in self.touched_columns and old.get(column) != values[column]
        ]

    @property
    def location(self) -> str:
        """The beginning of a sentence about this object."""
        return f"actions[{self.action}] ({self.plan.name})"


@dataclass(slots=True)
class Stage:
    """The state of one transaction, from its first action to its commit."""

    db: sqlite3.Connection
    settings: Settings
    caller: Caller
    now_ms: int
    plans: Mapping[str, TypePlan]
    entities: dict[int, StagedEntity] = field(default_factory=dict)
    temporary: dict[str, StagedEntity] = field(default_factory=dict)
    new: list[StagedEntity] = field(default_factory=list)
    saved_entities: dict[str, StagedEntity] = field(default_factory=dict)
    pairs: dict[Pair, bool] = field(default_factory=dict)
    pair_owners: dict[Pair, tuple[StagedEntity, str, StagedEntity]] = field(default_factory=dict)
    deleting: list[tuple[StagedEntity, Action]] = field(default_factory=list)
    parents: dict[int, StagedEntity] = field(default_factory=dict)
    nearby: dict[int, StagedEntity] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    codes: dict[tuple[str, str], bool] = field(default_factory=dict)
    next_id: int = 0

    def admit(self, actions: Iterable[Action]) -> None:
        """Looks up every permanent id that the actions name, and sets aside ids for what they make."""
        ids_by_family: dict[str, dict[int, int]] = {}
        new_keys: set[str] = set()
        for action in actions:
            key = action.key
            if type(key) is int:
                ids_by_family.setdefault(action.plan.family, {}).setdefault(key, action.place)
            elif action.verb == "save":
                new_keys.add(str(key))
            if action.link is not None:
                for other_key in action.other_keys:
                    if type(other_key) is int:
                        ids_by_family.setdefault(action.link.other_family, {}).setdefault(other_key, action.place)
        # All ids of the transaction in one statement. A rolled-back transaction rolls the counter back as well, for
        # there is one writer.
        if new_keys:
            self.next_id = allocate(self.db, OBJECT_IDS, len(new_keys))
        for family, ids in ids_by_family.items():
            self._fetch(family, ids, self.entities)
        self._hide_unreadable()

    def make(self, name: str, action: Action) -> StagedEntity:
        """A new object with the next id."""
        entity = StagedEntity(self.next_id, action.plan, action.place)
        self.next_id += 1
        self.temporary[name] = entity
        self.entities[entity.id] = entity
        self.new.append(entity)
        return entity

    def subject(self, action: Action) -> StagedEntity:
        """The object an action is about, which must be of the type it says."""
        key = action.key
        entity = self.temporary.get(key) if type(key) is str else None
        if entity is not None and entity.plan is action.plan:
            return entity
        entity = self._find_entity(action, key)
        if entity is None or entity.plan.family != action.plan.family:
            raise self._not_found(action, action.plan.name, action.key)
        if entity.plan is not action.plan:
            if type(action.key) is int:
                raise self._not_found(action, action.plan.name, action.key)
            raise Refusal(400, f"{action.location}: id {action.key!r:.80} is a {entity.plan.name}.")
        return entity

    def target(self, action: Action, key: Key, targets: frozenset[str]) -> StagedEntity:
        """An object a link leads to, which must be of a type that the reference takes."""
        entity = self.temporary.get(key) if type(key) is str else None
        if entity is not None and entity.plan.name in targets:
            return entity
        entity = self._find_entity(action, key)
        if entity is None:
            family = self._find_family(key)
            if family is None:
                raise self._not_found(action, "object", key)
        if entity is None or entity.plan.name not in targets:
            raise Refusal(
                400,
                f"{action.location}: ref {_ref(action)} takes {', '.join(sorted(targets)) or 'nothing'},"
                f" not {key!r:.80}.",
            )
        return entity

    def look_up(self, family: str, object_id: int) -> StagedEntity | None:
        """Looks up any object for a rule, whether the caller may read it or not."""
        entity = self.entities.get(object_id) or self.nearby.get(object_id)
        if entity is None:
            self._fetch(family, {object_id: -1}, self.nearby)
            entity = self.nearby.get(object_id)
        return entity

    def find_parents(self) -> None:
        """Finds the parent of every new object, for all later steps; call it once all links are made."""
        for entity in self.new:
            entity.above = self.parent_of(entity)

    def parent_of(self, entity: StagedEntity) -> StagedEntity | None:
        """The parent of an object by its new values; None for a root."""
        return self._find_parent(entity, entity.values)

    def old_parent_of(self, entity: StagedEntity) -> StagedEntity | None:
        """The parent of an existing object before this transaction."""
        return self._find_parent(entity, entity.old or {})

    def _find_parent(self, entity: StagedEntity, values: Mapping[str, Stored]) -> StagedEntity | None:
        for column, family in entity.plan.parents:
            parent = values.get(column)
            if parent is not None:
                return self.look_up(family, int(parent))
        return None

    def _find_entity(self, action: Action, key: Key) -> StagedEntity | None:
        if type(key) is int:
            entity = self.entities.get(key)
            # the id of a new object cannot be known to the caller yet
            return None if entity is None or entity.is_deleted or entity.old is None else entity
        entity = self.temporary.get(str(key))
        if entity is None:
            raise Refusal(400, f"{action.location}: no action before this one saves the temporary id {key!r:.80}.")
        return entity

    def _not_found(self, action: Action, label: str, key: Key) -> Refusal:
        return Refusal(404, f"{action.location}: there is no {label} with id {key}.")

    def _find_family(self, key: Key) -> str | None:
        """The family of an object that the caller may read, wherever it is."""
        for family, table in schema().tables.items():
            row = self.db.execute(f"SELECT 1 FROM {table.name} WHERE id = ?", (key,)).fetchone()  # noqa: S608  # names of the metamodel
            if row is not None:
                return family if self.caller.rights.may_read(self.db, family, int(key)) else None
        return None

    def _fetch(self, family: str, ids: Mapping[int, int], target: dict[int, StagedEntity]) -> None:
        ids_json = orjson.dumps(list(ids)).decode()
        table = schema().tables[family]
        columns = list(table.columns)
        names = ", ".join(f'"{name}"' for name in columns)
        sql = f"SELECT {names} FROM {table.name} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # names of the metamodel
        for row in self.db.execute(sql, (ids_json,)):
            values = dict(zip(columns, row, strict=True))
            target[row[0]] = StagedEntity(row[0], self.plans[row[1]], ids[row[0]], values)

    def _hide_unreadable(self) -> None:
        rights = self.caller.rights
        if rights.reads_everything:
            return
        for entity in list(self.entities.values()):
            if not rights.may_read(self.db, entity.plan.family, entity.id):
                # What may not be read is as absent as what does not exist, with the same answer; rules may still look
                # at it (`look_up`).
                del self.entities[entity.id]
                self.nearby[entity.id] = entity


def leniency(settings: Settings) -> Leniency:
    """The leniency that the settings ask for."""
    return Leniency(
        not settings.journal_posts_in_case_files_only,
        not settings.meetings_need_participants,
        not settings.meeting_records_in_folders_only,
    )


def open_stage(db: sqlite3.Connection, settings: Settings, caller: Caller, now_ms: int) -> Stage:
    """An empty stage inside the writer's transaction."""
    return Stage(db, settings, caller, now_ms, plans(leniency(settings)))


def _ref(action: Action) -> str:
    return action.link.name if action.link else ""
