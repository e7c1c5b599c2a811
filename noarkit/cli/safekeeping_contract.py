"""The contract of --json for backups and checks of an embedded archive, and for what is taken out of one again."""

from __future__ import annotations

from noarkit.events import EventFields

EVENTS: EventFields = {
    "archive_check": {
        "where": "text",
        "rows": "count",
        "files": "count",
        "bytes": "count",
        "flaws": "count",
        "backup": "flag",
    },
    "backup": {
        "source": "text",
        "target": "text",
        "rows": "count",
        "files": "count",
        "bytes": "count",
        "copied": "count",
        "linked": "count",
    },
    "flaw": {"kind": "text", "where": "text", "detail": "text"},
}
