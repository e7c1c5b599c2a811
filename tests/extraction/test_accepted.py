"""What was accepted of a package follows to the next one only where the same bytes break the same rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.extraction.accepted import accept_reasons, accepted_beside, follow_acceptances, places_by_reason
from noarkit.forms.findings import Outcome, Place, Rule
from noarkit.verdict import Reason, Verdict

RULE = Rule("N410", "warning", "documents", (), deposit="stops", reason="formats")
FILE = "dokumenter/a.xyz"


def outcome(*places: Place, count: int = 0) -> Outcome:
    return Outcome(RULE, count or len(places), places)


def package(root: Path, name: str, content: bytes) -> Path:
    (root / name / "dokumenter").mkdir(parents=True)
    (root / name / FILE).write_bytes(content)
    return root / name


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A package whose one reason is accepted."""
    made = package(tmp_path, "pkg", b"film")
    verdict = Verdict((Reason("formats", "stops", 1, ("N410",)),))
    places = places_by_reason(made, [outcome(Place(FILE))])
    accept_reasons(made, "d1", verdict, ["formats"], by="Kari", day="2026-11-30", note="", places=places)
    return made


@pytest.mark.parametrize(("content", "follows"), [(b"film", True), (b"FILM", False)])
def test_the_bytes_decide(content: bytes, follows: bool, first: Path) -> None:
    second = package(first.parent, "pkg-2", content)
    places = places_by_reason(second, [outcome(Place(FILE))])
    assert bool(follow_acceptances(second, "d2", places)) is follows
    assert [entry.by for entry in accepted_beside(second, "d2")] == ["Kari"] * follows


def test_another_name_and_other_words_of_the_rule_are_another_matter(first: Path) -> None:
    other, second = package(first.parent, "other", b"film"), package(first.parent, "pkg-2", b"film")
    assert not follow_acceptances(other, "d2", places_by_reason(other, [outcome(Place(FILE))]))
    places = places_by_reason(second, [outcome(Place(FILE, data={"format": "fmt/1"}))])
    assert not follow_acceptances(second, "d2", places)


def test_what_is_not_known_place_by_place_is_not_followed(first: Path) -> None:
    second = package(first.parent, "pkg-2", b"film")
    for found in (
        outcome(Place(FILE), count=2),
        outcome(Place("dokumenter/gone")),
        outcome(Place("arkivstruktur.xml")),
    ):
        assert places_by_reason(second, [found]) == {}
