"""A background thread that runs one step periodically, and at once when woken."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

LOGGER = logging.getLogger("noarkit.server")


class Worker:
    """Runs `step` again and again until stop(); wake() makes it run at once. A failing step is logged."""

    def __init__(self, name: str, step: Callable[[], None], every_s: float) -> None:
        self._step = step
        self._every_s = every_s
        self._woken = threading.Event()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def is_stopping(self) -> bool:
        """True once stop() was called; a long step should look at it and end early."""
        return self._is_stopping

    def start(self) -> None:
        """Begins; the first step runs at once."""
        self._woken.set()
        self._thread.start()

    def wake(self) -> None:
        """Lets the next step run at once."""
        self._woken.set()

    def request_stop(self) -> None:
        """Lets the thread end after the step at work, without waiting for it."""
        self._is_stopping = True
        self._woken.set()

    def stop(self) -> None:
        """Ends after the step at work, and waits for it."""
        self.request_stop()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._is_stopping:
            self._woken.wait(self._every_s)
            self._woken.clear()
            if self._is_stopping:
                return
            try:
                self._step()
            except Exception as fault:  # noqa: BLE001  # a background thread must outlive whatever one step met
                LOGGER.error("%s: %s", self._thread.name, type(fault).__name__)
