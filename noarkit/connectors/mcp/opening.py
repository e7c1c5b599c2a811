"""The tools of a configured connection, with the service's own consent, pace and allowance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from noarkit.connectors.access.tokens import KeyPass, Style, TokenPass
from noarkit.connectors.client import Client, Pass
from noarkit.connectors.mcp.doors import doors
from noarkit.connectors.mcp.judging import READING, Rules
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection
from noarkit.errors import ConfigFault, UsageFault

if TYPE_CHECKING:
    from noarkit.connectors.mcp.client import Tools


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
    try:
        own = service if isinstance(service, Lending) else None
        client = own.tools_client() if own is not None else service.calls.client
        scrubber = client.wire.scrubber
        key = client.key if own is not None else _raw_key(to, scrubber) or _shown(to, client.key)
        rules = Rules(to.service, to.texts("mcp_tools"), may_write=to.flag("mcp_write"))
        means = Means(client.wire.line, scrubber, key, client.pace, client.allowance, client.clock)
        yield Tools(doors(to, scrubber, own.tools_at if own is not None else ""), rules, means)
    finally:
        service.close()


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


def _raw_key(to: Connection, scrubber: Scrubber) -> Pass | None:
    """An API key that a security service's tools take as it is, without a prefix; None for any other way in."""
    key = to.secret("api_key") if to.service == "appsec" and to.text("auth", "key") == "key" else None
    return None if key is None else KeyPass(key, scrubber, Style(to.text("mcp_auth_prefix")))


def _shown(to: Connection, key: Pass | None) -> Pass | None:
    """Tool servers want a bearer's token, whatever the service's own calls want. An API key does not open them."""
    if isinstance(key, KeyPass):
        raise ConfigFault(where=f"connections.{to.service}.{to.name}.auth", why="mcp-needs-consent")
    return key.restyled(Style(to.text("mcp_auth_prefix", "Bearer"))) if isinstance(key, TokenPass) else key
