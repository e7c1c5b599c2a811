"""A viewer that the tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noarkit.reading_room.viewers.content import Tickets
from noarkit.reading_room.viewers.viewer import Viewer


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    """A viewer in a sandbox of this machine."""
    with Viewer(Tickets()) as opened:
        yield opened
