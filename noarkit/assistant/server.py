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

from noarkit.assistant.search import SearchRequest
from noarkit.assistant.toolset import ToolAnswer, Tools
from noarkit.errors import ConfigFault, NoarkitError
from noarkit.safe.connections import StrictConnection
from noarkit.secrets import Secret
from noarkit.version import __version__
from noarkit.words.texts import render

P = ParamSpec("P")
_Title = Annotated[str, Field(description="A part of the title. One of title, ident and id must be given.")]
_Ident = Annotated[str, Field(description="The ident (2026/17) in full. One of title, ident and id must be given.")]
_Id = Annotated[str, Field(description="The archive's id. One of title, ident and id must be given.")]
PATH = "/mcp"
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_PLANS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_INSTRUCTIONS = (
    "noarkit moves records into a Noark 5 archive and out again and proves that nothing was lost. These tools read"
    " below a few folders and tell numbers, codes and ids. What is screened stays screened: its titles are never told."
)


def server(toolset: Tools, *, may_plan: bool = False) -> MCPServer:
    """The server with its tools."""
    mcp_server = MCPServer("noarkit", version=__version__, instructions=_INSTRUCTIONS, log_level="CRITICAL")
    tools = _ToolThreads(toolset)
    for tool in (tools.scan, tools.status, tools.validate, tools.compare, tools.search):
        mcp_server.add_tool(tool, annotations=_READS, structured_output=True)
    if may_plan:
        mcp_server.add_tool(tools.plan, annotations=_PLANS, structured_output=True)
    return mcp_server


def over_stdio(mcp_server: MCPServer) -> None:
    """Serves until standard input ends."""
    _silence()
    anyio.run(mcp_server.run_stdio_async)


def over_http(mcp_server: MCPServer, host: str, port: int, token: Secret | None, ready: Callable[[str], None]) -> None:
    """Serves until a signal ends it. With a `token`, every request must show it."""
    _silence()
    # a token is the better proof where others may ask; without one only this machine's own names are answered
    guard = TransportSecuritySettings(enable_dns_rebinding_protection=False) if token is not None else None
    app: ASGIApp = mcp_server.streamable_http_app(streamable_http_path=PATH, host=host, transport_security=guard)
    if token is not None:
        app = _TokenGuard(app, token)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        http=StrictConnection,
        ws="none",
        limit_concurrency=64,
        timeout_keep_alive=5,
    )
    with _open_listener(host, port) as listener:
        host_text = f"[{host}]" if ":" in host else host
        ready(f"http://{host_text}:{listener.getsockname()[1]}{PATH}")
        uvicorn.Server(config).run(sockets=[listener])


@contextlib.contextmanager
def _open_listener(host: str, port: int) -> Iterator[socket.socket]:
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigFault(where=f"{host}:{port}", why="port-taken", detail=os.strerror(error.errno or 0)) from error
    with listener:
        yield listener


class _TokenGuard:
    def __init__(self, app: ASGIApp, token: Secret) -> None:
        self._app = app
        self._expected_header = f"Bearer {token.reveal()}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            authorization = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(authorization, self._expected_header):
                response = JSONResponse({"error": "invalid_token"}, 401, {"WWW-Authenticate": "Bearer"})
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _ToolThreads:
    """Each tool on a thread, two at a time; a fault is told in its own words, anything else not at all."""

    def __init__(self, toolset: Tools) -> None:
        self._toolset = toolset
        self._room: anyio.CapacityLimiter | None = None

    async def scan(self, source: str) -> ToolAnswer:
        """Counts what a source holds, a folder or a file: records, formats, years, and what will be trouble."""
        return await self._call_tool(self._toolset.scan, source)

    async def plan(self, source: str, run: str, recipe: str = "") -> ToolAnswer:
        """Plans a load: writes a new run folder with a frozen plan and a page to read. Sends nothing."""
        return await self._call_tool(self._toolset.plan, source, run, recipe)

    async def status(self, run: str) -> ToolAnswer:
        """How far a run is: its state, its numbers, and its faults by code."""
        return await self._call_tool(self._toolset.status, run)

    async def validate(self, package: str) -> ToolAnswer:
        """Holds a package to every rule of its form: which rules it does not keep, and how often."""
        return await self._call_tool(self._toolset.validate, package)

    async def compare(self, left: str, right: str, by: str = "id") -> ToolAnswer:
        """What differs between two extracts, or an extract and the archive (written "archive"); by "id" or "key". An
        extract may lie in any package that validate knows: a folder, zip, tar, bag, E-ARK or DIAS package."""
        return await self._call_tool(self._toolset.compare, left, right, by)

    async def search(
        self, type: str, title: _Title = "", ident: _Ident = "", id: _Id = "", limit: int = 20
    ) -> ToolAnswer:
        """Looks in the archive for objects of a type (Saksmappe, Journalpost, Klasse …) by a part of the title, by
        ident or by id: one of these three must be given. What is screened is found by
        ident and id alone, and without its title."""
        return await self._call_tool(self._toolset.search, SearchRequest(type, title, ident, id, limit))

    async def _call_tool(self, tool: Callable[P, ToolAnswer], *args: P.args, **kwargs: P.kwargs) -> ToolAnswer:
        self._room = self._room or anyio.CapacityLimiter(2)
        try:
            return await anyio.to_thread.run_sync(partial(tool, *args, **kwargs), limiter=self._room)
        except NoarkitError as fault:
            raise ToolError("\n".join(render(fault, self._toolset.settings.config.lang))) from fault


def _silence() -> None:
    # standard output is the protocol's, and nothing that is asked belongs in a log
    for name in ("mcp", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
