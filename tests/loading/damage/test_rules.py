"""Each rule of verify is needed: with the rule taken out, damages that it alone finds are missed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import noarkit.words
from tests.loading.damage.catalogue import ALL, BY_NAME
from tests.loading.damage.library import Library, copy_of
from tests.loading.damage.rules import RULES, without
from tests.loading.damage.test_damages import said

# a rule, and damages that nothing else finds
SAMPLES: Mapping[str, tuple[str, ...]] = {
    "keys": ("a key twice on one record", "a key on two records"),
    "outcomes": ("a record that the journal says was refused",),
    "below": ("a record too many, without a key", "a version too many", "the same party twice", "a note on a document"),
    "links to many": ("a secondary class that is gone", "a cross reference that is gone"),
    "crossings": ("a cross reference that was added", "a series that follows another"),
    "order": ("versions in another order", "documents in another order"),
    "files": ("a bit flipped in the store", "a stored file that points to other bytes", "a source file that is gone"),
    "place": ("a record in another folder", "a document of another record", "versions that changed documents"),
    "links": ("a case in another class", "a series without its classification"),
    "links too many": ("a folder in a class", "a record that lies in a series besides"),
    "file": ("a forged checksum", "a forged size"),
    "checksum": ("a forged checksum", "another checksum algorithm"),
    "defaults": ("a medium that is gone", "a checksum that is gone"),
    "planned fields": ("a title in another unicode form", "a time of receipt one second later"),
    "unplanned fields": ("a description that was added", "a disposal decision that was added to a folder"),
    "finality": ("a record that was reopened", "a case that was reopened"),
}
# no damage of an archive, a source or a run: what one of them tells besides, what only a second run or a line between
# brings, and what has tests of its own (tests/loading/test_foreign_objects.py, test_downloads_again.py)
NOT_OF_A_DAMAGE = frozenset({"V102", "V105", "V306", "V503", "V504", "V505", "V506"})


@pytest.mark.parametrize(("rule", "name"), [(rule, name) for rule, names in SAMPLES.items() for name in names])
def test_without_its_rule_a_damage_is_missed(rule: str, name: str, library: Library, tmp_path: Path) -> None:
    copy = copy_of(library, tmp_path)
    BY_NAME[name].do(copy)
    assert said(copy).verdict != "verified"
    with without(rule):
        assert said(copy).verdict == "verified"


def test_every_rule_that_can_be_taken_out_has_samples() -> None:
    assert set(SAMPLES) == set(RULES)


def test_every_code_of_the_manual_names_a_damage_of_the_library() -> None:
    words = Path(noarkit.words.__file__).parent / "en-verify.toml"
    codes = {code for code in tomllib.loads(words.read_text("utf-8"))["codes"] if not code.startswith("V4")}
    assert codes - {damage.code for damage in ALL} - NOT_OF_A_DAMAGE == set()
