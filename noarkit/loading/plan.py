"""Plans a load: reads the source, maps its records, checks them, cuts shards and chunks, freezes. Sends nothing.

The plan stands when plan.json does; a folder with a graph.db and no plan.json is what a killed planner left, and is
planned anew. Single bad records are set aside; what makes the whole plan impossible is a PlanFault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

import orjson

from noarkit.errors import LossNotAccepted, PlanFault, SourceFault, UsageFault
from noarkit.events import Event, EventFields, Listener
from noarkit.graph.builder import GraphBuilder
from noarkit.graph.checks import EntityChecks, StructureFault, structure_faults
from noarkit.graph.cut import Limits, cut
from noarkit.graph.entity import AlreadyThere, Entity, MappedRecord, SetAside, Skipped
from noarkit.graph.freeze import digest
from noarkit.graph.losses import LINK_LEFT_OUT, losses, names
from noarkit.graph.store import GraphStore
from noarkit.loading.earlier_runs import MEETING, EarlierRuns, PlanMeeting
from noarkit.loading.folder import AS_RUN, DraftRun, RunFolder
from noarkit.loading.follow_up import SINCE_ARCHIVE, read_earlier_run
from noarkit.loading.numbering import FreeNumbers, number_units
from noarkit.loading.provenance import date_words, describe_series, name_makers
from noarkit.loading.remote_hashing import RemoteHashing, hash_content
from noarkit.loading.request import ASKED, RunRequest
from noarkit.loading.source_columns import (
    ColumnWatch,
    leave_out_open,
    refuse_unused_screening,
    still_open,
    tell_columns,
)
from noarkit.loading.source_values import carry_values
from noarkit.loading.spans import fill_dates, has_dates
from noarkit.model.xml_model import xml_model
from noarkit.recipes.recipe_model import DateRules
from noarkit.records import (
    PLACE_FAULTS,
    Groundwork,
    Joining,
    MailFiler,
    Source,
    SourceRecord,
    Stating,
    innermost,
    prove_stated,
)
from noarkit.results import Result, json_field
from noarkit.safe.clocks import iso_seconds
from noarkit.safe.disk import translate_sqlite_errors
from noarkit.safe.memory import rare_collections
from noarkit.safe.remote_jobs import JobWorkers

EVENTS: EventFields = {"read": {"records": "count"}, "planned": {"records": "counts", "entities": "counts"}}
_TELL_EVERY = 2000
DATE_EVIDENCE, NO_EVIDENCE = "date_evidence", "none"
"""The fact of a plan that says how many records have their date from what, and the name of those that have none."""
MADE_FROM = "made_from"
"""What plan.json calls the checksums of what a plan was made from."""
REGISTER = "register"
MAIL = "mail"
"""The fact of a plan that says how the rows of a register and the folders or files were joined."""
_MUST_BE_ACCEPTED = ("gradering", "utfoertKassasjon")
"""What stops a plan unless a person accepts that it is lost: the grade of a record, and the proof of its disposal."""
# a fault in one of these is the recipe's or the source's as a whole, not one record's
_GRAVE_TYPES = frozenset({"Arkiv", "Arkivdel", "Klassifikasjonssystem", "Klasse", "Mappe", "Saksmappe", "Moetemappe"})


class Mapper(Protocol):
    """A compiled recipe."""

    def targets(self) -> tuple[Entity, ...]:
        """The spine: fonds, series and classes that every record hangs under."""
        ...

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        """One record to its entities."""
        ...


@runtime_checkable
class FixedMapper(Protocol):
    """A mapper of what is fixed already, codes and links too. Links to what is not in the plan are left out with a
    note."""

    @property
    def new_codes(self) -> Mapping[str, Collection[str]]:
        """Codes beyond those of the archive, by list; grows while records are read."""
        ...

    def needs(self) -> Mapping[str, object]:
        """What must stand in the archive's registers before the load, as JSON values."""
        ...


@runtime_checkable
class CountingMapper(Protocol):
    """A mapper that counts something of its own, which the plan is to remember."""

    def to_remember(self) -> Mapping[str, object]:
        """What is remembered, by name; values that JSON has."""
        ...


