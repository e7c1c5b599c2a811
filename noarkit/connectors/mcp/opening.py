"""The tools of a configured connection, with the service's own consent, pace and allowance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from noarkit.connectors.access.granting import grant_of
from noarkit.connectors.access.keep import Keep
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.tokens import KeyPass, Style, TokenPass
from noarkit.connectors.client import Client, Pass
from noarkit.connectors.crm.calls import cost_of_tool
from noarkit.connectors.mcp.consent import OwnConsent
from noarkit.connectors.mcp.doors import Door, doors
from noarkit.connectors.mcp.judging import READING, Rules
from noarkit.connectors.pace import Clock
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection
from noarkit.errors import ConfigFault, UsageFault

if TYPE_CHECKING:
    from noarkit.connectors.mcp.client import Tools


# services whose tools may want a consent of their own
_OWN = ("crm", "spend")


class _Calls(Protocol):
    @property
    def client(self) -> Client: ...


class Asking(Protocol):
    """A service that asks through a client of ours."""

    @property
    def calls(self) -> _Calls: ...
    def close(self) -> None: ...


@runtime_checkable
class Lending(Protocol):
    """A service that knows where its tools are, and has a way in to them of its own."""

    @property
    def tools_at(self) -> str:
        """Where they are, where the connection does not say; empty where that is not known."""
        ...

    def tools_client(self) -> Client:
        """What shows who we are to them, and keeps their pace. Raises `ConfigFault`, `SecretFault`."""
        ...


@contextmanager
def open_tools(to: Connection) -> Iterator[Tools]:
    """The tools of a connection. Raises `UsageFault` where the library is not installed or the service has no tools
    that we know, `ConfigFault`, `SecretFault`."""
    try:
        from noarkit.connectors.mcp.client import Means, Tools
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "httpx2", "anyio"):
            raise
        raise UsageFault(what="no-mcp", where="--mcp", do="pip install 'noarkit[mcp]'") from error
    service = _service(to)
    with ExitStack() as stack:
        stack.callback(service.close)
        own = service if isinstance(service, Lending) else None
        client = own.tools_client() if own is not None else service.calls.client
        scrubber = client.wire.scrubber
        found = doors(to, scrubber, own.tools_at if own is not None else "")
        key = client.key if own is not None else _shown(to, client, found, stack)
        rules = Rules(to.service, to.texts("mcp_tools"), may_write=to.flag("mcp_write"))
        cost = cost_of_tool if to.service == "crm" else _one
        means = Means(client.wire.line, scrubber, key, client.pace, client.allowance, client.clock, cost)
        yield Tools(found, rules, means)


def _one(arguments: Mapping[str, object]) -> int:
    return 1


def _service(to: Connection) -> Asking:
    if to.service not in READING:
        raise UsageFault(what="no-tools", where=to.where)
    if to.service == "crm":
        from noarkit.connectors.crm.service import open_service as open_crm

        return open_crm(to)
    if to.service == "appsec":
        from noarkit.connectors.appsec.service import open_service as open_appsec

        return open_appsec(to)
    if to.service == "features":
        from noarkit.connectors.features.service import open_service as open_features

        return open_features(to)
    from noarkit.connectors.spend.service import open_service as open_spend

    return open_spend(to)


def _shown(to: Connection, client: Client, found: Sequence[Door], stack: ExitStack) -> Pass | None:
    """Tool servers want a bearer's token, whatever the service's own calls want: that of the connection's consent, or
    one of their own."""
    style = Style(to.text("mcp_auth_prefix", "Bearer"))
    if _has_own_consent(to):
        return stack.enter_context(OwnConsent(to, found).key(client.wire.scrubber, client.clock, style))
    if isinstance(client.key, KeyPass):
        raise ConfigFault(where=f"connections.{to.service}.{to.name}.mcp_auth", why="mcp-needs-consent")
    return client.key.restyled(style) if isinstance(client.key, TokenPass) else client.key


def _has_own_consent(to: Connection) -> bool:
    """Whether a person agrees to the tools apart from the connection: where it has a key alone, or says so. Raises
    `ConfigFault`."""
    if to.service not in _OWN:
        return False
    told = to.text("mcp_auth", "own" if to.service == "spend" and to.text("auth", "oauth") == "key" else "connection")
    if told not in ("own", "connection"):
        raise ConfigFault(where=f"connections.{to.service}.{to.name}.mcp_auth", why="bad-value")
    return told == "own"


def open_tools_login(to: Connection, clock: Clock | None = None) -> Login | None:
    """A first consent to the tools of a connection; None where its own consent opens them. Raises a ServiceFault,
    `ConfigFault`, `SecretFault`."""
    if not _has_own_consent(to):
        return None
    return OwnConsent(to, doors(to, Scrubber())).login(clock or Clock())


def tools_keep(to: Connection) -> Keep:
    """Where the consent to the tools of a connection is kept."""
    return OwnConsent(to, ()).keep if _has_own_consent(to) else grant_of(to)
