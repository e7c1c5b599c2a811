"""The contract of hooks and health checks: what the JSON object holds that they are given (`schemas/hook.json`)."""

from __future__ import annotations

from noarkit.operations.job import NUMBERS

Json = dict[str, object]


def schema() -> Json:
    """Builds the JSON Schema of what a hook gets on its stdin, and a health check in the body of a ping."""
    text: Json = {"type": "string"}
    count: Json = {"type": "integer", "minimum": 0}
    outcome: Json = {
        "state": {"enum": ["done", "paused", "failed"]},
        "exit": count,
        "seconds": {"type": "number", "minimum": 0},
        "faults": {"type": "object", "additionalProperties": count},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What a hook of noarkit gets on its stdin, and a health check in a ping",
        "description": "The hook `each` gets one for each event, with ids, codes and counts. Fields are added only.",
        "type": "object",
        "required": ["event", "time", "command", "run", "id", "version"],
        "properties": {
            "event": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"},
            "time": {"type": "string", "format": "date-time"},
            **{name: text for name in ("command", "run", "version")},
            "id": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
        },
        "if": {"properties": {"event": {"enum": ["success", "failure"]}}},
        "then": {
            "required": list(outcome),
            "properties": {**outcome, **{name: count for name in NUMBERS}},
        },
    }
