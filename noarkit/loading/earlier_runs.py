"""What a plan meets of the runs that it follows: what is new, what is there already, and what of that another value
now stands for in the source or in the recipe.

A load changes no value of what it finds, but for the fields of open folders that `[target.follow]` names. So a plan
counts beforehand what would stay as it was made (`Meeting`), by the plans and journals of the runs before it: the
archive itself need not answer. What a run only found there is unknown here, and is compared by nobody but `verify`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import orjson

from noarkit.graph.entity import FOLLOWED, PARTIES, AlreadyThere, Entity, MappedRecord, SetAside, Skipped
from noarkit.graph.store import GraphStore, fields_json
from noarkit.loading.attached import attach_run, read_only_address
from noarkit.loading.folder import RunFolder
from noarkit.loading.provenance import MAKER_FIELDS
from noarkit.loading.request import request_of_plan
from noarkit.loading.source_values import CARRIED
from noarkit.loading.spans import DERIVED_FIELDS
from noarkit.model import metamodel
from noarkit.model.system_values import managed_fields
from noarkit.records import SourceRecord

MEETING = "meeting"
"""The fact of a plan that says what it meets."""
MOST_NAMED = 10_000
MOST_CASES = 10
"""How many of the cases are named wherever they are counted; the list has more."""
_FILLED_IN = DERIVED_FIELDS | MAKER_FIELDS
_OF_PERIOD = frozenset({"arkivperiodeStartDato", "arkivperiodeSluttDato", "beskrivelse"})
_FOLDERS = "AbstraktMappe"
_BUSINESS = "virksomhetsspesifikkeMetadata"
_SPINE = frozenset({"Arkiv", "Arkivdel", "Arkivskaper", "Klasse", "Klassifikasjonssystem"})
_DOCUMENTS = frozenset({"Dokument", "Dokumentversjon"})
_MADE = """
SELECT p.fields, a.key, c.locator, e.state FROM entity p JOIN run.entity e ON e.n = p.n
LEFT JOIN entity a ON a.n = p.parent LEFT JOIN content c ON c.entity = p.n
WHERE p.key = ? AND e.state IN ('done', 'already_there')
"""


_PARTIES_OF = """
SELECT p.key FROM record r JOIN entity p ON p.record = r.n JOIN run.entity e ON e.n = p.n
WHERE r.key = ? AND p.type = 'Sakspart' AND e.state IN ('done', 'already_there')
"""


class OtherValues(NamedTuple):
    """What has other values in the source than in the archive: the number or type of it, and of which fields."""

    name: str
    fields: tuple[str, ...]
    key: str = ""
    will_follow: bool = False
    is_case: bool = False


@dataclass(slots=True)
class Meeting:
    """What of the records that are there already is not as it was: how many have new or changed documents, and how many
    cases, records and other things have values that the load leaves as they are, or changes (`followed`)."""

    with_documents: int = 0
    cases: int = 0
    records: int = 0
    others: int = 0
    followed: int = 0
    units: list[OtherValues] = field(default_factory=list)

    @property
    def differing(self) -> int:
        """How many things keep other values than the source has."""
        return self.cases + self.records + self.others

    @property
    def cases_named(self) -> str:
        """The first cases that keep other values, in the archive's own words: `2014/73 (tittel, part)`."""
        cases = [unit for unit in self.units if unit.is_case and not unit.will_follow]
        lines = [f"{unit.name} ({', '.join(unit.fields)})" for unit in cases[:MOST_CASES]]
        return "; ".join([*lines, *(["…"] if len(cases) > len(lines) else [])])

    def facts(self) -> dict[str, object]:
        """The counts by name, and the first cases by their numbers. Keys, which may tell what a case is about, stand in
        the list alone."""
        cases = [unit for unit in self.units if unit.is_case][:MOST_CASES]
        first = [{"name": unit.name, "fields": list(unit.fields), "follows": unit.will_follow} for unit in cases]
        return {**{name: value for name, value in asdict(self).items() if name != "units"}, "first": first}


