"""The query language compiled to SQL finds what trying everything finds."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.server import schema
from noarkit.server.query.request import read_request
from noarkit.server.query.run import page
from noarkit.server.settings import Settings
from noarkit.server.wire import Caller
from tests.server.query.oracle import answer, random_archive, random_question, store

CASES = 5000 if os.environ.get("NOARKIT_DEEP") == "1" else 500
SETTINGS = Settings()


@dataclass
class Sight:
    """Rights that let through some objects only; `None` lets through all."""

    readable: set[int] | None
    service: frozenset[str] = frozenset()

    @property
    def reads_everything(self) -> bool:
        return self.readable is None

    def writes_everything(self, permission: str) -> bool:
        return False

    def may_read(self, db: sqlite3.Connection, family: str, object_id: int) -> bool:
        assert db.execute("SELECT 1").fetchone() == (1,)  # rights look things up while the query runs
        return self.readable is None or object_id in self.readable

    def may_change(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        return False

    def may_below(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        return False


@pytest.fixture(scope="module")
def tables() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    for statement in schema.statements():
        db.execute(statement)
    yield db
    db.close()


@given(seed=st.integers(0, 2**48), sees_all=st.booleans())
@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
def test_compiled_queries_find_what_trying_everything_finds(
    tables: sqlite3.Connection, seed: int, sees_all: bool
) -> None:
    rnd = random.Random(seed)
    archive = random_archive(rnd)
    readable = set(archive) if sees_all else {each for each in archive if rnd.random() < 0.8}
    tables.execute("BEGIN")
    try:
        store(tables, archive)
        for _ in range(3):
            question = random_question(rnd, archive)
            expected = answer(archive, question, readable)
            request = read_request(question.body, SETTINGS)
            caller = Caller("x", "X", Sight(None if sees_all else readable))
            told = page(tables, request, SETTINGS, caller)
            results = told["results"]
            assert isinstance(results, list)
            assert [int(each["id"]) for each in results] == expected[request.offset : request.offset + request.limit]
            assert told["hasMore"] is (len(expected) > request.offset + request.limit)
    finally:
        tables.execute("ROLLBACK")
