"""An archive that says now and then «there is nothing»: what is there is not made again for it, and a double is found."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.archive.values import Page, Query
from noarkit.errors import NoarkitError
from noarkit.events import Event
from noarkit.graph.cut import Limits
from noarkit.loading import lookup
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.run import LoadResult
from noarkit.loading.verification import Depths, verify
from noarkit.server.service import Service
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import SYSTEM, Journey, record
from tests.loading.shelf import Mapper, Shelf

KINDS = ("Arkiv", "Arkivskaper", "Arkivdel", "Mappe", "Basisregistrering", "Dokument", "Dokumentversjon")
CONTENTS = {"a": b"1", "a+2": b"22", "b": b"333", "c": b"4444"}
RECORDS = [record("a", "f", b"1", b"22"), record("b", "f", b"333"), record("c", "g", b"4444")]


@dataclass
class Forgetful:
    """An archive that answers the `first`-th question and the next ones, `times` in all, with an empty page."""

    archive: DirectArchive
    first: int = 0
    times: int = 0
    asked: int = 0
    about: Callable[[Query], bool] = lambda query: True

    def query(self, query: Query) -> Page:
        self.asked += self.about(query)
        if self.about(query) and self.first <= self.asked < self.first + self.times:
            return Page((), has_more=False)
        return self.archive.query(query)

    def __getattr__(self, name: str) -> object:
        return getattr(self.archive, name)


def holdings(service: Service, journey: Journey) -> Counter[str]:
    """How many there are of each type, by the database of the archive, and how often each source key is there."""
    with service.db.snapshot() as db:
        tables = {kind: f"o_abstrakt{'mappe' if kind == 'Mappe' else 'registrering'}" for kind in KINDS[3:5]}
        counts = {
            kind: db.execute(f"SELECT count(*) FROM {tables.get(kind, f'o_{kind.lower()}')}").fetchone()[0]  # noqa: S608
            for kind in KINDS
        }
    return Counter({**counts, **journey.keys(service)})


def load(journey: Journey, service: Service, archive: Forgetful, calls: int = 4) -> LoadResult:
    """The same command until it is done: an answer that is not believed may stop it."""
    for _ in range(calls):
        with contextlib.suppress(NoarkitError):
            loaded = journey.once(service, archive=archive)  # type: ignore[arg-type]  # the port, by `__getattr__`
            if loaded.state == "done":
                return loaded
    raise AssertionError(f"not done after {calls} calls")


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("account", ["admin", "plain"])
def test_whatever_question_of_a_second_run_is_falsely_answered_with_nothing_nothing_is_made_twice(
    account: str, times: int, root: Path, opened: Opened
) -> None:
    limits = Limits(chunk_actions=12)
    journey = Journey(root, CONTENTS, account=account, limits=limits)
    service = opened(journey)
    journey.plan(RECORDS)
    assert journey.once(service).numbers.archived == 3
    before = holdings(service, journey)
    assert before["Arkiv"] == 1 and before["Dokumentversjon"] == 4 and before["a"] == 1
    first, asked = 0, 1
    while first <= asked:
        again = journey.another(f"again-{first}")
        again.plan(RECORDS)
        archive = Forgetful(DirectArchive(service, account), first, times)
        try:
            loaded = load(again, service, archive)
            assert (loaded.numbers.already_there, loaded.numbers.archived) == (3, 0), first
        finally:
            assert holdings(service, journey) == before, f"question {first} of {archive.asked}"
        asked = max(asked, archive.asked) if first else archive.asked
        first += 1
    assert asked > 10; print("ASKED", asked)
