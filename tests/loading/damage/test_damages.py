"""Verify finds every damage of the library, and names it by its code; what is whole is verified at every depth."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.errors import NoarkitError
from noarkit.events import ignore_event
from noarkit.loading.engines.assembly import check_same_archive
from noarkit.loading.verification import Depth, Depths, VerifyResult, verify
from noarkit.loading.verification.outcome import DEPTHS
from tests.loading.damage.catalogue import ALL
from tests.loading.damage.damage import Damage
from tests.loading.damage.library import Library, copy_of


@dataclass(frozen=True, slots=True)
class Said:
    """What came of a verification: its verdict, or the fault that it ended with, and every code that it named."""

    verdict: str
    codes: Collection[str]


def said(library: Library, depth: Depth = "bytes", account: str = "admin") -> Said:
    """Verifies as the command does: the archive must be the run's, then everything is compared."""
    with library.serving(account) as archive:
        try:
            check_same_archive(library.folder, archive, "test")
            result = verify(library.folder, library.source, archive, Depths(depth), ignore_event)
        except NoarkitError as fault:
            return Said(fault.code, (fault.code,))
    return Said(result.verdict, codes_of(result))


def codes_of(result: VerifyResult) -> Collection[str]:
    """Every finding, every notice, and every reason for which something was not compared."""
    return {*(one.code for one in (*result.findings, *result.notices)), *result.missing}


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_whole_library_is_verified_at_every_depth(depth: Depth, library: Library) -> None:
    found = said(library, depth)
    assert found.codes == set()
    assert found.verdict == ("verified" if depth == "bytes" else "in_part")


@pytest.mark.parametrize("damage", ALL, ids=lambda damage: damage.name)
def test_a_damage_is_found_by_its_code(damage: Damage, library: Library, tmp_path: Path) -> None:
    copy = copy_of(library, tmp_path)
    damage.do(copy)
    found = said(copy)
    if damage.code:
        assert damage.code in found.codes
        assert found.verdict != "verified"
    else:
        assert (found.verdict, found.codes) == ("verified", set())
