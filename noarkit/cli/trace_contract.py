"""The contract of --json for work with personal data: where a person occurs, and what is removed of runs."""

from __future__ import annotations

from noarkit.events import EventFields

EVENTS: EventFields = {
    "person_hit": {
        "place": "text",
        "layer": "text",
        "by": "text",
        "certainty": "text",
        "ref": "text",
        "type": "text",
        "ident": "text",
        "fields": "list",
        "screened": "flag",
        "count": "count",
    },
    "person_unsearched": {"place": "text", "ref": "text", "reason": "text", "in_part": "flag", "medium": "text?"},
    "person_place": {
        "place": "text",
        "kind": "text",
        "items": "count",
        "documents": "count",
        "local_files": "count",
        "fault": "text?",
    },
    "person": {
        "by": "list",
        "certain": "count",
        "possible": "count",
        "unsearched": "count",
        "searched_in_part": "count",
        "not_looked_into": "counts",
        "items": "count",
        "documents": "count",
        "local_files": "count",
        "complete": "flag",
        "odd_ids": "flag",
    },
}
