"""The query area: any object of the archive, found by what it and the objects linked to it hold.

language reads the text, request the body around it, paths turns chains into joins, compile makes SQL, run answers.
"""

from __future__ import annotations

from noarkit.server.calling import Route
from noarkit.server.query.run import query


def statements() -> list[str]:
    """No tables of its own: the objects' tables and their indexes are enough."""
    return []


def routes() -> list[Route]:
    """The one call."""
    return [Route("POST", "/query", query, has_body=True)]
