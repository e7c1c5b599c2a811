"""Sends one HTTP request: only to allowed hosts, through trusted TLS, and with bounded answers.

`send` follows no redirect; `stream` follows redirects only to allowed hosts. Network errors become faults of the
service. Callers scrub messages of the service with `Wire.scrubber` before they show them.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Literal
from urllib.parse import urlencode, urlsplit

import httpx

from noarkit.archive.connection import Reply
from noarkit.archive.stream import BrokenExchange
from noarkit.errors import NoarkitError, ProxyDenied, ServiceAway, ServiceStrange, TooLarge, TrustFault, causes
from noarkit.safe.tls import fault_details, is_about_trust, why_not_trusted
from noarkit.safe.urls import UrlPolicy, bypasses_proxy, check_name, check_url
from noarkit.secrets import Secret
from noarkit.services.canonical import parse
from noarkit.services.lines import DirectLine, Line, LineSettings, ProxyLine, as_response, is_timeout, read_body
from noarkit.services.scrub import Scrubber
from noarkit.services.waiting import OnWait, WaitReporter, ignore_wait

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
MAX_ANSWER_BYTES = 256 * 1024 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 3
_HEADERS = {"User-Agent": "noarkit", "Accept": "application/json", "Accept-Encoding": "gzip, deflate"}
_PROXY_AUTH_REQUIRED = 407


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `repeatable` says that sending it twice does no harm; `cost` is how many rate-limit credits it uses.

    `accepts` are the statuses besides success that are returned instead of raised.
    """

    method: Method
    url: str
    params: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    media_type: str = ""
    repeatable: bool | None = None
    cost: int = 1
    accepts: frozenset[int] = frozenset()

    @property
    def is_repeatable(self) -> bool:
        """True if it may be sent again when its fate is unknown."""
        return self.method == "GET" if self.repeatable is None else self.repeatable

    @property
    def label(self) -> str:
        """Method and path for messages; the query may be private."""
        return f"{self.method} {urlsplit(self.url).path}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response. Header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    label: str

    def json(self) -> object:
        """Parses the JSON value. Raises `ServiceStrange`."""
        return parse(self.body, self.label)

    def members(self) -> Mapping[str, object]:
        """Parses the JSON object. Raises `ServiceStrange`."""
        value = self.json()
        if not isinstance(value, Mapping):
            raise ServiceStrange(where=self.label, why="not-an-object")
        return value

    def retry_after_s(self, now_s: float) -> float | None:
        """Returns how long the service asks us to wait; None if it does not say, or not sensibly."""
        return retry_after_s(self.headers.get("retry-after", ""), now_s)


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy, our credentials for it, and the hosts and networks reached without it."""

    url: str
    user: str = ""
    secret: Secret | None = None
    no_proxy: tuple[str, ...] = ()

    @property
    def credentials(self) -> tuple[str, str] | None:
        """Name and password, if configured."""
        return (self.user, self.secret.reveal() if self.secret else "") if self.user else None


@dataclass(frozen=True, slots=True)
class WireSettings:
    """The network settings of a connection: allowed hosts, TLS trust, proxy and timeouts."""

    label: str
    policy: UrlPolicy
    tls: ssl.SSLContext | None = None
    proxy: Proxy | None = None
    connect_timeout_s: float = 15.0
    answer_timeout_s: float = 60.0
    max_answer_bytes: int = MAX_ANSWER_BYTES
    max_connections: int = 8

    def proxy_to(self, url: str) -> Proxy | None:
        """Returns the proxy that an address is reached through; None for a direct connection."""
        proxy = self.proxy
        return None if proxy is None or bypasses_proxy(urlsplit(url).hostname or "", proxy.no_proxy) else proxy

    def check(self, url: str, policy: UrlPolicy | None = None) -> None:
        """Checks that an address is allowed; if a proxy looks up its name, it is not resolved here. Raises
        `UnsafeUrl`."""
        (check_url if self.proxy_to(url) is None else check_name)(url, policy or self.policy)


class Wire:
    """The HTTP connections to one service. Safe for threads; belongs to the process that made it."""

    def __init__(self, settings: WireSettings, scrubber: Scrubber, on_wait: OnWait = ignore_wait) -> None:
        self.settings = settings
        self.scrubber = scrubber
        self.waits = WaitReporter(settings.label, on_wait)
        line = LineSettings(
            settings.tls, settings.connect_timeout_s, settings.answer_timeout_s, settings.max_connections
        )
        proxy = settings.proxy
        self._direct: Line = DirectLine(line)
        self._proxied: Line | None = None
        if proxy is not None:
            self._proxied = ProxyLine(line, httpx.Proxy(proxy.url, auth=proxy.credentials))

    def send(self, request: Request) -> Answer:
        """Sends a request once and reads the whole answer. Raises `ServiceAway`, `TrustFault`, `UnsafeUrl`,
        `TooLarge`."""
        with self._exchange(request) as reply:
            body = read_body(reply, self.settings.max_answer_bytes)
            if body is None:
                raise TooLarge(where=self.settings.label, why="total-bytes")
            return Answer(reply.status, header_map(reply.headers), body, f"{self.settings.label} {request.label}")

    @contextmanager
    def stream(self, request: Request, own_host: str = "") -> Iterator[httpx.Response]:
        """Streams an answer. Redirects are followed to allowed hosts; unless they lead to `own_host`, all request
        headers are dropped. The body is never sent again. Raises `ServiceStrange` for too many redirects."""
        for _ in range(_MAX_REDIRECTS + 1):
            with self._exchange(request) as reply:
                if reply.status not in _REDIRECTS:
                    yield as_response(reply)
                    return
                target = str(httpx.URL(_url(request)).join(header_map(reply.headers).get("location", "")))
            is_same_host = bool(own_host) and urlsplit(target).netloc == own_host
            request = Request("GET", target, headers=request.headers if is_same_host else {})
        raise ServiceStrange(where=self.settings.label, why="redirects")

    def close(self) -> None:
        """Closes all connections."""
        self._direct.close()
        if self._proxied is not None:
            self._proxied.close()

    @contextmanager
    def _exchange(self, request: Request) -> Iterator[Reply]:
        self.settings.check(request.url)
        headers = {**_HEADERS, **request.headers}
        if request.media_type:
            headers["Content-Type"] = request.media_type
        line = self._direct
        if self._proxied is not None and self.settings.proxy_to(request.url) is not None:
            line = self._proxied
        with (
            self._translate_faults(request),
            line.exchange(request.method, _url(request), headers, request.body) as reply,
        ):
            yield reply

    @contextmanager
    def _translate_faults(self, request: Request) -> Iterator[None]:
        location = f"{self.settings.label} {request.label}"
        try:
            yield
        except NoarkitError:
            raise
        except BrokenExchange as error:
            raise _exchange_fault(location, error) from error
        except httpx.ConnectTimeout as error:
            raise ServiceAway(where=location, why="connect-timeout", sent=False) from error
        except httpx.ConnectError as error:
            reason = "no-connection" if self.settings.proxy_to(request.url) is None else "proxy-no-answer"
            raise trust_fault(location, error) or ServiceAway(where=location, why=reason, sent=False) from error
        except httpx.ProxyError as error:
            raise proxy_fault(
                location, str(error), has_user=bool(self.settings.proxy and self.settings.proxy.user)
            ) from error
        except httpx.PoolTimeout as error:
            raise ServiceAway(where=location, why="no-free-connection", sent=False) from error
        except httpx.TimeoutException as error:
            raise ServiceAway(where=location, why="timeout", sent=True) from error
        except httpx.HTTPError as error:
            distrust = trust_fault(location, error)
            raise distrust or ServiceAway(where=location, why="broke-off", sent=True) from error


def _exchange_fault(location: str, error: BrokenExchange) -> NoarkitError:
    """Maps an exchange that broke off to its fault."""
    if error.sent:
        why = "timeout" if is_timeout(error) else "broke-off"
    else:
        why = "connect-timeout" if error.detail == "no-answer" else "no-connection"
    return trust_fault(location, error) or ServiceAway(where=location, why=why, sent=error.sent)


def proxy_fault(location: str, message: str, *, has_user: bool) -> NoarkitError:
    """Maps the error of a proxy to a fault; `message` begins with its status."""
    status = message.partition(" ")[0]
    if status == str(_PROXY_AUTH_REQUIRED):
        return ProxyDenied(
            where=location, status=_PROXY_AUTH_REQUIRED, why="proxy-refuses-name" if has_user else "proxy-wants-name"
        )
    if status.startswith("4"):
        return ProxyDenied(where=location, status=int(status), why="proxy-forbids")
    return ServiceAway(where=location, why="proxy-cannot-reach", sent=False)


def trust_fault(location: str, error: BaseException) -> TrustFault | None:
    """Returns the TLS trust fault behind a broken connection; None if it broke for another reason."""
    for cause in causes(error, hidden=True):
        if isinstance(cause, ssl.SSLError):
            reason = why_not_trusted(cause)
            return (
                TrustFault(host=location, **fault_details(reason))
                if is_about_trust(cause) or reason == "not-tls"
                else None
            )
    return None


def retry_after_s(value: str, now_s: float) -> float | None:
    """Parses a Retry-After header to seconds: a number or a date; None for anything else, or a date in the past."""
    text = value.strip()
    if not text:
        return None
    try:
        wait_s = float(text)
    except ValueError:
        try:
            wait_s = parsedate_to_datetime(text).timestamp() - now_s
        except (ValueError, TypeError, OverflowError):
            return None
    return wait_s if 0 <= wait_s < 1e9 else None


def header_map(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Returns the headers of an answer, their names lower-case."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), _decode_header(raw_value)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _decode_header(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _url(request: Request) -> str:
    if not request.params:
        return request.url
    return f"{request.url}{'&' if '?' in request.url else '?'}{urlencode(request.params)}"
