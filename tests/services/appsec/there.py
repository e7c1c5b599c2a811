"""A security service on loopback as tests ask it: connections whose waits take no time, and what they read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from noarkit.events import Event, Listener, ignore_event
from noarkit.services.appsec.service import AppSec, open_service
from noarkit.services.pace import Clock
from noarkit.services.port import Item, ServiceItem, Window
from noarkit.services.settings import Connection
from tests.services.scripted import VirtualClock
from tests.services.standing import Standing

LATER = datetime(2100, 1, 1, tzinfo=UTC)


@contextmanager
def connected(to: Standing, folder: Path, **more: object) -> Iterator[AppSec]:
    """A service with a state of its own, whose waits take no time."""
    clock = VirtualClock(datetime.now(UTC).timestamp())
    service = open_service(to.connection({"state": str(folder / "state"), **more}), Clock(clock.now_s, clock.sleep_s))
    try:
        yield service
    finally:
        service.close()


def all_of(
    service: AppSec, name: str, since: datetime | None = None, tell: Listener = ignore_event, until: datetime = LATER
) -> list[ServiceItem]:
    """The items of a stream."""
    stream = next(stream for stream in service.streams() if stream.name == name)
    return list(service.items(stream, Window(since, until), tell))


def papers(item: ServiceItem) -> dict[str, bytes]:
    """The documents of an item, by name."""
    assert isinstance(item, Item)
    return {made.name: made.data for made in item.generated}


def newest(to: Standing, place: int = 0) -> dict[str, str]:
    """A scan, newest first."""
    scans = to.control("counts")["scans"]
    assert isinstance(scans, list)
    found: dict[str, str] = scans[place]
    return found


def said(heard: Sequence[Event]) -> list[object]:
    """The remarks that were told, without those on what is never fetched."""
    return [one.data["why"] for one in heard if one.name == "remark" and one.data["why"] != "not-fetched"]


def scripted(url: str, folder: Path | None = None, **more: object) -> AppSec:
    """A connection to a service that answers as it is told."""
    place = str(folder or tempfile.mkdtemp())
    values = {"api_url": url, "tenant": "t", "client_id": "us", "state": place, "rates": ["1000000/s"], **more}
    clock = VirtualClock(datetime.now(UTC).timestamp())
    to = Connection("appsec", "x", values, {"NOARKIT_APPSEC_X_API_KEY": "a-key-that-is-long", "HOME": place})
    return open_service(to, Clock(clock.now_s, clock.sleep_s))
