"""The call info/me, by which newer clients ask for their own user id, and the table of tokens."""

from __future__ import annotations

from noarkit.server.calling import Call, Route
from noarkit.server.identity import statements
from noarkit.server.wire import Answer

__all__ = ["routes", "statements"]


def routes() -> list[Route]:
    """The one call."""
    return [Route("GET", "info/me", _me)]


def _me(call: Call) -> Answer:
    return Answer(body={"userId": call.caller.account})
