"""The HTTP client of a service: authenticates, paces and retries requests, and maps refusals to faults.

    client.ask(Request("GET", client.url("/things"), (("limit", "100"),)))

401 means that nothing was done: the token is renewed once and the request sent once more. 429 means the same: all
requests wait, then it is sent again. After a lost answer or a server error, only a request that may be repeated is
retried.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import httpx

from noarkit.errors import (
    NoarkitError,
    ServiceAway,
    ServiceBroken,
    ServiceBusy,
    ServiceDenied,
    ServiceRefused,
    ServiceStrange,
)
from noarkit.services.pace import Allowance, Clock, Pace
from noarkit.services.waiting import WaitReason, WaitReporter
from noarkit.services.wire import Answer, Request, Wire, header_map

_BUSY = 429
_DENIED_STATUSES = (401, 403)
_NOT_MODIFIED = 304
T = TypeVar("T")


class Credential(Protocol):
    """A credential: the headers that authenticate a request."""

    def headers(self) -> Mapping[str, str]:
        """Returns the headers that authenticate us. Raises `ConsentNeeded`, `ServiceDenied`, `ServiceAway`."""
        ...

    def after_refusal(self, refused_headers: Mapping[str, str]) -> Mapping[str, str] | None:
        """Returns other headers than the refused ones; None if there are none."""
        ...


@dataclass(frozen=True, slots=True)
class Persistence:
    """How often and how long a request is retried. `busy_s` is the first wait if the service does not tell how long."""

    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    busy_s: float = 5.0
    longest_busy_s: float = 900.0
    total_s: float = 1_800.0


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a service's answers are to be interpreted.

    `judge` maps a failed answer to a fault of its own, or None; `on_answer` sees every answer (limits in headers);
    `denies` says whether another token may help; `is_busy` whether the service asks us to come later.
    """

    judge: Callable[[Answer], NoarkitError | None] = lambda answer: None
    on_answer: Callable[[Answer], None] = lambda answer: None
    denies: Callable[[Answer], bool] = lambda answer: answer.status == 401
    is_busy: Callable[[Answer], bool] = lambda answer: answer.status == _BUSY


@dataclass(slots=True)
class Client:
    """One connection to one service. Safe for threads."""

    wire: Wire
    base: str
    credential: Credential | None
    pace: Pace
    allowance: Allowance = field(default_factory=Allowance)
    dialect: Dialect = field(default_factory=Dialect)
    persistence: Persistence = field(default_factory=Persistence)
    clock: Clock = field(default_factory=Clock)
    jitter: Callable[[], float] = random.random

    def url(self, path: str) -> str:
        """Returns the URL of a path of the service."""
        return self.base + path

    def pause(self, seconds: float, why: WaitReason) -> None:
        """Sleeps for so long, and tells of it."""
        self.wire.waits.sleep(self.clock, seconds, why)

    def ask(self, request: Request) -> Answer:
        """Sends a request, with retries, and returns the answer. Raises a ServiceFault if there is none."""
        retries = _RetryState(self.persistence, self.clock, self.jitter, self.wire.waits)
        credential_headers = _CurrentHeaders(self.credential, retries)
        while True:
            try:
                answer = self._send_once(request, credential_headers.headers)
            except ServiceAway as away:
                # A request that changes something and may have arrived is never sent again: the service has no
                # idempotency key.
                if away.data.get("sent") and not request.is_repeatable:
                    raise
                retries.wait_before_retry(away)
                continue
            if answer.status < 300 or answer.status == _NOT_MODIFIED or answer.status in request.accepts:
                return answer
            # Not counted as an attempt: nothing was done, and `renew` gives new headers once at most, so this cannot go
            # round.
            if self.dialect.denies(answer) and credential_headers.renew():
                continue
            fault = self.fault(request, answer)
            if isinstance(fault, ServiceBusy):
                # Before this request waits: the other threads and processes of the credential must stop too, or the
                # service punishes them all.
                self.pace.hold_back(retries.busy_s(fault))
            elif not fault.transient or not request.is_repeatable:
                raise fault
            retries.wait_before_retry(fault)

    @contextmanager
    def download(self, request: Request, *, with_credential: bool = True) -> Iterator[httpx.Response]:
        """Streams the bytes of an address. `with_credential` says whether our credential is sent; a signed address gets
        none.

        Opening is retried like any other read; once bytes flow, the caller knows how far it got. Raises the fault of a
        bad answer.
        """
        retries = _RetryState(self.persistence, self.clock, self.jitter, self.wire.waits)
        credential_headers = _CurrentHeaders(self.credential if with_credential else None, retries)
        with ExitStack() as stack:
            while True:
                try:
                    reply = self._open_stream(
                        stack,
                        replace(request, headers={**request.headers, **credential_headers.headers}),
                        with_credential,
                    )
                except ServiceAway as away:
                    retries.wait_before_retry(away)
                    continue
                if reply.status_code in (200, 204, 206):
                    break
                answer = self._read_answer(request, reply)
                # The connection goes back before the wait, or retries of many threads would hold all of them.
                stack.close()
                if self.dialect.denies(answer) and credential_headers.renew():
                    continue
                fault = self.fault(request, answer)
                if not fault.transient:
                    raise fault
                if isinstance(fault, ServiceBusy) and with_credential:
                    self.pace.hold_back(retries.busy_s(fault))
                retries.wait_before_retry(fault)
            yield reply

    def _open_stream(self, stack: ExitStack, request: Request, with_credential: bool) -> httpx.Response:
        # A signed address is another host's: it gets neither our token, nor a place in the service's windows.
        if not with_credential:
            return stack.enter_context(self.wire.stream(request))
        self.allowance.spend(self.wire.settings.label, request.cost)
        with self.pace.call(self.wire.settings.label, self.wire.waits):
            return stack.enter_context(self.wire.stream(request, urlsplit(request.url).netloc))

    def _read_answer(self, request: Request, reply: httpx.Response) -> Answer:
        try:
            body = reply.read()
        except httpx.HTTPError:
            body = b""  # its status says enough
        return Answer(
            reply.status_code, header_map(reply.headers.raw), body, f"{self.wire.settings.label} {request.label}"
        )

    def fault(self, request: Request, answer: Answer) -> NoarkitError:
        """Maps an answer to its fault."""
        fault = self.dialect.judge(answer)
        if fault is not None:
            return fault
        location, status = answer.label, answer.status
        if self.dialect.is_busy(answer):
            wait_s = answer.retry_after_s(self.clock.now_s())
            wait = {} if wait_s is None else {"retry_after_s": wait_s}
            return ServiceBusy(where=location, status=status, **wait)
        reason = self.wire.scrubber.clean(message_of(answer))
        if status in _DENIED_STATUSES:
            return ServiceDenied(where=location, status=status, why=reason)
        if status < 400:
            return ServiceStrange(where=location, status=status, why="redirects")
        kind = ServiceBroken if status >= 500 else ServiceRefused
        return kind(where=location, status=status, why=reason)

    def wait_while_busy(self, get: Callable[[], T]) -> T:
        """Runs a call beside the requests, such as a token request, and waits while the service is busy. Raises
        `ServiceBusy`."""
        return _RetryState(self.persistence, self.clock, self.jitter, self.wire.waits).retry_while_busy(get)

    def close(self) -> None:
        """Closes all connections."""
        self.wire.close()

    def _send_once(self, request: Request, headers: Mapping[str, str]) -> Answer:
        label = self.wire.settings.label
        self.allowance.spend(label, request.cost)
        with self.pace.call(label, self.wire.waits):
            answer = self.wire.send(replace(request, headers={**request.headers, **headers}))
        self.dialect.on_answer(answer)
        return answer


