"""Connections that any thread may use: several ask one of them at once only where each has statements of its own.

From Python 3.12 on a kept statement that another thread is about to run may be handed out again, and its rows with it.
"""

from __future__ import annotations

import ast
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.catalogue.store import FORMAT, open_catalogue
from noarkit.safe.shared_connection import open_shared
from tests.package_code import PACKAGE, modules_with, nodes_of

ONE_AT_A_TIME = {
    "copies/store.py": "the coordinator's thread, and whoever closes it",
    "graph/store.py": "one thread reads a plan, another may close it",
    "loading/tables.py": "a journal goes from thread to thread with its load",
    "safe/scratch.py": "handed on, never shared",
    "safe/shared_connection.py": "each thread has statements of its own",
    "server/database.py": "readers take one for themselves, writers take turns",
    "services/inbox/store.py": "a lock",
    "services/known_keys.py": "a lock",
    "services/pace.py": "a lock",
    "sources/database/session.py": "a session has its own",
}


def _shared_connections(path: Path) -> list[ast.Call]:
    calls = (node for node in nodes_of(path) if isinstance(node, ast.Call))
    return [call for call in calls if any(keyword.arg == "check_same_thread" for keyword in call.keywords)]


def test_each_connection_for_any_thread_says_why_that_is_safe() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): calls
        for path in modules_with("check_same_thread")
        if (calls := _shared_connections(path))
    }
    assert set(found) == set(ONE_AT_A_TIME)


def test_a_statement_is_kept_for_its_thread_alone() -> None:
    with closing(open_shared("file::memory:")) as shared, ThreadPoolExecutor(1) as other:
        run: list[str] = []
        shared.set_trace_callback(run.append)
        question = "SELECT 'a  b' /* c */ -- d"
        for ask in (shared.execute, shared.execute, lambda sql: other.submit(shared.execute, sql).result()):
            assert ask(question).fetchall() == [("a  b",)]
        assert run[0] == run[1] != run[2]
        assert {text.partition("\n")[0] for text in run} == {question}


def test_a_shared_connection_lends_no_cursor() -> None:
    with closing(open_shared("file::memory:")) as shared, pytest.raises(sqlite3.ProgrammingError, match="no cursors"):
        shared.cursor()


def test_threads_that_ask_a_catalogue_at_once_get_their_own_rows(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value)")
        db.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT,))
        db.execute("CREATE TABLE number (n INTEGER PRIMARY KEY, twice)")
        db.executemany("INSERT INTO number VALUES (?, ?)", [(n, 2 * n) for n in range(1_000)])
    with closing(open_catalogue(path)) as shared, ThreadPoolExecutor(8) as threads:

        def ask(thread: int) -> int:
            asked = range(thread, 1_000, 8)
            rows = (shared.execute("SELECT n, twice FROM number WHERE n = ?", (n,)).fetchone() for n in asked)
            return sum(row == (n, 2 * n) for n, row in zip(asked, rows, strict=True))

        for _ in range(20):
            assert sum(threads.map(ask, range(8))) == 1_000
