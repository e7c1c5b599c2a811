"""The tools as an MCP server, over stdio or Streamable HTTP. Tools that change nothing say so; the one that plans is
there only where it was allowed."""

from __future__ import annotations

import contextlib
import hmac
import logging
import os
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Annotated, ParamSpec

import anyio
import anyio.to_thread
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import Field
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from noarkit.assistant.search import SearchRequest
from noarkit.assistant.toolset import ToolAnswer, Tools
from noarkit.errors import ConfigFault, NoarkitError
from noarkit.events import Event
from noarkit.operations.tally import Tally, step_text, take_event
from noarkit.safe.connections import StrictConnection
from noarkit.secrets import Secret
from noarkit.version import __version__
from noarkit.words.texts import Texts, render, texts

P = ParamSpec("P")
_Title = Annotated[str, Field(description="A part of the title. One of title, ident and id must be given.")]
_Ident = Annotated[str, Field(description="The ident (2026/17) in full. One of title, ident and id must be given.")]
_Id = Annotated[str, Field(description="The archive's id. One of title, ident and id must be given.")]
PATH = "/mcp"
_TELL_EVERY_S = 0.5
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
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False) if token is not None else None
    app: ASGIApp = mcp_server.streamable_http_app(streamable_http_path=PATH, host=host, transport_security=security)
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

    async def scan(self, context: Context, source: str) -> ToolAnswer:
        """Counts what a source holds, a folder or a file: records, formats, years, and what will be trouble."""
        return await self._call_telling(context, self._toolset.scan, source)

    async def plan(self, context: Context, source: str, run: str, recipe: str = "") -> ToolAnswer:
        """Plans a load: writes a new run folder with a frozen plan and a page to read. Sends nothing."""
        return await self._call_telling(context, self._toolset.plan, source, run, recipe)

    async def status(self, run: str) -> ToolAnswer:
        """How far a run is: its state, its numbers, and its faults by code."""
        return await self._call_tool(self._toolset.status, run)

    async def validate(self, context: Context, package: str) -> ToolAnswer:
        """Holds a package to every rule of its form: which rules it does not keep, and how often."""
        return await self._call_telling(context, self._toolset.validate, package)

    async def compare(self, context: Context, left: str, right: str, by: str = "id") -> ToolAnswer:
        """What differs between two extracts, or an extract and the archive (written "archive"); by "id" or "key". An
        extract may lie in any package that validate knows: a folder, zip, tar, bag, E-ARK or DIAS package."""
        return await self._call_telling(context, self._toolset.compare, left, right, by)

    async def search(
        self, type: str, title: _Title = "", ident: _Ident = "", id: _Id = "", limit: int = 20
    ) -> ToolAnswer:
        """Looks in the archive for objects of a type (Saksmappe, Journalpost, Klasse …) by a part of the title, by
        ident or by id: one of these three must be given. What is screened is found by
        ident and id alone, and without its title."""
        return await self._call_tool(self._toolset.search, SearchRequest(type, title, ident, id, limit))

    async def _call_telling(self, context: Context, tool: Callable[..., ToolAnswer], *args: str) -> ToolAnswer:
        """Calls a tool that may take long, and tells a caller who asks for it how far it is."""
        progress = ToolProgress(texts(self._toolset.settings.config.lang))
        answer, fault = ToolAnswer(), None
        async with anyio.create_task_group() as group:
            group.start_soon(progress.keep_telling, context.report_progress)
            try:
                answer = await self._call_tool(tool, *args, listener=progress.on_event)
            except ToolError as error:
                fault = error
            group.cancel_scope.cancel()
        if fault is not None:
            raise fault
        await progress.tell(context.report_progress)
        return answer

    async def _call_tool(self, tool: Callable[P, ToolAnswer], *args: P.args, **kwargs: P.kwargs) -> ToolAnswer:
        self._room = self._room or anyio.CapacityLimiter(2)
        try:
            return await anyio.to_thread.run_sync(partial(tool, *args, **kwargs), limiter=self._room)
        except NoarkitError as fault:
            raise ToolError("\n".join(render(fault, self._toolset.settings.config.lang))) from fault


class ToolProgress:
    """How far a call is: what was counted in all its steps, and the words of the step under way. Safe for threads."""

    def __init__(self, words: Texts, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._texts = words
        self._clock = clock
        self._tally = Tally()
        self._done_before = 0
        self._last_told = -1
        self._lock = threading.Lock()

    def on_event(self, event: Event, /) -> None:
        """Counts an event of the call."""
        with self._lock:
            step, done = self._tally.step, self._tally.done_count
            if take_event(self._tally, event, self._clock()) and self._tally.step != step:
                self._done_before += done

    async def tell(self, report: Callable[..., Awaitable[None]]) -> None:
        """Reports what was done, if it is more than was told last: a number that falls is no progress."""
        with self._lock:
            tally, done = self._tally, self._done_before + self._tally.done_count
            if done <= self._last_told:
                return
            self._last_told = done
            total = None if tally.total is None else self._done_before + tally.total
            message = step_text(tally, self._texts) if tally.step else None
        await report(done, total, message)

    async def keep_telling(self, report: Callable[..., Awaitable[None]]) -> None:
        """Reports again and again, until it is cancelled."""
        while True:
            await self.tell(report)
            await anyio.sleep(_TELL_EVERY_S)


def _silence() -> None:
    # standard output is the protocol's, and nothing that is asked belongs in a log
    for name in ("mcp", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
