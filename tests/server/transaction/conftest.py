"""One service and one small archive for all tests of the engine; a test must not depend on what others left there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noarkit.server.areas import open_service
from noarkit.server.settings import Settings
from tests.server.transaction.desk import Desk
from tests.server.transaction.world import World, make_world

# 2024-03-05 13:00 in the archive's zone.
NOW_S = 1709640000.0


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk with all rights."""
    service = open_service(tmp_path_factory.mktemp("engine"), Settings(), now_s=lambda: NOW_S)
    yield Desk(service)
    service.close()


@pytest.fixture(scope="session")
def world(desk: Desk) -> World:
    """The small archive."""
    return make_world(desk)
