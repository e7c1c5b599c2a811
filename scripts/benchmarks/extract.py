"""From the embedded archive to a package: metadata, documents, and the structure beside a hand-joined writer."""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from noarkit.archive.administration import Administration
from noarkit.archive.values import Action, Link, Save, bytes_to_upload
from noarkit.events import Event, ignore_event
from noarkit.extraction.bundles import Bundles
from noarkit.extraction.file_writers import WriterSettings, write_structure
from noarkit.extraction.output import hashed
from noarkit.extraction.partition import Outlet
from noarkit.extraction.run import ExtractSettings, extract, read_codes, work_folder
from noarkit.extraction.workers import PoolSize, WorkerPool
from noarkit.forms.noark5.write.content import Content, parse
from scripts.benchmarks.archive import Bench, opened
from scripts.benchmarks.figures import machine, measured, medians, peak_mb, processor_seconds, seconds, tell

RECORDS = 20_000
_IN_A_CASE = 20
_AT_ONCE = 120


def run(rounds: int, *, small: bool, only: str) -> None:
    """Every figure, as rows of one table."""
    print(f"\nextract: {machine()}, medians of {rounds} rounds\n")
    print("| figure | ours | floor | ratio | floor is |\n|---|---|---|---|---|")
    count = RECORDS // 10 if small else RECORDS
    parts = {"end to end": _end_to_end, "writing": _writing}
    if wanted := [part for name, part in parts.items() if only in name]:
        with opened(small) as bench:
            fill(bench, count)
            for part in wanted:
                part(bench, count, rounds)
    if only in "without documents":
        with opened(small) as bench:
            fill(bench, count, with_files=False)
            _without_documents(bench, count, rounds)


def fill(bench: Bench, count: int, *, with_files: bool = True) -> None:
    """Journal posts with a party, a document and a version of 4 KB, in case files."""
    archive = bench.archive
    made = archive.transaction(_spine())
    series, klasse = made["d"].id, made["k"].id
    actions: list[Action] = []
    case = ""
    for number in range(count):
        if number % _IN_A_CASE == 0:
            case = f"c{number}"
            actions += _case(case, series, klasse)
        file_id = archive.upload(bytes_to_upload(os.urandom(2048).hex().encode(), "a.txt")).id if with_files else None
        actions += _post(number, case, file_id)
        if number % _AT_ONCE == _AT_ONCE - 1 or number == count - 1:
            archive.transaction(actions)
            actions = []
    archive.transaction([Save("Arkivdel", series, {"arkivdelstatus": "P"})])


def _spine() -> list[Action]:
    return [
        Save("Arkivskaper", "s", {"arkivskaperIdent": "1", "arkivskaperNavn": "creator"}),
        Save("Arkiv", "a", {"tittel": "fonds"}),
        Link("Arkivskaper", "s", "refArkiv", ("a",)),
        Save("Arkivdel", "d", {"tittel": "series"}),
        Link("Arkivdel", "d", "refArkiv", ("a",)),
        Save("Klassifikasjonssystem", "y", {"tittel": "system"}),
        Link("Arkivdel", "d", "refPrimaerKlassifikasjonssystem", ("y",)),
        Save("Klasse", "k", {"klasseIdent": "1", "tittel": "class"}),
        Link("Klasse", "k", "refKlassifikasjonssystem", ("y",)),
    ]


def _case(name: str, series: str, klasse: str) -> list[Action]:
    return [
        Save("Saksmappe", name, {"tittel": f"Sak {name}", "administrativEnhet": "ADM", "saksansvarlig": "Kari"}),
        Link("Saksmappe", name, "refArkivdel", (series,)),
        Link("Saksmappe", name, "refPrimaerKlasse", (klasse,)),
    ]


def _post(number: int, case: str, file_id: str | None) -> list[Action]:
    post, party, document, version = (f"{letter}{number}" for letter in "pqdv")
    told = {"tittel": f"Søknad om bruksendring nr. {number}", "journalposttype": "I", "dokumentetsDato": "2021-03-04"}
    more = {"mottattDato": "2021-03-05T08:09:10.000Z", "beskrivelse": "Ett & annet", "offentligTittel": "Søknad"}
    sender = {"korrespondanseparttype": "EA", "korrespondansepartNavn": "Kari Nordmann", "postnummer": "0150"}
    version_actions: list[Action] = []
    if file_id is not None:
        file = {"variantformat": "A", "format": "txt", "referanseDokumentfil": file_id}
        version_actions = [
            Save("Dokumentversjon", version, file),
            Link("Dokumentversjon", version, "refDokument", (document,)),
        ]
    return [
        Save("Journalpost", post, {**told, **more}),
        Link("Journalpost", post, "refMappe", (case,)),
        Save("Korrespondansepart", party, {**sender, "poststed": "Oslo", "epostadresse": "kari@example.org"}),
        Link("Korrespondansepart", party, "refRegistrering", (post,)),
        Save("Dokument", document, {"tittel": "Søknad", "tilknyttetRegistreringSom": "H", "dokumenttype": "B"}),
        Link("Dokument", document, "refRegistrering", (post,)),
        *version_actions,
    ]


