"""A proxy that misbehaves by a script. It knows HTTP and sockets, and nothing of noarkit.

A fault is named `when:what`: `when` says what becomes of the request, `what` says what the client gets to see.

    before    the request is never passed on          reset      the connection is reset
    after     it is passed on and served              never      no answer, until the client gives up
    twice     it is passed on two times               cut        half of the answer, then a reset
    late      it is passed on 20 s later              truncated  a whole answer that holds half of the JSON
    toolate   it is passed on 90 s later              html       200, with a page for people
    corrupt   one bit of its body is changed          empty      200, without a body
                                                      400 … 599  that status
    (only with after, twice and corrupt:)             page       200, a page of results without results
    good      the answer, or the first one            wrong      200, an answer about something else
    second    the answer to the second one            slow       the answer, 40 s later
                                                      trickle    the answer, in small pieces
                                                      drop       the answer, then the connection is closed

    kill      the client is killed instead of being answered
    stop      the client is stopped, and goes on 100 s later
    lose      the worker of the client is killed instead of being answered; of calls, only those of workers count
"""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from io import BufferedReader

from tests.faults.chaos.clock import VirtualTime, really_sleep
from tests.waiting import PATIENCE_S

LATE_S = {"late": 20.0, "toolate": 90.0}
_SLOW_S = 40.0
_HTML = b"<!DOCTYPE html><html><body><h1>Planned maintenance</h1></body></html>"
_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host", "date"})
_REASONS: Mapping[int, str] = {409: "version-mismatch", 400: "bad request", 404: "not found"}


@dataclass(frozen=True)
class Fault:
    """At the `nth` call of a kind (and the following ones, `times` in all) something goes wrong; `then` is what goes
    wrong at the queries right after it."""

    call: str
    nth: int
    kind: str
    times: int = 1
    then: tuple[str, ...] = ()


@dataclass
class Script:
    """The faults of a schedule, and what was seen of it so far."""

    faults: Sequence[Fault] = ()
    seen: Counter[str] = field(default_factory=Counter)
    fired: list[str] = field(default_factory=list)
    struck: set[int] = field(default_factory=set)
    _next: list[str] = field(default_factory=list)

    @property
    def loses(self) -> bool:
        """True if workers are to be killed."""
        return any(fault.kind.endswith(":lose") for fault in self.faults)

    def strike(self, call: str, *, by_worker: bool = False) -> str | None:
        """Counts a call; what goes wrong at it."""
        self.seen[call] += 1
        self.seen[f"worker {call}"] += by_worker
        kind = self._next.pop(0) if call == "query" and self._next else None
        if kind is None:
            for place, fault in enumerate(self.faults):
                loses = fault.kind.endswith(":lose")
                count = self.seen[f"worker {call}" if loses else call]
                if loses and not by_worker:
                    continue
                if fault.call == call and fault.nth <= count < fault.nth + fault.times:
                    kind = fault.kind
                    self.struck.add(place)
                    self._next.extend(fault.then)
                    break
        if kind is not None:
            self.fired.append(f"{call} {self.seen[call]} {kind}")
        return kind


