"""What a person, a script or a log gets to see: results on stdout, lines for people on stderr, JSON on request."""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TextIO

from noarkit.errors import ConfigFault, DiskFull, NoarkitError, RunFault, UsageFault
from noarkit.events import Event
from noarkit.loading.engines.runlog import HASHED, hash_keys, loggable_data
from noarkit.safe.disk import is_full
from noarkit.words.texts import PARTS, Texts, explain, plain, render, texts

_INDENT = " " * 6
# of our own config, folders and limits, where no record has a say
_OURS = (ConfigFault, UsageFault, RunFault)
_STATES = {0: "done", 3: "done", 11: "paused", 130: "paused", 143: "paused", 5: "paused"}


class Console:
    """One command's voice. `verbosity` is -1 for -q, and counts each -v."""

    def __init__(self, texts: Texts, *, as_json: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.texts = texts
        self.as_json = as_json
        self.verbosity = 0
        self.log_path: Path | None = None
        self._log: TextIO | None = None
        self._clock = clock
        self._started = clock()
        self._summary: dict[str, object] = {}

    def open_log(self, path: Path) -> None:
        """Writes a line of JSON to `path` for whatever happens from now on; nobody else may read it."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise ConfigFault(where=str(path), why="unreadable") from error
        self.close()
        self._log = os.fdopen(descriptor, "a", encoding="utf-8")
        self.log_path = path

    def close(self) -> None:
        """Ends the log."""
        if self._log is not None:
            log, self._log = self._log, None
            with suppress(OSError):  # each line was written and told of; what is left is what had no room
                log.close()

    def result(self, name: str, line: str, **data: object) -> None:
        """A result: `line` for a reader, or `data` as an event of that name for a script."""
        if self.as_json:
            _write_line(sys.stdout, _json({"event": name, **data}))
        else:
            _write_line(sys.stdout, line)

    def notify(self, key: str, **data: object) -> None:
        """A sentence for people, on stderr; silent with -q and with --json."""
        if not self.as_json and self.verbosity >= 0:
            _write_line(sys.stderr, self.texts.say(key, **data))

    def on_event(self, event: Event, /) -> None:
        """Listens to the core: JSON lines and the log get every event, people only with -v."""
        if self.as_json:
            _write_line(sys.stdout, _json({"event": event.name, **event.data}))
        elif self.verbosity > 0:
            details = " ".join(f"{name}={plain(value)}" for name, value in event.data.items())
            _write_line(sys.stderr, f"{event.name} {details}".rstrip())
        self.log(event.name, _without_keys(event.data))

    def log(self, name: str, data: Mapping[str, object]) -> None:
        """A line for the log alone."""
        if self._log is not None:
            moment = datetime.now(UTC).isoformat(timespec="milliseconds")
            try:
                _write_line(self._log, _json({"time": moment, "event": name, **data}))
            except DiskFull:
                self.close()  # nothing more can be written there, not even of this
                raise DiskFull(where=str(self.log_path)) from None

    def fault(self, fault: NoarkitError) -> None:
        """A fault in four lines on stderr, or as an event with the same four parts."""
        lines = render(fault, self.texts.lang)
        parts = dict(zip(PARTS, [lines[0].removeprefix(f"{fault.code}  "), *lines[1:]], strict=True))
        facts = {"code": fault.code, "exit": fault.exit_code, "transient": fault.transient, **parts}
        if self.as_json:
            _write_line(sys.stdout, _json({"event": "fault", **facts, "data": _printable(fault.data)}))
        else:
            _write_line(sys.stderr, "\n".join([lines[0], *(_INDENT + line for line in lines[1:])]))
        self.log("fault", {**facts, **_for_log(fault, self.texts.lang)})

    def count(self, **numbers: object) -> None:
        """Adds to the summary that ends every --json output."""
        self._summary.update(numbers)

    def finish(self, exit_code: int) -> None:
        """The last line of --json: the summary with state, seconds and exit code."""
        seconds = round(self._clock() - self._started, 3)
        state = _STATES.get(exit_code, "failed")
        summary = {"event": "summary", "state": state, **self._summary, "seconds": seconds, "exit": exit_code}
        if self.as_json:
            _write_line(sys.stdout, _json(summary))
        self.log("summary", {name: value for name, value in summary.items() if name != "event"})


def size(size_bytes: int) -> str:
    """A number of bytes as people say it: 1.9 TB."""
    return texts("en").size(size_bytes)


def _printable(data: Mapping[str, object]) -> dict[str, object]:
    return {name: value if isinstance(value, (int, float, bool)) else plain(value) for name, value in data.items()}


def _without_keys(data: Mapping[str, object]) -> dict[str, object]:
    """An event's data; a key or a locator, which may be the name of a file, as the head of its hash."""
    return {name: value for name, value in data.items() if name not in HASHED} | hash_keys(data)


def _for_log(fault: NoarkitError, lang: str) -> dict[str, object]:
    """Returns the data of a fault that may be logged: nothing that came from an item, an archive or another system."""
    if isinstance(fault, _OURS):
        return {"data": _printable(fault.data)}
    generic = dict(zip(PARTS, explain(fault.code, lang) or [""] * len(PARTS), strict=True))
    return {**generic, "data": loggable_data(fault.data)}


def to_json(value: object, *, indent: int | None = None, ascii_only: bool = True) -> str:
    """A value as JSON; decimals as they were written, and what JSON has no form for as text.

    >>> to_json({"rate": Decimal("0.250")})
    '{"rate": 0.250}'
    """
    mark = secrets.token_hex(8)  # nothing that was read can hold it

    def encode(item: object) -> str:
        return f"{mark}{item}{mark}" if isinstance(item, Decimal) and item.is_finite() else str(item)

    text = json.dumps(value, default=encode, indent=indent, ensure_ascii=ascii_only)
    return re.sub(f'"{mark}([^"]*){mark}"', r"\1", text) if mark in text else text


def _json(data: Mapping[str, object]) -> str:
    return to_json(data)


def _write_line(stream: TextIO, line: str) -> None:
    """Writes a line. Where the reader has left (`… | head`) the work goes on and says nothing more there."""
    try:
        stream.write(line + "\n")
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except OSError as error:
        if not is_full(error, Path()):
            raise
        silence(stream)
        raise DiskFull(where=stream.name) from error


def silence(stream: TextIO) -> None:
    """Leads a stream to nowhere, with what it still holds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)
