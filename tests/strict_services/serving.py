"""A service on a real socket: what it is asked, what it answers, whom it lets in, and how often."""

from __future__ import annotations

import json
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.strict_services.tables import Call, Table
from tests.waiting import PATIENCE_S


@dataclass(frozen=True, slots=True)
class Request:
    """What came in. Headers have names in lower case; a form is an object of texts."""

    method: str
    path: str
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    content: bytes
    body: object
    names: Mapping[str, str] = field(default_factory=dict)

    def parameter(self, name: str, default: str = "") -> str:
        """One parameter of the query."""
        return dict(self.query).get(name, default)

    def parameters(self, name: str) -> list[str]:
        """A parameter that may be repeated."""
        return [value for each, value in self.query if each == name]

    @property
    def members(self) -> dict[str, object]:
        """The members of a body that is an object."""
        return self.body if isinstance(self.body, dict) else {}


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes out: an object as JSON, or bytes, or nothing."""

    status: int = 200
    answer: object = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        """The bytes of the answer."""
        if self.answer is None:
            return b""
        return self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer, ensure_ascii=False).encode()


class Refused(Exception):
    """The service says no."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


Handler = Callable[[Request], Reply]
Trouble = Callable[[Request], Reply | None]


class Service:
    """One service. A subclass says which calls it answers, how it refuses, and whom it lets in."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.lock = threading.RLock()
        self.url = ""
        self.requests: list[Request] = []
        self.breaches: list[str] = []
        self.crashes: list[str] = []
        self.troubles: list[Trouble] = []
        self.rate: Rate | None = None
        self.before: Callable[[Request], None] = lambda _: None

    def handlers(self) -> Mapping[tuple[str, str], Handler]:
        """The calls that are answered, by method and published path."""
        raise NotImplementedError

    def refuse(self, status: int, code: str, message: str) -> Reply:
        """An answer that refuses, in the published form."""
        raise NotImplementedError

    def admit(self, request: Request, call: Call) -> None:
        """Lets in who may make the call, or raises `Refused`."""
        raise NotImplementedError

    def outside(self, request: Request) -> Reply | None:
        """The answer to what is in no table, such as files by signed addresses; none where there is none."""
        return None

    def answer(self, request: Request) -> Reply:
        """Answers one request, one at a time."""
        with self.lock:
            self.requests.append(request)
            try:
                self.before(request)
                return self._answer(request)
            except Refused as refused:
                return refused.reply
            except Exception:  # noqa: BLE001  # whatever this server does wrong, a test is to tell of
                self.crashes.append(f"{request.method} {request.path}\n{traceback.format_exc()}")
                return self.refuse(500, "INTERNAL_ERROR", "The server broke.")

    def _answer(self, request: Request) -> Reply:
        for trouble in self.troubles:
            if (reply := trouble(request)) is not None:
                return reply
        if (found := self.outside(request)) is not None:
            return found
        call = self.table.find(request.method, request.path)
        handler = self.handlers().get(call.name) if isinstance(call, Call) else None
        if not isinstance(call, Call) or handler is None:
            self.breaches.append(f"{request.method} {request.path}: is not published, or not served here")
            return self.refuse(405 if call is True else 404, "INVALID_URL_PATTERN", "There is no such call.")
        self.admit(request, call)
        if self.rate is not None and (waits := self.rate.refusal()) is not None:
            return Reply(429, self.refuse(429, "TOO_MANY_REQUESTS", "Too many requests.").answer, waits)
        breaches = self.table.request_breaches(call, request.query, request.headers, request.body)
        if breaches:
            self.breaches += [f"{request.method} {request.path}: {each}" for each in breaches]
            return self.refuse(400, "INVALID_DATA", "; ".join(breaches)[:400])
        reply = handler(
            Request(
                request.method, request.path, request.query, request.headers, request.content, request.body, call.names
            )
        )
        return self._judged(call, reply)

    def _judged(self, call: Call, reply: Reply) -> Reply:
        if not isinstance(reply.answer, bytes):
            reply = Reply(reply.status, self.table.filled_answer(call, reply.status, reply.answer), reply.headers)
        if reply.status == 304:  # published in prose: nothing is newer
            return reply
        own = [
            each for each in self.table.answer_breaches(call, reply.status, reply.answer) if "is not within" not in each
        ]
        self.crashes += [f"answer of {' '.join(call.name)}: {each}" for each in own]
        return reply


class Rate:
    """So many requests in so many seconds; who asks more is told to wait, in seconds and as a date by turns."""

    def __init__(self, most: int, window_s: float) -> None:
        self.most = most
        self.window_s = window_s
        self.refused = 0
        self._times: deque[datetime] = deque()

    def refusal(self) -> dict[str, str] | None:
        """The headers of a refusal, or nothing where the request is within the rate."""
        now = datetime.now(UTC)
        while self._times and (now - self._times[0]).total_seconds() > self.window_s:
            self._times.popleft()
        if len(self._times) < self.most:
            self._times.append(now)
            return None
        self.refused += 1
        free_at = self._times[0] + timedelta(seconds=self.window_s)
        wait_s = max(1, round((free_at - now).total_seconds() + 0.5))
        if self.refused % 2:
            return {"Retry-After": str(wait_s)}
        return {
            "Retry-After": format_datetime((now + timedelta(seconds=wait_s + 1)).replace(microsecond=0), usegmt=True)
        }


def trouble_once(path_end: str, *replies: Reply) -> Trouble:
    """Answers the first requests whose path ends so with these replies, one each, and then no more."""
    left = deque(replies)

    def trouble(request: Request) -> Reply | None:
        return left.popleft() if left and request.path.endswith(path_end) else None

    return trouble


@contextmanager
def serve(service: Service) -> Iterator[str]:
    """Serves until the block ends, and says under which address."""

    class RequestHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 16

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

        def _answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            reply = service.answer(_read_request(self.command, self.path, dict(self.headers.items()), content))
            self._send(reply)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

        def _send(self, reply: Reply) -> None:
            content = reply.content
            self.send_response(reply.status)
            kind = "application/octet-stream" if isinstance(reply.answer, bytes) else "application/json"
            for name, value in {"Content-Type": kind, **reply.headers}.items():
                self.send_header(name, value)
            if reply.status not in (204, 304):
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 64

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that went away is no fault of the service."""

    server = Server(("127.0.0.1", 0), RequestHandler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield service.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)


def _read_request(method: str, target: str, headers: Mapping[str, str], content: bytes) -> Request:
    parts = urlsplit(target)
    named = {name.lower(): value for name, value in headers.items()}
    body: object = None
    if content:
        kind = named.get("content-type", "").partition(";")[0].strip()
        if kind == "application/x-www-form-urlencoded":
            body = dict(parse_qsl(content.decode(), keep_blank_values=True))
        elif kind == "application/json":
            body = json.loads(content)
        else:
            body = content
    return Request(method, unquote(parts.path), parse_qsl(parts.query, keep_blank_values=True), named, content, body)
