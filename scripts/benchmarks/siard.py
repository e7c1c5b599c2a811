"""SIARD archives beside the server's own way out: a table of ten mixed columns, written and read in the same run.

The floor of writing is `COPY … TO` CSV of the same table, taken by the same connection and thrown away; that of reading
is expat alone over the same XML. The server is the one that NOARKIT_TEST_POSTGRESQL names, else this machine's.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from xml.parsers import expat

from noarkit.forms.siard.read.archive import open_siard
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.source.live import live_source
from noarkit.forms.siard.sqlite.database import sqlite_of
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from scripts.benchmarks.figures import machine, medians, seconds, tell

_URL = os.environ.get("NOARKIT_TEST_POSTGRESQL") or "postgresql://127.0.0.1:5432/postgres"
_TABLE = "noarkit_bench"
_MAKE = (
    "CREATE TABLE {table} AS SELECT i::integer AS id, 'Sak nummer ' || i || ' om noe' AS title,"
    " 'K' || (i % 97) AS code,"
    " CASE WHEN i % 10 = 0 THEN 'En lengre merknad & mer: å' WHEN i % 7 > 0 THEN 'merknad ' || i END AS note,"
    " DATE '2000-01-01' + i % 9000 AS opened, TIMESTAMP '2000-01-01' + i * INTERVAL '61 seconds' AS changed,"
    " (i % 100000)::numeric(12,2) / 4 AS amount, i * 0.37::double precision AS share, i % 2 = 0 AS closed,"
    " i::bigint * 1000003 AS number FROM generate_series(1, {count}) i"
)
_PEAK = """
import resource, sys
from pathlib import Path
from noarkit.forms.siard.read.archive import open_siard
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from noarkit.forms.siard.source.live import live_source
target = Path(sys.argv[2])
with live_source(sys.argv[1]) as source:
    write_siard(source, target, SiardOrder())
made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
with open_siard(target) as siard:
    rows = sum(len(batch) for pair in siard.archive.tables() for batch in siard.rows(*pair))
print(rows, made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    print(f"siard on {machine()}\n| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    count = 30_000 if small else 300_000
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
        home = Path(place)
        if "write" in only or "read" in only or not only:
            _speed(home, count, rounds)
        if "memory" in only or not only:
            for many in (count, count * 4):
                _memory(home, many)


def _speed(home: Path, count: int, rounds: int) -> None:
    copied = _filled(count)
    target = home / "x.siard"
    acts: tuple[tuple[str, Callable[[], object], Callable[[], object], str], ...] = (
        ("write", lambda: _write(home / f"{secrets.token_hex(4)}.siard"), copied, "the server's CSV, thrown away"),
        ("read", lambda: _read(target), lambda: _parse(target), "expat, no handlers"),
        ("sqlite", lambda: sqlite_of(target, home / f"{secrets.token_hex(4)}.db"), lambda: _parse(target), "the same"),
        ("validate", lambda: validate_siard(target), lambda: _parse(target), "the same"),
    )
    try:
        _write(target)
        for name, ours, floor, what in acts:
            took, beside, ratio = medians(rounds, partial(seconds, ours), partial(seconds, floor))
            tell(name, count / took, "rows/s", count / beside, what, 1 / ratio)
    finally:
        _drop()


def _write(target: Path) -> None:
    with live_source(_URL, schemas=(_TABLE,)) as source:
        write_siard(source, target, SiardOrder())


def _filled(count: int) -> Callable[[], object]:
    """The table on the server, and what takes it out as CSV."""
    import psycopg

    with psycopg.connect(_URL, autocommit=True) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {_TABLE} CASCADE")
        db.execute(f"CREATE SCHEMA {_TABLE}")
        db.execute(_MAKE.format(table=f"{_TABLE}.t", count=count))

    def copied() -> None:
        out = f"COPY {_TABLE}.t TO STDOUT (FORMAT csv)"
        with psycopg.connect(_URL) as db, db.cursor() as cursor, cursor.copy(out) as copy:
            deque(copy, maxlen=0)

    return copied


def _drop() -> None:
    import psycopg

    with psycopg.connect(_URL, autocommit=True) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {_TABLE} CASCADE")


def _read(path: Path) -> None:
    with open_siard(path) as siard:
        for schema, table in siard.archive.tables():
            assert sum(map(len, siard.rows(schema, table))) == table.rows


def _parse(path: Path) -> None:
    with open_siard(path) as siard:
        for schema, table in siard.archive.tables():
            parser = expat.ParserCreate()
            with siard.place.open(f"{siard.base(schema, table)}.xml") as source:
                while block := source.read(1024 * 1024):
                    parser.Parse(block, False)
                parser.Parse(b"", True)


def _memory(home: Path, count: int) -> None:
    path = home / f"memory-{count}.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "CREATE TABLE t (id INTEGER, title TEXT, code TEXT, note TEXT, opened DATE, amount REAL, closed BOOLEAN)"
        )
        rows = ((n, f"Sak {n}", f"K{n % 97}", None, "2020-01-02", n / 4, n % 2) for n in range(count))
        db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        db.commit()
    command = [sys.executable, "-c", _PEAK, f"sqlite:///{path}", str(home / f"memory-{count}.siard")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    print(f"| memory at {int(told[0]):,} rows | written {told[1]} MB | read {told[2]} MB | | |")
