"""The tools as an MCP server, over stdio or Streamable HTTP. Tools that change nothing say so; the one that plans is
there only where it was allowed."""

from __future__ import annotations

import contextlib
import hmac
import logging
import os
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, ParamSpec

import anyio
import anyio.to_thread
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import Field
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from noarkit import __version__
from noarkit.assistant.desk import Desk, Told
from noarkit.assistant.search import Asked
from noarkit.errors import ConfigFault, NoarkitError
from noarkit.safe.connections import StrictConnection
from noarkit.secrets import Secret
from noarkit.words.texts import render

P = ParamSpec("P")
_Title = Annotated[str, Field(description="A part of the title. One of title, ident and id must be given.")]
_Ident = Annotated[str, Field(description="The ident (2026/17) in full. One of title, ident and id must be given.")]
_Id = Annotated[str, Field(description="The archive's id. One of title, ident and id must be given.")]
PATH = "/mcp"
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_PLANS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_TOLD = (
    "noarkit moves records into a Noark 5 archive and out again and proves that nothing was lost. These tools read"
    " below a few folders and tell numbers, codes and ids. What is screened stays screened: its titles are never told."
)


def server(desk: Desk, *, may_plan: bool = False) -> MCPServer:
    """The server with its tools."""
    made = MCPServer("noarkit", version=__version__, instructions=_TOLD, log_level="CRITICAL")
    tools = _Tools(desk)
    for tool in (tools.scan, tools.status, tools.validate, tools.compare, tools.search):
        made.add_tool(tool, annotations=_READS, structured_output=True)
    if may_plan:
        made.add_tool(tools.plan, annotations=_PLANS, structured_output=True)
    return made


def over_stdio(made: MCPServer) -> None:
    """Serves until standard input ends."""
    _silence()
    anyio.run(made.run_stdio_async)


def over_http(made: MCPServer, host: str, port: int, token: Secret | None, ready: Callable[[str], None]) -> None:
    """Serves until a signal ends it. With a `token`, every request must show it."""
    _silence()
    # a token is the better proof where others may ask; without one only this machine's own names are answered
    guard = TransportSecuritySettings(enable_dns_rebinding_protection=False) if token is not None else None
    app: ASGIApp = made.streamable_http_app(streamable_http_path=PATH, host=host, transport_security=guard)
    if token is not None:
        app = _Guarded(app, token)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        http=StrictConnection,
        ws="none",
        limit_concurrency=64,
        timeout_keep_alive=5,
    )
    with _bound(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}{PATH}")
        uvicorn.Server(config).run(sockets=[listener])


@contextlib.contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigFault(where=f"{host}:{port}", why="port-taken", detail=os.strerror(error.errno or 0)) from error
    with listener:
        yield listener


class _Guarded:
    def __init__(self, app: ASGIApp, token: Secret) -> None:
        self._app = app
        self._shown = f"Bearer {token.reveal()}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            shown = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(shown, self._shown):
                refused = JSONResponse({"error": "invalid_token"}, 401, {"WWW-Authenticate": "Bearer"})
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Tools:
    """Each tool on a thread, two at a time; a fault is told in its own words, anything else not at all."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._room: anyio.CapacityLimiter | None = None

    async def scan(self, source: str) -> Told:
        """Counts what a source holds, a folder or a file: records, formats, years, and what will be trouble."""
        return await self._told(self._desk.scan, source)

    async def plan(self, source: str, run: str, recipe: str = "") -> Told:
        """Plans a load: writes a new run folder with a frozen plan and a page to read. Sends nothing."""
        return await self._told(self._desk.plan, source, run, recipe)

    async def status(self, run: str) -> Told:
        """How far a run is: its state, its numbers, and its faults by code."""
        return await self._told(self._desk.status, run)

    async def validate(self, package: str) -> Told:
        """Holds a package to every rule of its form: which rules it does not keep, and how often."""
        return await self._told(self._desk.validate, package)

    async def compare(self, left: str, right: str, by: str = "id") -> Told:
        """What differs between two extracts, or an extract and the archive (written "archive"); by "id" or "key". An
        extract may lie in any package that validate knows: a folder, zip, tar, bag, E-ARK or DIAS package."""
        return await self._told(self._desk.compare, left, right, by)

    async def search(self, type: str, title: _Title = "", ident: _Ident = "", id: _Id = "", limit: int = 20) -> Told:
        """Looks in the archive for objects of a type (Saksmappe, Journalpost, Klasse …) by a part of the title, by
        ident or by id: one of these three must be given. What is screened is found by
        ident and id alone, and without its title."""
        return await self._told(self._desk.search, Asked(type, title, ident, id, limit))

    async def _told(self, tool: Callable[P, Told], *args: P.args, **kwargs: P.kwargs) -> Told:
        self._room = self._room or anyio.CapacityLimiter(2)
        try:
            return await anyio.to_thread.run_sync(partial(tool, *args, **kwargs), limiter=self._room)
        except NoarkitError as fault:
            raise ToolError("\n".join(render(fault, self._desk.site.config.lang))) from fault


def _silence() -> None:
    # standard output is the protocol's, and nothing that is asked belongs in a log
    for name in ("mcp", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
