"""The contract of --json: every event a line can be, and what each must hold. `schemas/events.json` is made of it.

Fields are added, never taken away and never changed. A kind is `count` (a whole number from 0), `integer`, `number`,
`text`, `flag`, `counts` (names with counts), `object`, `list` or `any`; with a `?` the field may be null or missing.
For readers the schema stays open; the tests hold every line that is written to these fields and no other.
"""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.cli.result_contract import RESULT_EVENTS, SUMMARY_FIELDS
from noarkit.cli.safekeeping_contract import SAFEKEEPING_EVENTS
from noarkit.cli.service_contract import SERVICE_EVENTS
from noarkit.cli.trace_contract import TRACE_EVENTS
from noarkit.errors import GRAVITY

Json = dict[str, object]


# what is known of a worker that was lost; its exit code is below 0 where a signal ended it
_WORKER_FACTS = {"exit": "integer?", "machine": "text?", "silent": "flag?", "error": "text?"}

# what the core says while it works
CORE_EVENTS: Mapping[str, Mapping[str, str]] = {
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

# fields whose values are words of a short list
ENUMS: Mapping[tuple[str, str], tuple[str | int, ...]] = {
    ("summary", "state"): ("done", "paused", "failed"),
    ("summary", "exit"): tuple(sorted(GRAVITY)),
    ("check", "state"): ("ok", "note", "fault", "skipped"),
    ("setting", "origin"): ("flag", "environment", "profile", "file", "default"),
    ("status", "state"): (
        *("planned", "running", "open", "done", "sealed", "delivered"),
        *("retracting", "retracted", "retracted_in_part"),
    ),
    ("verified", "depth"): ("counts", "ids", "fields", "bytes"),
    ("verified", "verdict"): ("verified", "in_part", "not_verified"),
    ("problem", "level"): ("error", "warning"),
}

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


def events() -> dict[str, Mapping[str, str]]:
    """Returns every event by name, with the kinds of its fields."""
    return {
        **CORE_EVENTS,
        **SERVICE_EVENTS,
        **RESULT_EVENTS,
        **SAFEKEEPING_EVENTS,
        **TRACE_EVENTS,
        "summary": SUMMARY_FIELDS,
    }


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
            {"if": {"properties": {"event": {"const": name}}}, "then": _event_schema(name, fields)}
            for name, fields in sorted(events().items())
        ],
    }


def _event_schema(name: str, fields: Mapping[str, str]) -> Json:
    return {
        "required": sorted(field for field, kind in fields.items() if not kind.endswith("?")),
        "properties": {field: _field_schema(name, field, kind) for field, kind in sorted(fields.items())},
    }


def _field_schema(event: str, name: str, kind: str) -> Json:
    values = ENUMS.get((event, name))
    if values is not None:
        return {"enum": list(values)}
    value_schema = _KINDS[kind.removesuffix("?")]
    return {"anyOf": [value_schema, {"type": "null"}]} if kind.endswith("?") else dict(value_schema)
