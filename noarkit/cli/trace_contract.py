"""The contract of --json for work with personal data: where a person occurs, and what is removed of runs."""

from __future__ import annotations

from noarkit.events import EventFields

EVENTS: EventFields = {}