def meeting_in(folder: RunFolder) -> Meeting | None:
    """What the plan of a run meets."""
    with closing(folder.graph_store()) as graph:
        return meeting_of(graph)


def meeting_of(graph: GraphStore) -> Meeting | None:
    """What a plan meets; None for one that follows no run, or was made before this was counted."""
    data = orjson.loads(graph.meta(MEETING) or "null")
    if data is None:
        return None
    units = [OtherValues(name, tuple(names), *more) for name, names, *more in data.pop("units")]
    return Meeting(**data, units=units)


class EarlierEntity(NamedTuple):
    """How a run made something: its fields, the key above it, where its content is; `fields` is None where it was found
    there."""

    fields: Mapping[str, object] | None
    parent: str | None
    locator: str | None


class EarlierRuns:
    """The run that a plan follows and those before it, the newest first; without one, nothing is known."""

    def __init__(self, newest: RunFolder | None) -> None:
        self._newest = newest
        self._dbs: list[sqlite3.Connection] = []
        self._recipes: set[str] = set()
        self.has_carried = False
        self._stack = ExitStack()

    def __enter__(self) -> EarlierRuns:
        for folder in _chain(self._newest):
            db = self._stack.enter_context(closing(sqlite3.connect(read_only_address(folder.graph), uri=True)))
            attach_run(db, folder)
            meta = dict(db.execute("SELECT name, value FROM meta WHERE name IN ('recipe', ?)", (CARRIED,)))
            self._recipes.add(meta.get("recipe", ""))
            self.has_carried |= CARRIED in meta
            self._dbs.append(db)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def were_planned_by(self, recipe: str) -> bool:
        """True if all of them were planned by this recipe."""
        return self._recipes <= {recipe}

    def is_known(self, key: str) -> bool:
        """True for a record that one of them archived, or found there."""
        return self._record(key) is not None

    def is_unchanged(self, record: SourceRecord) -> bool:
        """True for a record that was archived, and whose contents have the same size and time as then."""
        row = self._record(record.key) if record.contents else None
        if row is None:
            return False
        number, state, data = row
        if state == "already_there":
            earlier = [tuple(stamp) for stamp in orjson.loads(data or "{}").get("contents", ())]
        else:
            earlier = (
                self._dbs[0]
                .execute(
                    "SELECT c.locator, c.size, c.modified_ns FROM entity e JOIN content c ON c.entity = e.n"
                    " WHERE e.record = ? AND c.locator NOT GLOB 'copies:*'",
                    (number,),
                )
                .fetchall()
            )
        now = {(content.locator, content.size_bytes, content.modified_ns) for content in record.contents}
        return bool(earlier) and now == set(earlier)

    def find_entity(self, key: str) -> EarlierEntity | None:
        """How the newest run that made it did so; None for what none of them knows."""
        is_found = False
        for db in self._dbs:
            row = db.execute(_MADE, (key,)).fetchone()
            if row is not None and row[3] == "done":
                return EarlierEntity(orjson.loads(row[0]), row[1], row[2])
            is_found |= row is not None
        return EarlierEntity(None, None, None) if is_found else None

    def parties_of(self, key: str) -> frozenset[str]:
        """The keys of the parties that the newest run that made some for a record gave its folders."""
        for db in self._dbs:
            if keys := frozenset(str(row[0]) for row in db.execute(_PARTIES_OF, (key,))):
                return keys
        return frozenset()

    def _record(self, key: str) -> tuple[int, str, str | None] | None:
        if not self._dbs:
            return None
        row = (
            self._dbs[0]
            .execute(
                "SELECT r.n, r.state, e.state, r.data FROM record r LEFT JOIN run.entity e ON e.n = r.root"
                " WHERE r.key = ?",
                (key,),
            )
            .fetchone()
        )
        if row is None or (row[1] != "already_there" and row[2] not in ("done", "already_there")):
            return None
        return int(row[0]), str(row[1]), row[3]


