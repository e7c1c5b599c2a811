"""What every stand-in does with a call, whatever its service: reads it off the wire, answers it, and puts its tool
servers beside its routes where their library is installed.

Who is let in, what a call costs and how a refusal sounds is each service's own.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

if TYPE_CHECKING:
    from noarkit.standins.mcp_gate import Gate


class UnreadableCall(Exception):
    """A call whose body or parameters are not what they must be; each service says so in its own words."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call; `queries` holds every value of each parameter, and `headers` are named in small letters."""

    method: str
    path: str
    queries: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters, each with its last value."""
        return {name: values[-1] for name, values in self.queries.items()}

    def text(self, name: str, default: str = "") -> str:
        """The first value of a parameter."""
        return (self.queries.get(name) or [default])[0]

    def number(self, name: str, default: int) -> int:
        """A parameter that is a whole number. Raises `Unreadable`."""
        text = self.text(name, str(default))
        if not text.isdigit():
            raise UnreadableCall(f"{name} is no number: {text}")
        return int(text)

    def members(self) -> dict[str, Any]:  # Any: what JSON holds
        """The JSON object of the body. Raises `Unreadable`."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as error:
            raise UnreadableCall("not JSON") from error
        if not isinstance(value, dict):
            raise UnreadableCall("not an object")
        return value

    def rows(self) -> list[Any]:  # Any: what JSON holds
        """The JSON list of the body. Raises `Unreadable`."""
        try:
            value = json.loads(self.body)
        except ValueError as error:
            raise UnreadableCall("not JSON") from error
        if not isinstance(value, list):
            raise UnreadableCall("not a list")
        return value


CallHandler = Callable[[Call], Response]


def make_endpoint(handler: CallHandler, base: str = "") -> Callable[[Request], Awaitable[Response]]:
    """The endpoint whose calls are answered so, one after the other; `base` is left out of their path."""

    async def endpoint(request: Request) -> Response:
        headers = {name.casefold(): value for name, value in request.headers.items()}
        queries = parse_qs(str(request.url.query), keep_blank_values=True)
        path = request.url.path.removeprefix(base)
        call = Call(request.method, path, queries, headers, await request.body())
        return handler(call)

    return endpoint


def has_tools() -> bool:
    """Whether the library of tool servers is installed; without it a stand-in does without them."""
    return importlib.util.find_spec("mcp") is not None


def service(routes: Sequence[BaseRoute], tools: Gate | None = None) -> Starlette:
    """The whole service: its tool servers, where it has some, and its own routes."""
    if tools is None:
        return Starlette(routes=routes)
    return Starlette(routes=[*tools.routes(), *routes], lifespan=tools.run_servers)
