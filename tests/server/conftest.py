"""Live archives for tests: one for the whole session, fresh ones for a test, all on real sockets."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from noarkit.server.run import Address, ServingInfo, serve
from tests.server.wire import Wire, wire_to
from tests.waiting import PATIENCE_S

if TYPE_CHECKING:
    from tests.server.calls.scene import Scene


@dataclass(frozen=True, slots=True)
class Archive:
    """A live archive: its folder, its address, and `wire` with the token of `admin`, who may do everything."""

    data_dir: Path
    ready: ServingInfo
    wire: Wire

    def token(self, client_id: str) -> str:
        """A token of a client of clients.toml."""
        clients = tomllib.loads((self.data_dir / "clients.toml").read_text("utf-8"))["clients"]
        return self.wire.get_token(client_id, clients[client_id]["secret"])

    def wire_as(self, client_id: str) -> Wire:
        """The same archive, called as another client."""
        return self.wire.bearing(self.token(client_id))

    def add_client(self, client_id: str, *groups: str) -> Wire:
        """Adds a client with those groups; called as that client."""
        path = self.data_dir / "clients.toml"
        listed = ", ".join(f'"{group}"' for group in groups)
        with path.open("a", encoding="utf-8") as file:
            file.write(f'\n[clients.{client_id}]\nsecret = "secret of {client_id}"\ngroups = [{listed}]\n')
        return self.wire_as(client_id)


@contextmanager
def serving(
    data_dir: Path, settings: Mapping[str, object] | None = None, faults: Path | None = None
) -> Iterator[Archive]:
    """An archive that a thread of this process serves until the block ends."""
    data_dir.mkdir(parents=True, exist_ok=True)
    if settings is not None:
        lines = [
            f"{name} = {str(value).lower() if isinstance(value, bool) else repr(value)}"
            for name, value in settings.items()
        ]
        (data_dir / "server.toml").write_text("\n".join(lines), "utf-8")
    told: list[ServingInfo] = []
    failed: list[BaseException] = []
    opened, stopping = threading.Event(), threading.Event()

    def ready(address: ServingInfo) -> None:
        told.append(address)
        opened.set()

    def run() -> None:
        try:
            serve(data_dir, Address(port=0), faults=faults, ready=ready, stop_event=stopping)
        except BaseException as fault:  # noqa: BLE001  # handed to the test below
            failed.append(fault)
        finally:
            opened.set()

    thread = threading.Thread(target=run, name="archive-under-test")
    thread.start()
    try:
        assert opened.wait(PATIENCE_S)
        if failed:
            raise failed[0]
        archive = Archive(data_dir, told[0], wire_to(told[0].url))
        yield Archive(data_dir, told[0], archive.wire_as("admin"))
    finally:
        stopping.set()
        thread.join(PATIENCE_S)


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """An archive that the whole session shares: a test must not depend on what others left in it."""
    with serving(tmp_path_factory.mktemp("archive")) as live:
        yield live


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One of each kind of object, in an archive of its own; a test changes only what it made itself."""
    from tests.server.calls.scene import make_scene

    with serving(tmp_path_factory.mktemp("scene")) as live:
        yield make_scene(live)


@pytest.fixture
def fresh_archive(tmp_path: Path) -> Iterator[Archive]:
    """An archive of the test's own."""
    with serving(tmp_path / "archive") as live:
        yield live


@pytest.fixture
def archive_with(tmp_path: Path) -> Iterator[Callable[..., Archive]]:
    """Makes archives of the test's own with settings: `archive_with(max_json_bytes=1000)`."""
    blocks: list[AbstractContextManager[Archive]] = []

    def make(**settings: object) -> Archive:
        block = serving(tmp_path / f"archive-{len(blocks)}", settings)
        blocks.append(block)
        return block.__enter__()

    yield make
    for block in blocks:
        block.__exit__(None, None, None)
