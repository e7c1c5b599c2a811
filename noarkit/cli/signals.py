"""What signals mean to a run: the first stops it in good order, a second at once, and USR1 asks how far it is."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from noarkit.errors import Paused
from noarkit.loading.coordinator import StopRequest

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def draining(
    stop_request: StopRequest, on_first: Callable[[], None] | None, on_status: Callable[[], None]
) -> Iterator[None]:
    """While the block lasts signals go to `stop_request`; `on_first` is called at the first one, `on_status` at each
    USR1.

    Without `on_first` nothing is to be finished, and the first signal raises `Paused`.
    """

    def stop(number: int, _: FrameType | None) -> None:
        if stop_request.reason.startswith("SIG"):
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        name = signal.Signals(number).name
        stop_request.ask(name)
        if on_first is None:
            raise Paused(signal=name)
        on_first()

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    if hasattr(signal, "SIGUSR1"):
        before[signal.SIGUSR1] = signal.signal(signal.SIGUSR1, lambda *_: on_status())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
