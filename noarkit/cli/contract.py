"""The contract of --json: every event a line can be, and what each must hold. `schemas/events.json` is made of it.

Each event is declared by the class of its result, or under `EVENTS` in a module that emits it. Fields are added, never
taken away and never changed. For readers the schema stays open; the tests hold every line that is written to these
fields and no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from noarkit.results import JsonKind, Result, kinds_of, parse_kind

Json = dict[str, object]


# what carries the facts of a fault too, whose names are those of the fault
OPEN_EVENTS = frozenset({"shard_stopped"})

_KINDS: Mapping[str, Json] = {
    "count": {"type": "integer", "minimum": 0},
    "integer": {"type": "integer"},
    "number": {"type": "number", "minimum": 0},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    "object": {"type": "object"},
    "list": {"type": "array"},
    "any": {},
}


@cache
def events() -> dict[str, dict[str, JsonKind]]:
    """Returns every event by name, with the kinds of its fields. Imports what declares one."""
    kinds: dict[str, dict[str, JsonKind]] = {}
    for event, field, kind in _declarations():
        if kinds.setdefault(event, {}).setdefault(field, kind) is not kind:
            raise ValueError(f"{event}.{field} is declared twice")
    return kinds


def _declarations() -> Iterator[tuple[str, str, JsonKind]]:
    """Each field of each event, as it is declared."""
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*.py")):
        text = path.read_text("utf-8")
        if "EVENTS: EventFields" not in text and "EVENT: ClassVar" not in text:
            continue
        module = import_module(".".join(("noarkit", *path.relative_to(package).with_suffix("").parts)))
        for event, fields in getattr(module, "EVENTS", {}).items():
            yield from ((event, field, parse_kind(word)) for field, word in fields.items())
        own = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
        for result in own:
            if isinstance(result, type) and issubclass(result, Result) and result.EVENT:
                yield from ((result.EVENT, field, kind) for field, kind in kinds_of(result).items())


def schema() -> Json:
    """Builds the JSON Schema of one line of --json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of noarkit --json",
        "description": "Each line of stdout is one event. Fields are added, never changed; the last is the summary.",
        "type": "object",
        "required": ["event"],
        "properties": {"event": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"}},
        "allOf": [
            {"if": {"properties": {"event": {"const": name}}}, "then": _object_schema(fields)}
            for name, fields in sorted(events().items())
        ],
    }


def _object_schema(fields: Mapping[str, JsonKind]) -> Json:
    return {
        "required": sorted(field for field, kind in fields.items() if not kind.is_optional),
        "properties": {field: _kind_schema(kind) for field, kind in sorted(fields.items())},
    }


def _kind_schema(kind: JsonKind) -> Json:
    if kind.values:
        return {"enum": list(kind.values)}
    schema = dict(_KINDS[kind.word])
    if kind.fields is not None:
        schema |= _object_schema(kind.fields)
    elif kind.of is not None and kind.of.word != "any":
        schema["items" if kind.word == "list" else "additionalProperties"] = _kind_schema(kind.of)
    return {"anyOf": [schema, {"type": "null"}]} if kind.is_optional else schema