@dataclass(frozen=True, slots=True)
class PlanSpec:
    """The specification of a plan. `codes` are the archive's own code lists where they could be read."""

    source: Source
    mapper: Mapper
    recipe: str
    external_system: str
    zone: str = "Europe/Oslo"
    close: bool = True
    hash_contents: bool = False
    strict: bool = False
    watch: ColumnWatch | None = None
    """Sees what the source has, where a recipe says what becomes of it."""
    dates: DateRules = field(default_factory=DateRules)
    """What of the dates is told by others."""
    origin: str = ""
    """What is named as the maker of things where the source names nobody; empty: nobody is."""
    carries_values: bool = False
    """The dates, years and numbers of the source are kept for an account that may not set them."""
    accept_loss: tuple[str, ...] = ()
    accepted_by: str = ""
    since: RunFolder | None = None
    same_as: RunFolder | None = None
    """The run whose keys are taken, of another place."""
    codes: Mapping[str, frozenset[str]] | None = None
    archive: str | None = None
    """The archive that the plan is made for, where somebody named one."""
    free_numbers: FreeNumbers | None = None
    """The numbers that it has not given yet."""
    limits: Limits = field(default_factory=Limits)
    follow: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    before_freeze: Callable[[GraphStore], None] = lambda graph: None
    """Looks at what was planned, and raises what keeps it from being frozen."""
    describe: Callable[[RunFolder], None] = lambda folder: None
    """Writes down what a plan that stands must never be without, of one that is frozen and does not stand yet."""
    job_workers: JobWorkers | None = None
    """The workers of a cluster, which hash."""
    request: RunRequest | None = None
    """How the plan was asked for, where its maker says so."""
    made_from: Mapping[str, str] = field(default_factory=dict)
    """Checksums of what it was made from, by name: the source as it was seen from outside, and copies."""


@dataclass(frozen=True, slots=True)
class PackResult(Result):
    """The bundle that a plan was packed into; `left_out` counts documents that could not be read, `already_packed` says
    that an earlier call made it."""

    EVENT: ClassVar = "packed"

    path: Path
    id: str
    seal_sha256: str = field(metadata=json_field("seal"))
    documents: int
    left_out: int
    size_bytes: int = field(metadata=json_field("bytes"))
    fingerprint: str
    already_packed: bool = field(default=False, metadata=json_field("stood"))


@dataclass(frozen=True, slots=True)
class PlanResult(Result):
    """What was planned: counts by record state and by entity type, and the digest that froze it."""

    EVENT: ClassVar = "plan"

    folder: RunFolder = field(metadata=AS_RUN)
    sha256: str
    records: Mapping[str, int]
    entities: Mapping[str, int]
    bytes: int
    chunks: int
    shards: int


def make_plan(spec: PlanSpec, folder: RunFolder, emit: Listener, now_s: Callable[[], float]) -> PlanResult:
    """Makes the plan in `folder`. Raises UsageFault where one stands there, SourceGone, PlanFault, DiskFull."""
    if (folder.path / "plan.json").exists():
        raise UsageFault(what="plan-exists", where=str(folder.path))
    folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    with folder.locked():
        _clear(folder)
        store = GraphStore.create(folder.graph, draft=True)
        try:
            with translate_sqlite_errors(folder.graph), rare_collections():
                _fill(spec, store, emit)
                _drop_broken(spec, store)
                open_cases = _settle_open_cases(spec, store)
                fill_dates(store, spec.dates, spec.zone, closes=spec.close)
                if spec.dates.spans and spec.free_numbers is not None:
                    now = datetime.fromtimestamp(now_s(), UTC)
                    number_units(store, spec.free_numbers, now, spec.zone)
                if spec.watch is not None:
                    tell_columns(store, spec.watch, open_cases)
                if spec.origin:
                    _tell_origin(spec, store, now_s)
                _refuse_losses(spec, store, now_s)
                if spec.carries_values:
                    carry_values(store)
                cut(store, spec.limits)
                _remember_facts(spec, store)
                spec.before_freeze(store)
                result = _freeze(store, folder, spec, now_s)
        finally:
            store.close()
    emit(Event("planned", {"records": dict(result.records), "entities": dict(result.entities)}))
    return result


def known_elements(accepted: Sequence[str]) -> tuple[str, ...]:
    """The elements whose loss is accepted. Raises UsageFault for what is no element of the form."""
    groups = xml_model("5.0").structure.groups
    element_names = {element.name for group in groups.values() for element in group.elements}
    for name in accepted:
        if name.rpartition("/")[2] not in element_names:
            raise UsageFault(what="unknown-element", where=f"--accept-loss {name}")
    return tuple(accepted)


def _clear(folder: RunFolder) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{folder.graph}{suffix}").unlink(missing_ok=True)


