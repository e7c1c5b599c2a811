"""Webhook delivery: from a queue, in the background, retried until the receiver takes it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import httpx

RETRIES_S = (0.0, 5.0, 300.0, 1_800.0, 7_200.0)
_GONE_STATUS = 410


@dataclass(slots=True)
class Delivery:
    """One message to one address. `headers` are built for each attempt, since a signature holds its time."""

    url: str
    body: bytes
    headers: Callable[[], Mapping[str, str]]
    tries: int = 0
    status: int = 0
    not_before: float = 0.0


@dataclass(slots=True)
class Hooks:
    """Sends deliveries from its own thread. `waits_s` are the waits before retries."""

    waits_s: Sequence[float] = RETRIES_S
    deliveries: list[Delivery] = field(default_factory=list)
    _queue: queue.Queue[Delivery | None] = field(default_factory=queue.Queue)
    _thread: threading.Thread | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Hooks:
        """Builds hooks with the retry waits of the option `retries`, `a,b,…` seconds."""
        text = options.get("retries")
        return cls([float(wait) for wait in text.split(",")]) if text else cls()

    def summary(self) -> list[Mapping[str, object]]:
        """Lists the deliveries, with status and number of attempts."""
        return [{"status": delivery.status, "tries": delivery.tries} for delivery in self.deliveries]

    def send(self, delivery: Delivery) -> None:
        """Queues a message."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True, name="hooks")
            self._thread.start()
        self._queue.put(delivery)

    def close(self) -> None:
        """Stops the thread; undelivered messages are lost, as when a service goes down."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(10)

    def _work(self) -> None:
        waiting: list[Delivery] = []
        with httpx.Client(timeout=10.0, trust_env=False, verify=False) as client:  # noqa: S501  # loopback alone
            while True:
                try:
                    queued = self._queue.get(timeout=0.05 if waiting else 1.0)
                except queue.Empty:
                    queued = Delivery("", b"", dict)
                if queued is None:
                    return
                if queued.url:
                    waiting.append(queued)
                now = time.monotonic()
                for delivery in [candidate for candidate in waiting if candidate.not_before <= now]:
                    waiting.remove(delivery)
                    if self._try(client, delivery) and delivery.tries < len(self.waits_s):
                        delivery.not_before = time.monotonic() + self.waits_s[delivery.tries]
                        waiting.append(delivery)

    def _try(self, client: httpx.Client, delivery: Delivery) -> bool:
        """Sends once; True if it is to be retried."""
        delivery.tries += 1
        try:
            answer = client.post(delivery.url, content=delivery.body, headers=dict(delivery.headers()))
            delivery.status = answer.status_code
        except httpx.HTTPError:
            delivery.status = 0
        self.deliveries.append(delivery)
        return not 200 <= delivery.status < 300 and delivery.status != _GONE_STATUS
