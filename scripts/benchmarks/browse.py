"""The catalogue of a large Noark 5 extract: how fast it is made, and how fast pages are answered from it.

The floors are taken in the same run: expat with one handler for starts over the same structure, and the same rows into
bare tables of SQLite with FTS5. Pages are asked of the catalogue itself, by calls.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from xml.parsers import expat

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.journal import JournalQuery
from noarkit.catalogue.places.extract import ExtractPlace
from noarkit.catalogue.search import SearchQuery
from noarkit.catalogue.store import write_catalogue
from noarkit.events import ignore_event
from noarkit.forms.noark5 import spec
from scripts.benchmarks.figures import machine, peak_mb
from scripts.benchmarks.noark_package import hash_of

POSTS = 1_000_000
PAGES = 1_000
_CASE = 10
_CLASS = 1_000
_FILES = 1_000
_CHANGED = 100
_WORDS = (  # noqa: SIM905  # a list of so many would take a line each
    "bygning grense nabo klage vei skole barn budsjett plan vann avløp tomt brygge gjerde tilsyn søknad svar varsel"
    " vedtak møte protokoll referat kontrakt faktura leie salg kjøp støtte tilskudd rapport måling støy trafikk buss"
).split()
_NAMES = "Kari Ola Anne Per Ingrid Lars Åse Nils Marit Jon Hansen Johansen Olsen Larsen Bråten Lund Moen Berg".split()  # noqa: SIM905  # the same


def run(rounds: int, *, small: bool, only: str) -> None:
    """One round: the work is large."""
    posts = POSTS // 10 if small else POSTS
    print(f"\nbrowse: {machine()}, load {os.getloadavg()[0]:.1f} at the start, {posts:,} journal posts\n", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="noarkit-bench-"))
    try:
        make_extract(folder / "extract", posts)
        structure = folder / "extract" / f"{spec.STRUCTURE}.xml"
        print("| figure | seconds | records/s | of processors | floor is |\n|---|---|---|---|---|")
        _tell("expat", posts, lambda: _expat(structure), "expat with a handler for starts")
        peak = [0.0]
        _tell("the catalogue, whole", posts, lambda: peak.append(_build(folder)), "")
        _tell("the same rows", posts, lambda: _bare_rows(folder / "c.db", folder / "bare.db"), "SQLite with FTS5, bare")
        size = (folder / "c.db").stat().st_size
        print(f"\npeak memory while it is made: {peak[-1]:,.0f} MiB; size {size / 1e6:,.0f} MB", flush=True)
        _look(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _tell(name: str, posts: int, act: Callable[[], object], floor: str) -> None:
    began, before = time.perf_counter(), os.times()
    act()
    taken, after = time.perf_counter() - began, os.times()
    busy = sum(after[:4]) - sum(before[:4])
    print(
        f"| {name} | {taken:,.1f} | {posts / taken:,.0f} | {busy:,.1f} s, {posts / busy:,.0f}/s | {floor} |", flush=True
    )


def _expat(structure: Path) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: None
    with structure.open("rb") as file:
        parser.ParseFile(file)


def _build(folder: Path) -> float:
    place = ExtractPlace(folder / "extract")
    write_catalogue(folder / "c.db", place.identity, place.items(ignore_event))
    return peak_mb(os.getpid())


def _bare_rows(catalogue: Path, target: Path) -> None:
    """The rows that the catalogue has, read from it, into tables without a single index."""
    with closing(sqlite3.connect(catalogue)) as source, closing(sqlite3.connect(target, isolation_level=None)) as db:
        for pragma in ("journal_mode=OFF", "synchronous=OFF"):
            db.execute(f"PRAGMA {pragma}")
        db.execute("BEGIN")
        for table in ("item", "document"):
            rows = source.execute(f"SELECT * FROM {table}")  # noqa: S608  # two fixed names
            columns = len(rows.description)
            db.execute(f"CREATE TABLE {table} ({','.join(column[0] for column in rows.description)})")
            db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * columns)})", rows)  # noqa: S608  # the same
        db.execute("CREATE VIRTUAL TABLE words USING fts5 (title, content='')")
        db.executemany("INSERT INTO words (rowid, title) VALUES (?,?)", source.execute("SELECT n, title FROM item"))
        db.execute("COMMIT")


def _look(folder: Path) -> None:
    """Asks pages of the catalogue in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            _ask(folder)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def _ask(folder: Path) -> None:
    began = time.perf_counter()
    with Catalogue(folder / "c.db", ExtractPlace(folder / "extract")) as catalogue:
        catalogue.children()
        opened = time.perf_counter() - began
        chance = random.Random(1)  # pages, not secrets
        with closing(sqlite3.connect(folder / "c.db")) as db:
            (last,) = db.execute("SELECT max(n) FROM item").fetchone()
            refs = [
                db.execute("SELECT ref FROM item WHERE n >= ? LIMIT 1", (chance.randint(1, last),)).fetchone()[0]
                for _ in range(PAGES)
            ]
            days = [day for (day,) in db.execute("SELECT day FROM journal_day")]
        kinds: dict[str, list[float]] = {}
        for number, ref in enumerate(refs):
            kind, ask = _page(catalogue, number, ref, chance, days)
            at = time.perf_counter()
            ask()
            kinds.setdefault(kind, []).append((time.perf_counter() - at) * 1000)
        everything = [taken for times in kinds.values() for taken in times]
        print(f"opened in {opened * 1000:,.0f} ms; memory {peak_mb(os.getpid()):,.0f} MiB\n")
        print("| pages | median | 99th percentile | longest |\n|---|---|---|---|")
        for kind, times in (*kinds.items(), ("all", everything)):
            cuts = statistics.quantiles(times, n=100)
            print(f"| {len(times)} {kind} | {cuts[49]:.1f} ms | {cuts[98]:.1f} ms | {max(times):.1f} ms |", flush=True)