@dataclass(slots=True)
class PlanMeeting:
    """Takes each record of a plan as what it is to the runs before: new, changed, or there and left alone.

    `follows` are the fields of folders that follow the source. `compares` says whether another value may stand for what
    is there although its documents are the same: the recipe is another, or a register tells of them.
    """

    earlier: EarlierRuns
    follows: Mapping[str, tuple[str, ...]]
    compares: bool
    has_same_places: bool = True
    meeting: Meeting = field(default_factory=Meeting)
    _compared: sqlite3.Connection = field(default_factory=lambda: sqlite3.connect("", isolation_level=None))

    def __post_init__(self) -> None:
        self._compared.execute("CREATE TABLE shared (key TEXT PRIMARY KEY) WITHOUT ROWID")

    def take_targets(self, entities: tuple[Entity, ...]) -> None:
        """What every record hangs under."""
        if self.compares:
            for entity in entities:
                self._compare_shared(entity, ())

    def take(
        self, record: SourceRecord, mapped: MappedRecord | SetAside | Skipped, *, is_unchanged: bool
    ) -> MappedRecord | SetAside | Skipped | AlreadyThere:
        """The record as it is to be planned."""
        is_known = self.earlier.is_known(record.key)
        if not isinstance(mapped, MappedRecord):
            if not is_unchanged:
                return mapped
            self._tell("records", OtherValues("", (), record.key))
            return AlreadyThere(record.key, record.contents)
        if not is_known:
            return mapped
        has_new, is_followed = False, False
        if self.compares:
            has_new, is_followed = self._compare(record, mapped, is_unchanged=is_unchanged)
        if is_unchanged and not (has_new or is_followed):
            return AlreadyThere(record.key, record.contents)
        self.meeting.with_documents += has_new or (bool(record.contents) and not is_unchanged)
        return replace(mapped, is_there=True)

    def _compare(self, record: SourceRecord, mapped: MappedRecord, *, is_unchanged: bool) -> tuple[bool, bool]:
        """Whether there are documents that no run made, and whether a folder is to be changed."""
        has_new = is_followed = False
        own_names: list[str] = []
        by_folder: dict[str, tuple[Entity, list[Entity]]] = {}
        for entity in mapped.entities:
            if metamodel().types[entity.type].family == _FOLDERS:
                by_folder[entity.key] = (entity, [])
            elif entity.parent in by_folder and entity.type == "Sakspart":
                by_folder[entity.parent][1].append(entity)
            elif entity.type in _SPINE:
                self._compare_shared(entity, ())
            elif entity.type != "EksternId":
                earlier_entity = self.earlier.find_entity(entity.key)
                if entity.type in _DOCUMENTS and (
                    earlier_entity is None or self._has_other_content(entity, earlier_entity)
                ):
                    has_new = True
                elif is_unchanged or not record.contents:
                    own_names += (
                        self._differing(entity, earlier_entity) if earlier_entity is not None else [entity.type]
                    )
        lost_parties = self.earlier.parties_of(record.key) - {
            party.key for _, parties in by_folder.values() for party in parties
        }
        for folder, parties in by_folder.values():
            is_followed |= self._compare_shared(folder, parties, has_lost=bool(lost_parties))
        if own_names:
            self._tell("records", OtherValues(_type_of(mapped), tuple(dict.fromkeys(own_names)), record.key))
        return has_new, is_followed

    def _compare_shared(
        self, entity: Entity, parties: tuple[Entity, ...] | list[Entity], *, has_lost: bool = False
    ) -> bool:
        """True for a folder that is to be changed, the first time that it is met. `has_lost` = a party is not named any
        more; no load takes one away."""
        if not self._compared.execute("INSERT OR IGNORE INTO shared VALUES (?)", (entity.key,)).rowcount:
            return False
        earlier_entity = self.earlier.find_entity(entity.key)
        if earlier_entity is None:
            return False  # a folder or class of its own, which the load makes
        names = self._differing(entity, earlier_entity)
        if any(self._is_other_party(party) for party in parties):
            names.append(PARTIES)
        is_folder = metamodel().types[entity.type].family == _FOLDERS
        followed = self.follows.get(entity.type, ())
        will_follow = bool(set(names) & set(followed) & set(FOLLOWED.get(entity.type, ())))
        if has_lost and PARTIES not in names:
            names.append(PARTIES)
        if not names:
            return False
        field_names = tuple("part" if name == PARTIES else name for name in names)
        unit = OtherValues(_number_of(entity) or entity.type, field_names, entity.key, will_follow, is_folder)
        if will_follow and set(names) <= set(followed) and not has_lost:
            self._tell("followed", unit)
        else:
            self._tell("cases" if is_folder else "others", unit)
        return will_follow

    def _is_other_party(self, party: Entity) -> bool:
        earlier_party = self.earlier.find_entity(party.key)
        return earlier_party is None or bool(self._differing(party, earlier_party))

    def _has_other_content(self, entity: Entity, earlier_entity: EarlierEntity) -> bool:
        """True for a copy that was made anew; what of the record itself changed is known by size and time."""
        locator = entity.content.locator if entity.content is not None else None
        return (
            earlier_entity.fields is not None
            and bool(locator)
            and locator != earlier_entity.locator
            and self.has_same_places
        )

    def _differing(self, entity: Entity, earlier_entity: EarlierEntity) -> list[str]:
        """The names of the fields that were made otherwise, and of the link where it hung under something else."""
        if earlier_entity.fields is None:
            return []
        now: Mapping[str, object] = orjson.loads(fields_json(entity.fields))
        names = [
            name
            for name in dict.fromkeys((*now, *earlier_entity.fields))
            if now.get(name) != earlier_entity.fields.get(name) and not self._is_filled_in(entity, name, now.get(name))
        ]
        if entity.parent != earlier_entity.parent and entity.parent_link:
            names.append(entity.parent_link)
        return names

    def _is_filled_in(self, entity: Entity, name: str, value: object) -> bool:
        """True for what a plan fills in after its records are mapped."""
        if self.earlier.has_carried and (name == _BUSINESS or name in managed_fields(entity.type)):
            return True
        names = _FILLED_IN | _OF_PERIOD if entity.type in _SPINE else _FILLED_IN
        return value is None and name in names

    def _tell(self, kind: str, unit: OtherValues) -> None:
        setattr(self.meeting, kind, getattr(self.meeting, kind) + 1)
        if len(self.meeting.units) < MOST_NAMED:
            self.meeting.units.append(unit)


