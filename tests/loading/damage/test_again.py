"""What was already there is verified like what was made now: a second run of the same source finds the damage too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.loading.damage.catalogue import ALL
from tests.loading.damage.damage import Damage
from tests.loading.damage.library import Library, copy_of, load_again
from tests.loading.damage.test_damages import said

DEEP = os.environ.get("NOARKIT_DEEP") == "1"

# what a later run cannot know: others may have made a series, linked or closed an object, and filled in a field; and
# several runs may have made the documents of a record, each behind those before it
OF_OTHERS = frozenset(
    {
        "a series' description",
        "a fonds' description",
        "a creator's name",
        "a class' title",
        "a series that was reopened",
        "a fonds that was reopened",
        "a class that was reopened",
        "a class below another",
        "a folder in a class",
        "a record that lies in a series besides",
        "a secondary class that was added",
        "a cross reference that was added",
        "a cross reference to a folder",
        "a reference that somebody added",
        "a series with a classification",
        "a series that follows another",
        "a journal date that is gone",
        "a record's identifier that is gone",
        "a medium that is gone",
        "a checksum that is gone",
        "another checksum algorithm",
        "documents in another order",
    }
)
KNOWN = [
    damage
    for damage in ALL
    if damage.code and damage.kind != "run" and damage.name not in OF_OTHERS and "another user" not in damage.name
]


@pytest.fixture(scope="module")
def again(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A second run of the same source, of which all is already there."""
    return load_again(copy_of(library, tmp_path_factory.mktemp("again")))


def test_what_is_there_already_and_whole_is_verified(again: Library) -> None:
    found = said(again)
    assert (found.verdict, found.codes) == ("verified", set())


@pytest.mark.parametrize("damage", KNOWN if DEEP else KNOWN[::4], ids=lambda damage: damage.name)
def test_a_second_run_never_verifies_what_was_damaged(damage: Damage, again: Library, tmp_path: Path) -> None:
    copy = copy_of(again, tmp_path)
    damage.do(copy)
    assert said(copy).verdict != "verified"
