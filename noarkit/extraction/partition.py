"""A structure written by several processes: portions of it, each some folders or some records, put together in order.

Who writes which portion, and when it comes back, changes nothing in what is written: a portion knows all it needs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

from noarkit.extraction.bundles import Bundles
from noarkit.extraction.output import Hashed
from noarkit.extraction.store import Key
from noarkit.extraction.workers import Worker
from noarkit.forms.noark5.write.structure import ClosingInfo

_PREFETCH = 3
_TEXTS = 16
_Bound = tuple[str, str]

_RECORDS_IN = "SELECT count(*) FROM (SELECT 1 FROM unit WHERE parent = ? AND kind = 'R' LIMIT ?)"
_FOLDERS_IN = "SELECT id FROM unit WHERE parent = ? AND kind = 'M' LIMIT ?"


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders that stand beside each other, with all that is in them."""

    ids: tuple[Key, ...]
    above: ClosingInfo


@dataclass(frozen=True, slots=True)
class Records:
    """Records of one place, after one and up to another (each by what it is sorted by)."""

    place: Key
    after: _Bound | None
    last: _Bound
    above: ClosingInfo


Portion = Folders | Records


def folder_portions(bundles: Bundles, place: Key, size: int) -> Iterator[tuple[Key, ...] | Key]:
    """The folders of a place in their order: small ones by the portion, a large one alone."""
    small_folders: list[Key] = []
    weight = 0
    for (folder,) in bundles.db.execute(
        "SELECT id FROM unit WHERE parent = ? AND kind = 'M' ORDER BY sort, uuid", (place,)
    ):
        own_weight = _weight(bundles, folder, size)
        if small_folders and weight + own_weight > size:
            yield tuple(small_folders)
            small_folders, weight = [], 0
        if own_weight > size:
            yield folder
        else:
            small_folders.append(folder)
            weight += own_weight
    if small_folders:
        yield tuple(small_folders)


def _weight(bundles: Bundles, folder: Key, most: int) -> int:
    """A folder, and how much lies in it; no more is counted than makes it large."""
    weight, inside = 0, [folder]
    while inside and weight <= most:
        place = inside.pop()
        weight += 1 + int(bundles.db.execute(_RECORDS_IN, (place, most)).fetchone()[0])
        inside += [row[0] for row in bundles.db.execute(_FOLDERS_IN, (place, most))]
    return weight + len(inside)


def record_bounds(bundles: Bundles, place: Key, size: int) -> Iterator[tuple[_Bound | None, _Bound, int]]:
    """Cuts the records of a place into portions: the bound before each, its last record, its number of records."""
    after: _Bound | None = None
    last: _Bound = ("", "")
    count = 0
    for row in bundles.db.execute(
        "SELECT sort, uuid FROM unit WHERE parent = ? AND kind = 'R' ORDER BY sort, uuid", (place,)
    ):
        if count >= size and row != last:
            yield after, last, count
            after, count = last, 0
        last = row
        count += 1
    if count:
        yield after, last, count


class Outlet:
    """Text and portions into one file, in the order in which they are given. `pause` is called now and then."""

    def __init__(self, out: Hashed, workers: Sequence[Worker], pause: Callable[[], None]) -> None:
        self.workers = workers
        self.pause = pause
        self._out = out
        self._next = cycle(workers)
        self._most = _PREFETCH * len(workers)
        self._queue: deque[bytes | Worker] = deque()
        self._ordered = 0

    def write(self, text: bytes) -> None:
        """Some text."""
        if self._queue:
            self._queue.append(text)
            while len(self._queue) > self._most + _TEXTS:
                self._write_next()
        else:
            self._out.write(text)
            self.pause()

    def submit(self, portion: Portion) -> None:
        """A portion, which another process writes."""
        worker = next(self._next)
        worker.order(portion)
        self._queue.append(worker)
        self._ordered += 1
        while self._ordered > self._most:
            self._write_next()

    def end(self) -> None:
        """Writes all that was given."""
        while self._queue:
            self._write_next()

    def _write_next(self) -> None:
        first = self._queue.popleft()
        if isinstance(first, bytes):
            self._out.write(first)
        else:
            self._ordered -= 1
            for piece in first.pieces(self.pause):
                assert isinstance(piece, bytes)  # noqa: S101  # as a walk tells it
                self._out.write(piece)
        self.pause()
