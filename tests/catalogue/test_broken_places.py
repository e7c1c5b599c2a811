"""Of a package that breaks a rule all that can be read is shown; what is hostile is refused as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.catalogue.places.forms import find_package_place
from noarkit.errors import HostileInput
from samples.packages import eark
from samples.packages.bad import BAD, Bad
from samples.packages.dias_bad import BAD_DIAS, BadDias
from samples.packages.eark_bad import BAD_PACKAGES
from samples.packages.eark_changes import BadPackage
from tests.catalogue.looking import catalogued, every_entry

SOME = BAD_PACKAGES[::12]
"""E-ARK has hundreds; each part of a package is broken in some of these."""


def shown(path: Path, folder: Path) -> int:
    """How many items are shown of a package, every one of them in the tree; 0 for one that is refused."""
    place = find_package_place(path)
    if place is None:  # nothing of a package is left: it is a folder of files
        return 1
    try:
        with catalogued(place, folder) as catalogue:
            number = sum(1 for _ in every_entry(catalogue))
            assert number == sum(catalogue.counts().values())
            return number
    except HostileInput:
        return 0


@pytest.mark.parametrize("bad", [bad for bad in BAD if not bad.official], ids=lambda bad: bad.name)
def test_a_broken_extract_is_shown(bad: Bad, tmp_path: Path) -> None:
    bad.draft().write(tmp_path / "extract")
    number = shown(tmp_path / "extract", tmp_path)
    assert number > 0 or bad.code == "N006"


@pytest.mark.parametrize("bad", BAD_DIAS, ids=lambda bad: f"{bad.code}-{bad.what}")
def test_a_broken_dias_package_is_shown(bad: BadDias, tmp_path: Path) -> None:
    shown(bad.draft().write(tmp_path / "package"), tmp_path)


@pytest.mark.parametrize("bad", SOME, ids=lambda bad: bad.code)
def test_a_broken_eark_package_is_shown(bad: BadPackage, tmp_path: Path) -> None:
    assert shown(eark.write_folder(bad.draft(), tmp_path), tmp_path) > 0
