"""An archive that says now and then «there is nothing»: what is there is not made again, and a double is found."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from noarkit.archive.values import Page, Query
from noarkit.errors import ArchiveStrange, NoarkitError
from noarkit.graph.cut import Limits
from noarkit.graph.entity import PARTIES, Entity, MappedRecord, SetAside, Skipped
from noarkit.loading import lookup
from noarkit.loading.numbers import Numbers
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.run import LoadResult
from noarkit.loading.verification import Depths, verify
from noarkit.records import SourceRecord
from noarkit.server.service import Service
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import SYSTEM, Journey, record
from tests.loading.shelf import Mapper, Shelf

KINDS = ("Arkiv", "Arkivskaper", "Arkivdel", "Mappe", "Basisregistrering", "Dokument", "Dokumentversjon")
CONTENTS = {"a": b"1", "a+2": b"22", "b": b"333", "c": b"4444"}
DEEP = os.environ.get("NOARKIT_DEEP") == "1"
CASES = [("plain", 1), ("plain", 3), ("admin", 1), ("admin", 2), ("admin", 3), ("plain", 2)]
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
            kind: db.execute(f"SELECT count(*) FROM {tables.get(kind, f'o_{kind.lower()}')}").fetchone()[0]
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


@pytest.mark.parametrize(("account", "times"), CASES if DEEP else CASES[:3])
def test_whatever_question_of_a_second_run_is_falsely_answered_with_nothing_nothing_is_made_twice(
    account: str, times: int, root: Path, opened: Opened
) -> None:
    limits = Limits(chunk_actions=12 if DEEP else 1000)
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
    assert asked > 10


def test_a_search_that_lags_behind_is_asked_again_until_it_shows_what_was_there_at_the_start(
    root: Path, opened: Opened
) -> None:
    """The index of the archive loses everything for more questions than one chunk asks: the run pauses and goes on."""
    journey = Journey(root, CONTENTS, account="plain")
    service = opened(journey)
    journey.plan(RECORDS[:2])
    assert journey.once(service).numbers.archived == 2
    again = journey.another("again")
    again.plan(RECORDS)
    by_key = lambda query: query.type == "EksternId" and "@k1" in query.parameters  # noqa: E731
    archive = Forgetful(DirectArchive(service, "plain"), 1, 4, about=by_key)
    stopped = again.once(service, archive=archive)  # type: ignore[arg-type]  # the port, by `__getattr__`
    assert (stopped.state, stopped.numbers.archived, stopped.numbers.already_there) == ("paused", 0, 0)
    (told,) = (event.data for event in again.told if event.name == "shard_stopped")
    assert (told["code"], told["why"]) == ("F313", "witness-missing")
    assert set(journey.keys(service).values()) == {1}
    assert load(again, service, archive).numbers == Numbers(read=3, archived=1, already_there=2, bytes=4)
    assert set(journey.keys(service).values()) == {1}


def test_with_a_witness_what_is_new_is_asked_for_once_and_without_one_as_often_as_anything(
    root: Path, opened: Opened
) -> None:
    journey = Journey(root, CONTENTS)
    service = opened(journey)
    journey.plan(RECORDS)
    journey.once(service)
    archive = Forgetful(DirectArchive(service))
    witness = lookup.find_witness(archive, SYSTEM)  # type: ignore[arg-type]  # the port, by `__getattr__`
    assert witness == (True, max(journey.keys(service), key=lambda key: newest(service, key)))

    def asked(keys: list[str], known: str | None) -> tuple[set[str], int]:
        before = archive.asked
        found = lookup.surely_owners_of_keys(archive, SYSTEM, keys, known)  # type: ignore[arg-type]  # as above
        return set(found), archive.asked - before

    assert asked(["new", "a"], witness[1]) == ({"a"}, 1)
    assert asked(["new"], witness[1]) == (set(), 1)
    assert asked([f"new {n}" for n in range(250)], witness[1]) == (set(), 3)
    assert asked(["a", "b"], None) == ({"a", "b"}, 1)
    assert asked(["new", "a"], None) == ({"a"}, 4)
    archive.first, archive.times, archive.asked = 1, 3, 0
    assert asked(["new", "a"], witness[1]) == ({"a"}, 4)
    archive.first, archive.times, archive.asked = 1, 4, 0
    with pytest.raises(ArchiveStrange):
        asked(["new", "a"], witness[1])
    assert lookup.find_witness(DirectArchive(service), "other") == (False, None)


def newest(service: Service, key: str) -> int:
    """The id of the external id that bears a key, by the database of the archive."""
    with service.db.snapshot() as db:
        return int(db.execute("SELECT max(id) FROM o_eksternid WHERE eksternid = ?", (key,)).fetchone()[0])


@pytest.mark.parametrize("account", ["admin", "plain"])
def test_a_version_of_other_bytes_that_an_earlier_run_made_is_an_earlier_one(
    account: str, root: Path, opened: Opened
) -> None:
    runs = TwoRuns(root, opened, account)
    runs.shelf.contents["b"], runs.shelf.modified["b"] = b"333", 2
    second = runs.planned("second")
    second.once(runs.service, source=runs.shelf.open)
    assert holdings(runs.service, second)["Dokumentversjon"] == 3
    assert runs.verdict(second) == ("verified", Counter())


@pytest.mark.parametrize("account", ["admin", "plain"])
def test_a_version_that_a_run_made_although_it_was_there_is_no_earlier_one(
    account: str, root: Path, opened: Opened
) -> None:
    """An archive that shows no versions at all, for as long as it takes to have them all made again."""
    runs = TwoRuns(root, opened, account)
    second = runs.planned("second")
    blind = Forgetful(DirectArchive(runs.service, account), 1, 4, about=lambda query: query.type == "Dokumentversjon")
    second.once(runs.service, source=runs.shelf.open, archive=blind)  # type: ignore[arg-type]  # by `__getattr__`
    assert holdings(runs.service, second)["Dokumentversjon"] == 4, "nothing was doubled, so there is nothing to find"
    assert runs.verdict(second) == ("not_verified", Counter({"V221": 2}))
    assert runs.verdict(runs.first) == ("not_verified", Counter({"V221": 2}))
    forgetful = Forgetful(
        DirectArchive(runs.service, account), 1, 3, about=lambda query: "refDokument != " in query.where
    )
    assert runs.verdict(second, forgetful) == ("not_verified", Counter({"V221": 2}))
    assert forgetful.asked > 3


class TwoRuns:
    """An archive that one run has loaded and proven, and further runs over the same source."""

    def __init__(self, root: Path, opened: Opened, account: str) -> None:
        self.shelf, self.account = Shelf({"a": b"1", "b": b"22"}), account
        self.journey = Journey(root, {}, account=account)
        self.service = opened(self.journey)
        self.first = self.planned("first")
        assert self.first.once(self.service, source=self.shelf.open).numbers.archived == 2
        assert self.verdict(self.first) == ("verified", Counter())

    def planned(self, name: str) -> Journey:
        """A run of the source as it is now."""
        run = self.journey.another(name)
        spec = PlanSpec(self.shelf, Mapper(), "r", SYSTEM, close=False)
        make_plan(spec, run.folder, lambda event: None, lambda: 1.0)
        return run

    def verdict(self, run: Journey, archive: Forgetful | None = None) -> tuple[str, Counter[str]]:
        """What a verification says of a run, and the codes of what it found."""
        asked = archive or Forgetful(DirectArchive(self.service, self.account))
        result = verify(run.folder, self.shelf, asked, Depths("bytes"), lambda event: None)  # type: ignore[arg-type]  # the port, by `__getattr__`
        return result.verdict, Counter(finding.code for finding in result.findings)


class WithParties(Mapper):
    """The folder of every record has parties."""

    parties: tuple[str, ...] = ("Per",)

    def map(self, one: SourceRecord) -> MappedRecord | SetAside | Skipped:
        made = super().map(one)
        assert isinstance(made, MappedRecord)
        fields = {"sakspartRolle": "Owner"}
        parties = [
            Entity(f"folder:f#{name}", "Sakspart", {**fields, "sakspartNavn": name}, "folder:f", "refMappe")
            for name in self.parties
        ]
        return replace(made, entities=(made.entities[0], *parties, *made.entities[1:]))


@pytest.mark.parametrize("times", [1, 3])
def test_a_party_that_follows_its_source_is_not_added_again_for_a_false_empty_page(
    times: int, root: Path, opened: Opened
) -> None:
    shelf, mapper = Shelf({"a": b"1"}), WithParties()
    journey = Journey(root, {})
    service = opened(journey)

    def load_again(name: str, archive: Forgetful) -> list[object]:
        run = journey.another(name)
        spec = PlanSpec(shelf, mapper, "r", SYSTEM, close=False, follow={"Mappe": (PARTIES,)})
        make_plan(spec, run.folder, lambda event: None, lambda: 1.0)
        assert run.once(service, source=shelf.open, archive=archive).exit_code == 0  # type: ignore[arg-type]  # by `__getattr__`
        return [one.fields["sakspartNavn"] for one in journey.all(service, "Sakspart")]

    assert load_again("first", Forgetful(DirectArchive(service))) == ["Per"]
    about = lambda query: query.type == "Sakspart"  # noqa: E731
    forgetful = Forgetful(DirectArchive(service), 1, times, about=about)
    assert load_again("second", forgetful) == ["Per"]
    assert forgetful.asked == times + 1
    mapper.parties = ("Per", "Kari")
    forgetful = Forgetful(DirectArchive(service), 1, times, about=about)
    assert load_again("third", forgetful) == ["Per", "Kari"]
