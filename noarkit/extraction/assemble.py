"""From the store to the files of the package: structure, change log, journals, schemas, and the description of all."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from noarkit.extraction.bundles import Bundles
from noarkit.extraction.changes import ChangeLog, LogFlaw, WrittenChanges, count_changes, write_changes
from noarkit.extraction.file_writers import (
    JournalWork,
    SideWork,
    TableWork,
    WriterSettings,
    is_worth_it,
    write_structure,
)
from noarkit.extraction.journal_files import JournalPeriod, WrittenJournals
from noarkit.extraction.output import hashed
from noarkit.extraction.partition import Outlet
from noarkit.extraction.schema_files import SchemaSet
from noarkit.extraction.structure import Placement
from noarkit.extraction.workers import WorkerPool
from noarkit.forms.metadata.facts import SOFT, PackageFacts
from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.read.original import GROUP
from noarkit.forms.noark5.schemas import VsmGroup, vsm_schema
from noarkit.forms.noark5.spec import (
    ADDML,
    CATALOGUE,
    CHANGE_LOG,
    DESCRIPTION,
    STRUCTURE,
)
from noarkit.forms.noark5.write import unmapped, vsm
from noarkit.forms.noark5.write.content import Codes
from noarkit.forms.noark5.write.description import DescribedDocument, DescribedFile, Description, description_xml
from noarkit.forms.noark5.write.structure import Tally
from noarkit.safe.atomic import write_bytes
from noarkit.verdict import names_nobody

SYSTEM_TYPE = "Sakarkiv (Noark 5)"
SYSTEM_NAME = "Noark 5"
DESCRIPTION_TEXT = "Noark 5-arkivuttrekk"
_PERIOD_FIELDS = ("opprettetDato", "registreringsDato", "arkivertDato", "avsluttetDato")


@dataclass(frozen=True, slots=True)
class AssemblyDeps:
    """What assembling needs beside the store. `started_at` is when the extract was first started."""

    facts: PackageFacts
    codes: Codes
    schemas: SchemaSet
    zone: str
    started_at: str
    business: tuple[VsmGroup, ...] = ()
    carry: bool = True
    change_log: ChangeLog = "closing"

    @property
    def keeps_originals(self) -> bool:
        """True if the archive may keep elements of an original."""
        return any(group.id == GROUP for group in self.business)

    @property
    def declared_groups(self) -> tuple[VsmGroup, ...]:
        """The groups that the package's own schema declares: not that of originals, which stand in their elements."""
        return tuple(group for group in self.business if group.id != GROUP)


@dataclass(frozen=True, slots=True)
class AssemblyPaths:
    """The store, the folder of the package, and where the table of what the form cannot say goes."""

    store: Path
    package: Path
    table: Path


@dataclass(slots=True)
class Assembly:
    """What was written."""

    tally: Tally
    unsupported_fields: Counter[tuple[str, str]]
    placement: Placement
    journals: WrittenJournals
    changes: int
    replaced_signs: int
    lost_counts: dict[str, int]
    start: str = ""
    end: str = ""
    documents: list[DescribedDocument] = field(default_factory=list)
    creators: tuple[str, ...] = ()
    log: LogFlaw | None = None
    description_sha256: str = ""
    is_period_derived: bool = False


def assemble(places: AssemblyPaths, deps: AssemblyDeps, pool: WorkerPool, pause: Callable[[], None]) -> Assembly:
    """Writes all files of the package but the documents, which are there already, and the table of what the form cannot
    say. Where the `pool` has workers, two of them do other things while the rest write the structure."""
    moments = Moments(deps.zone)
    writer_settings = WriterSettings(
        places.store, deps.codes, deps.zone, deps.started_at, deps.carry, deps.keeps_originals
    )
    bundles = Bundles(places.store)
    try:
        facts = deps.facts
        journal_period = JournalPeriod(
            facts.start if facts.incoming == SOFT else None, facts.end if facts.outgoing == SOFT else None
        )
        side_work = SideWork(
            JournalWork(writer_settings, places.package, journal_period), TableWork(places.store, places.table)
        )
        writers = side_work.begin(pool.all) if is_worth_it(bundles, pool.size) else ()
        with hashed(places.package / f"{STRUCTURE}.xml") as out:
            structure = write_structure(
                bundles, writer_settings, Outlet(out, writers, pause), pool.size.portion_records
            )
        documents = [_describe_structure(out.sha256, structure.tally, deps)]
        with_changes = write_changes(bundles, places.package / f"{CHANGE_LOG}.xml", moments, deps.change_log)
        if with_changes is not None:
            documents.append(
                _describe_document(CHANGE_LOG, with_changes.sha256, deps, [("endring", with_changes.entries)])
            )
        period = _period(bundles, facts, moments)
        (journalled, signs), lost_counts = side_work.end(pause)
        for name, sha256 in journalled.files.items():
            documents.append(_describe_document(name, sha256, deps, [("journalregistrering", journalled.entries)]))
        _write_schemas(places.package, documents, deps)
        assembled = Assembly(
            structure.tally,
            structure.unsupported_fields,
            structure.placement,
            journalled,
            with_changes.entries if with_changes and not with_changes.is_note else 0,
            structure.signs + signs,
            lost_counts,
            *period[:2],
            documents,
            log=_judge_change_log(bundles, with_changes, deps.change_log),
            is_period_derived=period[2],
        )
        description = _description(bundles, assembled, deps)
        assembled.description_sha256 = hashlib.sha256(description).hexdigest()
        write_bytes(places.package / f"{DESCRIPTION}.xml", description, sync=False)
        return assembled
    finally:
        bundles.close()


