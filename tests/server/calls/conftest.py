"""The scene that the tests of the calls share."""

from __future__ import annotations

import pytest

from tests.server.calls.scene import Scene, make_scene
from tests.server.conftest import Archive


@pytest.fixture(scope="session")
def scene(archive: Archive) -> Scene:
    """One of each kind of object in the session's archive; a test changes only what it made itself."""
    return make_scene(archive)
