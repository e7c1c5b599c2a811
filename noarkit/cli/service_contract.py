"""What is said of connections to services as JSON lines: while they are read, and by `noarkit connect`."""

from __future__ import annotations

from noarkit.events import EventFields

EVENTS: EventFields = {
    "hints": {"connection": "text", "count": "count", "events": "counts"},
    "healed": {"connection": "text", "streams": "counts"},
    "not_written_back": {"stream": "text", "id": "text", "why": "text"},
    "field_changed": {"stream": "text", "field": "text", "how": "text"},
    "service_waits": {"connection": "text", "why": "text", "until": "text", "wait_s": "count"},
    "connected": {"connection": "text", "tenant": "text", "account": "text"},
    "configured": {"connection": "text", "path": "text"},
    "consented": {"connection": "text"},
    "forgotten": {"connection": "text", "path": "text?"},
    "grant": {"connection": "text", "ends": "text"},
    "stream": {"connection": "text?", "stream": "text", "count": "count?"},
    "tool": {"connection": "text", "server": "text", "tool": "text", "kind": "text", "may": "flag"},
    "tool_result": {"connection": "text", "tool": "text", "result": "any?"},
    "webhook_taken": {"connection": "text", "event": "text", "ids": "count", "fresh": "flag"},
    "webhook_refused": {"connection": "text", "why": "text"},
    "webhook_lost": {"connection": "text", "why": "text"},
}
