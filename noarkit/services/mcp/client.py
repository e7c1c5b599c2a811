"""Lists and calls the MCP tools of a service over Streamable HTTP, with the connection's own credential, pace and
allowance.

Each call is a session of its own. Any error, however deep in the library, becomes one fault of the service; no message
or log holds the address.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TypeVar

import anyio.to_thread
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as ToolThere

from noarkit.errors import (
    NoarkitError,
    ServiceAway,
    ServiceBroken,
    ServiceBusy,
    ServiceDenied,
    ServiceFault,
    ServiceRefused,
    ServiceStrange,
    TooLarge,
    UnsafeUrl,
    UsageFault,
)
from noarkit.services.canonical import parse
from noarkit.services.client import Credential
from noarkit.services.mcp.discovery import INSUFFICIENT_SCOPE, Challenge, read_challenge
from noarkit.services.mcp.rules import Hints, Judgement, Rules
from noarkit.services.mcp.tool_servers import ToolServer
from noarkit.services.pace import Allowance, Clock, Pace
from noarkit.services.scrub import Scrubber
from noarkit.services.wire import WireSettings, proxy_fault, retry_after_s, trust_fault

T = TypeVar("T")
MAX_ANSWER_BYTES = 32 * 1024 * 1024
_MOST_PAGES = 100
_BUSY = 429
_PROXY_AUTH_REQUIRED = 407
_LOST_STATUS = 503  # the status given to the library if there is no answer; the fault itself is kept in the trace
# these libraries log addresses at lower levels
for _name in ("mcp", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a connection shares with its tool servers: credential, pace, allowance and network settings."""

    settings: WireSettings
    scrubber: Scrubber
    credential: Credential | None
    pace: Pace
    allowance: Allowance = field(default_factory=Allowance)
    clock: Clock = field(default_factory=Clock)
    cost: Callable[[Mapping[str, object]], int] = lambda arguments: 1


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as its server describes it, and how we judge it."""

    server: ToolServer
    name: str
    description: str
    judgement: Judgement
    is_allowed: bool


class Tools:
    """The tools of one connection."""

    def __init__(self, servers: Sequence[ToolServer], rules: Rules, context: ToolContext) -> None:
        self._servers = tuple(servers)
        self._rules = rules
        self._context = context

    @property
    def spent_credits(self) -> int:
        """The credits used of the connection's allowance."""
        return self._context.allowance.spent

    def list_tools(self) -> tuple[Tool, ...]:
        """Lists all tools of all servers. Raises a ServiceFault."""
        return tuple(tool for server in self._servers for tool in self._tools_of(server))

    def call(self, name: str, arguments: Mapping[str, object]) -> object:
        """Calls a tool and returns its answer as a JSON value without our secrets.

        Raises `UsageFault` for a tool that does not exist, that may change something, or that is never called, and a
        ServiceFault.
        """
        if self._rules.judge(name) == "never":
            raise UsageFault(what="tool-never", where=self._context.scrubber.clean(name))
        for server in self._servers:
            match = next((tool for tool in self._tools_of(server) if tool.name == name), None)
            if match is None:
                continue
            if not match.is_allowed:
                raise UsageFault(what=f"tool-{match.judgement}", where=f"{server.label} {name}")
            return self._call(server, name, arguments)
        raise UsageFault(what="no-such-tool", where=self._context.scrubber.clean(name))

    def _tools_of(self, server: ToolServer) -> tuple[Tool, ...]:
        async def list_all(client: Client) -> list[ToolThere]:
            tools: list[ToolThere] = []
            cursor: str | None = None
            for _ in range(_MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools += page.tools
                cursor = page.next_cursor
                if cursor is None:
                    return tools
            raise ServiceStrange(where=server.label, why="no-end")

        return tuple(self._tool(server, tool) for tool in self._run_session(server, list_all))

    def _tool(self, server: ToolServer, listed_tool: ToolThere) -> Tool:
        annotations = listed_tool.annotations
        hints = Hints(annotations.read_only_hint, annotations.destructive_hint) if annotations is not None else None
        if hints is not None and hints.read_only is True:
            hints = Hints(True, None)  # the second hint means nothing for a tool that only reads
        judgement = self._rules.judge(listed_tool.name, hints)
        description = self._context.scrubber.clean(listed_tool.description or "")
        return Tool(server, listed_tool.name, description, judgement, self._rules.allows(judgement))

    def _call(self, server: ToolServer, name: str, arguments: Mapping[str, object]) -> object:
        self._context.allowance.spend(server.label, self._context.cost(arguments))

        async def call_tool(client: Client) -> CallToolResult:
            return await client.call_tool(name, dict(arguments))

        result = self._run_session(server, call_tool)
        location = f"{server.label} {name}"
        if result.is_error:
            raise ServiceRefused(where=location, why=self._context.scrubber.clean(_text(result)) or "tool-said-nothing")
        return self._context.scrubber.hide_in(_value(result, location))

    def _run_session(self, server: ToolServer, ask: Callable[[Client], Awaitable[T]]) -> T:
        context, trace = self._context, _NetworkTrace()
        if context.credential is not None:
            context.credential.headers()  # who needs consent first hears of it here, and not from within the library

        async def session() -> T:
            http = httpx2.AsyncClient(
                auth=_CredentialAuth(context.credential, trace) if context.credential is not None else None,
                transport=_PacedTransport(server, context, trace),
                timeout=httpx2.Timeout(context.settings.answer_timeout_s, connect=context.settings.connect_timeout_s),
                headers={"User-Agent": "noarkit"},
                follow_redirects=False,
                trust_env=False,
            )
            async with http:
                streams = streamable_http_client(server.url.reveal(), http_client=http)
                async with Client(streams, read_timeout_seconds=context.settings.answer_timeout_s) as client:
                    return await ask(client)

        try:
            return asyncio.run(session())
        except (MCPError, httpx2.HTTPError, ExceptionGroup, NoarkitError, TimeoutError) as error:
            # not chained: the library's exception may repeat the address
            fault = _fault(error, trace, server, context)
        raise fault


@dataclass(slots=True)
class _NetworkTrace:
    """What happened on the network: a fault of ours, or the status of the last failed answer."""

    fault: NoarkitError | None = None
    status: int = 0
    retry_after: str = ""
    challenge: Challenge = field(default_factory=Challenge)

    def note(self, answer: httpx2.Response) -> None:
        good = answer.status_code < 300
        self.status = 0 if good else answer.status_code
        self.retry_after = "" if good else answer.headers.get("retry-after", "")
        self.challenge = read_challenge("" if good else answer.headers.get("www-authenticate", ""))


class _CredentialAuth(httpx2.Auth):
    """Authenticates requests, and renews a refused token once."""

    def __init__(self, key: Credential, trace: _NetworkTrace) -> None:
        self._key = key
        self._trace = trace

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        try:
            headers = await anyio.to_thread.run_sync(self._key.headers)
            request.headers.update(headers)
            answer = yield request
            if answer.status_code != 401:
                return
            new_headers = await anyio.to_thread.run_sync(self._key.after_refusal, headers)
        except NoarkitError as fault:
            self._trace.fault = fault
            return
        if new_headers is not None:
            request.headers.update(new_headers)
            yield request


class _PacedTransport(httpx2.AsyncBaseTransport):
    """The HTTP transport: to the one host, in the pace of the connection, never redirected, always bounded."""

    def __init__(self, server: ToolServer, context: ToolContext, trace: _NetworkTrace) -> None:
        self._server = server
        self._context = context
        self._trace = trace
        line = context.settings
        limits = httpx2.Limits(max_connections=line.max_connections)
        verify = line.tls if line.tls is not None else True
        through = line.proxy_to(server.url.reveal())
        proxy = None if through is None else httpx2.Proxy(through.url, auth=through.credentials)
        self._inner = httpx2.AsyncHTTPTransport(verify=verify, proxy=proxy, limits=limits, trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        label = self._server.label
        if self._trace.fault is not None:
            return httpx2.Response(_LOST_STATUS, request=request)
        try:
            self._context.settings.check(str(request.url), self._server.policy)
            with ExitStack() as stack:
                await anyio.to_thread.run_sync(stack.enter_context, self._context.pace.call(label))
                answer = await self._inner.handle_async_request(request)
            if answer.status_code == _PROXY_AUTH_REQUIRED:
                raise httpx2.ProxyError(str(_PROXY_AUTH_REQUIRED))
        except UnsafeUrl as unsafe:
            return self._lost_answer(request, UnsafeUrl(where=label, why=unsafe.data.get("why")))
        except NoarkitError as fault:
            return self._lost_answer(request, fault)
        except httpx2.ConnectTimeout:
            return self._lost_answer(request, ServiceAway(where=label, why="connect-timeout", sent=False))
        except httpx2.ConnectError as error:
            proxy_used = self._context.settings.proxy_to(str(request.url))
            away = ServiceAway(
                where=label, why="no-connection" if proxy_used is None else "proxy-no-answer", sent=False
            )
            return self._lost_answer(request, trust_fault(label, error) or away)
        except httpx2.ProxyError as error:
            proxy = self._context.settings.proxy
            return self._lost_answer(request, proxy_fault(label, str(error), has_user=bool(proxy and proxy.user)))
        except httpx2.TimeoutException:
            return self._lost_answer(request, ServiceAway(where=label, why="timeout", sent=True))
        except httpx2.HTTPError as error:
            away = ServiceAway(where=label, why="broke-off", sent=True)
            return self._lost_answer(request, trust_fault(label, error) or away)
        if request.method == "POST":
            self._trace.note(answer)
            if answer.status_code == _BUSY:
                # after 429 the library would try another dialect at once; we do not
                self._trace.fault = _of_status(self._trace, self._server, self._context)
        stream = _BoundedStream(answer, label, self._trace)
        return httpx2.Response(
            answer.status_code, headers=answer.headers, stream=stream, extensions=answer.extensions, request=request
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _lost_answer(self, request: httpx2.Request, fault: NoarkitError) -> httpx2.Response:
        if request.method == "POST":
            self._trace.fault = fault
        return httpx2.Response(_LOST_STATUS, request=request)


class _BoundedStream(httpx2.AsyncByteStream):
    """A response stream with a size limit."""

    def __init__(self, answer: httpx2.Response, location: str, trace: _NetworkTrace) -> None:
        self._answer = answer
        self._label = location
        self._trace = trace

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for block in self._answer.aiter_raw():
            count += len(block)
            if count > MAX_ANSWER_BYTES:
                self._trace.fault = TooLarge(where=self._label, why="total-bytes")
                raise httpx2.ReadError("too large")
            yield block

    async def aclose(self) -> None:
        await self._answer.aclose()


def _fault(error: BaseException, trace: _NetworkTrace, server: ToolServer, context: ToolContext) -> NoarkitError:
    """Maps whatever the library raised to one fault: our own first, then the HTTP status, then the MCP error."""
    leaves = list(_flatten_group(error))
    own_fault = next((leaf for leaf in leaves if isinstance(leaf, NoarkitError)), trace.fault)
    if own_fault is not None:
        return own_fault
    distrust = next((trust for leaf in leaves if (trust := trust_fault(server.label, leaf))), None)
    if distrust is not None:
        return distrust
    if trace.status:
        return _of_status(trace, server, context)
    mcp_error = next((leaf for leaf in leaves if isinstance(leaf, MCPError)), None)
    if mcp_error is None or "timed out" in str(mcp_error):
        return ServiceAway(where=server.label, why="timeout" if mcp_error is not None else "broke-off", sent=True)
    return ServiceRefused(where=server.label, why=context.scrubber.clean(str(mcp_error)))


def _of_status(trace: _NetworkTrace, server: ToolServer, context: ToolContext) -> ServiceFault:
    label, status = server.label, trace.status
    wait_s = retry_after_s(trace.retry_after, context.clock.now_s())
    wait = {} if wait_s is None else {"retry_after_s": wait_s}
    if status == _BUSY:
        if wait_s is not None:
            context.pace.hold_back(wait_s)
        return ServiceBusy(where=label, status=status, **wait)
    if status == 403 and trace.challenge.error == INSUFFICIENT_SCOPE:
        return ServiceDenied(where=label, status=status, why="more-scopes", scopes=" ".join(trace.challenge.scopes))
    if status in (401, 403):
        return ServiceDenied(where=label, status=status, why=f"HTTP {status}")
    if status < 400:
        return ServiceStrange(where=label, status=status, why="redirects")
    return (
        ServiceBroken(where=label, status=status, **wait)
        if status >= 500
        else ServiceRefused(
            where=label, status=status, why="no-tool-server" if status in (404, 405, 421) else f"HTTP {status}"
        )
    )


def _flatten_group(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _flatten_group(inner)]
    return [error]


def _text(result: CallToolResult) -> str:
    return " ".join(part.text for part in result.content if isinstance(part, TextContent))


def _value(result: CallToolResult, location: str) -> object:
    """Returns the answer of a tool: the structured value if there is one, or else its text, parsed if it is JSON."""
    if result.structured_content is not None:
        return result.structured_content
    parts: list[object] = []
    for part in result.content:
        if not isinstance(part, TextContent):
            parts.append(part.model_dump(mode="json", exclude_none=True))
            continue
        try:
            parts.append(parse(part.text.encode(), location))
        except ServiceStrange:
            parts.append(part.text)
    return parts[0] if len(parts) == 1 else parts
