"""What every test of connectors needs: wires that are closed when a test ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noarkit.services.wire import Wire

_OPEN: list[Wire] = []


def kept_open(wire: Wire) -> Wire:
    """A wire that is closed when the test ends."""
    _OPEN.append(wire)
    return wire


@pytest.fixture(autouse=True)
def closes_wires() -> Iterator[None]:
    """Ends all connections of a test."""
    yield
    while _OPEN:
        _OPEN.pop().close()
