"""The objects a transaction touches, as they were and as they are becoming; nothing is written from here.

Permanent ids that the actions name are looked up in one batch a family; whatever else a rule needs to see is looked up
once and kept. New objects get their ids at once, so that links between them need no database at all.
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


class Thing:
    """One object in a transaction: `old` as the database holds it (None where it is new), `values` as it becomes."""

    __slots__ = (
        "action",
        "bumped",
        "claimed",
        "gone",
        "id",
        "journals",
        "kids",
        "nulled",
        "old",
        "plan",
        "secondary",
        "system",
        "touched",
        "values",
    )

    def __init__(self, object_id: int, plan: TypePlan, action: int, old: dict[str, Stored] | None = None) -> None:
        self.id = object_id
        self.plan = plan
        self.action = action
        self.old = old
        self.values: dict[str, Stored] = {} if old is None else old
        # columns written to; of an existing object they may still hold what they held
        self.touched: set[str] | None = None
        # system-managed fields that the caller wrote with another value
        self.system: set[str] | None = None
        # fields of a new object that the caller set to null
        self.nulled: set[str] | None = None
        # what the caller says of fields that only the archive may fill in
        self.claimed: dict[str, Stored] | None = None
        # how many children a rule-bound reference gained here
        self.kids: dict[str, int] | None = None
        self.secondary: list[int] | None = None
        self.bumped = False
        self.gone = False
        # the caller set a new entry's journal status, rather than leaving it to the archive
        self.journals = False

    def put(self, column: str, stored: Stored) -> None:
        """Sets a column; the row that the database holds stays as it was in `old`."""
        if self.old is not None:
            if self.touched is None:
                self.touched = set()
                self.values = dict(self.old)
            self.touched.add(column)
        self.values[column] = stored

    def changed(self) -> list[str]:
        """The columns of an existing object that differ from what the database holds."""
        if self.old is None or self.touched is None:
            return []
        old, values = self.old, self.values
        return [column for column in self.plan.columns if column in self.touched and old.get(column) != values[column]]

    @property
    def where(self) -> str:
        """The beginning of a sentence about this object."""
        return f"actions[{self.action}] ({self.plan.name})"


@dataclass(slots=True)
class Stage:
    """Everything one transaction knows, from its first action to its commit."""

    db: sqlite3.Connection
    settings: Settings
    caller: Caller
    now_ms: int
    plans: Mapping[str, TypePlan]
    things: dict[int, Thing] = field(default_factory=dict)
    temporary: dict[str, Thing] = field(default_factory=dict)
    new: list[Thing] = field(default_factory=list)
    saved: dict[str, Thing] = field(default_factory=dict)
    pairs: dict[Pair, bool] = field(default_factory=dict)
    pair_owners: dict[Pair, tuple[Thing, str, Thing]] = field(default_factory=dict)
    deleting: list[tuple[Thing, Action]] = field(default_factory=list)
    parents: dict[int, Thing] = field(default_factory=dict)
    around: dict[int, Thing] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    codes: dict[tuple[str, str], bool] = field(default_factory=dict)
    next_id: int = 0

    def admit(self, actions: Iterable[Action]) -> None:
        """Looks up every permanent id that the actions name, and sets aside ids for what they make."""
        wanted: dict[str, dict[int, int]] = {}
        fresh: set[str] = set()
        for action in actions:
            key = action.key
            if type(key) is int:
                wanted.setdefault(action.plan.family, {}).setdefault(key, action.place)
            elif action.verb == "save":
                fresh.add(str(key))
            if action.link is not None:
                for other in action.others:
                    if type(other) is int:
                        wanted.setdefault(action.link.other_family, {}).setdefault(other, action.place)
        if fresh:
            self.next_id = allocate(self.db, OBJECT_IDS, len(fresh))
        for family, ids in wanted.items():
            self._fetch(family, ids, self.things)
        self._hide_unreadable()

    def make(self, name: str, action: Action) -> Thing:
        """A new object with the next id."""
        thing = Thing(self.next_id, action.plan, action.place)
        self.next_id += 1
        self.temporary[name] = thing
        self.things[thing.id] = thing
        self.new.append(thing)
        return thing

    def subject(self, action: Action) -> Thing:
        """The object an action is about, which must be of the type it says."""
        thing = self._known(action, action.key)
        if thing is None or thing.plan.family != action.plan.family:
            raise self._absent(action, action.plan.name, action.key)
        if thing.plan is not action.plan:
            if type(action.key) is int:
                raise self._absent(action, action.plan.name, action.key)
            raise Refusal(400, f"{action.where}: id {action.key!r:.80} is a {thing.plan.name}.")
        return thing

    def target(self, action: Action, key: Key, targets: frozenset[str]) -> Thing:
        """An object a link leads to, which must be of a type that the reference takes."""
        thing = self._known(action, key)
        if thing is None:
            family = self._elsewhere(key)
            if family is None:
                raise self._absent(action, "object", key)
        if thing is None or thing.plan.name not in targets:
            raise Refusal(
                400,
                f"{action.where}: ref {_ref(action)} takes {', '.join(sorted(targets)) or 'nothing'}, not {key!r:.80}.",
            )
        return thing

    def look(self, family: str, object_id: int) -> Thing | None:
        """Any object, for a rule to see; whether the caller may read it plays no part."""
        thing = self.things.get(object_id) or self.around.get(object_id)
        if thing is None:
            self._fetch(family, {object_id: -1}, self.around)
            thing = self.around.get(object_id)
        return thing

    def above(self, thing: Thing) -> Thing | None:
        """What stands directly above an object as it is becoming; None for a root."""
        return self._above(thing, thing.values)

    def above_before(self, thing: Thing) -> Thing | None:
        """What stood directly above an existing object before this transaction."""
        return self._above(thing, thing.old or {})

    def _above(self, thing: Thing, values: Mapping[str, Stored]) -> Thing | None:
        for column, family in thing.plan.parents:
            parent = values.get(column)
            if parent is not None:
                return self.look(family, int(parent))
        return None

    def _known(self, action: Action, key: Key) -> Thing | None:
        if type(key) is int:
            thing = self.things.get(key)
            # the id of a new object cannot be known to the caller yet
            return None if thing is None or thing.gone or thing.old is None else thing
        thing = self.temporary.get(str(key))
        if thing is None:
            raise Refusal(400, f"{action.where}: no action before this one saves the temporary id {key!r:.80}.")
        return thing

    def _absent(self, action: Action, what: str, key: Key) -> Refusal:
        return Refusal(404, f"{action.where}: there is no {what} with id {key}.")

    def _elsewhere(self, key: Key) -> str | None:
        """The family of an object that the caller may read, wherever it is."""
        for family, table in schema().tables.items():
            row = self.db.execute(f"SELECT 1 FROM {table.name} WHERE id = ?", (key,)).fetchone()  # noqa: S608  # names of the metamodel
            if row is not None:
                return family if self.caller.rights.may_read(self.db, family, int(key)) else None
        return None

    def _fetch(self, family: str, ids: Mapping[int, int], into: dict[int, Thing]) -> None:
        listed = orjson.dumps(list(ids)).decode()
        table = schema().tables[family]
        columns = list(table.columns)
        names = ", ".join(f'"{name}"' for name in columns)
        sql = f"SELECT {names} FROM {table.name} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # names of the metamodel
        for row in self.db.execute(sql, (listed,)):
            values = dict(zip(columns, row, strict=True))
            into[row[0]] = Thing(row[0], self.plans[row[1]], ids[row[0]], values)

    def _hide_unreadable(self) -> None:
        rights = self.caller.rights
        if rights.reads_everything:
            return
        for thing in list(self.things.values()):
            if not rights.may_read(self.db, thing.plan.family, thing.id):
                del self.things[thing.id]
                self.around[thing.id] = thing


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
