"""MCP tool servers inside a stand-in: their routes, behind authentication. Only if the library is installed."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

BEARER = "Bearer "
_INVALID = 'Bearer error="invalid_token"'
# what the stand-in lends to the gate: injected errors, by path, and the refusal of a caller
Trouble = Callable[[str], Response | None]
Gatekeeper = Callable[[str, Mapping[str, str], str], Response | None]  # by its path, its headers and its query


@dataclass(frozen=True, slots=True)
class Gate:
    """Tool servers by path, behind a gatekeeper."""

    trouble: Trouble
    gatekeeper: Gatekeeper
    servers: Mapping[str, MCPServer]

    def routes(self) -> Sequence[BaseRoute]:
        """Builds a route for each server."""
        routes: list[BaseRoute] = []
        for path, server in self.servers.items():
            inner = server.streamable_http_app(streamable_http_path=path, json_response=True)
            routes += [Route(path, _GuardedApp(route.app, self)) for route in inner.routes if isinstance(route, Route)]
        return routes

    @contextlib.asynccontextmanager
    async def run_servers(self, app: Starlette) -> AsyncIterator[None]:
        """Runs all servers while the stand-in runs."""
        async with contextlib.AsyncExitStack() as stack:
            for server in self.servers.values():
                await stack.enter_async_context(server.session_manager.run())
            yield

    def refusal(self, scope: Scope) -> Response | None:
        """Returns the refusal of a call; None for one that may go on."""
        trouble = self.trouble(scope["path"])
        if trouble is not None:
            return trouble
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        return self.gatekeeper(scope["path"], headers, scope.get("query_string", b"").decode("latin-1"))


def make_key_gatekeeper(
    key: str,
    is_known: Callable[[str], bool],
    challenge: Callable[[str], str] = lambda path: _INVALID,
) -> Gatekeeper:
    """Makes a gatekeeper for the key in the address and a valid bearer token; refused callers get a `challenge` that
    says where tokens are issued."""

    def refuse(path: str, headers: Mapping[str, str], query: str) -> Response | None:
        key_shown = parse_qs(query).get("key", [""])[0]
        if not hmac.compare_digest(key_shown.encode(), key.encode()):
            return JSONResponse({"error": "not found"}, 404)
        token = headers.get("authorization", "")
        if not token.startswith(BEARER) or not is_known(token.removeprefix(BEARER)):
            return JSONResponse({"error": "invalid_token"}, 401, {"WWW-Authenticate": challenge(path)})
        return None

    return refuse


class _GuardedApp:
    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._gate.refusal(scope)
        await (self._app if refusal is None else refusal)(scope, receive, send)


def token_of(context: Context) -> str:
    """Returns the bearer token of a tool's caller."""
    return (context.headers or {}).get("authorization", "").removeprefix(BEARER)
