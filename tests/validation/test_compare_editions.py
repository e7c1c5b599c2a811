"""Extracts of 3.1 and of 5.0 that hold the same do not differ, though the versions name things differently."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noarkit.forms.comparison import By, compare_extracts
from samples.packages.changes import DESCRIPTION, STRUCTURE
from samples.packages.describe import seal
from samples.packages.good import Draft, good_draft, unit_id

RENAMED = (
    (' xsi:type="basisregistrering"', ""),
    ("sakspart>", "part>"),
    ("sakspartID>", "partID>"),
    ("sakspartNavn>", "partNavn>"),
    ("sakspartRolle>", "partRolle>"),
    ("<gradering>\n<gradering>", "<gradering>\n<grad>"),
    (">Fysisk medium<", ">Fysisk arkiv<"),
)


def older() -> Draft:
    """A package of 3.1 with all that has another name in 5.0."""
    draft = good_draft("3.1")
    draft.edit(STRUCTURE, ">Elektronisk arkiv<", ">Fysisk medium<")
    seal(draft)
    return draft


def renamed() -> Draft:
    """The same as a package of 5.0 tells it."""
    draft = older()
    text = draft.files[STRUCTURE].decode()
    for old, new in RENAMED:
        assert old in text
        text = text.replace(old, new)
    text = re.sub("<grad>([^<]*)</gradering>", r"<grad>\1</grad>", text)
    text = re.sub("<(mottattDato|sendtDato)>([0-9-]{10})<", r"<\1>\2T00:00:00<", text)
    pieces = text.split("<dokumentobjekt>")
    named = [f"<systemID>{unit_id(f'versjon {n}')}</systemID>{piece}" for n, piece in enumerate(pieces[1:])]
    draft.files[STRUCTURE] = "<dokumentobjekt>".join([pieces[0], *named]).encode()
    draft.edit(DESCRIPTION, "<value>3.1</value>", "<value>5.0</value>")
    return draft


@pytest.mark.parametrize("by", ["id", "key"])
@pytest.mark.parametrize("turned", [False, True])
def test_what_the_versions_name_otherwise_is_no_difference(by: By, turned: bool, tmp_path: Path) -> None:
    older().write(tmp_path / "old")
    renamed().write(tmp_path / "new")
    left, right = ("new", "old") if turned else ("old", "new")
    found = compare_extracts(tmp_path / left, tmp_path / right, by)
    assert found.differences == []
    assert found.equal
    assert found.left == found.right
    assert found.declared["edition"] > 10


def test_what_truly_differs_is_told_by_the_name_that_5_0_has(tmp_path: Path) -> None:
    older().write(tmp_path / "old")
    new = renamed()
    new.edit(STRUCTURE, "<partRolle>Et sakspartRolle<", "<partRolle>Klager<")
    new.write(tmp_path / "new")
    found = compare_extracts(tmp_path / "old", tmp_path / "new")
    assert [(one.kind, one.field, one.right) for one in found.differences] == [
        ("differs", "part/partRolle", ["Klager"])
    ]


def test_between_two_of_the_same_version_another_name_is_a_difference(tmp_path: Path) -> None:
    one = renamed()
    one.write(tmp_path / "one")
    one.edit(STRUCTURE, "<partNavn>", "<sakspartNavn>")
    one.edit(STRUCTURE, "</partNavn>", "</sakspartNavn>")
    one.write(tmp_path / "other")
    found = compare_extracts(tmp_path / "one", tmp_path / "other")
    assert {one.field for one in found.differences} == {"part/partNavn", "part/sakspartNavn"}
    assert "edition" not in found.declared
