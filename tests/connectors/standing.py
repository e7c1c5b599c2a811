"""Stand-ins for tests: served by a thread of this process, asked over real sockets."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from noarkit.config import Sources, load
from noarkit.connectors.settings import Connection, connection
from noarkit.journeys import Site
from noarkit.standins.serving import Ready, Wish, serve


@dataclass(frozen=True, slots=True)
class Standing:
    """A stand-in that answers, and how it is reached."""

    service: str
    url: str
    config: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """An environment in which nothing else is configured."""
        return {"HOME": str(self.home)}

    def site(self, archive: str | None = None) -> Site:
        """The settings of a caller who has this connection configured."""
        flags = {"archive.url": archive} if archive else {}
        return Site(load(Sources(flags=flags, environment=self.environment, file=self.config)), self.environment)

    def connection(self, more: Mapping[str, object] | None = None) -> Connection:
        """The connection, with other settings where they are given."""
        found = connection(f"{self.service}:standin", load(Sources(file=self.config)), self.environment)
        assert found is not None
        return Connection(found.service, found.name, {**found.values, **(more or {})}, self.environment)

    def control(self, what: str, **told: object) -> dict[str, object]:
        """Asks for trouble, changes the data, or counts."""
        answer = httpx.post(f"{self.url}/standin/{what}", json=told, timeout=30, trust_env=False)
        assert answer.status_code == 200, answer.text
        found: dict[str, object] = answer.json()
        return found


@contextmanager
def standing(service: str, folder: Path, wish: Wish | None = None) -> Iterator[Standing]:
    """A stand-in for the length of a block."""
    opened: queue.Queue[Ready | BaseException] = queue.Queue()
    stopping = threading.Event()
    config = folder / "standin.toml"

    def run() -> None:
        try:
            serve(service, wish or Wish(60), config_out=config, ready=opened.put, stopping=stopping)
        except BaseException as error:
            opened.put(error)
            raise

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready = opened.get(timeout=30)
    assert isinstance(ready, Ready), ready
    try:
        yield Standing(service, ready.url, config, folder)
    finally:
        stopping.set()
        thread.join(20)
