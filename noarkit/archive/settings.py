"""How an archive is reached: address, account, trust, proxy, patience. Checked before anything is sent."""

from __future__ import annotations

import base64
import ipaddress
import re
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import httpx

from noarkit.archive.stream import Patience
from noarkit.archive.token import Credentials
from noarkit.archive.transport import ProxyRoute, Route
from noarkit.config import ArchiveConfig
from noarkit.errors import ConfigFault, SecretOnTheLine
from noarkit.safe.tls import Trust, client_context
from noarkit.secrets import Secret

SERVICE_PATH = "/noark5/v1"
TOKEN_PATH = "/idp/oauth2/token"  # noqa: S105  # an address, no secret
OTHER_TOKEN_PATH = "/oauth2/token"  # noqa: S105  # an address, no secret
ERROR_HEADER = "X-Noark-Error-Response-Type"

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy to go through, and who we are to it. Its address is http://; the archive's TLS goes inside.

    Hosts and networks of `no_proxy` are reached without it.
    """

    url: str
    user: str | None = None
    secret: Secret | None = None
    no_proxy: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """All a session needs. `base_url` is the base without /noark5/v1.

    `token_url` defaults to the base's own scheme, host and port, and there to either of the two documented paths.
    `proxy="environment"` asks for the proxies that the environment names; otherwise it is never looked at. Plain HTTP
    is for this machine alone, unless `plain_http`.
    """

    base_url: str
    credentials: Credentials
    token_url: str | None = None
    trust: Trust = field(default_factory=Trust)
    proxy: Proxy | Literal["environment"] | None = None
    patience: Patience = field(default_factory=Patience)
    error_header: str = ERROR_HEADER
    max_connections: int = 32
    max_answer_bytes: int = 512 * 1024 * 1024
    plain_http: bool = False


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where calls and token requests go; `other_token` is asked where nothing is at `token`."""

    service: httpx.URL
    token: httpx.URL
    other_token: httpx.URL | None = None


def settings_of(config: ArchiveConfig, environment: Mapping[str, str]) -> ArchiveSettings:
    """The settings a config means; its secret is read now. Raises `ConfigFault`, `SecretFault`."""
    if config.url is None or config.client_id is None or config.client_secret is None:
        missing = "url" if config.url is None else "client_id" if config.client_id is None else "client_secret"
        raise ConfigFault(where=f"archive.{missing}", why="not-set")
    return ArchiveSettings(
        base_url=config.url,
        credentials=Credentials(config.client_id, config.client_secret.read(environment)),
        token_url=config.token_url,
        trust=Trust(config.tls.ca, config.tls.cert, config.tls.key),
        proxy=_configured_proxy(config, environment),
        patience=Patience(config.connect_timeout_s, config.stall_timeout_s, config.answer_timeout_s),
        error_header=config.error_header or ERROR_HEADER,
        plain_http=config.plain_http,
    )


def _configured_proxy(config: ArchiveConfig, environment: Mapping[str, str]) -> Proxy | None:
    if config.proxy is None:
        return None
    secret = config.proxy_secret.read(environment) if config.proxy_secret else None
    return Proxy(config.proxy, config.proxy_user, secret, config.no_proxy)


def addresses_of(settings: ArchiveSettings) -> Addresses:
    """The addresses, checked. Raises `ConfigFault`, and `SecretOnTheLine` where one holds a password."""
    base = _check_url(settings.base_url, "archive.url", settings.plain_http)
    service = base.path.rstrip("/").removesuffix(SERVICE_PATH) + SERVICE_PATH
    if settings.token_url:
        token = _check_url(settings.token_url, "archive.token_url", settings.plain_http)
        return Addresses(base.copy_with(path=service), token)
    paths = (TOKEN_PATH, OTHER_TOKEN_PATH)
    return Addresses(base.copy_with(path=service), *(base.copy_with(path=path) for path in paths))


def route_of(settings: ArchiveSettings, addresses: Addresses) -> Route:
    """How connections are made. Raises `ConfigFault`, `SecretFault`."""
    if not _HEADER_NAME.match(settings.error_header):
        raise ConfigFault(where="archive.error_header", why="not-a-header")
    needs_tls = "https" in (addresses.service.scheme, addresses.token.scheme)
    return Route(
        ssl_context=client_context(settings.trust) if needs_tls else None,
        proxy=_proxy(settings.proxy, addresses.service),
        no_proxy=settings.proxy.no_proxy if isinstance(settings.proxy, Proxy) else (),
        max_connections=settings.max_connections,
        max_answer_bytes=settings.max_answer_bytes,
    )


def _check_url(text: str, setting: str, plain_http: bool) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise ConfigFault(where=setting, why="not-an-address") from error
    if url.userinfo:
        raise SecretOnTheLine(where=setting)
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigFault(where=setting, why="not-an-address")
    if url.query or url.fragment:
        raise ConfigFault(where=setting, why="address-with-query")
    if url.scheme == "http" and not plain_http and not _is_this_machine(url.host):
        raise ConfigFault(where=setting, why="plain-http")
    return url


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _proxy(proxy: Proxy | Literal["environment"] | None, service: httpx.URL) -> ProxyRoute | None:
    if proxy is None:
        return None
    if proxy == "environment":
        return _environment_proxy(service)
    url = httpx.URL(proxy.url)
    if url.userinfo:
        raise SecretOnTheLine(where="archive.proxy")
    if url.scheme != "http" or not url.host:
        raise ConfigFault(where="archive.proxy", why="proxy-not-http")
    authorization = None
    if proxy.user is not None:
        authorization = _basic(proxy.user, proxy.secret.reveal() if proxy.secret else "")
    return ProxyRoute(url.host, url.port or 80, authorization)


def _environment_proxy(service: httpx.URL) -> ProxyRoute | None:
    """The proxy that the environment names for this address; there a password in the address is the custom."""
    proxy_url = urllib.request.getproxies().get(service.scheme)
    if not proxy_url or urllib.request.proxy_bypass(service.host):
        return None
    url = httpx.URL(proxy_url if "://" in proxy_url else f"http://{proxy_url}")
    if url.scheme != "http":
        raise ConfigFault(where=f"{service.scheme}_proxy", why="proxy-not-http")
    return ProxyRoute(url.host, url.port or 80, _basic(url.username, url.password) if url.userinfo else None)


def _basic(user: str, secret: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{user}:{secret}".encode())
