"""The script of a history: which changes happen in a stand-in, and when. A file of it has one JSON object a line.

{"history": 1, "page_rows": 3}
{"at": "0:05:00", "what": "edit", "which": "Deals/3", "values": {"Stage": "Closed Won"}}
{"at": "0:06:00", "call": "/Deals", "number": 2, "what": "delete", "which": "Quotes/0"}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from noarkit.errors import ConfigFault
from noarkit.safe.atomic import write_text

VERSION = 1
_MOMENT = re.compile(r"(\d+):([0-5]?\d):([0-5]?\d(?:\.\d+)?)")
_LONGEST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Change:
    """One change: what happens, to which object, with which values.

    It happens `at_s` seconds after the history began. With `call` it then waits for the call of that `number` whose
    path contains the text, and happens just before that call is answered: between two pages of a list, for instance.
    """

    what: str
    which: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    at_s: float = 0.0
    call: str = ""
    number: int = 1


@dataclass(frozen=True, slots=True)
class History:
    """Changes in the order of their moments, and how time passes: `speed` seconds for each real one, and `call_s` for
    each call. It begins at `start`, or when the stand-in starts. `page_rows` is the most rows that a page of a list
    has."""

    changes: tuple[Change, ...]
    start: datetime | None = None
    speed: float = 1.0
    call_s: float = 0.0
    page_rows: int | None = None


def read_history(path: Path) -> History:
    """Reads the history in a file. Raises `ConfigFault` that names the line."""
    try:
        if path.stat().st_size > _LONGEST_BYTES:
            raise ConfigFault(where=str(path), why="not-a-history", detail="")
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigFault(where=str(path), why="not-a-history", detail=type(error).__name__) from error
    entries = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    head: Mapping[str, object] = {}
    changes: list[Change] = []
    for number, line in entries:
        try:
            entry = json.loads(line)
            if "history" in entry and not head:
                head = _check_head(entry)
            else:
                changes.append(_change(entry))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ConfigFault(where=f"{path}:{number}", why="not-a-history", detail=str(error)) from error
    return _history(head, sorted(changes, key=lambda change: change.at_s))


def write_history(path: Path, history: History) -> None:
    """Writes a history as a file that `read_history` reads."""
    write_text(path, "\n".join(history_lines(history)) + "\n")


def history_lines(history: History) -> Iterator[str]:
    """Yields the lines of a history's file."""
    head: dict[str, object] = {"history": VERSION}
    head |= {} if history.start is None else {"start": history.start.isoformat()}
    head |= {} if history.speed == 1.0 else {"speed": history.speed}
    head |= {} if not history.call_s else {"call_s": history.call_s}
    head |= {} if history.page_rows is None else {"page_rows": history.page_rows}
    yield json.dumps(head, ensure_ascii=False)
    for change in history.changes:
        yield json.dumps(_members(change), ensure_ascii=False)


def format_moment(seconds: float) -> str:
    """Formats seconds as a moment of a history: `1:05:00`."""
    minutes, second = divmod(round(seconds, 3), 60)
    hours, minute = divmod(int(minutes), 60)
    text = f"{second:06.3f}".rstrip("0").rstrip(".") if second % 1 else f"{int(second):02}"
    return f"{hours}:{minute:02}:{text}"


def _members(change: Change) -> dict[str, object]:
    members: dict[str, object] = {"at": format_moment(change.at_s)}
    if change.call:
        members |= {"call": change.call, "number": change.number}
    members["what"] = change.what
    members |= {"which": change.which} if change.which else {}
    return members | ({"values": dict(change.values)} if change.values else {})


def _check_head(entry: Mapping[str, object]) -> Mapping[str, object]:
    if entry["history"] != VERSION:
        raise ValueError(f"history {entry['history']}")
    if unknown := set(entry) - {"history", "start", "speed", "call_s", "page_rows"}:
        raise ValueError(min(unknown))
    return entry


def _history(head: Mapping[str, object], changes: list[Change]) -> History:
    start, rows = head.get("start"), head.get("page_rows")
    return History(
        tuple(changes),
        None if start is None else datetime.fromisoformat(str(start)).astimezone(),
        float(str(head.get("speed", 1.0))),
        float(str(head.get("call_s", 0.0))),
        None if rows is None else int(str(rows)),
    )


def _change(entry: Mapping[str, object]) -> Change:
    if unknown := set(entry) - {"at", "what", "which", "values", "call", "number"}:
        raise ValueError(min(unknown))
    values = entry.get("values", {})
    if not isinstance(values, dict):
        raise ValueError("values")
    number = int(str(entry.get("number", 1)))
    return Change(
        str(entry["what"]), str(entry.get("which", "")), values, _seconds(entry.get("at", 0)),
        str(entry.get("call", "")), number,
    )  # fmt: skip


def _seconds(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    match = _MOMENT.fullmatch(str(value))
    if match is None:
        raise ValueError(f"at {value}")
    return int(match[1]) * 3_600 + int(match[2]) * 60 + float(match[3])
