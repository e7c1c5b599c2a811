"""Services of ours end at once where nobody is connected, and wait for an answer that is under way."""

from __future__ import annotations

import asyncio
import http.client
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from noarkit.safe.connections import StrictConnection
from noarkit.safe.serving import StoppableServer
from tests.waiting import PATIENCE_S

ANSWER = b"the whole answer"


class Slow:
    """An application whose answers wait until they are let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = threading.Event(), threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.set()
        while not self.let_go.is_set():
            await _sleep(0.01)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"16")]})
        await send({"type": "http.response.body", "body": ANSWER})


_sleep = asyncio.sleep


@contextmanager
def served(app: Slow) -> Iterator[tuple[int, threading.Event, threading.Thread]]:
    """The port of a service that a thread runs, what ends it, and the thread."""
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", http=StrictConnection, loop="asyncio")
    stop_event = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        run = threading.Thread(target=StoppableServer(config, stop_event).run, args=([listener],))
        run.start()
        try:
            yield listener.getsockname()[1], stop_event, run
        finally:
            app.let_go.set()
            stop_event.set()
            run.join(PATIENCE_S)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> queue.Queue[float]:
    """How long the service has paused, one after the other."""
    noted: queue.Queue[float] = queue.Queue()

    async def sleep(delay_s: float) -> None:
        noted.put(delay_s)
        await _sleep(delay_s)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return noted


def test_a_service_that_only_idle_clients_hold_ends_without_a_pause(pauses: queue.Queue[float]) -> None:
    app = Slow()
    app.let_go.set()
    with served(app) as (port, stop_event, run):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        client.request("GET", "/")
        assert client.getresponse().read() == ANSWER
        stop_event.set()
        run.join(PATIENCE_S)
        assert not run.is_alive()
        assert client.sock.recv(1) == b"", "the idle connection was ended too"
        client.close()
    assert max(pauses.queue) == 0


def test_a_service_that_ends_gives_the_answer_that_is_under_way(pauses: queue.Queue[float]) -> None:
    app = Slow()
    with served(app) as (port, stop_event, run):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        client.request("GET", "/")
        assert app.asked.wait(PATIENCE_S)
        stop_event.set()
        while not pauses.qsize() or max(pauses.queue) == 0:  # it waits now
            assert run.is_alive()
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S).close()
        app.let_go.set()
        assert client.getresponse().read() == ANSWER
        run.join(PATIENCE_S)
        assert not run.is_alive()
        client.close()
