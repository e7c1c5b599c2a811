"""Journeys of connectors: steps of one test share an archive that is started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noarkit.embedded import keep_services


@pytest.fixture(autouse=True)
def one_archive_a_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keeps the embedded archive running between the plans and loads of a test, unless the test moves it away."""
    if request.node.get_closest_marker("moves_archive") is not None:
        yield
        return
    with keep_services():
        yield