def _page(
    catalogue: Catalogue, number: int, ref: str, chance: random.Random, days: list[str]
) -> tuple[str, Callable[[], object]]:
    """A page of one of five kinds."""
    if number % 5 == 0:
        parent = next(iter(reversed(catalogue.ancestors(ref))), None)
        return "children", lambda: catalogue.children(parent.ref if parent else None)
    if number % 5 == 1:
        return "cards", lambda: catalogue.card(ref)
    if number % 5 == 2:
        query = JournalQuery(chance.choice(days), public=number % 2 == 0)
        return "journal days", lambda: catalogue.journal(query)
    if number % 5 == 3:
        words = f"{_compound(chance.choice(_WORDS), chance.choice(_WORDS))} {chance.choice(_NAMES)}"
        return "searches of two words", lambda: catalogue.search(SearchQuery(words))
    beginning = chance.choice(_WORDS)[:4]
    return "searches of a beginning", lambda: catalogue.search(SearchQuery(f"{beginning}*"))


def make_extract(folder: Path, posts: int) -> None:
    """Writes an extract of that many journal posts, each with a document; the documents share a thousand files."""
    documents = folder / spec.DOCUMENT_FOLDER
    documents.mkdir(parents=True)
    for number in range(_FILES):
        (documents / f"{number}.pdf").write_bytes(b"%PDF-1.4\n")
    for name, parts in ((spec.STRUCTURE, _structure(posts)), (spec.CHANGE_LOG, _changes(posts))):
        with (folder / f"{name}.xml").open("w", encoding="utf-8") as file:
            file.writelines(parts)


def _id(kind: int, number: int) -> str:
    text = f"{hash_of(kind, number):016x}{hash_of(number, kind):016x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


def _created(number: int) -> str:
    at = f"{_day(number)}T{number % 24:02}:{number % 60:02}:00"
    return f"<opprettetDato>{at}</opprettetDato>\n<opprettetAv>{_name(number + 1)}</opprettetAv>\n"


def _day(number: int) -> str:
    return f"{2010 + number // 13 % 10}-{number // 7 % 12 + 1:02}-{number // 3 % 28 + 1:02}"


def _name(number: int) -> str:
    spread = hash_of(7, number)
    return f"{_NAMES[spread % 10]} {_NAMES[10 + spread // 16 % 8]}"


