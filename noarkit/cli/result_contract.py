"""The contract of --json for what a command found or did, and for the summary that ends its lines."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.errors import GRAVITY
from noarkit.events import EventFields

# what a run counts beside what is read, archived and open
_FURTHER_NUMBERS = ("already_there", "set_aside", "refused", "skipped", "in_doubt", "bytes", "new_versions")

# what every look into a place says of an item
_ITEM: Mapping[str, str] = {
    "ref": "text",
    "type": "text",
    "title": "text",
    "ident": "text",
    "day": "text",
    "status": "text",
    "class": "text",
    "screened": "flag",
    "fault": "text",
    "state": "text",
    "documents": "count",
    "children": "count",
}

# what a command found or did
EVENTS: EventFields = {
    "check": {
        "check": "text",
        "state": ("ok", "note", "fault", "skipped"),
        **dict.fromkeys(("count", "from", "port", "hours", "minutes", "objects"), "count?"),
        **dict.fromkeys(("days", "seconds"), "integer?"),
        **dict.fromkeys(("where", "path", "kind", "owner", "free", "needed", "size", "now", "ends"), "text?"),
        **dict.fromkeys(("host", "proxy", "version", "issuer", "client", "title", "right", "lists"), "text?"),
        **dict.fromkeys(("tool", "rules", "variable"), "text?"),
    },
    "completion": {"shell": "text", "script": "text"},
    "config": {"path": "text"},
    "delivery": {"package": "text", "path": "text", "verdict": "text?", "reasons": "list"},
    "made": {"path": "text", "undecided": "list?"},
    "help": {"topic": "text?", "text": "text"},
    "search_csv": {"path": "text", "hits": "count"},
    "key": {"path": "text", "public": "text?", "fingerprint": "text"},
    "cluster_key": {"folder": "text", "files": "list", "hosts": "list", "until": "text"},
    "kept": {"path": "text"},
    "problem": {
        "file": "text",
        "recipe_line": "count",
        "level": ("error", "warning"),
        "problem": "text",
        "told": "text",
    },
    "report": {"path": "text"},
    "run": {
        "run": "text",
        "path": "text",
        "state": "text?",
        **dict.fromkeys(("read", "archived", "open", *_FURTHER_NUMBERS), "count?"),
        "found_wrong": "count?",
        "fault": "text?",
    },
    "room": {"place": "text", "url": "text?", "link_file": "text?"},
    "static_copy": {
        **{"place": "text", "path": "text", "files": "count", "bytes": "count"},
        **{"documents": "count", "lost": "count", "differing": "count", "without_text": "count"},
    },
    "door": {"connection": "text", "path": "text"},
    "offered": {"url": "text"},
    "scheduler": {"address": "text"},
    "worker": {"scheduler": "text", "slots": "count", "addresses": "list"},
    "standin": {"service": "text", "url": "text", "config": "text"},
    "setting": {
        "key": "text",
        "value": "text?",
        "origin": ("flag", "environment", "profile", "file", "default"),
        "where": "text?",
        "connection": "text?",
    },
    "man": {"text": "text"},
    "version": {
        **dict.fromkeys(("version", "python", "system", "sqlite"), "text"),
        **dict.fromkeys(("lxml", "httpx", "click", "starlette", "uvicorn", "sqlalchemy"), "text?"),
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
    "summary": {
        "state": ("done", "paused", "failed"),
        "seconds": "number",
        "exit": tuple(sorted(GRAVITY)),
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
        "part": "text?",
        "part_shards": "count?",
        **dict.fromkeys(("open", "errors", "warnings", "hits", "items", "documents", "without_text"), "count?"),
        **dict.fromkeys(("removed", "kept"), "count?"),
    },
}
