"""From the store to the files of the package: structure, change log, journals, schemas, and the description of all."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from noarkit.extract.bundles import Bundles
from noarkit.extract.changes import ChangeLog, LogFlaw, Written, count_changes, write_changes
from noarkit.extract.facts import PackageFacts
from noarkit.extract.hands import Hands
from noarkit.extract.journal_files import Journalled, JournalPeriod
from noarkit.extract.output import hashed
from noarkit.extract.portions import Outlet
from noarkit.extract.schema_files import SchemaSet
from noarkit.extract.structure import Placed
from noarkit.extract.writing import Beside, JournalMaking, Pen, TableMaking, is_worth_it, write_structure
from noarkit.packages.noark5 import beyond, vsm
from noarkit.packages.noark5.content import Codes
from noarkit.packages.noark5.description import DescribedDocument, DescribedFile, Description, description_xml
from noarkit.packages.noark5.moments import Moments
from noarkit.packages.noark5.original import GROUP
from noarkit.packages.noark5.schemas import VsmGroup, vsm_schema
from noarkit.packages.noark5.spec import (
    ADDML,
    CATALOGUE,
    CHANGE_LOG,
    DESCRIPTION,
    STRUCTURE,
)
from noarkit.packages.noark5.write import Tally
from noarkit.safe.atomic import write_bytes

UNKNOWN = frozenset({"", "ukjent", "unknown"})
"""Names of creators that say that nobody knows the creator."""


@dataclass(frozen=True, slots=True)
class Given:
    """All that assembling needs beside the store. `begun` is when the extract was first started."""

    facts: PackageFacts
    codes: Codes
    schemas: SchemaSet
    zone: str
    begun: str
    business: tuple[VsmGroup, ...] = ()
    carry: bool = True
    change_log: ChangeLog = "from-archive"

    @property
    def keeps_originals(self) -> bool:
        """True where the archive may keep elements of an original."""
        return any(group.id == GROUP for group in self.business)

    @property
    def declared(self) -> tuple[VsmGroup, ...]:
        """The groups that the package's own schema declares: not that of originals, which stand in their elements."""
        return tuple(group for group in self.business if group.id != GROUP)


@dataclass(frozen=True, slots=True)
class Places:
    """The store, the folder of the package, and where the table of what the form cannot say goes."""

    store: Path
    package: Path
    table: Path


@dataclass(slots=True)
class Assembled:
    """What was written."""

    tally: Tally
    met: Counter[tuple[str, str]]
    placed: Placed
    journalled: Journalled
    changes: int
    replaced_signs: int
    lost: dict[str, int]
    start: str = ""
    end: str = ""
    documents: list[DescribedDocument] = field(default_factory=list)
    creators: tuple[str, ...] = ()
    log: LogFlaw | None = None


def assemble(places: Places, given: Given, hands: Hands, pause: Callable[[], None]) -> Assembled:
    """Writes all files of the package but the documents, which are there already, and the table of what the form cannot
    say. Where there are `hands`, two of them do other things while the rest write the structure."""
    moments = Moments(given.zone)
    pen = Pen(places.store, given.codes, given.zone, given.begun, given.carry, given.keeps_originals)
    bundles = Bundles(places.store)
    try:
        facts = given.facts
        agreed = JournalPeriod(
            facts.start if facts.incoming == "mykt" else None, facts.end if facts.outgoing == "mykt" else None
        )
        beside = Beside(JournalMaking(pen, places.package, agreed), TableMaking(places.store, places.table))
        writers = beside.begin(hands.all) if is_worth_it(bundles, hands.team) else ()
        with hashed(places.package / f"{STRUCTURE}.xml") as out:
            made = write_structure(bundles, pen, Outlet(out, writers, pause), hands.team.portion)
        told = [_structure(out.sha256, made.tally, given)]
        with_changes = write_changes(bundles, places.package / f"{CHANGE_LOG}.xml", moments, given.change_log)
        if with_changes is not None:
            told.append(_document(CHANGE_LOG, with_changes.sha256, given, [("endring", with_changes.entries)]))
        period = _period(bundles, facts, moments)
        (journalled, signs), lost = beside.end(pause)
        for name, sha256 in journalled.files.items():
            told.append(_document(name, sha256, given, [("journalregistrering", journalled.entries)]))
        _write_schemas(places.package, told, given)
        assembled = Assembled(
            made.tally,
            made.met,
            made.placed,
            journalled,
            with_changes.entries if with_changes and not with_changes.noted else 0,
            made.signs + signs,
            lost,
            *period,
            told,
            log=_log(bundles, with_changes),
        )
        write_bytes(places.package / f"{DESCRIPTION}.xml", _description(bundles, assembled, given), sync=False)
        return assembled
    finally:
        bundles.close()


