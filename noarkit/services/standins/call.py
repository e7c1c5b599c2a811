"""HTTP calls as every stand-in sees them: reading a call, answering it, and mounting MCP tool servers beside its routes
if their library is installed.

Authentication, costs and the format of errors differ between services.
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
    from noarkit.services.standins.mcp_gate import Gate

_MOST_DIGITS = 16


class UnreadableCall(Exception):
    """A call whose body or parameters are malformed; each service reports it in its own format."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call; `queries` holds every value of each parameter, and header names are in small letters."""

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
        """Returns the first value of a parameter."""
        return (self.queries.get(name) or [default])[0]

    def number(self, name: str, default: int) -> int:
        """Returns a parameter as a whole number. Raises `UnreadableCall`."""
        return read_number(name, self.text(name), default)

    def members(self) -> dict[str, Any]:  # Any: what JSON holds
        """Parses the JSON object of the body. Raises `UnreadableCall`."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as error:
            raise UnreadableCall("not JSON") from error
        if not isinstance(value, dict):
            raise UnreadableCall("not an object")
        return value

    def rows(self) -> list[Any]:  # Any: what JSON holds
        """Parses the JSON list of the body. Raises `UnreadableCall`."""
        try:
            value = json.loads(self.body)
        except ValueError as error:
            raise UnreadableCall("not JSON") from error
        if not isinstance(value, list):
            raise UnreadableCall("not a list")
        return value


CallHandler = Callable[[Call], Response]
_LEAST_OF: Mapping[str, int] = {"limit": 1, "per_page": 1, "page": 1, "offset": 0, "index": 0}


def check_numbers(call: Call) -> Call:
    """The call, whose pages are asked for by whole numbers, whether its list is cut into pages or not. Raises
    `UnreadableCall` for anything else, in every service alike: a client that sends nonsense is told so."""
    for name, least in _LEAST_OF.items():
        for text in call.queries.get(name, ()):
            read_number(name, text, least, least=least)
    return call


def read_number(name: str, text: object, default: int, *, least: int = 0) -> int:
    """Returns a parameter as a whole number, or its default where it is empty. Raises `UnreadableCall`."""
    digits = str(text) if text not in (None, "") else str(default)
    if not (digits.isascii() and digits.isdigit() and len(digits) < _MOST_DIGITS and int(digits) >= least):
        raise UnreadableCall(f"{name} must be a whole number from {least}")
    return int(digits)


def make_endpoint(handler: CallHandler, base: str = "") -> Callable[[Request], Awaitable[Response]]:
    """Builds the endpoint that passes each call to a handler, one after the other; `base` is removed from paths."""

    async def endpoint(request: Request) -> Response:
        headers = {name.casefold(): value for name, value in request.headers.items()}
        queries = parse_qs(str(request.url.query), keep_blank_values=True)
        path = request.url.path.removeprefix(base)
        call = Call(request.method, path, queries, headers, await request.body())
        return handler(call)

    return endpoint


def has_tools() -> bool:
    """True if the MCP library is installed; without it a stand-in has no tool servers."""
    return importlib.util.find_spec("mcp") is not None


def service(routes: Sequence[BaseRoute], tools: Gate | None = None) -> Starlette:
    """Builds the whole application: tool servers, if any, and its own routes."""
    if tools is None:
        return Starlette(routes=routes)
    return Starlette(routes=[*tools.routes(), *routes], lifespan=tools.run_servers)
