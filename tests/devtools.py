"""Chromium's DevTools protocol over two pipes, and notes of what happens on a page; beneath tests/browser.py."""

from __future__ import annotations

import fcntl
import json
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from tests.waiting import PATIENCE_S

Json: TypeAlias = dict[str, Any]  # what the protocol says has no one type

INNER = ("about", "blob", "data", "chrome", "chrome-error", "chrome-extension")  # schemes that ask nobody
WATCH: tuple[tuple[str, Json], ...] = (
    ("Page.enable", {}),
    ("Runtime.enable", {}),
    ("Network.enable", {}),
    ("Log.enable", {}),
    ("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}),
)


class BrowserError(AssertionError):
    """What the page or the browser would not do."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a page, or a frame in it, asked for. A request that CSP stopped never left, and `blocked` says so."""

    url: str
    method: str
    kind: str
    blocked: str = ""

    @property
    def is_inner(self) -> bool:
        """Whether it is answered by the page itself."""
        return urlsplit(self.url).scheme in INNER


class Connection:
    """The protocol over two pipes: calls are answered in any order, and events go to whoever owns their session."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        self._buffer = b""
        self._number = 0
        self.listeners: dict[str, Callable[[str, Json, str], None]] = {}

    def send(self, method: str, params: Json | None = None, session: str = "") -> int:
        self._number += 1
        message: Json = {"id": self._number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write_fd, data) :]
        return self._number

    def call(self, method: str, params: Json | None = None, session: str = "") -> Json:
        number = self.send(method, params, session)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            message = self.receive(deadline)
            if message is None:
                raise BrowserError(f"{method} was not answered in {PATIENCE_S:.0f} s")
            if message.get("id") != number:
                self._dispatch(message)
                continue
            if "error" in message:
                raise BrowserError(f"{method}: {message['error'].get('message')}")
            result: Json = message["result"]
            return result

    def pump(self, until: Callable[[], bool], timeout_s: float) -> bool:
        """Takes events until `until` holds; False where it does not in time."""
        deadline = time.monotonic() + timeout_s
        while not until():
            message = self.receive(deadline)
            if message is None:
                return until()
            self._dispatch(message)
        return True

    def receive(self, deadline: float) -> Json | None:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read_fd], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            data = os.read(self._read_fd, 1 << 20)
            if not data:
                raise BrowserError("Chromium has ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: Json = json.loads(line)
        return message

    def _dispatch(self, message: Json) -> None:
        if "method" in message:
            session = message.get("sessionId", "")
            if listener := self.listeners.get(session):
                listener(message["method"], message["params"], session)

    def close(self) -> None:
        os.close(self._read_fd)
        os.close(self._write_fd)


def start_chromium(words: list[str], profile: Path) -> tuple[int, Connection]:
    """Starts Chromium with its ends of two pipes as 3 and 4, in a process group of its own."""
    commands, answers = os.pipe(), os.pipe()
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (commands[0], answers[1])]
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, str(profile / "stderr"), os.O_WRONLY | os.O_CREAT, 0o600),
        (os.POSIX_SPAWN_DUP2, high[0], 3),
        (os.POSIX_SPAWN_DUP2, high[1], 4),
    ]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(profile), "LANG": "C.UTF-8"}
    pid = os.posix_spawn(words[0], words, environment, file_actions=actions, setpgroup=0)
    for fd in (commands[0], answers[1], *high):
        os.close(fd)
    return pid, Connection(answers[0], commands[1])


@dataclass(slots=True)
class Notes:
    """What happened on a page since it was opened."""

    requests: dict[tuple[str, str], Request] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    console: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    contexts: list[tuple[str, int]] = field(default_factory=list)  # where scripts run: session and number
    loads: int = 0


def _note_request(notes: Notes, params: Json, session: str) -> None:
    request = params["request"]
    key = (session, params["requestId"] + str(len(notes.requests)) * ("redirectResponse" in params))
    notes.requests[key] = Request(request["url"], request["method"], params.get("type", ""))


def _note_socket(notes: Notes, params: Json, session: str) -> None:
    notes.requests[session, params["requestId"]] = Request(params["url"], "GET", "WebSocket")


def _note_status(notes: Notes, params: Json, session: str) -> None:
    notes.statuses[params["requestId"]] = params["response"]["status"]


def _note_failure(notes: Notes, params: Json, session: str) -> None:
    key = (session, params["requestId"])
    if key in notes.requests and params.get("blockedReason"):
        notes.requests[key] = replace(notes.requests[key], blocked=params["blockedReason"])


def _note_console(notes: Notes, params: Json, session: str) -> None:
    said = (str(value.get("value", value.get("description", ""))) for value in params["args"])
    notes.console.append(f"{params['type']}: {' '.join(said)}")


def _note_exception(notes: Notes, params: Json, session: str) -> None:
    details = params["exceptionDetails"]
    notes.console.append(f"exception: {details.get('exception', {}).get('description') or details['text']}")


def _note_log(notes: Notes, params: Json, session: str) -> None:
    notes.console.append(f"{params['entry']['level']}: {params['entry']['text']}")


def _note_context(notes: Notes, params: Json, session: str) -> None:
    context = params["context"]
    if context.get("auxData", {}).get("isDefault"):
        notes.contexts.append((session, context["id"]))


def _forget_context(notes: Notes, params: Json, session: str) -> None:
    notes.contexts = [context for context in notes.contexts if context != (session, params["executionContextId"])]


def _forget_contexts(notes: Notes, params: Json, session: str) -> None:
    notes.contexts = [context for context in notes.contexts if context[0] != session]


HANDLERS: dict[str, Callable[[Notes, Json, str], None]] = {
    "Network.requestWillBeSent": _note_request,
    "Network.webSocketCreated": _note_socket,
    "Network.responseReceived": _note_status,
    "Network.loadingFailed": _note_failure,
    "Runtime.consoleAPICalled": _note_console,
    "Runtime.exceptionThrown": _note_exception,
    "Runtime.executionContextCreated": _note_context,
    "Runtime.executionContextDestroyed": _forget_context,
    "Runtime.executionContextsCleared": _forget_contexts,
    "Log.entryAdded": _note_log,
}
