"""Any single change that changes what an extract would hold is found at depth bytes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, assume, event, given, settings
from hypothesis import strategies as st

from tests.loading.damage.library import Library, copy_of
from tests.loading.damage.random_change import Changing
from tests.loading.damage.test_damages import said
from tests.loading.damage.test_library import extracted

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
EXAMPLES = 1500 if DEEP else 25


@dataclass(frozen=True, slots=True)
class Extract:
    """What an extract of the undamaged library holds; never shown whole."""

    files: Mapping[str, bytes] = field(repr=False)


@pytest.fixture(scope="module")
def undamaged(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Extract:
    """What an extract holds where nothing was changed."""
    found = extracted(copy_of(library, tmp_path_factory.mktemp("undamaged")))
    assert not isinstance(found, str)
    return Extract(found)


@settings(
    max_examples=EXAMPLES,
    derandomize=not DEEP,
    database=None,
    phases=(Phase.generate,),  # a smaller seed is no simpler change
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_a_change_that_an_extract_would_show_is_never_verified(seed: int, library: Library, undamaged: Extract) -> None:
    place = Path(tempfile.mkdtemp(prefix="noarkit-change-"))
    try:
        copy = copy_of(library, place)
        change = Changing(copy, Random(seed)).change()
        assume(change.done)
        found = said(copy)
        event(found.verdict)
        if found.verdict == "verified":
            assert extracted(copy) == undamaged.files, change.what
    finally:
        shutil.rmtree(place)
