"""The embedded archive and its client on the same machine, beside their floors."""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from noarkit.archive.http import HttpArchive, connect
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Action, Link, Query, Save, bytes_to_upload, file_to_upload
from noarkit.embedded import EmbeddedArchive, open_embedded
from noarkit.server.areas import open_service
from scripts.benchmarks import floors
from scripts.benchmarks.figures import machine, medians, peak_mb, seconds, tell
from tests.server.transaction.desk import Desk, link, save

ACTIONS = 1000


@dataclass(frozen=True)
class Bench:
    """One running archive, a session with it, and a folder for what floors need."""

    archive: HttpArchive
    embedded: EmbeddedArchive
    folder: Path
    small: bool

    def share(self, number: int) -> int:
        return max(1, number // 10) if self.small else number


def run(rounds: int, *, small: bool, only: str) -> None:
    """Every figure, as rows of one table."""
    print(f"\narchive: {machine()}, medians of {rounds} rounds\n")
    print("| figure | ours | floor | ratio | floor is |\n|---|---|---|---|---|")
    parts: dict[str, Callable[[Bench, int], None]] = {
        "start": _start,
        "transactions": _transactions,
        "engine": _engine,
        "uploads": _small_uploads,
        "large": _large_files,
        "queries": _queries,
    }
    for name, part in parts.items():
        if only in name:
            with opened(small) as bench:
                part(bench, rounds)


@contextmanager
def opened(small: bool) -> Iterator[Bench]:
    """A fresh archive with a session."""
    folder = Path(tempfile.mkdtemp(prefix="noarkit-bench-"))
    try:
        with open_embedded(folder / "archive", "admin") as embedded:
            archive = connect(settings_of(embedded))
            yield Bench(archive, embedded, folder, small)
            archive.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def settings_of(embedded: EmbeddedArchive) -> ArchiveSettings:
    """How to reach an embedded archive."""
    return ArchiveSettings(embedded.url, Credentials(embedded.client_id, embedded.client_secret), embedded.token_url)


def structure(archive: HttpArchive) -> str:
    """A series to put things into; returns its id."""
    saved = archive.transaction(
        (
            Save("Arkiv", "a", {"tittel": "fonds"}),
            Save("Arkivskaper", "s", {"arkivskaperIdent": "1", "arkivskaperNavn": "creator"}),
            Link("Arkivskaper", "s", "refArkiv", ("a",)),
            Save("Arkivdel", "d", {"tittel": "series"}),
            Link("Arkivdel", "d", "refArkiv", ("a",)),
        )
    )
    return saved["d"].id


def record_actions(series: str, count: int, first: int = 0) -> list[Action]:
    """`count` actions that make records under a series: a save and a link each."""
    actions: list[Action] = []
    for i in range(first, first + count // 2):
        actions.append(Save("Basisregistrering", f"r{i}", {"tittel": f"record {i}", "dokumentetsDato": "2020-01-01"}))
        actions.append(Link("Basisregistrering", f"r{i}", "refArkivdel", (series,)))
    return actions


def _start(bench: Bench, rounds: int) -> None:
    def once() -> float:
        folder = bench.folder / f"start-{time.monotonic_ns()}"
        began = time.perf_counter()
        with open_embedded(folder):
            return (time.perf_counter() - began) * 1000

    tell("start of a new archive", statistics.median(once() for _ in range(rounds)), "ms", what="until it answers")


def _transactions(bench: Bench, rounds: int) -> None:
    series = structure(bench.archive)
    count = bench.share(40)

    def ours() -> float:
        taken = seconds(lambda: [bench.archive.transaction(record_actions(series, ACTIONS)) for _ in range(count)])
        return count * ACTIONS / taken

    figures = medians(
        rounds, ours, lambda: floors.raw_sqlite(bench.folder, bench.folder / "archive" / "archive.db", ACTIONS)
    )
    tell("transactions of 1,000 actions", figures[0], "actions/s", figures[1], "the same rows into SQLite", figures[2])


def _engine(bench: Bench, rounds: int) -> None:
    """The same without client and connection: what the archive itself makes of a parsed body."""
    service = open_service(bench.folder / "alone")
    desk = Desk(service)
    made = desk.ids(
        save("Arkiv", "a", tittel="fonds"),
        save("Arkivskaper", "s", arkivskaperIdent="1", arkivskaperNavn="creator"),
        link("Arkivskaper", "s", "refArkiv", "a"),
        save("Arkivdel", "d", tittel="series"),
        link("Arkivdel", "d", "refArkiv", "a"),
    )
    count = bench.share(40)
    body = [
        action
        for i in range(ACTIONS // 2)
        for action in (
            save("Basisregistrering", f"r{i}", tittel=f"record {i}", dokumentetsDato="2020-01-01"),
            link("Basisregistrering", f"r{i}", "refArkivdel", made["d"]),
        )
    ]

    def ours() -> float:
        return count * ACTIONS / seconds(lambda: [desk.answer(*body) for _ in range(count)])

    floor = partial(floors.raw_sqlite, bench.folder, bench.folder / "alone" / "archive.db", ACTIONS)
    figures = medians(rounds, ours, floor)
    tell("the same, the engine alone", figures[0], "actions/s", figures[1], "the same rows into SQLite", figures[2])
    service.close()


def _small_uploads(bench: Bench, rounds: int) -> None:
    body = os.urandom(4096)
    count = bench.share(2000)
    server, port = floors.do_nothing_server()

    def ours() -> float:
        return count / seconds(lambda: [bench.archive.upload(bytes_to_upload(body, "a.txt")) for _ in range(count)])

    figures = medians(rounds, ours, lambda: floors.bare_httpx(port, body, count))
    tell("4 KB uploads, stored", figures[0], "files/s", figures[1], "httpx to a server that does nothing", figures[2])
    server.terminate()


def _large_files(bench: Bench, rounds: int) -> None:
    size = 1024 * 1024 * (100 if bench.small else 1024)
    source = bench.folder / "large"
    with source.open("wb") as file:
        for _ in range(size // (1024 * 1024)):
            file.write(os.urandom(1024 * 1024))
    target = bench.folder / "copy"
    uploaded: list[str] = []

    def up() -> float:
        return size / 1e6 / seconds(lambda: uploaded.append(bench.archive.upload(file_to_upload(source)).id))

    def down() -> float:
        taken = seconds(lambda: bench.archive.download(uploaded[-1], target))
        target.unlink()
        return size / 1e6 / taken

    floor = "plain Python hashing and writing, durable"
    figures = medians(rounds, up, lambda: floors.hash_and_write(source, target))
    tell("1 GB upload, hashed at both ends, durable", figures[0], "MB/s", figures[1], floor, figures[2])
    figures = medians(rounds, down, lambda: floors.hash_and_write(source, target))
    tell("1 GB download, hashed, durable", figures[0], "MB/s", figures[1], floor, figures[2])
    child = bench.embedded._child
    assert child is not None
    tell("peak memory of the server", peak_mb(child.pid), "MiB", what="after 1 GB both ways")
    tell("peak memory of the client", peak_mb(os.getpid()), "MiB", what="the same, with this script")


def _queries(bench: Bench, rounds: int) -> None:
    series = structure(bench.archive)
    objects = bench.share(1_000_000)
    _fill(bench, series, objects)

    def page(query: Query) -> float:
        began = time.perf_counter()
        found = bench.archive.query(query)
        assert len(found.objects) == min(query.limit, 500)
        return (time.perf_counter() - began) * 1000

    middle = f"bench/{objects // 2}"
    one = Query("Mappe", "mappeIdent = @i", {"@i": middle}, limit=1)
    some = Query("Mappe", "refArkivdel.id = @d", {"@d": series}, limit=500)
    ranged = Query("Mappe", "opprettetDato = [@a:@b]", {"@a": "2020-01-01", "@b": "*"}, limit=500)
    deep = Query("Mappe", limit=500, offset=objects * 9 // 10)
    for name, query in (
        ("one of 1,000,000 by ident", one),
        ("500 of 1,000,000 by parent", some),
        ("500 of 1,000,000 by time", ranged),
        ("500 of 1,000,000 at offset 900,000", deep),
    ):
        page(query)
        taken = statistics.median(
            page(query) if query.limit == 500 else seconds(partial(bench.archive.query, query)) * 1000
            for _ in range(max(rounds, 5))
        )
        tell(name, taken, "ms", what="client and server")


def _fill(bench: Bench, series: str, objects: int) -> None:
    """Folders straight into the archive's table: loading them by transactions is another figure."""
    with closing(sqlite3.connect(bench.folder / "archive" / "archive.db", timeout=60)) as db, db:
        first = int(db.execute("SELECT value FROM counter WHERE name = 'object'").fetchone()[0]) + 1
        db.execute("UPDATE counter SET value = value + ? WHERE name = 'object'", (objects,))
        db.executemany(
            "INSERT INTO o_abstraktmappe (id, type, version, uuid, opprettetDato, opprettetAv, opprettetAvBrukerIdent,"
            " mappeIdent, tittel, dokumentmedium, refArkivdel) VALUES (?, 'Mappe', 1, ?, ?, 'a', 'a', ?, ?, 'E', ?)",
            (
                (first + i, os.urandom(16).hex(), 1_600_000_000_000 + i, f"bench/{i}", f"folder {i}", int(series))
                for i in range(objects)
            ),
        )
