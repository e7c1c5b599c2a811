"""The query area: finds objects by their own fields and by those of linked objects.

language parses the query text, request the body around it, paths turns reference chains into joins, compile makes SQL,
run answers.
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