def _chain(newest: RunFolder | None) -> Iterator[RunFolder]:
    """A run, the run that its plan follows, and so on, as far as they are still there."""
    passed: set[Path] = set()
    folder = newest
    while folder is not None and folder.is_planned and folder.path.resolve() not in passed:
        passed.add(folder.path.resolve())
        yield folder
        before = run_before(folder)
        folder = None if before is None else RunFolder(before)


def run_before(folder: RunFolder) -> Path | None:
    """The run that the plan of a run follows, or takes the keys of."""
    request = request_of_plan(folder)
    values = request.values if request is not None else {}
    before = values.get("since") or values.get("same-as")
    return Path(str(before)) if before else None


def _type_of(mapped: MappedRecord) -> str:
    families = {name: kind.family for name, kind in metamodel().types.items()}
    kinds = [entity.type for entity in mapped.entities if families[entity.type] == "AbstraktRegistrering"]
    return kinds[-1] if kinds else mapped.entities[-1].type


def _number_of(entity: Entity) -> str:
    """The number of a case, which says nothing of what it is about."""
    fields = entity.fields
    if fields.get("mappeIdent"):
        return str(fields["mappeIdent"])
    year, number = fields.get("saksaar"), fields.get("sakssekvensnummer")
    return f"{year}/{number}" if year and number else ""