@dataclass(frozen=True)
class Request:
    """One request of the client."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def call(self) -> str:
        """What it asks for: token, transaction, query, upload, download."""
        return self.target.split("?")[0].rstrip("/").rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Answer:
    """One answer of the archive, or one of ours."""

    status: int
    body: bytes
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


class Gone(Exception):
    """This connection is over."""


class Proxy:
    """Stands between a client and the archive at a port of this machine until it is closed."""

    def __init__(self, upstream_port: int, clock: VirtualTime, token_ttl_s: float = 0.0) -> None:
        self.upstream_port = upstream_port
        self.clock = clock
        self.script = Script()
        self.changes = 0
        self.client_process: Callable[[str], None] = lambda what: None
        self.worker_at: Callable[[int], int] = lambda port: 0
        self.lose_worker: Callable[[int], None] = lambda worker: None
        self._token_ttl_s = token_ttl_s
        self._issued: dict[str, float] = {}
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Lets nobody in any more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def play(self, faults: Sequence[Fault]) -> Script:
        """Begins a script; without faults everything passes."""
        with self._lock:
            self.script = Script(faults)
            return self.script

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        upstream = http.client.HTTPConnection("127.0.0.1", self.upstream_port, timeout=PATIENCE_S)
        with (
            closing(client),
            closing(upstream),
            suppress(OSError, http.client.HTTPException, ValueError, Gone),
            client.makefile("rb") as reader,
        ):
            worker = self.worker_at(client.getpeername()[1]) if self.script.loses else 0
            while (request := _read(reader)) is not None:
                self._handle(client, upstream, request, by_worker=worker > 0)

    def _handle(
        self, client: socket.socket, upstream: http.client.HTTPConnection, request: Request, *, by_worker: bool
    ) -> None:
        if request.call == "chaos-slept":
            self.clock.catch_up()
            self._send(client, Answer(200, b""))
            return
        with self._lock:
            kind = self.script.strike(request.call, by_worker=by_worker)
        if kind is None:
            self._send(client, self._pass_on(upstream, request))
            return
        when, what = kind.split(":")
        self._misbehave(client, upstream, request, when, what)

    def _misbehave(
        self, client: socket.socket, upstream: http.client.HTTPConnection, request: Request, when: str, what: str
    ) -> None:
        served: Answer | None = None
        if when == "corrupt":
            served = self._pass_on(upstream, _corrupted(request))
        elif when in ("after", "twice"):
            served = self._pass_on(upstream, request)
            if when == "twice":
                second = self._pass_on(upstream, request)
                served = second if what == "second" else served
        elif when in LATE_S:
            self.clock.later(LATE_S[when], lambda: self._pass_on_alone(request))
        if what == "lose":
            self.lose_worker(self.worker_at(client.getpeername()[1]))
            _reset(client)
        if what in ("kill", "stop"):
            self.client_process(what)
            if what == "kill":
                _reset(client)
            what = "good" if served else "503"
        self._answer(client, request, served, what)

    def _answer(self, client: socket.socket, request: Request, served: Answer | None, what: str) -> None:
        good = served or Answer(200, b'{"saved": {"e1": {"type": "Mappe", "id": "1", "version": "1", "fields": {')
        if what == "reset":
            _reset(client)
        elif what == "never":
            self._hold(client)
        elif what == "cut":
            self._send(client, good, cut=True)
            _reset(client)
        elif what == "slow":
            self.clock.advance(_SLOW_S)
            self._send(client, good)
        elif what == "trickle":
            self._send(client, good, piece_bytes=max(1, len(good.body) // 5))
        elif what == "drop":
            self._send(client, good)
            raise Gone
        else:
            self._send(client, _instead(request, good, what))

    def _pass_on(self, upstream: http.client.HTTPConnection, request: Request) -> Answer:
        token = request.headers.get("authorization", "")
        if self._token_ttl_s and token and self.clock.now_s() > self._issued.get(token, 0.0) + self._token_ttl_s:
            return _refusal(401)
        self.changes += request.call in ("transaction", "upload")
        headers = {name: value for name, value in request.headers.items() if name not in _HOP}
        upstream.request(request.method, request.target, request.body, headers)
        response = upstream.getresponse()
        body = response.read()
        if request.call == "token" and response.status == 200:
            self._issued[f"Bearer {json.loads(body)['access_token']}"] = self.clock.now_s()
        kept = {name: value for name, value in response.getheaders() if name.lower() not in _HOP | {"content-type"}}
        return Answer(response.status, body, response.getheader("content-type", ""), kept)

    def _pass_on_alone(self, request: Request) -> None:
        """What comes late: nobody hears the answer."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.upstream_port, timeout=PATIENCE_S)) as upstream:
            self._pass_on(upstream, request)

    def _send(self, client: socket.socket, answer: Answer, *, cut: bool = False, piece_bytes: int = 0) -> None:
        told = {
            **answer.headers,
            "Date": formatdate(self.clock.now_s(), usegmt=True),
            "Content-Type": answer.media_type,
            "Content-Length": str(len(answer.body)),
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        head = f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'OK')}\r\n{lines}\r\n".encode("latin-1")
        body = answer.body[: len(answer.body) // 2] if cut else answer.body
        if not piece_bytes:
            client.sendall(head + body)
            return
        client.sendall(head)
        for at in range(0, len(body), piece_bytes):
            client.sendall(body[at : at + piece_bytes])
            really_sleep(0.001)

    def _hold(self, client: socket.socket) -> None:
        """Waits until the client gives up; its clock runs meanwhile."""
        client.settimeout(0.02)
        for _ in range(1000):
            self.clock.advance(10.0)
            with suppress(TimeoutError):
                if not client.recv(1):
                    break
        raise Gone


def _read(reader: BufferedReader) -> Request | None:
    first = reader.readline()
    if not first.strip():
        return None
    method, target, _ = first.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := reader.readline().strip()) != b"":
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding", "").lower() == "chunked":
        parts = []
        while size := int(reader.readline().strip() or b"0", 16):
            parts.append(reader.read(size))
            reader.readline()
        reader.readline()
        body = b"".join(parts)
    else:
        length = int(headers.get("content-length", "0"))
        body = reader.read(length)
        if len(body) != length:
            return None
    return Request(method, target, headers, body)


def _reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise Gone


def _corrupted(request: Request) -> Request:
    if not request.body:
        return request
    middle = len(request.body) // 2
    body = request.body[:middle] + bytes([request.body[middle] ^ 1]) + request.body[middle + 1 :]
    return Request(request.method, request.target, request.headers, body)


def _refusal(status: int) -> Answer:
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}.get(status, {})
    if status in (502, 504):
        return Answer(status, _HTML, "text/html", headers)
    told = {"errorId": "chaos", "description": f"chaos says {status}"}
    return Answer(status, json.dumps(told).encode(), headers=headers)


def _instead(request: Request, good: Answer, what: str) -> Answer:
    if what.isdigit():
        return _refusal(int(what))
    if what == "truncated":
        return Answer(200, good.body[: len(good.body) // 2])
    if what == "html":
        return Answer(200, _HTML, "text/html")
    if what == "empty":
        return Answer(200, b"")
    if what == "page":
        return Answer(200, b'{"results": [], "hasMore": false}')
    if what == "wrong":
        return Answer(200, json.dumps(_about_something_else(request)).encode())
    return good


def _about_something_else(request: Request) -> object:
    """An answer of the right form about an object that nobody asked for."""
    if request.call != "query":
        return {"saved": {}, "id": "999999999"} if request.call == "transaction" else {"id": "999999999"}
    fields = {"uuid": "00000000-0000-4000-8000-000000000000", "tittel": "Something else", "eksternID": "else"}
    kind = json.loads(request.body)["type"]
    return {
        "results": [
            {"type": kind, "id": "999999999", "version": "1", "fields": fields, "links": {"refMappe": "999999998"}}
        ],
        "hasMore": False,
    }
