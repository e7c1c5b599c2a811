"""Every line of --json that a test makes noarkit write is held to its declaration: its name and each of its fields are
declared, what must be there is there, and values are of their kinds. For readers the schema stays open."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager

import click

from noarkit.cli.console import Console, to_json
from noarkit.cli.contract import ENUMS, OPEN_EVENTS, events

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


def flaws_of(line: Line) -> list[str]:
    """What a line says that its event does not declare, or declares otherwise; empty for a good one."""
    name = str(line.get("event"))
    checks = _checks_of(name)
    if checks is None:
        return [f"event {name!r} is not declared"]
    kinds, required = checks
    missing = [f"event {name!r} lacks field {field!r}" for field in sorted(required - line.keys())]
    extra = [
        f"event {name!r} does not declare field {field!r}"
        for field in line
        if field not in kinds and name not in OPEN_EVENTS
    ]
    wrong = [
        f"event {name!r} declares field {field!r} as {kinds[field][0]}, not {value!r}"
        for field, value in line.items()
        if field in kinds and not kinds[field][1](value)
    ]
    return missing + extra + wrong


@functools.cache
def _checks_of(name: str) -> tuple[Mapping[str, tuple[str, Accepts]], frozenset[str]] | None:
    """For an event what each field must be, and which must be there; None for one that is not declared."""
    fields = events().get(name)
    if fields is None:
        return None
    kinds = {field: (kind, _accepts(name, field, kind)) for field, kind in fields.items()}
    required = frozenset(field for field, kind in fields.items() if not kind.endswith("?"))
    return {"event": ("text", _KINDS["text"]), **kinds}, required


def _accepts(event: str, field: str, kind: str) -> Accepts:
    values = ENUMS.get((event, field))
    accepts: Accepts = _KINDS[kind.removesuffix("?")] if values is None else values.__contains__
    return (lambda value: value is None or accepts(value)) if kind.endswith("?") and values is None else accepts


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
    return f"--json and its declaration in noarkit/cli/*contract.py differ:\n  {found}"


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
