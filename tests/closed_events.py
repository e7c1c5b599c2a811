"""Every line of --json that a test makes noarkit write is held to its declaration: its name and each of its fields are
declared, what must be there is there, and values are of their kinds. For readers the schema stays open."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager

import click

from noarkit.cli.console import Console, to_json
from noarkit.cli.contract import OPEN_EVENTS, events
from noarkit.results import JsonKind

Line = Mapping[str, object]
Accepts = Callable[[object], bool]
WRITE_EVENT = Console.write_event


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and value >= 0  # type: ignore[operator]  # it is one


def _is_counts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


_KINDS: Mapping[str, Accepts] = {
    "count": _is_count,
    "number": _is_number,
    "text": lambda value: isinstance(value, str),
    "integer": lambda value: type(value) is int,
    "flag": lambda value: isinstance(value, bool),
    "counts": _is_counts,
    "object": lambda value: isinstance(value, dict),
    "list": lambda value: isinstance(value, list),
    "any": lambda value: True,
}
_TEXT = JsonKind("text")


def flaws_of(line: Line) -> list[str]:
    """What a line says that its event does not declare, or declares otherwise; empty for a good one."""
    name = str(line.get("event"))
    kinds = events().get(name)
    if kinds is None:
        return [f"event {name!r} is not declared"]
    return [
        f"event {name!r} {flaw}"
        for flaw in _flaws_of_object({"event": _TEXT, **kinds}, line, is_open=name in OPEN_EVENTS)
    ]


def _flaws_of_object(kinds: Mapping[str, JsonKind], value: Line, *, is_open: bool = False) -> list[str]:
    missing = [
        f"lacks field {field!r}" for field in sorted(kinds) if field not in value and not kinds[field].is_optional
    ]
    extra = [f"does not declare field {field!r}" for field in value if field not in kinds and not is_open]
    wrong = [
        flaw for field, kind in kinds.items() if field in value for flaw in _flaws_of_value(field, kind, value[field])
    ]
    return missing + extra + wrong


def _flaws_of_value(field: str, kind: JsonKind, value: object) -> Iterable[str]:
    if value is None and kind.is_optional:
        return
    if value not in kind.values if kind.values else not _KINDS[kind.word](value):
        yield f"declares field {field!r} as {kind}, not {value!r}"
    elif kind.fields is not None and isinstance(value, dict):
        yield from (f"in field {field!r} {flaw}" for flaw in _flaws_of_object(kind.fields, value))
    elif kind.of is not None and isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _flaws_of_value(field, kind.of, entry)


def hold_output(text: str, command: str) -> list[dict[str, object]]:
    """The lines that a process wrote with --json, each held to its declaration. Half a line, of one that was killed, is
    left out."""
    whole = text[: text.rfind("\n") + 1]
    lines: list[dict[str, object]] = [json.loads(line) for line in whole.splitlines() if line.startswith("{")]
    flaws = [f"{command}: {flaw}" for line in lines for flaw in flaws_of(line)]
    if flaws:
        raise AssertionError(describe(flaws))
    return lines


def describe(flaws: Iterable[str]) -> str:
    """The flaws for whoever has to mend them, each once."""
    found = "\n  ".join(dict.fromkeys(flaws))
    return f"--json and its declaration (results.py says where it stands) differ:\n  {found}"


@contextmanager
def held_lines(flaws: list[str]) -> Generator[None]:
    """Holds what this process writes with --json from now on. `flaws` gathers: a command catches what is raised."""
    held_before = Console.write_event
    command = "noarkit"

    def write_held(console: Console, name: str, data: Line) -> None:
        nonlocal command
        if context := click.get_current_context(silent=True):
            command = context.command_path
        flaws.extend(f"{command}: {flaw}" for flaw in flaws_of(json.loads(to_json({"event": name, **data}))))
        WRITE_EVENT(console, name, data)

    Console.write_event = write_held  # type: ignore[assignment,method-assign]  # the one place that writes such lines
    try:
        yield
    finally:
        Console.write_event = held_before  # type: ignore[method-assign]  # as before
