"""uvicorn's server for the services that we run: ended by an event, and at once where nobody is connected any more."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable

import uvicorn

_TICK_S = 0.1
_TICKS_A_DAY = 864_000


class StoppableServer(uvicorn.Server):
    """uvicorn's server, which `stop_event` ends in order."""

    def __init__(
        self,
        config: uvicorn.Config,
        stop_event: threading.Event | None = None,
        *,
        on_open: Callable[[], None] = lambda: None,
        on_turn: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._stop_event = stop_event
        self._on_open = on_open
        self._on_turn = on_turn

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Opens the port, then says so by `on_open`."""
        await super().startup(sockets)
        if not self.should_exit:
            self._on_open()

    async def main_loop(self) -> None:
        """Ticks ten times a second, and at once where the stop event is set: whoever stops the service waits for it."""
        wake = asyncio.Event()
        if self._stop_event is not None:
            # A thread waits, for a loop cannot wait for a thread's event. It is a daemon: a signal may end the service
            # while nobody ever sets the event.
            arguments = (self._stop_event, asyncio.get_running_loop(), wake)
            threading.Thread(target=_wake_when_set, args=arguments, name="noarkit-stop", daemon=True).start()
        counter = 0
        while not await self.on_tick(counter):
            counter = (counter + 1) % _TICKS_A_DAY
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(wake.wait(), _TICK_S)

    async def on_tick(self, counter: int) -> bool:
        """Checks the stop event once a tick, and says by `on_turn` that the loop turns."""
        self._on_turn()
        if self._stop_event is not None and self._stop_event.is_set():
            self.begin_shutdown()
        return await super().on_tick(counter)

    def begin_shutdown(self) -> None:
        """Lets the service end with the next tick."""
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes no more connections and ends the idle ones; where others are left, waits for them as uvicorn does.

        uvicorn waits a tenth of a second in any case.
        """
        for listener in (*self.servers, *(sockets or ())):
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for _ in range(2):  # a transport says with the next turn of the loop that it is closed
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for server in self.servers:
            await server.wait_closed()
        if not self.force_exit:
            await self.lifespan.shutdown()


def _wake_when_set(stop_event: threading.Event, loop: asyncio.AbstractEventLoop, wake: asyncio.Event) -> None:
    stop_event.wait()
    with contextlib.suppress(RuntimeError):  # the loop has ended by itself
        loop.call_soon_threadsafe(wake.set)
