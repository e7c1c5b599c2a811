"""Stand-ins for tests: served by a thread of this process, asked over real sockets."""

from __future__ import annotations

import queue
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import httpx

from noarkit.cli.standin import find_standin
from noarkit.config import Sources, load
from noarkit.events import ignore_event
from noarkit.services.connections import read_connection
from noarkit.services.pace import Clock
from noarkit.services.port import Service, ServiceItem, Window
from noarkit.services.settings import Connection
from noarkit.services.standins.server import ReadyStandin, StandinSpec, serve
from noarkit.settings import Settings
from tests.services.scripted import VirtualClock
from tests.services.wire_tables import Recorder, hold_to_table, recorder
from tests.waiting import PATIENCE_S

LATER = datetime(2100, 1, 1, tzinfo=UTC)
S = TypeVar("S", bound=Service)
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For calls to this machine by http: trusts nobody, where httpx would read hundreds of authorities for each call."""


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

    def site(self, archive: str | None = None) -> Settings:
        """The settings of a caller who has this connection configured."""
        flags = {"archive.url": archive} if archive else {}
        return Settings(load(Sources(flags=flags, environment=self.environment, file=self.config)), self.environment)

    def connection(self, more: Mapping[str, object] | None = None) -> Connection:
        """The connection, with other settings where they are given."""
        found = read_connection(f"{self.service}:standin", load(Sources(file=self.config)), self.environment)
        assert found is not None
        return Connection(found.service, found.name, {**found.values, **(more or {})}, self.environment)

    def consent(self, folder: Path) -> dict[str, object]:
        """A consent of its own, where refresh tokens are used up by those who use them, or good for so many uses."""
        if self.service not in ("spend", "crm"):
            return {}
        folder.mkdir(parents=True, exist_ok=True)
        secret = folder / "consent.secret"
        secret.write_text(str(self.control("consent")["refresh_token"]))
        secret.chmod(0o600)
        return {"refresh_token": {"file": str(secret)}}

    def control(self, what: str, **told: object) -> dict[str, object]:
        """Asks for trouble, changes the data, or counts."""
        answer = httpx.post(f"{self.url}/standin/{what}", json=told, timeout=PATIENCE_S, trust_env=False, verify=PLAIN)
        assert answer.status_code == 200, answer.text
        found: dict[str, object] = answer.json()
        return found


@contextmanager
def connected(opens: Callable[[Connection, Clock], S], to: Standing, folder: Path, **more: object) -> Iterator[S]:
    """A service with a state of its own, whose waits take no time, for as long as it is gone on with."""
    clock = VirtualClock(datetime.now(UTC).timestamp())
    settings = {"state": str(folder / "state"), **to.consent(folder), **more}
    service = opens(to.connection(settings), Clock(clock.now_s, clock.sleep_s))
    try:
        yield service
    finally:
        service.close()


def all_of(service: Service, name: str, since: datetime | None = None) -> list[ServiceItem]:
    """The items of a stream, those of its parents read before."""
    window = Window(since, LATER)
    streams = {stream.name: stream for stream in service.streams()}
    for parent in streams[name].parents:
        list(service.items(streams[parent], window, ignore_event))
    return list(service.items(streams[name], window, ignore_event))


@contextmanager
def standing(
    service: str, folder: Path, wish: StandinSpec | None = None, recorded: Recorder | None = None, *, odd: bool = False
) -> Iterator[Standing]:
    """A stand-in for the length of a block. What went over the wire is judged by the published table when it ends.

    Where a test makes the service hold what is `odd`, which nobody published, only what we asked is judged.
    """
    recorded = recorded or recorder()
    opened: queue.Queue[ReadyStandin | BaseException] = queue.Queue()
    stopping = threading.Event()
    config = folder / "standin.toml"

    def run() -> None:
        try:
            around = (lambda app: app) if recorded is None else recorded.around
            serve(
                service,
                find_standin(service),
                wish or StandinSpec(60),
                config_out=config,
                ready=opened.put,
                stop_event=stopping,
                around=around,
            )
        except BaseException as error:
            opened.put(error)
            raise

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready = opened.get(timeout=PATIENCE_S)
    assert isinstance(ready, ReadyStandin), ready
    try:
        yield Standing(service, ready.url, config, folder)
    finally:
        stopping.set()
        thread.join(PATIENCE_S)
    hold_to_table(recorded, service, requests_alone=odd)
