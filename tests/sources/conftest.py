"""Sources are planned and loaded: the steps of one test share an archive that is started once."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def one_archive_a_test(one_archive: None) -> None:
    """Plans and loads of a test use the same running archive."""
