"""The tool servers of a connection. Such an address often holds a key, so all of it is a secret: messages name its
place in the config, never the address."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from noarkit.errors import ConfigFault
from noarkit.safe.urls import UrlPolicy
from noarkit.secrets import Secret
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import LOOPBACK, Connection

KEYS = frozenset({"mcp_url", "mcp_urls", "mcp_write", "mcp_tools", "mcp_auth_prefix"})
_LONG = 12


@dataclass(frozen=True, slots=True)
class ToolServer:
    """One tool server: its label for messages, and its address."""

    label: str
    url: Secret

    @property
    def policy(self) -> UrlPolicy:
        """The URLs that may be requested: its own host, no other."""
        split = urlsplit(self.url.reveal())
        host = frozenset({split.hostname or ""})
        return UrlPolicy(host, frozenset({split.scheme}), host & LOOPBACK)


def tool_servers(connection: Connection, scrubber: Scrubber, known_url: str = "") -> tuple[ToolServer, ...]:
    """Returns the configured tool servers of a connection in order; if none is configured, the one at `known_url`,
    which is no secret. Raises `ConfigFault`, `SecretFault`."""
    place = f"connections.{connection.service}.{connection.name}"
    single_url = connection.secret("mcp_url")
    urls = (*((single_url,) if single_url is not None else ()), *connection.secrets("mcp_urls"))
    if not urls and known_url:
        return (ToolServer(f"{connection.full_name} mcp 1", Secret(known_url)),)
    if not urls:
        raise ConfigFault(where=f"{place}.mcp_url", why="not-set")
    servers = []
    for number, address in enumerate(urls, 1):
        label = f"{connection.full_name} mcp {number}"
        scrubber.learn(*_secret_parts(address.reveal()))
        _refuse_strange(connection, address.reveal(), f"{place}.mcp ({number})")
        servers.append(ToolServer(label, address))
    return tuple(servers)


def _refuse_strange(connection: Connection, url: str, place: str) -> None:
    """Raises `ConfigFault`, which never repeats the address."""
    try:
        split = urlsplit(url)
        _ = split.port
    except ValueError:
        raise ConfigFault(where=place, why="not-an-address") from None
    if split.scheme not in ("http", "https") or not split.hostname or split.username is not None:
        raise ConfigFault(where=place, why="not-an-address")
    if split.scheme == "http" and split.hostname not in LOOPBACK and not connection.flag("plain_http"):
        raise ConfigFault(where=place, why="plain-http")


def _secret_parts(url: str) -> Iterable[str]:
    """Yields the parts of an address that would reveal its secret: all of it, what follows the host, and each long part
    of that."""
    split = urlsplit(url)
    yield url
    yield url.rstrip("/")
    if split.hostname and split.hostname not in LOOPBACK:
        yield split.netloc
        yield split.hostname
    if split.query:
        yield f"{split.path}?{split.query}"
        yield split.query
    for _, value in parse_qsl(split.query):
        yield value
    for part in split.path.split("/"):
        if len(part) >= _LONG:
            yield part
            yield unquote(part)
