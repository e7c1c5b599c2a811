"""A server of raw sockets that does what it is told, byte by byte, and remembers what it was asked.

Token requests are answered by themselves (`token_steps` changes that); each further request takes the next step of the
script, and the last step again once the script is through.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from noarkit.archive.http import HttpArchive
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.stream import Patience
from noarkit.archive.token import Credentials
from noarkit.secrets import Secret
from tests.waiting import PATIENCE_S

BASE = "/rms/api/public"
SERVICE = BASE + "/noark5/v1"
PATIENCE = Patience(connect_s=5.0, stall_s=0.4, answer_s=0.6)


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> object:
        """Its body, parsed."""
        parsed: object = orjson.loads(self.body)
        return parsed


@dataclass
class Conversation:
    """What a step can do: the socket, the request, and the server's memory."""

    socket: socket.socket
    seen: Seen
    server: ScriptedServer

    def say(self, content: bytes) -> None:
        """Sends bytes as they are."""
        self.socket.sendall(content)

    def reset(self) -> None:
        """Breaks the connection off so hard that the other side is told so."""
        reset(self.socket)


Step = Callable[[Conversation], bool]
"""Does its part, and says whether the connection stays open."""


def answer(status: int = 200, body: object = None, headers: Mapping[str, str] | None = None) -> Step:
    """Answers with JSON, or with bytes as they are."""
    content = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)

    def step(conversation: Conversation) -> bool:
        conversation.say(head(status, len(content), headers) + content)
        return True

    return step


def head(status: int, length: int, headers: Mapping[str, str] | None = None) -> bytes:
    """The head of an answer."""
    told = {"Content-Type": "application/json", "Content-Length": str(length), **(headers or {})}
    return (
        f"HTTP/1.1 {status} Said\r\n".encode() + b"".join(f"{k}: {v}\r\n".encode() for k, v in told.items()) + b"\r\n"
    )


def says(content: bytes, *, then_reset: bool = False) -> Step:
    """Sends bytes as they are and ends the connection."""

    def step(conversation: Conversation) -> bool:
        conversation.say(content)
        if then_reset:
            conversation.reset()
        return False

    return step


def resets(conversation: Conversation) -> bool:
    """Breaks the connection off without an answer."""
    conversation.reset()
    return False


def stalls(after: bytes = b"") -> Step:
    """Says something and then nothing more, until the server ends."""

    def step(conversation: Conversation) -> bool:
        conversation.say(after)
        conversation.server.ended.wait(PATIENCE_S)
        return False

    return step


def trickles(content: bytes, pause_s: float, size: int = 1) -> Step:
    """Sends a few bytes at a time."""

    def step(conversation: Conversation) -> bool:
        for start in range(0, len(content), size):
            conversation.say(content[start : start + size])
            time.sleep(pause_s)
        return True

    return step


def reset(connection: socket.socket) -> None:
    """Closes a socket with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@dataclass
class ScriptedServer:
    """See the module. Without `reads_body` the bodies of uploads are left to the steps."""

    tls: ssl.SSLContext | None = None
    reads_body: bool = True
    receive_buffer: int | None = None
    seen: list[Seen] = field(default_factory=list)
    token_requests: list[Seen] = field(default_factory=list)
    script: list[Step] = field(default_factory=list)
    token_steps: list[Step] = field(default_factory=list)
    connections: list[socket.socket] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._listener = socket.socket()
        if self.receive_buffer:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The base address, as a client is given it."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}{BASE}"

    def then(self, *steps: Step) -> ScriptedServer:
        """Adds to the script."""
        self.script.extend(steps)
        return self

    def close(self) -> None:
        """Ends everything."""
        self.ended.set()
        self._listener.close()
        for connection in self.connections:
            connection.close()

    def _accept(self) -> None:
        while not self.ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection, len(self.connections)), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.callback(connection.close)
            if self.tls:
                connection = stack.enter_context(self._secured(connection, self.tls))
            for seen in requests(connection, number, reads_body=self.reads_body):
                if not self._step(seen)(Conversation(connection, seen, self)):
                    return

    def _secured(self, connection: socket.socket, tls: ssl.SSLContext) -> ssl.SSLSocket:
        """Under TLS; where that fails, what still comes is read, so that our alert is not lost to a reset."""
        plain = connection.dup()
        wrapped = tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        try:
            wrapped.do_handshake()
        except OSError:
            with contextlib.suppress(OSError):
                plain.shutdown(socket.SHUT_WR)
                while plain.recv(65536):
                    pass
            wrapped.close()
            raise
        finally:
            plain.close()
        return wrapped

    def _step(self, seen: Seen) -> Step:
        with self._lock:
            if seen.target.endswith("/oauth2/token"):
                self.token_requests.append(seen)
                number = len(self.token_requests)
                granted = {"access_token": f"token-{number}", "token_type": "Bearer", "expires_in": 3600}
                return self.token_steps.pop(0) if self.token_steps else answer(200, granted)
            self.seen.append(seen)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def requests(connection: socket.socket, number: int, *, reads_body: bool = True) -> Iterator[Seen]:
    """The requests that come over a connection, one after the other."""
    held = b""
    while True:
        while b"\r\n\r\n" not in held:
            received = connection.recv(65536)
            if not received:
                return
            held += received
        top, held = held.split(b"\r\n\r\n", 1)
        first, *lines = top.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        method, target, _ = first.split(" ")
        body = b""
        if target.endswith("/upload") and not reads_body:
            body, held = held, b""
        elif headers.get("transfer-encoding") == "chunked":
            body, held = _chunks(connection, held)
        else:
            length = int(headers.get("content-length", "0"))
            while len(held) < length:
                received = connection.recv(1 << 20)
                if not received:
                    return
                held += received
            body, held = held[:length], held[length:]
        yield Seen(method, target, headers, body, number)


def _chunks(connection: socket.socket, held: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        while b"\r\n" not in held:
            held += connection.recv(65536)
        size, held = held.split(b"\r\n", 1)
        length = int(size, 16)
        while len(held) < length + 2:
            held += connection.recv(65536)
        body, held = body + held[:length], held[length + 2 :]
        if length == 0:
            return body, held


def settings_for(url: str, patience: Patience = PATIENCE) -> ArchiveSettings:
    """Settings of a client of the server at `url`."""
    return ArchiveSettings(url, Credentials("integration", Secret("not-for-logs")), patience=patience)


def client_of(server: ScriptedServer, patience: Patience = PATIENCE) -> HttpArchive:
    """A client of `server`."""
    return HttpArchive(settings_for(server.url, patience))
