"""Breaks the N-th step of a run on purpose: of the archive, the journal or the source."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from noarkit.archive.port import Archive
from noarkit.errors import (
    AnswerLost,
    ArchiveAway,
    ArchiveBroken,
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ItemChanged,
    ItemVanished,
    JournalFault,
    NotLetIn,
)
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from tests.archive.fakes import PassingArchive

T = TypeVar("T")


class Killed(BaseException):
    """The process is gone: nothing after this line runs, nothing is tidied up."""


@dataclass
class Time:
    """A clock that only sleeping moves, and what is to happen when it has moved so far."""

    now: float = 1_700_000_000.0
    due: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        ready = [act for at, act in self.due if at <= self.now]
        self.due = [(at, act) for at, act in self.due if at > self.now]
        for act in ready:
            act()

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        self.due.append((self.now + seconds, act))


@dataclass
class Schedule:
    """One trouble: `kind` strikes when the `step`-th call of the ports that `kind` concerns is made; then never again
    (or always, from there on, where `lasting`)."""

    kind: str = ""
    step: int = 0
    seen: int = 0
    struck: bool = False

    def strikes(self, port: str) -> bool:
        """Counts a step of a port this trouble concerns; True where it is the one."""
        if not self.kind.startswith(port):
            return False
        self.seen += 1
        if self.seen == self.step:
            self.struck = True
            return True
        return False


REFUSALS: Mapping[str, Callable[[], ArchiveFault]] = {
    "away": lambda: ArchiveAway(call="x"),
    "lost": lambda: AnswerLost(call="x"),
    "500": lambda: ArchiveBroken(call="x", status=500),
    "503": lambda: ArchiveBusy(call="x", status=503),
    "429": lambda: ArchiveBusy(call="x", status=429),
    "409": lambda: ArchiveConflict(call="x", status=409),
    "401": lambda: NotLetIn(call="x", status=401),
}

# <call>:<what>:<when>; late: the archive commits after the client gave up, toolate: even after its own deadline
ARCHIVE_TROUBLES = (
    *(f"transaction:{what}:{when}" for what in ("kill", "lost", "500", "503") for when in ("before", "after", "late")),
    *(f"transaction:{what}:before" for what in ("away", "429", "409", "401")),
    *(f"upload:{what}" for what in ("kill:before", "kill:after", "lost:before", "lost:after", "401:before")),
    *(f"query:{what}" for what in ("kill:before", "lost:before", "503:before", "401:before")),
)
TOO_LATE_TROUBLES = ("transaction:lost:toolate", "transaction:500:toolate", "transaction:kill:toolate")
JOURNAL_TROUBLES = ("journal:kill:before", "journal:kill:after", "journal:fault:before")
SOURCE_TROUBLES = ("source:kill:before", "source:vanished:before", "source:changed:before", "source:moved:after")
LATE_S = {"late": 20.0, "toolate": 90.0}


class TroubledArchive(PassingArchive):
    """An archive in which one step goes wrong."""

    def __init__(self, archive: Archive, schedule: Schedule, time: Time) -> None:
        super().__init__(archive)
        self._schedule = schedule
        self._time = time

    def _step(self, port: str, act: Callable[[], T]) -> T:
        if not self._schedule.strikes(port):
            return act()
        _, what, when = self._schedule.kind.split(":")
        if when == "after":
            act()
        if when in LATE_S:
            self._time.later(LATE_S[when], lambda: _in_vain(act))
        if what == "kill":
            raise Killed()
        raise REFUSALS[what]()


def _in_vain(act: Callable[[], object]) -> None:
    """A late commit whose client is gone: nobody hears a refusal."""
    with contextlib.suppress(ArchiveFault):
        act()


class TroubledJournal:
    """Wraps the methods of a journal that change it: killed before or after one of them is durable."""

    _CHANGING = (
        *("adopt", "lease", "release", "mark_all_in_doubt", "mark_in_doubt", "record", "keep_guard", "forget_guard"),
        *("remember", "keep_time", "set_aside", "reopen_lost", "settle", "explain", "keep_findings"),
    )

    def __init__(self, journal: object, schedule: Schedule) -> None:
        self._journal = journal
        self._schedule = schedule

    @contextlib.contextmanager
    def change(self) -> Iterator[object]:
        """A transaction of what has a table of its own; as a whole it is one step."""
        strikes = self._schedule.strikes("journal")
        if strikes and self._schedule.kind.endswith("before"):
            self._strike()
        with self._journal.change() as db:  # type: ignore[attr-defined]  # a journal
            yield db
        if strikes:
            self._strike()

    def _strike(self) -> NoReturn:
        if self._schedule.kind.split(":")[1] == "fault":
            raise JournalFault(where="run.db", why="on purpose")
        raise Killed()

    def __getattr__(self, name: str) -> object:
        method = getattr(self._journal, name)
        if name not in self._CHANGING:
            return method

        def step(*arguments: object, **named: object) -> object:
            if not self._schedule.strikes("journal"):
                return method(*arguments, **named)
            if self._schedule.kind.endswith("after"):
                method(*arguments, **named)
            self._strike()

        return step


class _Bytes(io.BytesIO):
    same = True

    def still_the_same(self) -> bool:
        return self.same


@dataclass
class Contents:
    """A source's contents in memory, in which one opening goes wrong."""

    by_locator: dict[str, bytes]
    schedule: Schedule
    opened: int = 0

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        self.opened += 1
        stream = _Bytes(self.by_locator[content.locator])
        if self.schedule.strikes("source"):
            _, what, _ = self.schedule.kind.split(":")
            if what == "kill":
                raise Killed()
            if what == "vanished":
                raise ItemVanished(key=content.locator)
            if what == "changed":
                raise ItemChanged(key=content.locator, why="size")
            stream.same = False
        yield stream