def _log(bundles: Bundles, written: Written | None) -> LogFlaw | None:
    """What is to be said of the change log; None where it holds the changes."""
    if written is not None:
        return "changes-noted" if written.noted else None
    return "changes-left-out" if count_changes(bundles) else "no-changes"


def _structure(sha256: str, tally: Tally, given: Given) -> DescribedDocument:
    counts = [(name, tally.units[name]) for name in ("mappe", "registrering")]
    more = []
    if tally.business and given.declared:
        more.append(DescribedFile(vsm.SCHEMA_FILE, ""))
    if tally.carried:
        more.append(DescribedFile(beyond.SCHEMA_FILE, ""))
    return _document(STRUCTURE, sha256, given, counts, more)


def _document(
    name: str, sha256: str, given: Given, counts: Sequence[tuple[str, int]], more: Sequence[DescribedFile] = ()
) -> DescribedDocument:
    own = [DescribedFile(file, given.schemas.sha256(file)) for file in (f"{name}.xsd", f"{CATALOGUE}.xsd")]
    return DescribedDocument(name, DescribedFile(f"{name}.xml", sha256), [*own, *_hashed(more, given)], counts)


def _hashed(files: Sequence[DescribedFile], given: Given) -> list[DescribedFile]:
    return [DescribedFile(one.name, hashlib.sha256(_own_schema(one.name, given)).hexdigest()) for one in files]


def _own_schema(name: str, given: Given) -> bytes:
    if name == beyond.SCHEMA_FILE:
        return beyond.schema().encode()
    return vsm_schema(vsm.NAMESPACE, given.declared)


def _write_schemas(package: Path, documents: Sequence[DescribedDocument], given: Given) -> None:
    names = dict.fromkeys([schema.name for document in documents for schema in document.schemas])
    for name in (f"{ADDML}.xsd", *names):
        content = given.schemas.content.get(name) or _own_schema(name, given)
        write_bytes(package / name, content, sync=False)


def _period(bundles: Bundles, facts: PackageFacts, moments: Moments) -> tuple[str, str]:
    """The period agreed on, else that of the series, else from the first creation to the last closing."""
    of_series = bundles.db.execute(
        "SELECT min(json_extract(data, '$.f.arkivperiodeStartDato')),"
        " max(json_extract(data, '$.f.arkivperiodeSluttDato'))"
        " FROM unit WHERE kind = 'S'"
    ).fetchone()
    of_units = bundles.db.execute(
        "SELECT min(json_extract(data, '$.f.opprettetDato')), max(coalesce(json_extract(data, '$.f.avsluttetDato'),"
        " json_extract(data, '$.f.opprettetDato'))) FROM unit WHERE kind IN ('F', 'S')"
    ).fetchone()
    if of_series[0] and of_series[1] and str(of_series[1])[:10] < str(of_series[0])[:10]:
        of_series = (None, None)  # series that end before they begin tell nothing of a period
    start = facts.start.isoformat() if facts.start else of_series[0] or of_units[0]
    end = facts.end.isoformat() if facts.end else of_series[1] or of_units[1]
    return moments.day(start), moments.day(end)


def _description(bundles: Bundles, made: Assembled, given: Given) -> bytes:
    title, creators = "", []
    for (data,) in bundles.db.execute("SELECT data FROM unit WHERE kind = 'F'"):
        title = str(orjson.loads(data)["f"].get("tittel", ""))
    for (data,) in bundles.db.execute("SELECT data FROM part WHERE type = 'Arkivskaper' ORDER BY uuid"):
        creators.append(str(orjson.loads(data)["f"].get("arkivskaperNavn", "")))
    facts, tally = given.facts, made.tally
    named = sorted(name for name in creators if name.strip().lower() not in UNKNOWN)
    made.creators = tuple(named) or facts.creators  # the archive's own, where it knows any
    files = int(bundles.db.execute("SELECT count(*) FROM version WHERE done = 1").fetchone()[0])
    return description_xml(
        Description(
            title=title,
            description=facts.description,
            creators=made.creators or tuple(sorted(creators)),
            system_type=facts.system_type,
            system_name=facts.system_name,
            start=made.start,
            end=made.end,
            incoming=facts.incoming,
            outgoing=facts.outgoing,
            screened=tally.screened > 0,
            disposed=tally.disposed > 0,
            to_be_disposed=tally.disposals > 0,
            business=tally.business > 0,
            files=files,
            documents=made.documents,
        )
    )
