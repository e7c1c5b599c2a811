"""What a person, a script or a log gets to see: results on stdout, lines for people on stderr, JSON on request."""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from noarkit.cli.exit_codes import state_of_exit
from noarkit.cli.terminal import Color, Mood, paint, wants_color, width_of, with_real_names, wrap
from noarkit.errors import GRAVITY, ConfigFault, DiskFull, NoarkitError, RunFault, UsageFault
from noarkit.events import Event, EventFields
from noarkit.results import Result
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.disk import is_full
from noarkit.safe.event_log import HASHED, hash_keys, loggable_data
from noarkit.words.texts import PARTS, Texts, explain, plain, render, texts

if TYPE_CHECKING:
    from noarkit.operations.watch import Operations

EVENTS: EventFields = {
    "fault": {
        "code": "text",
        "exit": "count",
        "transient": "flag",
        "what": "text",
        "where": "text",
        "so_what": "text",
        "do": "text",
        "data": "object",
    },
    "summary": {
        "state": ("done", "paused", "failed"),
        "seconds": "number",
        "exit": tuple(sorted(GRAVITY)),
        "run": "text?",
        "read": "count?",
        "archived": "count?",
        "already_there": "count?",
        "new_versions": "count?",
        "set_aside": "count?",
        "refused": "count?",
        "skipped": "count?",
        "in_doubt": "count?",
        "bytes": "count?",
        "part": "text?",
        "part_shards": "count?",
        **dict.fromkeys(("open", "errors", "warnings", "hits", "items", "documents", "without_text"), "count?"),
        **dict.fromkeys(("removed", "kept"), "count?"),
    },
}

_INDENT = " " * 6
# of our own config, folders and limits, where no record has a say
_OURS = (ConfigFault, UsageFault, RunFault)


