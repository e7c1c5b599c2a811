"""Logs of events: a line of JSON for everything that happens to a place, readable by its owner alone.

A log holds ids, codes and counts. Keys, paths and descriptions may name people, so a key is told as the head of its
hash, and everything else that is not known to be harmless is left out. A run has a log of its own, `run.log`; other
places have one only while somebody watches them, beside them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from noarkit.errors import DiskFull, JournalFault, NoarkitError
from noarkit.events import Event, Listener, combine_listeners
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.side_files import open_side_file

RUN_LOG = "run.log"
_BLOCK_BYTES = 4 << 20
_HARMLESS = frozenset(
    {
        "code",
        "kind",
        "chunk",
        "identity",
        "state",
        "call",
        "type",
        "id",
        "archive",
        "account",
        "depth",
        "limit",
        "signal",
        "error_id",
        "host",
    }
)
HASHED = frozenset({"key", "locator"})


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One line of a log: the moment in UTC, the name of the event, and what of its data may be logged."""

    time: str
    name: str
    data: Mapping[str, object]


def log_run(
    folder: Path, emit: Listener, now_s: Callable[[], float], job: str, *, name: str = RUN_LOG
) -> AbstractContextManager[Listener]:
    """A listener that writes events to the log of a run, with begin, end and faults of a job, and to `emit`."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = open_descriptor(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return _log_events(folder / name, handle, emit, now_s, job)


@contextmanager
def log_if_watched(place: Path, emit: Listener, now_s: Callable[[], float], job: str) -> Iterator[Listener]:
    """The same for a place that is no run, while somebody watches it: while a log of ours stands beside it."""
    path = watched_log(place)
    try:
        handle = open_side_file(path, os.O_WRONLY | os.O_APPEND)
    except (OSError, JournalFault):
        yield emit
        return
    with _log_events(path, handle, emit, now_s, job) as emit_logged:
        yield emit_logged


def watched_log(place: Path) -> Path:
    """Where the log of a place lies that somebody watches."""
    place = place.absolute()
    return place.parent / f"{place.name}.noarkit-activity.jsonl"


def read_events(path: Path, offset: int = 0) -> tuple[list[LoggedEvent], int]:
    """The whole lines of a log from an offset on, and the offset behind them; none where there is no log yet.

    A line that is no event (a crash cut it off, or somebody else wrote it) is passed over, whatever its length.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            block = file.read(_BLOCK_BYTES)
    except FileNotFoundError:
        return [], offset
    end = block.rfind(b"\n") + 1
    if not end and len(block) == _BLOCK_BYTES:
        return [], offset + len(block)
    return [event for line in block[:end].splitlines() if (event := _read_event(line)) is not None], offset + end


def _read_event(line: bytes) -> LoggedEvent | None:
    try:
        data = json.loads(line)
    except ValueError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("event"), str):
        return None
    return LoggedEvent(str(data.pop("time", "")), str(data.pop("event")), data)


@contextmanager
def _log_events(path: Path, handle: int, emit: Listener, now_s: Callable[[], float], job: str) -> Iterator[Listener]:
    log = _Log(path, handle, now_s)
    try:
        log(Event(f"{job}_begins"))
        yield combine_listeners(emit, log)
        log(Event(f"{job}_ends"))
    except NoarkitError as fault:
        log(Event("fault", {"code": fault.code, "exit": fault.exit_code, **fault.data}))
        raise
    finally:
        os.close(handle)


class _Log:
    def __init__(self, path: Path, handle: int, now_s: Callable[[], float]) -> None:
        self._path = path
        self._handle = handle
        self._now_s = now_s

    def __call__(self, event: Event, /) -> None:
        moment = datetime.fromtimestamp(self._now_s(), UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": moment, "event": event.name, **loggable_data(event.data)}) + "\n"
        try:
            os.write(self._handle, line.encode())
        except OSError as error:
            raise DiskFull(where=str(self._path)) from error


def loggable_data(data: Mapping[str, object]) -> dict[str, object]:
    """The data of an event that may be written to a log."""
    safe_data: dict[str, object] = hash_keys(data)
    for name, value in data.items():
        if isinstance(value, bool | int | float) or (name in _HARMLESS and isinstance(value, str)):
            safe_data[name] = value
        elif isinstance(value, Mapping) and all(isinstance(count, int) for count in value.values()):
            safe_data[name] = dict(value)
    return safe_data


def hash_keys(data: Mapping[str, object]) -> dict[str, object]:
    """The keys and locators among an event's data, each as the head of its hash."""
    return {
        f"{name}_hash": hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:16]
        for name, value in data.items()
        if name in HASHED and isinstance(value, str)
    }