def _judge_change_log(
    bundles: Bundles, written_changes: WrittenChanges | None, change_log: ChangeLog
) -> LogFlaw | None:
    """The flaw of the change log; None if it holds the changes."""
    if written_changes is not None:
        return "changes-noted" if written_changes.is_note else None
    return "changes-left-out" if change_log == "none" and count_changes(bundles) else "no-changes"


def _describe_structure(sha256: str, tally: Tally, deps: AssemblyDeps) -> DescribedDocument:
    counts = [(name, tally.units[name]) for name in ("mappe", "registrering")]
    more = []
    if tally.business and deps.declared_groups:
        more.append(DescribedFile(vsm.SCHEMA_FILE, ""))
    if tally.carried_values:
        more.append(DescribedFile(unmapped.SCHEMA_FILE, ""))
    return _describe_document(STRUCTURE, sha256, deps, counts, more)


def _describe_document(
    name: str, sha256: str, deps: AssemblyDeps, counts: Sequence[tuple[str, int]], more: Sequence[DescribedFile] = ()
) -> DescribedDocument:
    own_schemas = [DescribedFile(file, deps.schemas.sha256(file)) for file in (f"{name}.xsd", f"{CATALOGUE}.xsd")]
    return DescribedDocument(
        name, DescribedFile(f"{name}.xml", sha256), [*own_schemas, *_hash_schemas(more, deps)], counts
    )


def _hash_schemas(files: Sequence[DescribedFile], deps: AssemblyDeps) -> list[DescribedFile]:
    return [DescribedFile(file.name, hashlib.sha256(_own_schema(file.name, deps)).hexdigest()) for file in files]


def _own_schema(name: str, deps: AssemblyDeps) -> bytes:
    if name == unmapped.SCHEMA_FILE:
        return unmapped.schema().encode()
    return vsm_schema(vsm.NAMESPACE, deps.declared_groups)


def _write_schemas(package: Path, documents: Sequence[DescribedDocument], deps: AssemblyDeps) -> None:
    names = dict.fromkeys([schema.name for document in documents for schema in document.schemas])
    for name in (f"{ADDML}.xsd", *names):
        content = deps.schemas.content.get(name) or _own_schema(name, deps)
        write_bytes(package / name, content, sync=False)


def is_system_named(facts: PackageFacts) -> bool:
    """Whether someone said what the system is called."""
    return not names_nobody(_system_name(facts))


def _system_name(facts: PackageFacts) -> str:
    return (facts.metadata.system.name if facts.metadata.system else "") or SYSTEM_NAME


def _system_type(facts: PackageFacts) -> str:
    return (facts.metadata.system.type if facts.metadata.system else "") or SYSTEM_TYPE


def _period(bundles: Bundles, facts: PackageFacts, moments: Moments) -> tuple[str, str, bool]:
    """The period agreed on, else that of the series, else from the first day that a unit tells to the last; and whether
    an end of it was derived from units, so that nobody stated it."""
    of_series = bundles.db.execute(
        "SELECT min(json_extract(data, '$.f.arkivperiodeStartDato')),"
        " max(json_extract(data, '$.f.arkivperiodeSluttDato'))"
        " FROM unit WHERE kind = 'S'"
    ).fetchone()
    if of_series[0] and of_series[1] and str(of_series[1])[:10] < str(of_series[0])[:10]:
        of_series = (None, None)  # series that end before they begin tell nothing of a period
    start, end = facts.metadata.start or of_series[0], facts.metadata.end or of_series[1]
    if start and end:
        return moments.day(start), moments.day(end), False
    first, last = _span_of_units(bundles, moments)
    return moments.day(start) if start else first, moments.day(end) if end else last, True


def _span_of_units(bundles: Bundles, moments: Moments) -> tuple[str, str]:
    """The first and the last day that the period must have within it: of whatever was made, entered in the journal,
    archived or closed."""
    ends = ", ".join(f"{end}(json_extract(data, '$.f.{name}'))" for name in _PERIOD_FIELDS for end in ("min", "max"))
    moments_told = bundles.db.execute(f"SELECT {ends} FROM unit").fetchone()  # noqa: S608  # fields of ours
    days = sorted(moments.day(str(moment)) for moment in moments_told if moment)
    return (days[0], days[-1]) if days else ("", "")


def _description(bundles: Bundles, assembly: Assembly, deps: AssemblyDeps) -> bytes:
    title, creators = "", []
    for (data,) in bundles.db.execute("SELECT data FROM unit WHERE kind = 'F'"):
        title = str(orjson.loads(data)["f"].get("tittel", ""))
    for (data,) in bundles.db.execute("SELECT data FROM part WHERE type = 'Arkivskaper' ORDER BY uuid"):
        creators.append(str(orjson.loads(data)["f"].get("arkivskaperNavn", "")))
    facts, stated, tally = deps.facts, deps.facts.metadata, assembly.tally
    assembly.creators = tuple(sorted(name for name in creators if not names_nobody(name)))
    files = int(bundles.db.execute("SELECT count(*) FROM version WHERE done = 1").fetchone()[0])
    return description_xml(
        Description(
            title=title,
            description=stated.description or stated.label or DESCRIPTION_TEXT,
            creators=assembly.creators or tuple(sorted(creators)),
            system_type=_system_type(facts),
            system_name=_system_name(facts),
            start=assembly.start,
            end=assembly.end,
            incoming=facts.incoming,
            outgoing=facts.outgoing,
            screened=tally.is_screened,
            disposed=tally.has_disposed,
            to_be_disposed=tally.has_disposal_decisions,
            business=tally.has_business_metadata,
            files=files,
            documents=assembly.documents,
        )
    )
