"""The page of what happens to a place: it follows the work while that goes on, and is its history afterwards.

The browser gets the same fragment of the page again and again by server-sent events; without a script it loads the page
again every few seconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from noarkit.catalogue.activity import Activity, ActivityFollower, ShardProgress
from noarkit.catalogue.moments import zoned
from noarkit.errors import JournalFault
from noarkit.reading_room.sections import Facts, Handler, Show
from noarkit.reading_room.session import Session
from noarkit.reading_room.web import Answer, Request
from noarkit.safe.event_log import watched_log
from noarkit.safe.side_files import open_side_file

EVENTS = "text/event-stream; charset=utf-8"
EVERY_S = 1.0
_MOST_SHARDS = 60
_MOST_MINUTES = 60
_QUIET_ROUNDS = 15
"""After so many rounds without news a comment is sent, so that nobody in between takes the connection for dead."""


class ActivitySection:
    """The page `/activity`, and the events that keep it fresh."""

    name = "activity"

    def __init__(self, place: Path, zone: str) -> None:
        self._place = place
        self._zone = zone

    @property
    def pages(self) -> Mapping[str, Handler]:
        """The page and its stream of events."""
        return {"activity": self._page, "activity-now": self._events}

    @property
    def forms(self) -> Mapping[str, Handler]:
        """None."""
        return {}

    def _page(self, request: Request, session: Session, show: Show) -> Answer:
        return show("activity.html", activity_facts(ActivityFollower(self._place).now(), self._zone))

    def _events(self, request: Request, session: Session, show: Show) -> Answer:
        follower = ActivityFollower(self._place)

        def fragment() -> bytes:
            return show("activity_now.html", activity_facts(follower.now(), self._zone)).body

        return Answer(200, b"", EVENTS, chunks=_streamed(fragment), every_s=EVERY_S)


@contextmanager
def watching(place: Path) -> Iterator[bool]:
    """Lets what works on a package log its events beside it; False where nothing may be written there.

    A log that nobody wrote to goes with the room; any other stays, as the history of the package.
    """
    log = watched_log(place)
    try:
        os.close(open_side_file(log, os.O_WRONLY | os.O_CREAT))
    except (OSError, JournalFault):
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError):
            if log.stat().st_size == 0:
                log.unlink()


def activity_facts(activity: Activity, zone: str) -> Facts:
    """What the page shows: of many shards those that are not done, and the first of the others; minutes in a zone."""
    shards = sorted(activity.shards, key=lambda shard: (shard.done == shard.chunks, shard.n))
    shown = sorted(shards[:_MOST_SHARDS], key=lambda shard: shard.n)
    return {
        "activity": activity,
        "shards": shown,
        "shards_left": len(shards) - len(shown),
        "chunks": _totals(activity.shards),
        "minutes": [(_clock(minute.minute, zone), minute.objects) for minute in activity.minutes[-_MOST_MINUTES:]],
        "bytes": sum(minute.bytes for minute in activity.minutes),
    }


def _clock(minute: str, zone: str) -> str:
    """A minute of the log, which is in UTC, as a clock in a zone shows it."""
    moment = zoned(f"{minute}Z", zone)
    return minute[-5:] if moment is None else f"{moment:%H:%M}"


def _totals(shards: tuple[ShardProgress, ...]) -> dict[str, int]:
    names = ("chunks", "done", "sent", "planned", "in_doubt", "refused")
    return {name: sum(getattr(shard, name) for shard in shards) for name in names}


@contextmanager
def _streamed(fragment: Callable[[], bytes]) -> Iterator[Iterator[bytes]]:
    yield _event_stream(fragment)


def _event_stream(fragment: Callable[[], bytes]) -> Iterator[bytes]:
    """The fragment as an event each time it has changed."""
    last, quiet = b"", 0
    yield b"retry: 2000\n\n"
    while True:
        now = fragment()
        if now != last:
            last, quiet = now, 0
            yield b"event: activity\n" + b"".join(b"data: " + line + b"\n" for line in now.splitlines()) + b"\n"
        else:
            quiet += 1
            yield b": still here\n\n" if quiet % _QUIET_ROUNDS == 0 else b":\n\n"
