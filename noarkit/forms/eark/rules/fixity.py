"""Compares the checksums in documents with the files, in child processes while the documents are still being read.

In a folder, files with the first algorithm that is met are hashed at once by a pool; entries with other algorithms wait
until the documents are read, and so does everything in an archive file. An archive file without random access (such as
tar.gz) is read once, `in_order`, from its beginning.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from noarkit.errors import PackageFault
from noarkit.forms.container.digests import Hashed
from noarkit.forms.container.hash_pool import HashPool, Task
from noarkit.forms.container.storage import Storage
from noarkit.forms.eark import spec
from noarkit.forms.eark.rules.codes import fixity_of
from noarkit.forms.eark.rules.finding_sink import FindingSink
from noarkit.forms.eark.rules.inventory import Entry, Inventory
from noarkit.forms.findings import Tally
from noarkit.safe.digest import BLOCK_BYTES, Readable

_MANY_FILES = 1_000
_BATCH = 1_000


class FixityChecker:
    """The checksums of one package."""

    def __init__(
        self, storage: Storage, inventory: Inventory, tally: Tally, width: int | None = None, *, in_order: bool = False
    ) -> None:
        self._storage = storage
        self._inventory = inventory
        self._tally = tally
        self._width = width
        self._in_order = in_order
        self._reported_folders: set[str] = set()
        self._main = ""
        self._entries: list[Entry] = []
        self._waiting: list[bool] = []
        self._sizes: list[tuple[int, str]] = []

    def is_in_passing(self, algorithm: str) -> bool:
        """True for the algorithm that is computed in passing."""
        return algorithm == self._main and self._storage.folder is not None

    def keep(self, entries: Sequence[Entry]) -> Iterator[Entry]:
        """Remembers entries; gives back those that are to be compared at once."""
        in_folder = self._storage.folder is not None
        for entry in entries:
            if not entry.digest:
                self._waiting.append(False)
                continue
            self._main = self._main or entry.algorithm
            compares_now = in_folder and entry.algorithm == self._main
            self._waiting.append(not compares_now)
            if compares_now:
                yield entry
        self._entries.extend(entries)
        if len(self._entries) >= _BATCH:
            self.flush()

    def keep_one(self, entry: Entry) -> None:
        """Remembers an entry that waits."""
        self._entries.append(entry)
        self._waiting.append(True)
        if len(self._entries) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Writes the collected entries to the inventory."""
        self._inventory.take_entries(self._entries, self._waiting)
        self._inventory.set_sizes(self._sizes)
        self._entries, self._waiting, self._sizes = [], [], []

    def run(self, rows: Iterator[Entry]) -> None:
        """Takes all rows, and compares what can be compared in passing."""
        first = next(rows, None)
        folder = self._storage.folder
        if first is None or folder is None:
            for _ in rows:
                pass  # in an archive file nothing comes: everything waits
        else:
            with HashPool(folder, (spec.HASHES[self._main],), width=self._width) as pool:
                if self._inventory.count() >= _MANY_FILES:
                    pool.warm()
                self._hash_waiting(pool, chain((first,), rows))
        self.flush()

    def compare_waiting(self) -> None:
        """Compares the entries that waited."""
        folder = self._storage.folder
        if folder is None:
            self._hash_in_passing()
            return
        self.flush()
        for algorithm in self._inventory.waiting_algorithms():
            with HashPool(folder, (spec.HASHES[algorithm],), width=self._width) as pool:
                self._hash_waiting(pool, (entry for entry, _ in self._inventory.waiting(algorithm)))

    def _hash_waiting(self, pool: HashPool, rows: Iterable[Entry]) -> None:
        waiting: deque[Entry] = deque()
        for _, hashed in pool.work(_tasks(rows, waiting)):
            entry = waiting.popleft()
            if hashed.why == "" and hashed.digests[0] == entry.digest and hashed.size_bytes == entry.size:
                self._sizes.append((entry.size, entry.name))
            else:
                self._compare(entry, hashed)

    def _hash_in_passing(self) -> None:
        if not self._inventory.waiting_algorithms():
            return
        if not self._in_order:
            for name, entries in self._inventory.waiting_files():
                with self._storage.open(name) as content:
                    self._compare_all(entries, content)
            return
        for name, content in self._storage.contents():
            entries = self._inventory.waiting_for(name)
            if entries:
                self._compare_all(entries, content)

    def _compare_all(self, entries: Sequence[Entry], content: Readable) -> None:
        """Every checksum of one file, read once."""
        hashes = sorted({entry.algorithm for entry in entries})
        hashed = _hash_content(content, [spec.HASHES[algorithm] for algorithm in hashes])
        for entry in entries:
            number = hashes.index(entry.algorithm)
            digests = hashed.digests[number : number + 1]
            self._compare(entry, hashed if hashed.why else Hashed("", hashed.size_bytes, digests))

    def _compare(self, entry: Entry, hashed: Hashed) -> None:
        sink, codes = FindingSink(self._tally, entry.document), fixity_of(entry.origin)
        line, name = entry.line, entry.name
        if hashed.why == "gone":
            if not self._is_package_path(entry, sink):
                sink.hit(codes.presence, line, name=name)
        elif hashed.why:
            sink.hit("EARK-UNREADABLE", line, name=name, why=hashed.why)
        else:
            if entry.size not in (-1, hashed.size_bytes):
                sink.hit(codes.size, line, name=name, expected=entry.size, found=hashed.size_bytes)
            if hashed.digests[0] != entry.digest:
                sink.hit(codes.checksum, line, name=name, expected=entry.digest, found=hashed.digests[0])

    def _is_package_path(self, entry: Entry, sink: FindingSink) -> bool:
        """True if a plain name of a representation is one of the whole package: it is compared later."""
        base = entry.document.rpartition("/")[0]
        name = entry.name.removeprefix(f"{base}/")
        if not base or not name.startswith(f"{base}/") or self._inventory.size_of(name) is None:
            return False
        if base not in self._reported_folders:
            self._reported_folders.add(base)
            sink.hit("EARK-SPELLING", entry.line, name=name, why="from-package")
        self.keep_one(entry._replace(name=name, id=""))
        return True


def _tasks(rows: Iterable[Entry], waiting: deque[Entry]) -> Iterator[Task]:
    for entry in rows:
        waiting.append(entry)
        yield Task(entry.name, entry.size)


def _hash_content(content: Readable, hashes: list[str]) -> Hashed:
    hashers = [hashlib.new(name, usedforsecurity=False) for name in hashes]
    size = 0
    try:
        while block := content.read(BLOCK_BYTES):
            size += len(block)
            for hasher in hashers:
                hasher.update(block)
    except PackageFault as error:
        return Hashed(str(error.data.get("why", "unreadable")))
    return Hashed("", size, tuple(hasher.hexdigest() for hasher in hashers))
