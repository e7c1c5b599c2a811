"""A service on loopback that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        """The fields of a form."""
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


@dataclass(frozen=True, slots=True)
class Told:
    """One answer. Without a status the connection is dropped."""

    status: int | None = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)


def told(value: object, status: int = 200, **headers: str) -> Told:
    """An answer of JSON; names of headers may have underscores."""
    return Told(status, json.dumps(value).encode(), {name.replace("_", "-"): text for name, text in headers.items()})


Answering = Callable[[Asked], Told]


class ScriptedService:
    """Answers every request by one function. Safe for threads."""

    def __init__(self, answer: Answering) -> None:
        self.asked: list[Asked] = []
        self._answer = answer
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                split = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.casefold(): value for name, value in self.headers.items()}
                outer.reply(self, Asked(self.command, split.path, parse_qs(split.query), headers, body))

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

            def log_message(self, format: str, *args: object) -> None:
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def reply(self, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        """Answers one request."""
        with self._lock:
            self.asked.append(asked)
        answer = self._answer(asked)
        if answer.status is None:
            handler.close_connection = True
            handler.connection.close()
            return
        if "Date" in answer.headers:  # a clock of its own
            handler.send_response_only(answer.status)
        else:
            handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer.body)))
        with suppress(ConnectionError):  # who asked may be gone: some tests kill it
            handler.end_headers()
            handler.wfile.write(answer.body)

    def close(self) -> None:
        """Ends the service."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(answer: Answering) -> Iterator[ScriptedService]:
    """A service for the length of a block."""
    service = ScriptedService(answer)
    try:
        yield service
    finally:
        service.close()


def one_after_another(*answers: Told) -> Answering:
    """Each answer once, the last one ever after."""
    left = list(answers)
    lock = threading.Lock()

    def answer(asked: Asked) -> Told:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return answer


class VirtualClock:
    """Time that passes only where somebody sleeps."""

    def __init__(self, now_s: float = 1_767_225_600.0) -> None:
        self.now = now_s
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def now_s(self) -> float:
        """The time."""
        with self._lock:
            return self.now

    def sleep_s(self, seconds: float) -> None:
        """Lets time pass."""
        with self._lock:
            self.slept.append(seconds)
            self.now += max(seconds, 0.0)