def _fill(spec: PlanSpec, store: GraphStore, emit: Listener) -> None:
    fixed_mapper = spec.mapper if isinstance(spec.mapper, FixedMapper) else None
    checks = EntityChecks(spec.codes, fixed_mapper.new_codes if fixed_mapper else None)
    builder = GraphBuilder(store, spec.external_system, checks)
    builder.targets(spec.mapper.targets())
    evidence_counts = Counter[str]()
    with EarlierRuns(spec.since or spec.same_as) as earlier:
        meeting = _meeting(spec, earlier)
        meeting.take_targets(spec.mapper.targets())
        items = spec.source.records(emit)
        if spec.job_workers is not None:
            items = RemoteHashing(spec.source, spec.job_workers, earlier.is_unchanged).items(items)
        for read, item in enumerate(items, 1):
            if isinstance(item, Groundwork):
                builder.targets(item.entities, item.notes)
            elif not isinstance(item, SourceRecord):
                builder.add(item)
            else:
                is_unchanged = spec.since is not None and earlier.is_unchanged(item)
                planned = _plan_record(spec, meeting, item, is_unchanged=is_unchanged)
                is_new = not isinstance(planned, AlreadyThere)
                if is_new and spec.watch is not None:
                    spec.watch.see(item)
                if is_new and spec.dates.spans and "date_from" in item.fields:
                    evidence_counts[str(item.fields["date_from"] or NO_EVIDENCE)] += 1
                builder.add(planned)
            if read % _TELL_EVERY == 0:
                emit(Event("read", {"records": read}))
    builder.finish()
    if spec.watch is not None:
        refuse_unused_screening(spec.watch.unused())
    if spec.since is not None or spec.same_as is not None:
        store.remember(MEETING, orjson.dumps(asdict(meeting.meeting), default=tuple).decode())
    if evidence_counts:
        store.remember(DATE_EVIDENCE, orjson.dumps(evidence_counts, option=orjson.OPT_SORT_KEYS).decode())
    source = innermost(spec.source)
    if isinstance(source, Joining) and (account := source.register_account()) is not None:
        store.remember(REGISTER, orjson.dumps(asdict(account), default=tuple).decode())
    if isinstance(source, MailFiler) and (mail_account := source.mail_account()) is not None:
        store.remember(MAIL, orjson.dumps(asdict(mail_account), default=tuple).decode())
    if fixed_mapper is not None:
        store.forgive_dangling(LINK_LEFT_OUT)
        store.remember("needs", orjson.dumps(fixed_mapper.needs(), option=orjson.OPT_SORT_KEYS).decode())
    if isinstance(spec.mapper, CountingMapper):
        for name, value in spec.mapper.to_remember().items():
            store.remember(name, orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())


def _meeting(spec: PlanSpec, earlier: EarlierRuns) -> PlanMeeting:
    """What takes the records of a plan that follows others. What changes can be told by documents alone where recipe
    and copies are the same, and no register says anything of them."""
    source = innermost(spec.source)
    is_joined = isinstance(source, Joining) and source.has_register
    compares = is_joined or isinstance(spec.mapper, CountingMapper) or not earlier.were_planned_by(spec.recipe)
    # what was closed is never changed
    follows = {} if spec.close else spec.follow
    is_followed = spec.since is not None or spec.same_as is not None
    return PlanMeeting(earlier, follows, is_followed and compares, has_same_places=spec.same_as is None)


def _plan_record(
    spec: PlanSpec, meeting: PlanMeeting, record: SourceRecord, *, is_unchanged: bool
) -> MappedRecord | SetAside | Skipped | AlreadyThere:
    if not is_unchanged:
        return meeting.take(record, _map_record(spec, record), is_unchanged=False)
    if not meeting.compares:
        return AlreadyThere(record.key, record.contents)
    # copies are found by the checksums of their documents; nothing else need be read of what is there
    reads = isinstance(spec.mapper, CountingMapper)
    planned = meeting.take(record, _map_record(spec, record) if reads else spec.mapper.map(record), is_unchanged=True)
    return planned if reads or isinstance(planned, AlreadyThere) else _map_record(spec, record)


