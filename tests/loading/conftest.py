"""One archive that was started once, copied for every journey that wants its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from noarkit.server.areas import open_service
from noarkit.server.service import Service
from tests.loading.journey import Journey, add_plain_account, copied

Opened = Callable[[Journey], Service]


@pytest.fixture(scope="session")
def archive_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive that has been started once."""
    path = tmp_path_factory.mktemp("template") / "archive"
    service = open_service(path)
    add_plain_account(service)
    service.close()
    return path


@pytest.fixture
def root(archive_template: Path, tmp_path: Path) -> Path:
    """A folder with an archive that nothing was loaded into."""
    copied(archive_template, tmp_path / "archive")
    return tmp_path


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens the archives of journeys, and closes them at the end."""
    with ExitStack() as stack:

        def opening(journey: Journey) -> Service:
            service = journey.service()
            stack.callback(service.close)
            return service

        yield opening