class Console:
    """One command's voice. `verbosity` is -1 for -q, and counts each -v; `names` tells what RUN and
    SOURCE are, `complete` makes the commands of a remedy those of the run at hand, and `correct` makes of what a fault
    says is wrong with the line that line as it should be."""

    def __init__(self, texts: Texts, *, as_json: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.texts = texts
        self.as_json = as_json
        self.verbosity = 0
        self.color: Color = "auto"
        self.environment: Mapping[str, str] = {}
        self.names: Callable[[], Mapping[str, str]] = dict
        self.complete: Callable[[str, str, str], str] = lambda text, code, forgotten: text
        self.correct: Callable[[NoarkitError], NoarkitError] = lambda fault: fault
        self.log_path: Path | None = None
        self._log: TextIO | None = None
        self._clock = clock
        self._started = clock()
        self._summary: dict[str, object] = {}
        self.operations: Operations | None = None
        self._once_told: list[Callable[[], None]] = []

    def open_log(self, path: Path) -> None:
        """Writes a line of JSON to `path` for whatever happens from now on; nobody else may read it."""
        try:
            descriptor = open_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
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

    def write_event(self, name: str, data: Mapping[str, object]) -> None:
        """Writes one line of --json. No other place does: the tests hold what passes here to the contract."""
        _write_line(sys.stdout, _json({"event": name, **data}))

    def result(self, name: str, line: str, **data: object) -> None:
        """A result: `line` for a reader, or `data` as an event of that name for a script."""
        if self.as_json:
            self.write_event(name, data)
        else:
            _write_text(sys.stdout, line)
        self._watch(name, data)

    def show(self, result: Result, line: str, **beside: object) -> None:
        """A result that is a line by itself, with what the command knows `beside` it."""
        self.result(result.EVENT, line, **beside, **result.to_dict())

    def notify(self, key: str, **data: object) -> None:
        """A sentence for people, on stderr; silent with -q and with --json."""
        if not self.as_json and self.verbosity >= 0:
            _write_text(sys.stderr, self.texts.say(key, **data))

    def notify_verdict(self, mood: Mood, key: str, **data: object) -> None:
        """A verdict for people, on stderr, in its colour."""
        if not self.as_json and self.verbosity >= 0:
            _write_text(sys.stderr, self._painted(sys.stderr, self.texts.say(key, **data), mood))

    def verdict(self, text: str, mood: Mood) -> str:
        """A verdict in its colour, to be part of a result."""
        return text if self.as_json else self._painted(sys.stdout, text, mood)

    def _painted(self, stream: TextIO, text: str, mood: Mood) -> str:
        return paint(text, mood) if wants_color(self.color, stream, self.environment) else text

    def on_event(self, event: Event, /) -> None:
        """Listens to the core: JSON lines and the log get every event, people only with -v."""
        if self.as_json:
            self.write_event(event.name, event.data)
        elif self.verbosity > 0:
            details = " ".join(f"{name}={plain(value)}" for name, value in event.data.items())
            _write_line(sys.stderr, f"{event.name} {details}".rstrip())
        self.log(event.name, _without_keys(event.data))
        self._watch(event.name, event.data)

    def _watch(self, name: str, data: Mapping[str, object]) -> None:
        if self.operations is not None:
            self.operations.on_event(Event(name, data))

    def end_operations(self, exit_code: int) -> None:
        """Tells whoever watches how the command ended, once."""
        operations, self.operations = self.operations, None
        if operations is not None:
            operations.end(exit_code, state_of_exit(exit_code), self._summary)

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
        lines = self._fault_lines(self.correct(fault))
        exit_facts = {"code": fault.code, "exit": fault.exit_code, "transient": fault.transient}
        if self.as_json:
            self.write_event("fault", {**exit_facts, **_parts(lines), "data": _printable(fault.data)})
        else:
            code = self._painted(sys.stderr, fault.code, "bad")
            first = f"{code}{lines[0].removeprefix(fault.code)}"
            _write_text(sys.stderr, "\n".join([first, *(_INDENT + line for line in lines[1:])]))
        # what was typed may be a name, and is not for the log
        parts = _parts(self._fault_lines(fault))
        self.log("fault", {**exit_facts, **parts, **_for_log(fault, self.texts.lang)})
        self._watch("fault", {**loggable_data(fault.data), **exit_facts})

    def _fault_lines(self, fault: NoarkitError) -> list[str]:
        lines = render(fault, self.texts.lang)
        if "fix" not in fault.data:
            lines[-1] = self._with_real_commands(lines[-1], fault.code)
        return lines

    def _with_real_commands(self, remedy: str, code: str) -> str:
        return with_real_names(self.complete(remedy, code, self.texts.say("end.forgotten")), self.names())

    def count(self, **numbers: object) -> None:
        """Adds to the summary that ends every --json output."""
        self._summary.update(numbers)

    def once_told(self, action: Callable[[], None]) -> None:
        """Has `action` done once everything is told, to the last line: what is needed to tell it again may then go."""
        self._once_told.append(action)

    def finish(self, exit_code: int) -> None:
        """The last line of --json: the summary with state, seconds and exit code."""
        seconds = round(self._clock() - self._started, 3)
        state = state_of_exit(exit_code)
        summary = {"state": state, **self._summary, "seconds": seconds, "exit": exit_code}
        if self.as_json:
            self.write_event("summary", summary)
        self.log("summary", summary)
        for action in self._once_told:
            action()


def size(size_bytes: int) -> str:
    """A number of bytes as people say it: 1.9 TB."""
    return texts("en").size(size_bytes)


def _parts(lines: Sequence[str]) -> dict[str, str]:
    """The four parts of a fault by their names, without its code."""
    return dict(zip(PARTS, [lines[0].partition("  ")[2], *lines[1:]], strict=True))


def _printable(data: Mapping[str, object]) -> dict[str, object]:
    return {name: value if isinstance(value, (int, float, bool)) else plain(value) for name, value in data.items()}


def _without_keys(data: Mapping[str, object]) -> dict[str, object]:
    """An event's data; a key or a locator, which may be the name of a file, as the head of its hash."""
    return {name: value for name, value in data.items() if name not in HASHED} | hash_keys(data)


def _for_log(fault: NoarkitError, lang: str) -> dict[str, object]:
    """Returns the data of a fault that may be logged: nothing that came from an item, an archive or another system."""
    if isinstance(fault, _OURS):
        return {"data": _printable({name: value for name, value in fault.data.items() if name != "choices"})}
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


def _write_text(stream: TextIO, text: str) -> None:
    """Writes text for people, broken to the width of their terminal."""
    width = width_of(stream)
    _write_line(stream, text if width is None else wrap(text, width))


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
    nowhere = open_descriptor(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)