def _map_record(spec: PlanSpec, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
    is_package = isinstance(innermost(spec.source), Stating)
    if not (spec.hash_contents or is_package) or spec.job_workers is not None:
        return spec.mapper.map(record)
    contents = record.contents
    try:
        if spec.hash_contents:
            contents = tuple(hash_content(spec.source, content) for content in contents)
        else:  # what a package states of its documents is compared before anybody relies on it
            for content in contents:
                prove_stated(spec.source, content)
    except PLACE_FAULTS:
        raise
    except SourceFault as fault:
        return SetAside(record.key, fault.code, dict(fault.data))
    return spec.mapper.map(record if contents is record.contents else replace(record, contents=contents))


def _drop_broken(spec: PlanSpec, store: GraphStore) -> None:
    """Sets single records with structural faults aside; raises PlanFault for what is wrong with the whole."""
    faults: list[StructureFault] = list(_first_faults(structure_faults(store), 10_000))
    grave = [fault for fault in faults if fault.record is None or fault.type in _GRAVE_TYPES]
    if grave or (spec.strict and faults):
        first = (grave or faults)[0]
        raise PlanFault(
            where=f"{first.type}, recipe line {first.line}",
            why=first.reason,
            code=first.code,
            count=len(grave or faults),
        )
    store.db.execute("BEGIN")
    for fault in faults:
        bundle = store.entity(fault.entity).bundle
        data = orjson.dumps({"why": fault.reason, "type": fault.type, "line": fault.line}).decode()
        store.leave_out(fault.record or 0, bundle, fault.code, data)
    store.db.execute("COMMIT")
    if spec.strict and store.count("record", "state = 'set_aside'"):
        raise PlanFault(where=str(store.path), why="strict", count=store.count("record", "state = 'set_aside'"))


def _settle_open_cases(spec: PlanSpec, store: GraphStore) -> list[int]:
    """The records of cases that their source has not closed, and that the load will; others are left out, if so
    wished."""
    if spec.watch is None or not spec.close:
        return []
    records = still_open(store.db, spec.watch.closing_lines)
    if spec.dates.open_cases != "leave-out":
        return records
    leave_out_open(store, records)
    return []


def _refuse_losses(spec: PlanSpec, store: GraphStore, now_s: Callable[[], float]) -> None:
    """Raises LossNotAccepted where a grade or proof would be lost that nobody accepted; remembers who accepted what."""
    grave: Counter[str] = Counter()
    for loss in losses(store.db):
        path = names(loss.element)
        hit = next((name for name in _MUST_BE_ACCEPTED if name in path), None)
        if hit is not None and not set(path).union({loss.element}).intersection(spec.accept_loss):
            grave[hit] += 1
    if grave:
        text = ", ".join(f"{name} ({count})" for name, count in sorted(grave.items()))
        options = " ".join(f"--accept-loss {name}" for name in sorted(grave))
        raise LossNotAccepted(where=text, options=options)
    if spec.accept_loss:
        at = iso_seconds(now_s())
        accepted = {"fields": sorted(set(spec.accept_loss)), "by": spec.accepted_by, "at": at}
        store.remember("accepted_loss", orjson.dumps(accepted, option=orjson.OPT_SORT_KEYS).decode())


def _first_faults(faults: Iterator[StructureFault], most: int) -> Iterator[StructureFault]:
    visited: set[int] = set()
    for fault in faults:
        if fault.entity not in visited:
            visited.add(fault.entity)
            yield fault
        if len(visited) >= most:
            return


def _tell_origin(spec: PlanSpec, store: GraphStore, now_s: Callable[[], float]) -> None:
    """Names the source as the maker of what it made, and the load in what it was loaded into."""
    evidence = orjson.loads(store.meta(DATE_EVIDENCE) or "{}")
    name_makers(store, spec.origin)
    is_dated = spec.dates.spans and has_dates(store.db)
    describe_series(store, spec.origin, now_s(), spec.zone, date_words(list(evidence), spans=is_dated))


def _remember_facts(spec: PlanSpec, store: GraphStore) -> None:
    identity = spec.source.identity
    facts = {
        "external_system": spec.external_system,
        "recipe": spec.recipe,
        "zone": spec.zone,
        "close": "yes" if spec.close else "no",
        "follow": orjson.dumps({kind: list(names) for kind, names in spec.follow.items()}).decode()
        if spec.follow
        else "",
        "source_kind": identity.kind,
        "source_where": identity.where,
        "source_settings": orjson.dumps(identity.settings, option=orjson.OPT_SORT_KEYS, default=str).decode(),
    }
    for name, value in facts.items():
        store.remember(name, value)


def _freeze(store: GraphStore, folder: RunFolder, spec: PlanSpec, now_s: Callable[[], float]) -> PlanResult:
    db = store.db
    sha256 = digest(store.db)
    records = store.record_counts()
    entities = dict(db.execute("SELECT type, count(*) FROM entity GROUP BY type ORDER BY type").fetchall())
    size = int(db.execute("SELECT coalesce(sum(size), 0) FROM content").fetchone()[0])
    result = PlanResult(
        folder, sha256, records, entities, size, store.count("chunk"), store.count("shard", "kind != 'spine'")
    )
    store.settle()
    plan: dict[str, object] = {
        "sha256": sha256,
        "frozen_at": now_s(),
        "source": {"kind": store.meta("source_kind"), "where": store.meta("source_where")},
        "records": records,
        "entities": entities,
        "bytes": size,
        "chunks": result.chunks,
        **({"archive": spec.archive} if spec.archive else {}),
        **({SINCE_ARCHIVE: read_earlier_run(spec.since).identity} if spec.since else {}),
        **({ASKED: spec.request.as_data()} if spec.request else {}),
        **({MADE_FROM: dict(spec.made_from)} if spec.made_from else {}),
    }
    spec.describe(DraftRun(folder.path, planned=plan))
    folder.write_plan(plan)
    return result
