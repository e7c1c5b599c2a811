"""The library, loaded once for all tests of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loading.damage.library import Library, load_library


@pytest.fixture(scope="session")
def library(archive_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The library as it was loaded; never to be damaged itself."""
    return load_library(archive_template, tmp_path_factory.mktemp("library"))
