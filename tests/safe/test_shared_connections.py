"""Connections that any thread may use: several ask one of them at once only where it keeps no statements.

From Python 3.12 on a kept statement that another thread is about to run may be handed out again, and its rows with it.
"""

from __future__ import annotations

import ast
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import noarkit
from noarkit.catalogue.store import FORMAT, open_catalogue

ONE_AT_A_TIME = {
    "airgap/source/index.py": "keeps no statements",
    "catalogue/store.py": "keeps no statements",
    "copies/store.py": "the coordinator's thread, and whoever closes it",
    "graph/store.py": "one thread reads a plan, another may close it",
    "loading/tables.py": "a journal goes from thread to thread with its load",
    "safe/scratch.py": "handed on, never shared",
    "server/database.py": "readers take one for themselves, writers take turns",
    "services/inbox/store.py": "a lock",
    "services/pace.py": "a lock",
    "sources/database/session.py": "a session has its own",
}


def _shared_connections(path: Path) -> list[ast.Call]:
    calls = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
    return [call for call in calls if any(keyword.arg == "check_same_thread" for keyword in call.keywords)]


def _keeps_none(call: ast.Call) -> bool:
    return any(
        keyword.arg == "cached_statements" and isinstance(keyword.value, ast.Constant) and keyword.value.value == 0
        for keyword in call.keywords
    )


def test_each_connection_for_any_thread_says_why_that_is_safe() -> None:
    root = Path(noarkit.__file__).parent
    found = {
        path.relative_to(root).as_posix(): calls
        for path in sorted(root.rglob("*.py"))
        if (calls := _shared_connections(path))
    }
    assert set(found) == set(ONE_AT_A_TIME)
    without = {name for name, calls in found.items() if all(map(_keeps_none, calls))}
    assert without == {name for name, why in ONE_AT_A_TIME.items() if why == "keeps no statements"}


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
