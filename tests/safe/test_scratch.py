"""Tables of our own: any size, any thread, and nothing is left of them."""

from __future__ import annotations

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.safe.scratch import scratch


def _nameless_bytes() -> int:
    """The bytes of open files that have no name any more."""
    found = 0
    for one in Path("/dev/fd").iterdir():
        try:
            status = os.fstat(int(one.name))
        except OSError:
            continue  # it was closed meanwhile
        found += status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink == 0 else 0
    return found


def test_what_is_larger_than_its_memory_lies_on_disk_without_a_name() -> None:
    before = _nameless_bytes()
    with closing(scratch(cache_kib=64)) as database:
        database.execute("CREATE TABLE held (name TEXT)")
        database.execute("BEGIN")
        database.executemany("INSERT INTO held VALUES (?)", (("x" * 1_000,) for _ in range(2_000)))
        database.execute("COMMIT")
        assert _nameless_bytes() - before > 1_000_000
        assert database.execute("SELECT count(*) FROM held").fetchone() == (2_000,)
    assert _nameless_bytes() == before


def test_another_thread_may_go_on_with_it() -> None:
    with closing(scratch()) as database, ThreadPoolExecutor(1) as threads:
        threads.submit(database.execute, "CREATE TABLE held (name TEXT)").result()
        database.execute("INSERT INTO held VALUES ('a')")
        assert database.execute("SELECT name FROM held").fetchall() == [("a",)]


def test_nothing_is_left_when_it_is_closed() -> None:
    database = scratch()
    database.execute("CREATE TABLE held (name TEXT)")
    database.close()
    with closing(scratch()) as other, pytest.raises(sqlite3.OperationalError, match="no such table"):
        other.execute("SELECT name FROM held")
