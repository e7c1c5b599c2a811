"""Names that are let through at one look are none that the rules would refuse at a second."""

from __future__ import annotations

import itertools

import pytest

from noarkit.errors import UnsafePath
from noarkit.safe import paths
from noarkit.safe.paths import checked_parts

DEVICES = ("con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"))


@pytest.mark.parametrize("device", DEVICES)
def test_no_device_is_harmless(device: str) -> None:
    for name, ending in itertools.product((device, device.upper(), device.title()), ("", ".txt", ".tar.gz")):
        for whole in (name + ending, f"data/{name}{ending}", f"package/{name}{ending}/file.txt"):
            assert paths._HARMLESS.fullmatch(whole) is None, whole
            with pytest.raises(UnsafePath):
                checked_parts(whole)


@pytest.mark.parametrize("name", ["pack/data/0001/file.txt", "METS.xml", "schemas/mets.xsd", "content/schema0/table0"])
def test_names_of_usual_packages_are_seen_at_one_look(name: str) -> None:
    assert paths._HARMLESS.fullmatch(name) is not None
    assert "/".join(checked_parts(name)) == name
