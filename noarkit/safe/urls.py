"""The one door for an address that a service, a message or a config names.

Only schemes and hosts that were named may be asked, and a host that leads to a private network only where it was named
as private. The check gives the addresses it judged, so that a caller can pin them.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from noarkit.errors import SecretOnTheLine, UnsafeUrl

Resolver = Callable[[str, int], Iterable[str]]
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_PORTS = {"http": 80, "https": 443}
_NEVER_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """What may be asked: hosts by name (`.example.org` means every host beneath it), schemes, and the private ones."""

    hosts: frozenset[str]
    schemes: frozenset[str] = frozenset({"https"})
    private: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """An address that may be asked, and where it leads."""

    url: str
    host: str
    port: int
    addresses: tuple[str, ...]


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them."""
    address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in address_infos]


def check_url(url: str, policy: UrlPolicy, resolver: Resolver = resolve) -> CheckedUrl:
    """`url` where the policy lets it pass; `UnsafeUrl` otherwise, `SecretOnTheLine` for one that carries a password."""
    display_url, host, port = _check_allowed(url, policy)
    addresses = _addresses(host, port, resolver, display_url)
    _refuse_private(host, addresses, policy, display_url)
    return CheckedUrl(url, host, port, addresses)


def check_name(url: str, policy: UrlPolicy) -> None:
    """The same for an address that a proxy will look up: a name is judged as it is written, and nobody is asked here.

    Raises `UnsafeUrl`, `SecretOnTheLine`.
    """
    display_url, host, _ = _check_allowed(url, policy)
    if _is_address(host):
        _refuse_private(host, (host,), policy, display_url)


def bypasses_proxy(host: str, no_proxy: Iterable[str]) -> bool:
    """Whether a proxy is passed by: `*`, a host by name, `.example.org` for all beneath it, an address, a network."""
    bare = host.strip("[]").rstrip(".").casefold()
    names = frozenset(name.casefold() for name in no_proxy)
    return "*" in names or _matches_name(bare, names) or any(_is_within(bare, name) for name in names)


def is_private(address: str) -> bool:
    """True for an address that is not of the open internet, also where it is wrapped in another."""
    try:
        ip: _Address = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return True
    return not ip.is_global or ip.is_multicast or any(not inner.is_global for inner in _embedded_addresses(ip))


def _embedded_addresses(ip: _Address) -> Iterable[_Address]:
    """The addresses inside a 6to4 or NAT64 address; of one mapped from IPv4 the library judges what is inside."""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.sixtofour is not None:
            yield ip.sixtofour
        if ip in ipaddress.IPv6Network("64:ff9b::/96"):
            yield ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)


def _check_allowed(url: str, policy: UrlPolicy) -> tuple[str, str, int]:
    """How the address is told, its host and its port, where its scheme and host were named."""
    split = _split(url)
    display_url = f"{split.scheme}://{split.hostname}"
    if split.username is not None or split.password is not None:
        raise SecretOnTheLine(where=display_url)
    if split.scheme not in policy.schemes:
        raise UnsafeUrl(where=display_url, why="scheme")
    host = (split.hostname or "").rstrip(".")
    if not host or not _matches_name(host, policy.hosts | policy.private):
        raise UnsafeUrl(where=display_url, why="host")
    return display_url, host, split.port or _PORTS.get(split.scheme, 0)


def _refuse_private(host: str, addresses: Iterable[str], policy: UrlPolicy, display_url: str) -> None:
    if not _matches_name(host, policy.private) and any(is_private(address) for address in addresses):
        raise UnsafeUrl(where=display_url, why="private")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_within(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _split(url: str) -> SplitResult:
    try:
        if url != url.strip() or _NEVER_IN_A_URL.search(url):
            raise ValueError
        split = urlsplit(url)
        _ = split.port  # judged here, where a wrong port is a wrong address
    except ValueError as error:
        raise UnsafeUrl(where="", why="malformed") from error
    return split


def _addresses(host: str, port: int, resolver: Resolver, display_url: str) -> tuple[str, ...]:
    try:
        addresses = tuple(resolver(host, port))
    except (OSError, UnicodeError) as error:
        raise UnsafeUrl(where=display_url, why="unknown-host") from error
    if not addresses:
        raise UnsafeUrl(where=display_url, why="unknown-host")
    return addresses


def _matches_name(host: str, names: frozenset[str]) -> bool:
    host = host.casefold()
    return any(host == name.casefold() or (name.startswith(".") and host.endswith(name.casefold())) for name in names)
