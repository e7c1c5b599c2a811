"""The sample database on every server that is there."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.sources.database import sample as samples
from tests.sources.database.sample import Sample
from tests.sources.database.servers import PrivateServer, installed

FAMILIES = ("sqlite", "postgresql", "mysql")


@pytest.fixture(params=FAMILIES)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sample]:
    """The sample database, on each server in turn."""
    yield from made(str(request.param), tmp_path)


@pytest.fixture(params=FAMILIES, scope="session")
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    """The sample for tests that only read it."""
    family = str(request.param)
    yield from made(family, tmp_path_factory.mktemp(family), "_shared")


@pytest.fixture(params=FAMILIES if os.environ.get("NOARKIT_DEEP") == "1" else ("postgresql",))
def one_sample(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sample]:
    """The same for what takes long: one server, or all where time does not matter."""
    yield from made(str(request.param), tmp_path)


@pytest.fixture(params=("postgresql", "mysql"))
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sample]:
    """The sample database on each real server."""
    yield from made(str(request.param), tmp_path)


def made(family: str, place: Path, more: str = "") -> Iterator[Sample]:
    """A sample; skipped where there is no server for it, and none can be made."""
    if family == "sqlite":
        yield samples.sqlite_sample(place / "kilde")
        return
    url = _server_url(family)
    name = f"noarkit_{os.getpid()}{more}"
    try:
        yield samples.server_sample(url, name, place / "kilde")
    finally:
        samples.drop(url, name)


@functools.cache
def _server_url(family: str) -> str:
    """The server that the environment names or this machine runs; else one of our own, until the tests end."""
    url = samples.server_urls()[family]
    try:
        with samples.engine(url).connect():
            return url
    except sa.exc.OperationalError:
        if not installed(family):
            pytest.skip(f"no {family} server at {url}: name one in NOARKIT_TEST_POSTGRESQL or NOARKIT_TEST_MARIADB")
    home = tempfile.mkdtemp(prefix="noarkit-server-")
    server = PrivateServer(family, Path(home) / "d")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    atexit.register(server.stop)
    server.make()
    return server.url