class _CurrentHeaders:
    """The authentication headers of one request; they are renewed at most once. A busy token service is waited for."""

    def __init__(self, key: Credential | None, effort: _RetryState) -> None:
        self.headers = effort.retry_while_busy(key.headers) if key is not None else {}
        self._key = key
        self._effort = effort

    def renew(self) -> bool:
        """Renews the headers after a refusal; True if there are new ones."""
        if self._key is None:
            return False
        key, refused_headers = self._key, self.headers
        new_headers = self._effort.retry_while_busy(lambda: key.after_refusal(refused_headers))
        # Also where the new headers are the last: a service that refuses every token would be asked for ever.
        self._key = None
        if new_headers is not None:
            self.headers = new_headers
        return new_headers is not None


class _RetryState:
    """The retries of one request: attempts, time spent and waits."""

    def __init__(
        self, persistence: Persistence, clock: Clock, jitter: Callable[[], float], waits: WaitReporter
    ) -> None:
        self._persistence = persistence
        self._waits = waits
        self._clock = clock
        self._jitter = jitter
        self._started_s = clock.now_s()
        self._attempt = 0
        self._busy = 0

    def wait_before_retry(self, fault: NoarkitError) -> None:
        """Waits before the next attempt. Raises the fault if there were enough."""
        wait_s = self.busy_s(fault) if isinstance(fault, ServiceBusy) else self._wait_s()
        self._busy += isinstance(fault, ServiceBusy)
        self._attempt += 1
        # Judged before the wait, so that nobody sleeps through minutes only to be told that it is too late.
        late = self._clock.now_s() - self._started_s + wait_s > self._persistence.total_s
        if self._attempt >= self._persistence.attempts or late:
            raise fault
        self._waits.sleep(self._clock, wait_s, "asked" if isinstance(fault, ServiceBusy) else "again")

    def retry_while_busy(self, get: Callable[[], T]) -> T:
        """Repeats a call until the service is not busy. Raises `ServiceBusy` if there were enough attempts."""
        while True:
            try:
                return get()
            except ServiceBusy as busy:
                self.wait_before_retry(busy)

    def busy_s(self, fault: ServiceBusy) -> float:
        """Returns how long to wait for a busy service: as long as it says, or else longer each time."""
        asked_s = fault.retry_after_s
        wait_s = self._persistence.busy_s * 3**self._busy if asked_s is None else asked_s
        return min(wait_s, self._persistence.longest_busy_s)

    def _wait_s(self) -> float:
        most_s: float = min(self._persistence.first_wait_s * 2**self._attempt, self._persistence.longest_wait_s)
        return most_s * (0.5 + self._jitter() / 2)


def message_of(answer: Answer) -> str:
    """Returns the service's error message, or else the beginning of its text."""
    text = answer.body[:500].decode("utf-8", "replace")
    try:
        return _message(answer.json()) or text
    except ServiceStrange:
        return text


def _message(value: object) -> str:
    if isinstance(value, list) and value:
        return _message(value[0])
    if not isinstance(value, Mapping):
        return ""
    parts = [str(value[name]) for name in ("code", "type", "error") if isinstance(value.get(name), str | int)]
    parts += [str(value[name]) for name in ("message", "error_description", "msg") if isinstance(value.get(name), str)]
    parts.append(_message(value.get("error")))
    return ": ".join(part for part in parts if part)
