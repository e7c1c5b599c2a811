"""The registry of business-specific metadata: groups of fields that an archive adds to what Noark knows."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.server.wire import Route


def statements() -> Iterator[str]:
    """The tables of the registry; `fixed_values` is a JSON array, or NULL where any value of the kind will do."""
    yield "CREATE TABLE bsm_group (group_id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT)"
    yield (
        "CREATE TABLE bsm_field (group_id TEXT NOT NULL REFERENCES bsm_group, field_id TEXT NOT NULL,"
        " name TEXT NOT NULL, description TEXT, kind TEXT NOT NULL, fixed_values TEXT,"
        " PRIMARY KEY (group_id, field_id))"
    )


def routes() -> list[Route]:
    """The calls of this area."""
    return []
