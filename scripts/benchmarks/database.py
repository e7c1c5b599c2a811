"""Plans from database servers, documents out of them, and the memory that takes; each beside the server's own dump.

PostgreSQL and MariaDB are those of NOARKIT_TEST_POSTGRESQL and NOARKIT_TEST_MARIADB, else those of this machine; a
database of our own is made there, and dropped.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from noarkit.embedded import open_embedded
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source
from noarkit.loading.folder import RunFolder
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.recipes import Mapper, compile_recipe, read_recipe
from noarkit.records import Source, SourceRecord, fitted
from scripts.benchmarks.figures import machine, measured, processor_seconds, tell

_URLS = {
    "postgresql": os.environ.get("NOARKIT_TEST_POSTGRESQL") or "postgresql://127.0.0.1:5432/postgres",
    "mysql": os.environ.get("NOARKIT_TEST_MARIADB") or "mysql://root@127.0.0.1:3306/test",
}
_DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}
ROWS = """
[source]
kind = "database"
[target]
external_system = "bench"
model = 2
[[map]]
for = "rad"
type = "Basisregistrering"
parents = [{ key = "= record.gruppe.navn", type = "Mappe", fields = { tittel = "= record.gruppe.navn" } }]
[map.fields]
tittel = "= record.tittel"
dokumentetsDato = "= record.dato"
forfatter = "= record.hvem"
beskrivelse = "= record.tekst"
[[skip]]
for = "gruppe"
reason = "its rows are the folders"
"""
_MB = 1024 * 1024
_PIECE = 2 * _MB


@dataclass(frozen=True)
class Bench:
    """A database of our own, a folder, and how much work to do."""

    url: str
    family: str
    folder: Path
    rounds: int
    small: bool

    def share(self, number: int) -> int:
        return max(1, number // 10) if self.small else number

    def run(self, *statements: str) -> None:
        """As its owner."""
        with _owner(self.url).connect() as db:
            for statement in statements:
                db.exec_driver_sql(statement)


def run(rounds: int, *, small: bool, only: str) -> None:
    """Every figure, as rows of one table."""
    print(f"\ndatabase: {machine()}, medians of {rounds} rounds\n")
    print("| figure | ours | beside it | ratio | what that is |\n|---|---|---|---|---|")
    parts: dict[str, Callable[[Bench], None]] = {"plan": _plan, "documents": _documents, "memory": _memory}
    for family in _URLS:
        for name, part in parts.items():
            if only in f"{family} {name}" and (name != "memory" or family == "postgresql"):
                with _database(family, rounds, small=small) as bench:
                    part(bench)


@contextmanager
def _database(family: str, rounds: int, *, small: bool) -> Iterator[Bench]:
    name = f"noarkit_bench_{os.getpid()}"
    base = _URLS[family]
    with _owner(base).connect() as db:
        db.exec_driver_sql(f"CREATE DATABASE {name}")
    url = sa.engine.make_url(base).set(database=name).render_as_string(hide_password=False)
    try:
        with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as folder:
            yield Bench(url, family, Path(folder), rounds, small)
    finally:
        with _owner(base).connect() as db:
            db.exec_driver_sql(f"DROP DATABASE {name}" + (" WITH (FORCE)" if family == "postgresql" else ""))


def _owner(url: str) -> sa.Engine:
    made = sa.engine.make_url(url)
    return sa.create_engine(
        made.set(drivername=_DRIVERS[made.get_backend_name()]), isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool
    )


def _fill(bench: Bench, rows: int) -> None:
    """Rows of ten columns, in groups of a hundred."""
    bench.run(
        "CREATE TABLE gruppe (id integer PRIMARY KEY, navn varchar(80) NOT NULL)",
        "CREATE TABLE rad (id bigint PRIMARY KEY, gruppe_id integer NOT NULL REFERENCES gruppe (id),"
        " tittel varchar(200), dato date, naar timestamp NULL, hvem varchar(80), tekst text, antall integer,"
        " belop decimal(12,2), flagg smallint)",
    )
    if bench.family == "postgresql":
        series = f"generate_series(1, {rows}) AS s(n)"
        groups = f"generate_series(0, {rows // 100}) AS s(n)"
        day, moment = "date '2020-01-01' + mod(n, 1000)", "timestamp '2020-01-01' + mod(n, 1000) * interval '1 hour'"
    else:
        series, groups = f"seq_1_to_{rows} AS s", f"seq_0_to_{rows // 100} AS s"
        day = "DATE_ADD('2020-01-01', INTERVAL mod(n, 1000) DAY)"
        moment = "DATE_ADD('2020-01-01', INTERVAL mod(n, 1000) HOUR)"
        series, groups = (f"(SELECT seq AS n FROM {one}) AS t" for one in (series, groups))  # noqa: S608  # our own words
    half = "DIV 1" if bench.family == "mysql" else ""
    columns = (
        f"n, n / 100 {half}, concat('Rad nummer ', n, ' i en tabell'), {day}, {moment}, concat('Person ', mod(n, 500)),"
        " concat('En beskrivelse av det som står i rad ', n), mod(n, 1000), n / 7.0, mod(n, 2)"
    )
    bench.run(
        f"INSERT INTO gruppe SELECT n, concat('Gruppe ', n) FROM {groups}",  # noqa: S608  # our own words
        f"INSERT INTO rad SELECT {columns} FROM {series}",  # noqa: S608  # our own words
    )
    bench.run("ANALYZE rad" if bench.family == "postgresql" else "ANALYZE TABLE rad")


def _plan(bench: Bench) -> None:
    rows = bench.share(100_000)
    _fill(bench, rows)
    recipe = read_recipe(ROWS, "bench")
    mapped, planned, read = [], [], []
    for number in range(bench.rounds):
        source = fitted(open_source(bench.url), recipe.data["source"])
        read.append(rows / processor_seconds(partial(_walk, source, None)))
        mapped.append(rows / processor_seconds(partial(_walk, source, compile_recipe(recipe))))
        what = PlanSpec(source, compile_recipe(recipe), ROWS, "bench")
        folder = RunFolder(bench.folder / f"run{number}")
        make = partial(make_plan, what, folder, ignore_event, time.time)
        planned.append(rows / measured(partial(processor_seconds, make)))
    name = bench.family
    tell(f"{name}: rows read", statistics.median(read), "rows/s", what=f"{rows:,} rows, a second of our CPU")
    tell(f"{name}: rows mapped to entities", statistics.median(mapped), "rows/s", what="with a join; floor 15,000")
    tell(f"{name}: rows planned and frozen", statistics.median(planned), "rows/s", what="graph.db written and hashed")


def _walk(source: Source, mapper: Mapper | None) -> None:
    for record in source.records(ignore_event):
        if mapper is not None and isinstance(record, SourceRecord):
            mapper.map(record)


def _documents(bench: Bench) -> None:
    count, size = bench.share(40), 10 * _MB
    kind = "bytea" if bench.family == "postgresql" else "longblob"
    grown = "innhold || %s" if bench.family == "postgresql" else "concat(innhold, %s)"
    longer = f"UPDATE dok SET innhold = {grown} WHERE id = %s"  # noqa: S608  # our own words
    bench.run(f"CREATE TABLE dok (id integer PRIMARY KEY, navn varchar(80), innhold {kind})")
    with _owner(bench.url).connect() as db:
        for number in range(count):
            db.exec_driver_sql("INSERT INTO dok VALUES (%s, %s, %s)", (number, f"dokument {number}.bin", b""))
            for _ in range(0, size, _PIECE):  # a statement must fit into the packet that a server takes by default
                db.exec_driver_sql(longer, (os.urandom(_PIECE), number))
    total = count * size / _MB
    source = open_source(bench.url)
    contents = [one for item in source.records(ignore_event) if isinstance(item, SourceRecord) for one in item.contents]
    began = time.perf_counter()
    for content in contents:
        with source.open(content) as stream:
            while stream.read(_MB):
                pass
            assert stream.still_the_same()
    reading = total / (time.perf_counter() - began)
    began = time.perf_counter()
    with _owner(bench.url).connect() as db:
        for number in range(count):
            db.exec_driver_sql("SELECT innhold FROM dok WHERE id = %s", (number,)).one()
    plain = total / (time.perf_counter() - began)
    files = bench.folder / "filer"
    files.mkdir()
    for number in range(count):
        (files / f"dokument {number}.bin").write_bytes(os.urandom(size))
    with open_embedded(bench.folder / "arkiv"):
        loading = total / _ingested(bench.folder, bench.url, "run")
        beside = total / _ingested(bench.folder, "filer", "run-of-files")
    what = f"{count} of 10 MB; the driver's own SELECT of each"
    tell(f"{bench.family}: documents read in slices", reading, "MB/s", plain, what, reading / plain)
    what = "the same amount as files, by the same command; floor 100"
    tell(f"{bench.family}: documents ingested", loading, "MB/s", beside, what, loading / beside)


def _ingested(folder: Path, source: str, run: str) -> float:
    """Seconds that an ingest takes, as a command."""
    noarkit = [sys.executable, "-m", "noarkit", "--progress", "none"]
    subprocess.run([*noarkit, "plan", source, "-o", run], check=True, cwd=folder, capture_output=True)
    began = time.perf_counter()
    command = [*noarkit, "ingest", run, "--archive", "embedded:arkiv"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    return time.perf_counter() - began


def _memory(bench: Bench) -> None:
    for rows in (bench.share(200_000), bench.share(2_000_000)):
        bench.run("DROP TABLE IF EXISTS rad", "DROP TABLE IF EXISTS gruppe")
        _fill(bench, rows)
        code = (
            "import resource, sys\nfrom noarkit.events import ignore_event\n"
            "from noarkit.forms.finders import open_source\n"
            "from noarkit.records import SourceRecord, fitted\n"
            "from noarkit.recipes import compile_recipe, read_recipe\n"
            "recipe = read_recipe(sys.argv[2], 'bench')\nmapper = compile_recipe(recipe)\n"
            "source = fitted(open_source(sys.argv[1]), recipe.data['source'])\n"
            "for record in source.records(ignore_event):\n    mapper.map(record)\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
        )
        done = subprocess.run([sys.executable, "-c", code, bench.url, ROWS], check=True, capture_output=True, text=True)
        tell(f"memory, {rows:,} rows mapped", float(done.stdout), "MiB", what="peak of the whole process")