def _end_to_end(bench: Bench, count: int, rounds: int) -> None:
    metadata, whole = [], []
    for number in range(rounds):
        target = bench.folder / f"package-{number}"
        marks: dict[str, float] = {}

        def mark(event: Event, /, marks: dict[str, float] = marks) -> None:
            name = "first" if event.name == "files_fetched" and "first" not in marks else event.name
            marks[name] = time.perf_counter()

        took = partial(extract, bench.archive, target, ExtractSettings(include_open=True), emit=mark)
        began = time.perf_counter()
        ended = began + measured(partial(seconds, took))
        documents = marks["assembling"] - marks["files_wanted"] + marks["package_made"] - marks["naming"]
        metadata.append(count / (ended - began - documents))
        whole.append(count / (ended - began))
        shutil.rmtree(target)
    tell(
        "extract of metadata",
        statistics.median(metadata),
        "records/s",
        what="all but fetching and syncing the documents",
    )
    tell("extract with a 4 KB document each", statistics.median(whole), "records/s", what="all of it")
    tell("peak memory", peak_mb(os.getpid()), "MiB", what="the client, with this script")


def _without_documents(bench: Bench, count: int, rounds: int) -> None:
    speeds = []
    for number in range(rounds):
        took = partial(
            extract,
            bench.archive,
            bench.folder / f"bare-{number}",
            ExtractSettings(include_open=True),
            emit=ignore_event,
        )
        speeds.append(count / measured(partial(seconds, took)))
    tell("extract without documents", statistics.median(speeds), "records/s", what="there are none")


def _writing(bench: Bench, count: int, rounds: int) -> None:
    """arkivstruktur.xml alone, from a store that is full; the floor joins the same elements by hand, without rules."""
    store = _store(bench)
    pen = WriterSettings(
        store, read_codes(Administration(bench.archive)), "Europe/Oslo", "2026-01-01T00:00:00.000Z", False
    )
    takes: dict[str, list[float]] = {"alone": [], "together": [], "floor": []}
    for _ in range(rounds):
        takes["alone"].append(count / seconds(lambda: _written(bench, pen, PoolSize(0))))
        takes["together"].append(count / seconds(lambda: _written(bench, pen, PoolSize())))
        takes["floor"].append(count / seconds(lambda: _written_by_hand(bench, store)))
    floor = statistics.median(takes["floor"])
    for name, kind in (("one process", "alone"), ("and its children", "together")):
        ratio = statistics.median(one / other for one, other in zip(takes[kind], takes["floor"], strict=True))
        figure = statistics.median(takes[kind])
        tell(f"writing arkivstruktur, {name}", figure, "records/s", floor, "joined by hand, one process", ratio)
    figures = medians(
        rounds,
        lambda: count / processor_seconds(lambda: _written(bench, pen, PoolSize(0))),
        lambda: count / processor_seconds(lambda: _written_by_hand(bench, store)),
    )
    one, other, ratio = figures
    tell("the same by processor time", one, "records/s", other, "joined by hand, one process", ratio)


def _written(bench: Bench, pen: WriterSettings, team: PoolSize) -> None:
    with WorkerPool(team) as hands, hashed(bench.folder / "structure.xml") as out:
        bundles = Bundles(pen.store)
        write_structure(bundles, pen, Outlet(out, hands.all[:-2], lambda: None), team.portion_records)
        bundles.close()


def _written_by_hand(bench: Bench, store: Path) -> None:
    bundles = Bundles(store)
    with hashed(bench.folder / "by-hand.xml") as out:
        for text in _by_hand(bundles):
            out.write(text.encode())
    bundles.close()


def _store(bench: Bench) -> Path:
    """The store of an extract that was stopped before it was assembled."""

    class Enough(Exception):
        """It is full."""

    def stop(event: Event, /) -> None:
        if event.name == "assembling":
            raise Enough

    target = bench.folder / "stopped"
    with suppress(Enough):
        extract(bench.archive, target, ExtractSettings(include_open=True), emit=stop)
    store = work_folder(target) / "fetched.db"
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store


_PARTY = ("korrespondansepartNavn", "postnummer", "poststed", "epostadresse")
_VERSION = (
    *("uuid", "versjonsnummer", "variantformat", "format", "opprettetDato", "opprettetAv"),
    *("referanseDokumentfil", "sjekksum", "sjekksumAlgoritme", "filstoerrelse"),
)
_DOCUMENT = ("uuid", "dokumenttype", "dokumentstatus", "tittel", "opprettetDato", "opprettetAv", "dokumentmedium")
_POST = (
    *("uuid", "opprettetDato", "opprettetAv", "registreringsIdent", "tittel", "offentligTittel", "beskrivelse"),
    *("dokumentmedium", "journalaar", "journalsekvensnummer", "journalpostnummer", "journalposttype"),
    *("journalstatus", "registreringsDato", "dokumentetsDato", "mottattDato"),
)


def _by_hand(bundles: Bundles) -> Iterator[str]:
    """The same rows, read, escaped and parsed; then the fields there are, joined: no rules, no codes, no times."""
    for (case,) in bundles.db.execute("SELECT id FROM unit WHERE kind = 'M' ORDER BY sort, uuid"):
        yield "".join([_record_by_hand(parse(raw, bundles.cleaned)) for raw in bundles.records(case)])


def _record_by_hand(post: Content) -> str:
    out = ["<registrering>", *_fields(post["o"]["f"], _POST)]
    for party in post["p"]:
        out += ["<korrespondansepart>", *_fields(party["f"], _PARTY), "</korrespondansepart>"]
    for document in post["d"]:
        out += ["<dokumentbeskrivelse>", *_fields(document["o"]["f"], _DOCUMENT)]
        for version in document["v"]:
            out += ["<dokumentobjekt>", *_fields(version["o"]["f"], _VERSION), "</dokumentobjekt>"]
        out.append("</dokumentbeskrivelse>")
    out.append("</registrering>\n")
    return "".join(out)


def _fields(fields: dict[str, object], names: tuple[str, ...]) -> list[str]:
    return [f"<{name}>{fields[name]}</{name}>\n" for name in names]
