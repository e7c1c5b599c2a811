"""run.log: a line of JSON for everything that happens to a run, readable by its owner alone.

It holds ids, codes and counts. Keys, paths and descriptions may name people, so a key is told as the head of its hash,
and everything else that is not known to be harmless is left out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from noarkit.errors import DiskFull, NoarkitError
from noarkit.events import Event, Listener, combine_listeners

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


@contextmanager
def log_run(folder: Path, emit: Listener, now_s: Callable[[], float], job: str) -> Iterator[Listener]:
    """A listener that writes events to the run's log, with begin, end and faults of a job, and to `emit`."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(folder / "run.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    log = _Log(folder / "run.log", handle, now_s)
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
