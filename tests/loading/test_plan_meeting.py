"""What a plan says beforehand of what is there already: what the load leaves as it is is never told as followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import pytest

from noarkit.graph.entity import PARTIES, Entity, FieldValue, MappedRecord
from noarkit.loading.earlier_runs import EarlierEntity, EarlierRuns, PlanMeeting
from noarkit.records import SourceRecord

CASE: Mapping[str, FieldValue] = {"tittel": "En sak", "saksaar": 2014, "sakssekvensnummer": 7}
BEFORE: Mapping[str, Mapping[str, FieldValue]] = {
    "case": CASE,
    "party:ola": {"sakspartNavn": "Ola"},
    "party:kari": {"sakspartNavn": "Kari"},
}


class OneRun(EarlierRuns):
    """A run that loaded one case with two parties."""

    def is_known(self, key: str) -> bool:
        return True

    def find_entity(self, key: str) -> EarlierEntity | None:
        parent = "case" if key.startswith("party") else None
        return EarlierEntity(BEFORE[key], parent, None) if key in BEFORE else None

    def parties_of(self, key: str) -> frozenset[str]:
        return frozenset(name for name in BEFORE if name.startswith("party"))


@pytest.fixture
def meeting() -> Iterator[PlanMeeting]:
    """A plan whose case files follow their parties and titles."""
    plan_meeting = PlanMeeting(OneRun(None), {"Saksmappe": (PARTIES, "tittel")}, compares=True)
    with closing(plan_meeting._compared):
        yield plan_meeting


def met(meeting: PlanMeeting, title: str, parties: Sequence[str]) -> tuple[int, int]:
    """How many cases keep other values, and how many follow, once the row of the case was met."""
    people = (Entity(f"party:{name.lower()}", "Sakspart", {"sakspartNavn": name}, parent="case") for name in parties)
    entities = (Entity("case", "Saksmappe", {**CASE, "tittel": title}), *people)
    meeting.take(SourceRecord("row", "row 7", {}), MappedRecord("row 7", entities), is_unchanged=False)
    return meeting.meeting.cases, meeting.meeting.followed


def test_what_is_the_same_is_not_told(meeting: PlanMeeting) -> None:
    assert met(meeting, "En sak", ("Ola", "Kari")) == (0, 0)


def test_a_party_that_came_and_a_title_follow(meeting: PlanMeeting) -> None:
    assert met(meeting, "En annen sak", ("Ola", "Kari", "Per")) == (0, 1)


def test_a_party_that_is_gone_stays_in_the_archive_whatever_follows(meeting: PlanMeeting) -> None:
    assert met(meeting, "En sak", ("Ola",)) == (1, 0)
    (unit,) = meeting.meeting.units
    assert (unit.fields, unit.will_follow) == (("part",), False), "no load takes a party away"


def test_a_title_that_follows_does_not_hide_a_party_that_is_gone(meeting: PlanMeeting) -> None:
    assert met(meeting, "En annen sak", ("Ola",)) == (1, 0)
    assert meeting.meeting.units[0].will_follow, "the title does"


def test_one_that_went_is_told_although_another_came(meeting: PlanMeeting) -> None:
    assert met(meeting, "En sak", ("Ola", "Per")) == (1, 0)
