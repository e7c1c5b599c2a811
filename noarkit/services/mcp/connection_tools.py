"""Opens the tools of a configured connection, with the service's own credential, pace and allowance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from noarkit.errors import ConfigFault, ConsentNeeded, ServiceDenied, UsageFault
from noarkit.services.access.authorization import grant_store_of
from noarkit.services.access.credentials import KeyCredential, Style, TokenCredential
from noarkit.services.access.grant_store import GrantStore
from noarkit.services.access.login import Login
from noarkit.services.client import Client, Credential
from noarkit.services.mcp.consent import OwnConsent
from noarkit.services.mcp.rules import Rules
from noarkit.services.mcp.tool_servers import ToolServer, tool_servers
from noarkit.services.pace import Clock
from noarkit.services.registry import find_kind
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection
from noarkit.wings import extra_command

if TYPE_CHECKING:
    from noarkit.services.mcp.client import Tools


class _Calls(Protocol):
    @property
    def client(self) -> Client: ...


class ClientService(Protocol):
    """A service that calls through a `Client`."""

    @property
    def calls(self) -> _Calls: ...
    def close(self) -> None: ...


@runtime_checkable
class ToolService(Protocol):
    """A service that knows the URL of its tools, and has a client for them."""

    @property
    def tools_url(self) -> str:
        """The URL of the tools, if the connection does not configure one; empty if unknown."""
        ...

    def tools_client(self) -> Client:
        """Builds the client with the credential and pace of the tools. Raises `ConfigFault`, `SecretFault`."""
        ...


@contextmanager
def open_tools(connection: Connection) -> Iterator[Tools]:
    """Opens the tools of a connection. Raises `UsageFault` if the library is not installed or the service has no known
    tools, `ConfigFault`, `SecretFault`."""
    try:
        from noarkit.services.mcp.client import ToolContext, Tools
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "httpx2", "anyio"):
            raise
        raise UsageFault(what="no-mcp", where="--mcp", do=extra_command("mcp")) from error
    kind = find_kind(connection.service)
    if kind.tools is None:
        raise UsageFault(what="no-tools", where=connection.full_name)
    service = cast(ClientService, kind.open_service(connection))  # one that has tools calls through a client
    with ExitStack() as stack:
        stack.callback(service.close)
        tool_service = service if isinstance(service, ToolService) else None
        client = tool_service.tools_client() if tool_service is not None else service.calls.client
        scrubber = client.wire.scrubber
        servers = tool_servers(connection, scrubber, tool_service.tools_url if tool_service is not None else "")
        key = client.credential if tool_service is not None else _choose_credential(connection, client, servers, stack)
        rules = Rules(kind.tools, connection.texts("mcp_tools"), may_write=connection.flag("mcp_write"))
        settings, cost = client.wire.settings, kind.tools.cost
        means = ToolContext(settings, scrubber, key, client.pace, client.allowance, client.clock, cost)
        with _step_up(connection, servers):
            yield Tools(servers, rules, means)


@contextmanager
def _step_up(connection: Connection, servers: Sequence[ToolServer]) -> Iterator[None]:
    """Where a tool needs scopes that a person did not grant, their next consent asks for them too."""
    try:
        yield
    except ServiceDenied as fault:
        if fault.data.get("why") != "more-scopes" or not _has_own_consent(connection):
            raise
        OwnConsent(connection, servers).ask_for_scopes(str(fault.data.get("scopes") or "").split())
        raise ConsentNeeded(where=f"{connection.full_name} --mcp", why="more-scopes") from fault


def _choose_credential(
    connection: Connection, client: Client, servers: Sequence[ToolServer], stack: ExitStack
) -> Credential | None:
    """Chooses the bearer token for tool servers: that of the connection's consent, or one of their own."""
    style = Style(connection.text("mcp_auth_prefix", "Bearer"))
    if _has_own_consent(connection):
        return stack.enter_context(
            OwnConsent(connection, servers).credential(client.wire.scrubber, client.clock, style)
        )
    if isinstance(client.credential, KeyCredential):
        raise ConfigFault(where=f"connections.{connection.service}.{connection.name}.mcp_auth", why="mcp-needs-consent")
    return client.credential.with_style(style) if isinstance(client.credential, TokenCredential) else client.credential


def _has_own_consent(connection: Connection) -> bool:
    """True if the tools need a consent of their own: if the connection has a key alone, or is configured so. Raises
    `ConfigFault`."""
    tools = find_kind(connection.service).tools
    if tools is None or tools.default_consent is None:
        return False
    mode = connection.text("mcp_auth", tools.default_consent(connection))
    if mode not in ("own", "connection"):
        raise ConfigFault(where=f"connections.{connection.service}.{connection.name}.mcp_auth", why="bad-value")
    return mode == "own"


def open_tools_login(connection: Connection, clock: Clock | None = None) -> Login | None:
    """Builds the first consent to the tools of a connection; None if its own consent opens them. Raises a ServiceFault,
    `ConfigFault`, `SecretFault`."""
    if not _has_own_consent(connection):
        return None
    return OwnConsent(connection, tool_servers(connection, Scrubber())).login(clock or Clock())


def tools_grant_store(connection: Connection) -> GrantStore:
    """Returns where the consent to the tools of a connection is stored."""
    return OwnConsent(connection, ()).grant_store if _has_own_consent(connection) else grant_store_of(connection)
