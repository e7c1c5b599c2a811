"""The contract of --json: every event a line can be, and what each must hold. `schemas/events.json` is made of it.

Fields are added, never taken away and never changed. A kind is `count` (a whole number from 0), `number`, `text`,
`flag`, `counts` (names with counts), `object` or `list`; with a `?` the field may be null or missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.errors import GRAVITY

Json = dict[str, object]

# what the core says while it works
CORE_EVENTS: Mapping[str, Mapping[str, str]] = {
    "documents_read": {"documents": "count", "bytes": "count"},
    "copy_settled": {"state": "text", "reason": "text?", "n": "count"},
    "copies_made": {"settled": "count", "open": "count"},
    "target": {"archive": "text", "account": "text?"},
    "source_read": {"items": "count"},
    "members_listed": {"members": "count", "of": "count?"},
    "remark": {"stream": "text", "why": "text", "days": "count?", "key": "text?", "count": "count?"},
    "source_scanned": {"read": "count", "records": "count", "bytes": "count"},
    "read": {"records": "count"},
    "hints": {"connection": "text", "count": "count", "events": "counts"},
    "not_written_back": {"stream": "text", "id": "text", "why": "text"},
    "field_changed": {"stream": "text", "field": "text", "how": "text"},
    "planned": {"records": "counts", "entities": "counts"},
    "preflight": {"identity": "text?", "honours_versions": "flag", "sets_system_fields": "flag", "fresh": "flag"},
    "load_began": {"objects": "count", "done": "count", "bytes": "count", "bytes_done": "count"},
    "in_doubt": {"chunks": "count"},
    "shard_started": {"shard": "count", "kind": "text", "attempt": "count"},
    "shard_done": {"shard": "count"},
    "shard_stopped": {"shard": "count", "code": "text"},
    "chunk_done": {"shard": "count", "chunk": "text", "made": "count", "already": "count", "bytes": "count"},
    "chunk_in_doubt": {"shard": "count", "chunk": "text", "code": "text"},
    "set_aside": {"shard": "count", "bundle": "count", "code": "text"},
    "refused": {"shard": "count", "bundle": "count", "code": "text"},
    "bytes": {"bytes": "count"},
    "archive_retry": {"call": "text", "code": "text", "wait_s": "number"},
    "waiting": {"shard": "count", "wait_s": "number", "chunks": "count"},
    "closed": {"objects": "count"},
    "not_closed": {"type": "text", "id": "text", "code": "text"},
    "walked": {"records": "count"},
    "asked": {"keys": "count"},
    "change_log_kept": {"where": "text", "entries": "count"},
    "bundle": {"id": "text", "key": "text", "files": "count"},
    "seal_proven": {"files": "count", "bytes": "count"},
    "not_sealed": {"document": "count", "code": "text"},
    "compared": {"files": "count", "bytes": "count"},
    "fetching": {"whole": "flag"},
    "fetched": {"type": "text", "count": "count"},
    "files_wanted": {"count": "count"},
    "files_fetched": {"count": "count", "bytes": "count"},
    "assembling": {"where": "text"},
    "naming": {"where": "text"},
    "package_begun": {"resumed": "flag", "files": "count"},
    "package_files": {"files": "count", "bytes": "count"},
    "package_made": {"where": "text?", "files": "count", "units": "counts?", "bytes": "count?"},
}

# what a command found or did
RESULT_EVENTS: Mapping[str, Mapping[str, str]] = {
    "check": {"check": "text", "state": "text"},
    "closed_run": {"run": "text", "closed": "counts", "refused": "count"},
    "comparison": {"equal": "flag", "left": "counts", "right": "counts", "differences": "counts", "declared": "counts"},
    "config": {"path": "text"},
    "converted": {
        "package": "text",
        "form": "text",
        "source_form": "text",
        "files": "count",
        "bytes": "count",
        "resumed": "flag",
        "set_aside": "count",
        "renamed": "count",
        "as_text": "count",
        "empty_folders": "count",
        "untold_events": "count",
        "unread": "list",
        "copies": "count",
    },
    "accepted": {"copies": "text", "accepted": "count", "by": "text"},
    "copies_checked": {
        "copies": "text",
        "good": "flag",
        "objects": "count",
        "bytes": "count",
        "missing": "list",
        "changed": "list",
        "unknown": "count",
    },
    "additions": {"run": "text", "documents": "count", "finalised": "count", "copies": "count"},
    "derived": {
        "copies": "text",
        "policy": "text",
        "read": "count",
        "made": "count",
        "kept": "count",
        "held": "count",
        "failed": "count",
        "left": "count",
        "open": "count",
        "bytes": "count",
        "records": "count",
        "set_aside": "count",
        "skipped": "count",
        "converted": "count",
        "reasons": "counts",
        "formats": "list",
        "stopped_by": "text",
        "dry_run": "flag",
    },
    "difference": {"kind": "text", "type": "text", "key": "text", "field": "text?"},
    "extracted": {
        "package": "text",
        "report": "text",
        "units": "counts",
        "files": "count",
        "bytes": "count",
        "journal_entries": "count",
        "changes": "count",
        "defaults": "count",
        "carried": "count",
        "beside": "count",
        "depositable": "flag",
        "flaws": "list",
        "errors": "count?",
        "warnings": "count?",
    },
    "made": {"path": "text", "undecided": "list?"},
    "key": {"path": "text", "public": "text?", "fingerprint": "text"},
    "packed": {
        "path": "text",
        "id": "text",
        "seal": "text",
        "documents": "count",
        "left_out": "count",
        "bytes": "count",
        "fingerprint": "text",
        "stood": "flag",
    },
    "delivered": {
        "run": "text",
        "good": "flag",
        "compared": "object",
        "differences": "count",
        "certificate": "text",
    },
    "kept": {"path": "text"},
    "plan": {
        "run": "text",
        "sha256": "text",
        "records": "counts",
        "entities": "counts",
        "bytes": "count",
        "chunks": "count",
        "shards": "count",
    },
    "problem": {"file": "text", "recipe_line": "count", "level": "text", "problem": "text", "told": "text"},
    "report": {"path": "text"},
    "run": {"run": "text", "path": "text"},
    "scan": {
        "where": "text",
        "source_kind": "text",
        "read": "count",
        "records": "count",
        "contents": "count",
        "bytes": "count",
        "kinds": "counts",
        "years": "counts",
        "set_aside": "counts",
        "skipped": "counts",
        "noted": "counts",
        "format_names": "counts",
        "copies": "counts?",
        "tables": "list?",
    },
    "second_opinion": {
        "tool": "text",
        "asked": "flag",
        "valid": "flag",
        "agrees": "flag",
        "theirs_alone": "list",
        "ours_alone": "list",
        "known": "list",
        "messages": "list",
    },
    "connected": {"connection": "text", "tenant": "text", "account": "text"},
    "configured": {"connection": "text", "path": "text"},
    "consented": {"connection": "text"},
    "door": {"connection": "text", "path": "text"},
    "forgotten": {"connection": "text"},
    "grant": {"connection": "text", "ends": "text"},
    "stream": {"connection": "text?", "stream": "text", "count": "count?"},
    "tool": {"connection": "text", "server": "text", "tool": "text", "kind": "text", "may": "flag"},
    "tool_result": {"connection": "text", "tool": "text"},
    "offered": {"url": "text"},
    "serving": {"url": "text", "token_url": "text", "clients": "text"},
    "standin": {"service": "text", "url": "text", "config": "text"},
    "setting": {"key": "text", "value": "text?", "origin": "text"},
    "status": {"run": "text", "state": "text", "read": "count", "archived": "count", "open": "count"},
    "written_back": {"field": "text", "written": "count", "same": "count", "refused": "counts"},
    "verified": {
        "run": "text",
        "depth": "text",
        "good": "flag",
        "compared": "object",
        "differences": "count",
        "certificate": "text",
        "receipt": "text?",
        "verdict": "text",
        "rows": "list",
        "missing": "counts",
        "left_by_choice": "counts",
        "changes": "count",
        "whole": "flag",
        "asked_since": "text?",
    },
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
}

# the last line of all
SUMMARY_FIELDS: Mapping[str, str] = {
    "state": "text",
    "seconds": "number",
    "exit": "count",
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
}

# fields whose values are words of a short list
_ENUMS: Mapping[tuple[str, str], tuple[str | int, ...]] = {
    ("summary", "state"): ("done", "paused", "failed"),
    ("summary", "exit"): tuple(sorted(GRAVITY)),
    ("check", "state"): ("ok", "note", "fault", "skipped"),
    ("setting", "origin"): ("flag", "environment", "profile", "file", "default"),
    ("status", "state"): ("planned", "running", "open", "done", "sealed", "delivered"),
    ("verified", "depth"): ("counts", "ids", "fields", "bytes"),
    ("verified", "verdict"): ("verified", "in_part", "not_verified"),
    ("problem", "level"): ("error", "warning"),
}

_KINDS: Mapping[str, Json] = {
    "count": {"type": "integer", "minimum": 0},
    "number": {"type": "number", "minimum": 0},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    "object": {"type": "object"},
    "list": {"type": "array"},
}


def events() -> dict[str, Mapping[str, str]]:
    """Returns every event by name, with the kinds of its fields."""
    return {**CORE_EVENTS, **RESULT_EVENTS, "summary": SUMMARY_FIELDS}


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
    required_fields = [field for field, kind in fields.items() if not kind.endswith("?")]
    return {
        "required": required_fields,
        "properties": {field: _field_schema(name, field, kind) for field, kind in fields.items()},
    }


def _field_schema(event: str, name: str, kind: str) -> Json:
    values = _ENUMS.get((event, name))
    if values is not None:
        return {"enum": list(values)}
    value_schema = _KINDS[kind.removesuffix("?")]
    return {"anyOf": [value_schema, {"type": "null"}]} if kind.endswith("?") else dict(value_schema)
