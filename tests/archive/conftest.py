"""A scripted server and a client of it, for each test anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noarkit.archive.http import HttpArchive
from tests.archive.scripted import ScriptedServer, client_of


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that waits for its script."""
    made = ScriptedServer()
    yield made
    made.close()


@pytest.fixture
def archive(server: ScriptedServer) -> Iterator[HttpArchive]:
    """A client of the scripted server."""
    with client_of(server) as made:
        yield made
