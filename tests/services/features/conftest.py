"""A stand-in for all tests of a file, and a connection of each test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.services.features.service import Features
from noarkit.services.standins.server import StandinSpec
from tests.services.features.asking import connected
from tests.services.standing import Standing, standing


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service that nobody changes but by what they make themselves."""
    wish = StandinSpec(150, limits=(), options={"audit": "100"})
    with standing("features", tmp_path_factory.mktemp("features"), wish) as found:
        yield found


@pytest.fixture
def features(held: Standing, tmp_path: Path) -> Iterator[Features]:
    """A connection whose waits take no time."""
    with connected(held, tmp_path) as service:
        yield service
