"""Keeps a worker from sending after its lease: the archive's calls stop at the time until which it was renewed.

The time is the worker's own steady clock, which goes on while the process is stopped and while the machine sleeps. A
renewal answers a message of the worker's and counts from when that was sent, so that one which lay on the way for long
renews nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.archive.values import (
    Action,
    Call,
    Downloaded,
    Json,
    Page,
    Query,
    Rendition,
    SavedObject,
    Upload,
    Uploaded,
)
from noarkit.errors import LeaseEnded
from noarkit.safe.clocks import boot_s
from noarkit.safe.digest import Readable


class LeaseFence:
    """The time until which a worker may send for its lease."""

    def __init__(self, until_s: float, now_s: Callable[[], float] = boot_s) -> None:
        self._until_s = until_s
        self._now_s = now_s
        self._lock = threading.Lock()

    def renew(self, until_s: float) -> None:
        """Moves the end on; never back."""
        with self._lock:
            # What has ended stays so: whoever gets the shard next may have begun.
            if not self.is_over():
                self._until_s = max(self._until_s, until_s)

    def is_over(self) -> bool:
        """True once nothing may be sent any more."""
        return self._now_s() >= self._until_s

    def check(self) -> None:
        """Raises `LeaseEnded` once nothing may be sent any more."""
        if self.is_over():
            raise LeaseEnded()


class FencedArchive:
    """`Archive` around another one, the innermost: checks the lease just before each request leaves."""

    def __init__(self, archive: Archive, check: Callable[[], None]) -> None:
        self._archive = archive
        self._check = check

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """See `Archive.transaction`."""
        self._check()
        return self._archive.transaction(actions)

    def query(self, query: Query) -> Page:
        """See `Archive.query`."""
        self._check()
        return self._archive.query(query)

    def upload(self, content: Upload) -> Uploaded:
        """See `Archive.upload`. Its bytes stop as well."""
        self._check()
        return self._archive.upload(replace(content, open=lambda: self._fenced(content)))

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        """See `Archive.download`."""
        self._check()
        return self._archive.download(
            file_id, target, rendition=rendition, expected_sha256=expected_sha256, durable=durable
        )

    def call(self, call: Call) -> Json:
        """See `Archive.call`."""
        self._check()
        return self._archive.call(call)

    def close(self) -> None:
        """See `Archive.close`."""
        self._archive.close()

    @contextmanager
    def _fenced(self, content: Upload) -> Iterator[Readable]:
        with content.open() as stream:
            yield _FencedStream(stream, self._check)


class _FencedStream:
    """The bytes of an upload, for as long as the lease lasts."""

    def __init__(self, stream: Readable, check: Callable[[], None]) -> None:
        self._stream = stream
        self._check = check

    def read(self, size: int = -1, /) -> bytes:
        self._check()
        return self._stream.read(size)
