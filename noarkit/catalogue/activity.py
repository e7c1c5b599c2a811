"""What happens to a run, or to a package that is made or validated: as it goes on, and afterwards as its history.

Figures of a run come from its journal, which is the truth; what happened when comes from the log. Both are read while
another process writes them.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from noarkit.loading.approval import Approval, approval_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers, numbers
from noarkit.places import is_run
from noarkit.safe.disk import translate_sqlite_errors
from noarkit.safe.event_log import RUN_LOG, LoggedEvent, read_events, watched_log

_MOST_MOMENTS = 240
_MOST_TROUBLES = 20
_SILENT_S = 60.0
"""A package that nobody has written of for so long is not worked on: whoever did was killed."""
_MINUTE = len("2026-11-24T11:05")
_TROUBLES = frozenset(
    {
        "fault",
        "set_aside",
        "refused",
        "chunk_in_doubt",
        "archive_retry",
        "shard_stopped",
        "shard_handed_on",
        "shard_set_aside",
        "not_closed",
        "not_sealed",
    }
)
_OBJECTS: Mapping[str, str] = {
    "chunk_done": "made",
    "fetched": "count",
    "files_fetched": "count",
    "package_files": "files",
    "closed": "objects",
    "validated": "count",
}
"""What each event counts, so that a rate can be told of it."""


@dataclass(frozen=True, slots=True)
class ShardProgress:
    """The chunks of a shard by what became of them, and how often a worker took it up."""

    n: int
    kind: str
    state: str
    attempt: int
    planned: int
    sent: int
    done: int
    in_doubt: int
    refused: int

    @property
    def chunks(self) -> int:
        """All of them."""
        return self.planned + self.sent + self.done + self.in_doubt + self.refused


@dataclass(frozen=True, slots=True)
class MinuteTotals:
    """What was done in a minute (`2026-11-24T11:05`): objects and bytes."""

    minute: str
    objects: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Activity:
    """What is known at a moment. `job` is what goes on or went on last, `is_running` whether a process works on it;
    `counts` are the events so far by name. Of a package there are no shards, numbers and approval."""

    job: str
    is_running: bool
    owner: str
    began: str
    last: str
    minutes: tuple[MinuteTotals, ...]
    troubles: tuple[LoggedEvent, ...]
    counts: Mapping[str, int]
    shards: tuple[ShardProgress, ...] = ()
    numbers: Numbers | None = None
    approval: Approval | None = None

    def to_dict(self) -> dict[str, object]:
        """Plain values, as the live page gets them."""
        return asdict(self)


class ActivityFollower:
    """Follows a log from its beginning; each `now` reads only what came since the last."""

    def __init__(self, place: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._run = RunFolder(place) if is_run(place) else None
        self._log = place / RUN_LOG if self._run is not None else watched_log(place)
        self._offset = 0
        self._minutes: dict[str, list[int]] = {}
        self._troubles: deque[LoggedEvent] = deque(maxlen=_MOST_TROUBLES)
        self._counts: Counter[str] = Counter()
        self._jobs: list[str] = []
        self._job = self._began = self._last = ""
        self._last_s = 0.0

    def now(self) -> Activity:
        """What is known now."""
        while self._read_block():
            pass
        is_recent = self._clock() - self._last_s < _SILENT_S
        run = self._run
        owner = (run.owner() or "") if run is not None else ""
        activity = Activity(
            self._job,
            bool(owner) if run is not None else bool(self._jobs) and is_recent,
            owner,
            self._began,
            self._last,
            tuple(MinuteTotals(minute, *totals) for minute, totals in list(self._minutes.items())[-_MOST_MOMENTS:]),
            tuple(reversed(self._troubles)),
            dict(self._counts),
        )
        return activity if run is None else _with_journal(activity, run)

    def _read_block(self) -> bool:
        before = self._offset
        events, self._offset = read_events(self._log, before)
        for event in events:
            self._take(event)
        return self._offset > before

    def _take(self, event: LoggedEvent) -> None:
        name, data = event.name, event.data
        self._last, self._last_s = event.time, _moment_of(event.time)
        self._counts[name] += 1
        if name.endswith("_begins"):
            self._job, self._began = name.removesuffix("_begins"), event.time
            # a job that begins again was killed before, and so was all that it had begun
            again = self._jobs.index(self._job) if self._job in self._jobs else len(self._jobs)
            self._jobs = [*self._jobs[:again], self._job]
        elif name.endswith("_ends") or name == "fault":
            self._jobs = self._jobs[:-1]
        if name in _TROUBLES:
            self._troubles.append(event)
        if name in _OBJECTS or name == "bytes":
            totals = self._minutes.setdefault(event.time[:_MINUTE], [0, 0])
            totals[0] += _number(data.get(_OBJECTS.get(name, "")))
            totals[1] += _number(data.get("bytes"))


def _with_journal(activity: Activity, run: RunFolder) -> Activity:
    """The same with what the journal and the approvals of the run say."""
    facts = {field: getattr(activity, field) for field in activity.__slots__}
    shards = _shards(run) if run.journal.exists() else ()
    return Activity(**{**facts, "shards": shards, "numbers": numbers(run), "approval": approval_of(run)})


def _shards(run: RunFolder) -> tuple[ShardProgress, ...]:
    with (
        translate_sqlite_errors(run.journal),
        closing(sqlite3.connect(f"{run.journal.resolve().as_uri()}?mode=ro", uri=True)) as db,
    ):
        rows = db.execute(
            "SELECT s.n, s.kind, s.state, s.attempt, sum(c.state = 'planned'), sum(c.state = 'intent'),"
            " sum(c.state = 'done'), sum(c.state = 'in_doubt'), sum(c.state IN ('refused', 'set_aside'))"
            " FROM shard s JOIN chunk c ON c.shard = s.n GROUP BY s.n ORDER BY s.n"
        ).fetchall()
    return tuple(ShardProgress(*row) for row in rows)


def _moment_of(time_text: str) -> float:
    """A moment of a log in seconds; long ago where it is none."""
    try:
        return datetime.fromisoformat(time_text).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
