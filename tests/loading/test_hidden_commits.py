"""A chunk that landed although its answer said otherwise is ours, whatever the look-up after it is answered.

Each answer that may hide a commit is paired with each answer that the archive may give to the questions that follow it,
in every protection; then the same command is given again until nothing is open. The ordinary suite takes a sample.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.archive.values import Action, Page, Query, SavedObject
from noarkit.errors import (
    AnswerLost,
    ArchiveBroken,
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ArchiveNotFound,
    ArchiveRefused,
    ArchiveStrange,
    NoarkitError,
    NotAllowed,
    NotLetIn,
)
from noarkit.graph.cut import Limits
from noarkit.loading.numbers import numbers
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, copied, record

CONTENTS = {f"{n}": f"content {n}".encode() for n in range(6)}
RECORDS = [record(key, f"f{int(key) // 3}", content) for key, content in CONTENTS.items()]
DEEP = os.environ.get("NOARKIT_DEEP") == "1"
IN_SAMPLE = 5
# which transaction is answered otherwise, and which question after it
PLACES = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 3), (3, 4))
PROTECTIONS = [("admin", True), ("admin", False), ("plain", True), ("plain", False)]

HIDING: Mapping[str, Callable[[], ArchiveFault]] = {
    "lost": lambda: AnswerLost(call="transaction"),
    "html": lambda: ArchiveStrange(call="transaction", why="html", fate="unknown"),
    "500": lambda: ArchiveBroken(call="transaction", status=500),
    "400": lambda: ArchiveRefused(call="transaction", status=400, description=""),
    "401": lambda: NotLetIn(call="transaction", status=401),
    "403": lambda: NotAllowed(call="transaction", status=403),
    "404": lambda: ArchiveNotFound(call="transaction", status=404),
    "409": lambda: ArchiveConflict(call="transaction", status=409),
    "429": lambda: ArchiveBusy(call="transaction", status=429),
}
WRONG = SavedObject("Mappe", "99999", "1", {"tittel": "of another question"}, {})
ANSWERS: Mapping[str, Callable[[], Page | None]] = {
    "right": lambda: None,
    "lost": lambda: _raised(AnswerLost(call="query")),
    "html": lambda: _raised(ArchiveStrange(call="query", why="html")),
    "cut": lambda: _raised(ArchiveStrange(call="query", why="not-json")),
    "401": lambda: _raised(NotLetIn(call="query", status=401)),
    "404": lambda: _raised(ArchiveNotFound(call="query", status=404)),
    "500": lambda: _raised(ArchiveBroken(call="query", status=500)),
    "empty": lambda: Page((), has_more=False),
    "wrong": lambda: Page((WRONG,), has_more=False),
}


def _raised(fault: ArchiveFault) -> Page | None:
    raise fault


@dataclass
class Hiding(DirectArchive):
    """Commits the n-th transaction and answers otherwise; then answers the m-th question after it otherwise."""

    service: Service
    account: str
    hides: str
    answers: str
    commit: int
    question: int
    sent: int = 0
    asked: int = 0

    def __post_init__(self) -> None:
        super().__init__(self.service, self.account)

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if not any(action.type in ("Dokument", "Arkiv") for action in actions):
            return super().transaction(actions)
        self.sent += 1
        saved = super().transaction(actions)
        if self.sent == self.commit:
            raise HIDING[self.hides]()
        return saved

    def query(self, query: Query) -> Page:
        if self.sent >= self.commit:
            self.asked += 1
            if self.asked == self.question and (answer := ANSWERS[self.answers]()) is not None:
                return answer
        return super().query(query)


@pytest.fixture(scope="module")
def plan_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    journey = Journey(tmp_path_factory.mktemp("plan"), dict(CONTENTS), limits=Limits(chunk_actions=24))
    journey.plan(RECORDS)
    return journey.folder.path


@pytest.mark.parametrize("hides", HIDING)
@pytest.mark.parametrize(("account", "honours_versions"), PROTECTIONS)
def test_what_a_run_committed_is_its_own_whatever_it_was_answered(
    hides: str,
    account: str,
    honours_versions: bool,
    archive_template: Path,
    plan_template: Path,
    tmp_path: Path,
    opened: Opened,
) -> None:
    pairs = [(answers, place) for answers in ANSWERS for place in PLACES]
    for answers, (commit, question) in pairs if DEEP else random.Random(hides).sample(pairs, IN_SAMPLE):
        root = tmp_path / f"{answers}-{commit}-{question}"
        copied(archive_template, root / "archive")
        copied(plan_template, root / "run")
        settings = Settings(honours_versions=honours_versions)
        journey = Journey(root, dict(CONTENTS), settings, account)
        service = opened(journey)
        archive = Hiding(service, account, hides, answers, commit, question)
        _until_done(journey, service, archive)
        _every_number_is_right(journey, service, f"{hides}, then {answers} to question {question} of {commit}")
        service.close()


def _until_done(journey: Journey, service: Service, archive: Hiding) -> None:
    for _ in range(6):
        with suppress(NoarkitError):
            if journey.once(service, archive=archive).state == "done":
                return
    raise AssertionError("not done after six calls")


def _every_number_is_right(journey: Journey, service: Service, said: str) -> None:
    journey.time.sleep(1000)
    keys = journey.keys(service)
    assert {key: count for key, count in keys.items() if count != 1} == {}, said
    assert len(keys) == len(CONTENTS) + 2, said
    assert journey.count(service, "Dokumentversjon") == journey.count(service, "Dokument") == len(CONTENTS), said
    with closing(sqlite3.connect(journey.folder.journal)) as db:
        states = dict(db.execute("SELECT state, count(*) FROM entity GROUP BY state").fetchall())
    counted = numbers(journey.folder)
    assert (counted.archived, counted.already_there, counted.refused) == (len(CONTENTS), 0, 0), said
    assert counted.bytes == sum(map(len, CONTENTS.values())), said
    assert set(states) == {"done"}, f"{said}: what is not known as ours is never closed"
