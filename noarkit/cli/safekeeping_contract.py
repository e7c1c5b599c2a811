"""The contract of --json for backups and checks of an embedded archive, and for what is taken out of one again."""

from __future__ import annotations

from noarkit.events import EventFields

EVENTS: EventFields = {}
