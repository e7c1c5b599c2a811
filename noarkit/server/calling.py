"""Calls and routes: the interface between the HTTP application and the areas.

Areas know nothing of HTTP servers. Each exports `routes() -> list[Route]`; `asgi` serves them under every base path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from noarkit.server.service import Service
from noarkit.server.wire import Answer, Caller


@dataclass(frozen=True, slots=True)
class Call:
    """One call, already authenticated, with its JSON body parsed (None if there is none)."""

    service: Service
    caller: Caller
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = None


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """`path` is below the base, with `{name}` parts; `has_body` asks for a JSON object (else 415 and 400 are given)."""

    method: str
    path: str
    handler: Handler
    has_body: bool = False
