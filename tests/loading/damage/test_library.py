"""The damaged library itself: every damage does what it says of itself, by a plain look at the files and an extract."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from noarkit.errors import NoarkitError
from tests.loading.damage.catalogue import ALL, BY_NAME
from tests.loading.damage.damage import Damage
from tests.loading.damage.in_runs import NEVER_LOADED
from tests.loading.damage.library import Library, copy_of
from tests.loading.damage.raw import Snapshot, difference, snapshot
from tests.roundtrip.circle import extract_to, files_of

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
SAMPLE = ALL if DEEP else ALL[::20]
FEWEST = {"archive": 150, "store": 13, "api": 30, "source": 9, "run": 20}


def extracted(library: Library) -> Mapping[str, bytes] | str:
    """The files of an extract of the library's archive, or the fault that there is none."""
    target = library.root / "extract"
    with library.serving() as archive:
        try:
            extract_to(archive, target, include_open=True)
        except NoarkitError as fault:
            return fault.code
    return files_of(target)


@pytest.fixture(scope="module")
def whole(library: Library) -> Snapshot:
    """What a plain look at the undamaged library shows."""
    return snapshot(library)


@pytest.fixture(scope="module")
def undamaged(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """What an extract holds where nothing was damaged."""
    found = extracted(copy_of(library, tmp_path_factory.mktemp("undamaged")))
    assert not isinstance(found, str)
    return found


def test_every_damage_has_a_name_of_its_own_and_there_are_many_of_each_kind() -> None:
    assert len(BY_NAME) == len(ALL)
    counted = Counter(damage.kind for damage in ALL)
    assert {kind: count >= FEWEST[kind] for kind, count in counted.items()} == dict.fromkeys(FEWEST, True)


@pytest.mark.parametrize("damage", ALL, ids=lambda damage: damage.name)
def test_a_damage_touches_what_it_says_and_nothing_else(
    damage: Damage, library: Library, whole: Snapshot, tmp_path: Path
) -> None:
    copy = copy_of(library, tmp_path)
    damage.do(copy)
    touched = damage.touched if damage.name != NEVER_LOADED else {"run.db": len(whole["run.db"])}
    assert difference(whole, snapshot(copy)) == touched


@pytest.mark.parametrize("damage", SAMPLE, ids=lambda damage: damage.name)
def test_a_damage_shows_in_an_extract_where_it_says_so(
    damage: Damage, library: Library, undamaged: Mapping[str, bytes], tmp_path: Path
) -> None:
    copy = copy_of(library, tmp_path)
    damage.do(copy)
    assert (extracted(copy) != undamaged) == damage.shown
