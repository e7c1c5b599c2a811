"""Whatever single thing is changed in an archive is found or named, or stands in the manual under what no depth can
prove; and nothing is excused by a source that nobody touched."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

import pytest

from noarkit.manual.chapters import chapter_source
from tests.loading.tampering.bases import Base
from tests.loading.tampering.changes import Tampering, tamperings
from tests.loading.tampering.sweep import NAMES, outcome_of, prepared
from tests.loading.tampering.unproven import UNPROVEN, fields_named

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
FEWEST = {"files": 225, "again": 225, "package": 450}
HEADINGS = {"en": "## What verification cannot prove", "nb": "## Hva verifiseringen ikke kan bevise"}


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Base]:
    """The archives, loaded once, and never tampered with themselves."""
    return {base.name: base for base in prepared(tmp_path_factory.mktemp("tampering"))}


@pytest.mark.parametrize("name", NAMES)
def test_an_archive_that_nobody_touched_is_verified(name: str, bases: Mapping[str, Base]) -> None:
    judged = bases[name].judge()
    assert (judged.verdict, judged.codes) == ("verified", frozenset())


@pytest.mark.parametrize("name", NAMES)
def test_as_many_changes_are_tried_as_ever(name: str, bases: Mapping[str, Base]) -> None:
    assert len(tamperings(bases[name])) >= FEWEST[name]


def test_a_single_change_is_found_or_named_or_stands_in_the_manual(bases: Mapping[str, Base]) -> None:
    changes = {name: tamperings(base) for name, base in bases.items()}
    tried = [(name, change) for name in NAMES for change in changes[name]] if DEEP else list(one_of_each_kind(changes))
    outcomes = [(name, outcome_of(bases[name], change)) for name, change in tried]
    missed = [(name, outcome.tampering.title, outcome.detail) for name, outcome in outcomes if outcome.how == "missed"]
    assert missed == []
    assert {outcome.how for _, outcome in outcomes} > {"found", "unproven"}


def one_of_each_kind(changes: Mapping[str, Sequence[Tampering]]) -> Iterator[tuple[str, Tampering]]:
    """A change of each kind, in one of the archives that it can be made in, each archive in its turn."""
    kinds = sorted({change.kind for made in changes.values() for change in made})
    for number, kind in enumerate(kinds):
        names = [name for name in NAMES if any(change.kind == kind for change in changes[name])]
        name = names[number % len(names)]
        of_kind = [change for change in changes[name] if change.kind == kind]
        yield name, of_kind[len(of_kind) // 2]


@pytest.mark.parametrize(("place", "lang"), [(0, "en"), (1, "nb")])
def test_the_manual_prints_all_that_no_depth_can_prove(place: int, lang: str) -> None:
    text = chapter_source("verification", lang)
    section = text.partition(HEADINGS[lang])[2].partition("\n## ")[0]
    plain = " ".join(section.split())
    assert [entry.name for entry in UNPROVEN if entry.phrases[place] not in plain] == []
    assert [name for name in sorted(fields_named()) if f"`{name}`" not in section] == []
