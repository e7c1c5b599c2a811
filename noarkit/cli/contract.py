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

from noarkit.events import EventFields
from noarkit.results import JsonKind, Result, kinds_of, parse_kind

Json = dict[str, object]


# what is known of a worker that was lost; its exit code is below 0 where a signal ended it
_WORKER_FACTS = {"exit": "integer?", "machine": "text?", "silent": "flag?", "error": "text?"}

# what the core says while it works
EVENTS: EventFields = {
    "archive_checked": {"rows": "count", "files": "count", "bytes": "count"},
    "archive_copied": {"files": "count", "bytes": "count"},
    "cataloguing": {"items": "count"},
    "judged": {"objects": "count"},
    "retracted": {"objects": "count"},
    "reading_documents": {"documents": "count", "of": "count"},
    "documents_read": {"documents": "count", "bytes": "count"},
    "copy_settled": {"state": "text", "reason": "text?", "n": "count"},
    "copies_made": {"settled": "count", "open": "count"},
    "target": {"archive": "text", "account": "text?"},
    "other_root_unknown": {"code": "text"},
    "other_archive": {"archive": "text", "planned": "text?", "configured": "text?"},
    "source_read": {"items": "count"},
    "members_listed": {"members": "count", "of": "count?"},
    "remark": {"stream": "text", "why": "text", "days": "count?", "key": "text?", "count": "count?"},
    "source_scanned": {"read": "count", "records": "count", "bytes": "count"},
    "read": {"records": "count"},
    "planned": {"records": "counts", "entities": "counts"},
    "preflight": {"identity": "text?", "honours_versions": "flag", "sets_system_fields": "flag", "fresh": "flag"},
    "load_began": {"objects": "count", "done": "count", "bytes": "count", "bytes_done": "count"},
    "in_doubt": {"chunks": "count"},
    "shard_started": {"shard": "count", "kind": "text", "attempt": "count"},
    "shard_done": {"shard": "count"},
    "shard_stopped": {"shard": "count", "code": "text"},
    "shard_handed_on": {
        "shard": "count",
        "code": "text",
        "losses": "count",
        **_WORKER_FACTS,
    },
    "shard_set_aside": {"shard": "count", "code": "text", "bundles": "count", "losses": "count", **_WORKER_FACTS},
    "chunk_done": {"shard": "count", "chunk": "text", "made": "count", "already": "count", "bytes": "count"},
    "chunk_in_doubt": {"shard": "count", "chunk": "text", "code": "text"},
    "set_aside": {"shard": "count", "bundle": "count", "code": "text"},
    "refused": {"shard": "count", "bundle": "count", "code": "text"},
    "bytes": {"bytes": "count"},
    "archive_retry": {"call": "text", "code": "text", "wait_s": "number"},
    "waiting": {"shard": "count", "wait_s": "number", "chunks": "count"},
    "closed": {"objects": "count"},
    "not_closed": {"type": "text", "id": "text", "code": "text"},
    "walked": {"records": "count", "of": "count?"},
    "not_remembered": {"code": "text"},
    "asked": {"keys": "count"},
    "change_log_kept": {"where": "text", "entries": "count"},
    "bundle": {"id": "text", "key": "text", "files": "count"},
    "seal_proven": {"files": "count", "bytes": "count"},
    "not_sealed": {"document": "count", "code": "text"},
    "compared": {"files": "count", "of": "count?", "bytes": "count"},
    "fetching": {"whole": "flag"},
    "fetched": {"type": "text", "count": "count"},
    "files_wanted": {"count": "count"},
    "files_fetched": {"count": "count", "bytes": "count"},
    "assembling": {"where": "text"},
    "naming": {"where": "text"},
    "pages_written": {"items": "count", "files": "count"},
    "validating": {"file": "text", "bytes": "count"},
    "texts_stopped": {"code": "text"},
    "page_failed": {"error_id": "text", "error": "text", "where": "text"},
    "package_begun": {"resumed": "flag", "files": "count"},
    "package_files": {"files": "count", "bytes": "count"},
    "package_made": {"where": "text?", "files": "count", "units": "counts?", "bytes": "count?"},
}

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