def _title(number: int) -> str:
    """A common word, and three of some thousand."""
    spread = hash_of(9, number)
    words = [_WORDS[spread // 64**place % len(_WORDS)] for place in range(7)]
    return f"{words[0]} {_compound(*words[1:3])} {_compound(*words[3:5])} {_compound(*words[5:])}".capitalize()


def _compound(first: str, second: str) -> str:
    return f"{first}s{second}"


def _structure(posts: int) -> Iterator[str]:
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<arkiv xmlns="{spec.namespace(spec.STRUCTURE)}"'
        f' xmlns:xsi="{spec.XSI_NAMESPACE}">\n<systemID>{_id(1, 0)}</systemID>\n<tittel>Arkiv</tittel>\n{_created(0)}'
        f"<arkivdel>\n<systemID>{_id(2, 0)}</systemID>\n<tittel>Saksarkiv</tittel>\n{_created(0)}"
        f"<klassifikasjonssystem>\n<systemID>{_id(3, 0)}</systemID>\n<tittel>Nøkkel</tittel>\n{_created(0)}"
    )
    for number in range(posts):
        if number % _CLASS == 0:
            yield "</klasse>\n" if number else ""
            klass = number // _CLASS
            yield f"<klasse>\n<systemID>{_id(4, klass)}</systemID>\n<klasseID>{klass:03}</klasseID>\n"
            yield f"<tittel>{_title(klass)}</tittel>\n{_created(klass)}"
        if number % _CASE == 0:
            yield _case_head(number // _CASE)
        yield _post(number)
        if number % _CASE == _CASE - 1 or number == posts - 1:
            yield _case_tail(number // _CASE)
    yield "</klasse>\n</klassifikasjonssystem>\n</arkivdel>\n</arkiv>\n"


def _case_head(case: int) -> str:
    screening = (
        "<skjerming>\n<tilgangsrestriksjon>Unntatt offentlighet</tilgangsrestriksjon>\n"
        "<skjermingshjemmel>Offl. § 13</skjermingshjemmel>\n</skjerming>\n"
    )
    return (
        f'<mappe xsi:type="saksmappe">\n<systemID>{_id(5, case)}</systemID>\n'
        f"<mappeID>{2010 + case % 10}/{case}</mappeID>\n"
        f"<tittel>{_title(case)}</tittel>\n<offentligTittel>{_title(case)}</offentligTittel>\n{_created(case)}"
        f"{screening if case % 20 == 0 else ''}"
    )


def _case_tail(case: int) -> str:
    return (
        f"<saksaar>{2010 + case % 10}</saksaar>\n<sakssekvensnummer>{case}</sakssekvensnummer>\n<saksdato>{_day(case)}"
        f"</saksdato>\n<administrativEnhet>Enhet {case % 40}</administrativEnhet>\n<saksansvarlig>{_name(case)}"
        "</saksansvarlig>\n<saksstatus>Avsluttet</saksstatus>\n</mappe>\n"
    )


def _post(number: int) -> str:
    kind = ("Inngående dokument", "Utgående dokument", "Organinternt dokument uten oppfølging")[number % 3]
    role = "Mottaker" if number % 3 else "Avsender"
    return (
        f'<registrering xsi:type="journalpost">\n<systemID>{_id(6, number)}</systemID>\n{_created(number)}'
        f"<arkivertDato>{_day(number)}T12:00:00</arkivertDato>\n<arkivertAv>{_name(number)}</arkivertAv>\n"
        f"<referanseArkivdel>{_id(2, 0)}</referanseArkivdel>\n<dokumentbeskrivelse>\n"
        f"<systemID>{_id(7, number)}</systemID>\n"
        "<dokumenttype>Brev</dokumenttype>\n<dokumentstatus>Dokumentet er ferdigstilt</dokumentstatus>\n"
        f"<tittel>{_title(number + 1)}</tittel>\n{_created(number)}"
        "<tilknyttetRegistreringSom>Hoveddokument</tilknyttetRegistreringSom>\n<dokumentnummer>1</dokumentnummer>\n"
        f"<tilknyttetDato>{_day(number)}T10:00:00</tilknyttetDato>\n<tilknyttetAv>{_name(number)}</tilknyttetAv>\n"
        f"<dokumentobjekt>\n<systemID>{_id(8, number)}</systemID>\n<versjonsnummer>1</versjonsnummer>\n"
        f"<variantformat>Arkivformat</variantformat>\n<format>PDF/A</format>\n{_created(number)}"
        f"<referanseDokumentfil>{spec.DOCUMENT_FOLDER}/{number % _FILES}.pdf</referanseDokumentfil>\n"
        f"<sjekksum>{hash_of(10, number):064x}</sjekksum>\n<sjekksumAlgoritme>SHA-256</sjekksumAlgoritme>\n"
        "<filstoerrelse>9</filstoerrelse>\n</dokumentobjekt>\n</dokumentbeskrivelse>\n"
        f"<registreringsID>{number}/{2010 + number % 10}</registreringsID>\n<tittel>{_title(number)}</tittel>\n"
        f"<korrespondansepart>\n<korrespondanseparttype>{role}</korrespondanseparttype>\n<korrespondansepartNavn>"
        f"{_name(number)}</korrespondansepartNavn>\n<postadresse>Storgata {number % 300}</postadresse>\n"
        "<postnummer>0001</postnummer>\n<poststed>Oslo</poststed>\n</korrespondansepart>\n"
        f"<journalaar>{2010 + number % 10}</journalaar>\n<journalsekvensnummer>{number + 1}</journalsekvensnummer>\n"
        f"<journalpostnummer>{number % _CASE + 1}</journalpostnummer>\n<journalposttype>{kind}</journalposttype>\n"
        f"<journalstatus>Arkivert</journalstatus>\n<journaldato>{_day(number)}</journaldato>\n"
        f"<dokumentetsDato>{_day(number)}</dokumentetsDato>\n</registrering>\n"
    )


def _changes(posts: int) -> Iterator[str]:
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<endringslogg xmlns="{spec.namespace(spec.CHANGE_LOG)}">\n'
    for number in range(0, posts, _CHANGED):
        yield (
            f"<endring>\n<referanseArkivenhet>{_id(6, number)}</referanseArkivenhet>\n"
            f"<referanseMetadata>tittel</referanseMetadata>\n<endretDato>{_day(number)}T10:00:00</endretDato>\n"
            f"<endretAv>{_name(number)}</endretAv>\n<tidligereVerdi>før</tidligereVerdi>\n<nyVerdi>nå</nyVerdi>\n"
            "</endring>\n"
        )
    yield "</endringslogg>\n"
