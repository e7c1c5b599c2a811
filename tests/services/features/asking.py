"""Connections to a stand-in or a scripted service, and what they list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from noarkit.events import ignore_event
from noarkit.services.features.service import Features, open_service
from noarkit.services.known_keys import NOTHING_KNOWN, KnownKeys, add_known_keys
from noarkit.services.pace import Clock
from noarkit.services.port import Item, ServiceItem, Window
from tests.services.scripted import VirtualClock
from tests.services.standing import Standing

LATER = datetime(2100, 1, 1, tzinfo=UTC)


@contextmanager
def connected(to: Standing, folder: Path, **more: object) -> Iterator[Features]:
    """A service with a state of its own."""
    clock = VirtualClock(datetime.now(UTC).timestamp())
    settings = {"state": str(folder / "state"), **more}
    service = open_service(to.connection(settings), Clock(clock.now_s, clock.sleep_s))
    try:
        yield service
    finally:
        service.close()


@contextmanager
def scripted(held: Standing, folder: Path, url: str, **more: object) -> Iterator[Features]:
    """A connection to a service that answers as it is told."""
    with connected(held, folder, console_api_url=url, http_api_url=url, **more) as service:
        yield service


def all_of(
    service: Features,
    name: str,
    since: datetime | None = None,
    until: datetime = LATER,
    known_keys: KnownKeys = NOTHING_KNOWN,
) -> list[ServiceItem]:
    """The items of a stream."""
    stream = next(stream for stream in service.streams() if stream.name == name)
    return list(service.items(stream, Window(since, until, known_keys=known_keys), ignore_event))


def items_of(
    service: Features, name: str, since: datetime | None = None, known_keys: KnownKeys = NOTHING_KNOWN
) -> list[Item]:
    """Those that are no tidings."""
    return [one for one in all_of(service, name, since, known_keys=known_keys) if isinstance(one, Item)]


def keys_known(folder: Path, items: Iterable[Item]) -> KnownKeys:
    """The keys of an archive that holds these items."""
    add_known_keys(folder / "keys.db", "archive", [item.key for item in items], [])
    return KnownKeys(folder / "keys.db")
