"""Builds a package as a folder, with many workers at once, or as an archive file, one member after the other.

Both can be killed at any moment and go on from the last commit. A folder commits rows after their files, and compares
sizes and times when it resumes. An archive file can only grow at its end, so it commits marks: everything up to byte n
is on disk, and whatever lies behind the last mark is cut off.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from noarkit.errors import (
    ItemChanged,
    ItemNotAFile,
    ItemUnreadable,
    ItemVanished,
    SourceFault,
    UnsafeMember,
)
from noarkit.events import Event, EventFields, Listener
from noarkit.forms.container.digests import Hashed, empty_hasher, modified_ns, stamp_of
from noarkit.forms.container.hash_pool import HashPool, Task
from noarkit.forms.container.progress import Kind, PackagedFile, Progress
from noarkit.forms.container.sinks import Form, PlacedFile, open_sink
from noarkit.safe.atomic import sync_tree
from noarkit.safe.beneath import ConfinedFolder
from noarkit.safe.descriptors import keep_time, open_descriptor
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.paths import Names
from noarkit.safe.scratch import nameless_file
from noarkit.safe.tree import walk_tree

EVENTS: EventFields = {"package_files": {"files": "count", "bytes": "count"}}


class SkipFile(Exception):
    """What a source raises when it is opened whose file shall not be in the package; it has told why itself."""


OnUnreadable = Callable[[str, int, SourceFault], None]
"""What is told of a file that cannot be read (name in the package, bytes), where the package is made without it."""
Source = str | Path | Callable[[], AbstractContextManager[Readable]]
File = tuple[str, Source, int | None, str]

_FAULTS: dict[str, type[SourceFault]] = {
    "gone": ItemVanished,
    "unreadable": ItemUnreadable,
    "changed": ItemChanged,
    "not-a-file": ItemNotAFile,
}
# what changes while it is read may be whole the next time
_SKIPPABLE_FAULTS = (ItemVanished, ItemUnreadable, ItemNotAFile)
_COMMIT_FILES = 250
_MARK_FILES = 1_000
_MARK_BYTES = 64 * 1024 * 1024


class FolderBuild:
    """A package that grows as a folder beside its target."""

    def __init__(
        self,
        progress: Progress,
        hashes: Sequence[str],
        width: int | None,
        *,
        private: bool = False,
        aside: OnUnreadable | None = None,
    ) -> None:
        self._aside = aside
        self.path = progress.folder / "package"
        self._existed_before = self.path.exists()
        self.path.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
        self._progress = progress
        self._hashes = hashes
        self._width = width
        self._home = ConfinedFolder(self.path, private=private)
        self._rows: list[PackagedFile] = []

    def begin(self, first: tuple[str, bytes] | None = None) -> None:
        """The file that stands first; what a build before this wrote of tags is written anew."""
        self._progress.drop_tags()
        self._progress.forget_seen()
        if self._progress.resumed and not self._progress.same_boot:
            # A killed process loses nothing that it wrote; a machine that went down may have lost files whose rows it
            # kept (rows are synced now and then, files only at the end). So all are hashed again.
            self._drop_damaged()
        if first is not None:
            self.tag(first[0], [first[1]])

    def _drop_damaged(self) -> None:
        """After the machine went down: a row may be on disk where its file is not."""
        rows = (Task(row.name, row.size_bytes) for row in self._progress.rows("payload"))
        damaged = []
        with HashPool(self.path, self._hashes, width=self._width) as pool:
            for task, hashed in pool.work(rows):
                recorded = self._progress.find(task.name)
                if recorded and (hashed.why or hashed.digests != recorded[0].digests):
                    damaged.append(task.name)
        for name in damaged:
            self._progress.drop(name)

    def take(self, files: Iterable[File], emit: Listener) -> None:
        """Copies every file that is not there yet, and takes away what the source no longer has."""
        with HashPool(self.path, self._hashes, copies=True, width=self._width, lock_fd=self._progress.lock_fd) as pool:
            try:
                for task, hashed in pool.work(self._tasks(files, emit)):
                    self._record(task, hashed)
                    if len(self._rows) >= _COMMIT_FILES:
                        self._commit(emit)
            # Even where a file stops the build: what was copied before it stands, and the next build skips it.
            finally:
                self._commit(emit)
        for name in self._progress.stale():
            self._progress.drop(name)
        if self._existed_before:
            self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        """Takes away what a build before this wrote, and what no row speaks of."""
        leftovers = [
            entry.name for entry in walk_tree(self.path) if entry.kind == "file" and not self._progress.find(entry.name)
        ]
        for name in leftovers:
            self.path.joinpath(*name.split("/")).unlink(missing_ok=True)

    def _tasks(self, files: Iterable[File], emit: Listener) -> Iterator[Task]:
        for name, source, size, stamp in files:
            expected_stamp = "" if isinstance(source, (str, Path)) else stamp  # a copy has the time of its source
            if self._progress.resumed and self._is_up_to_date(name, source, expected_stamp):
                continue
            if isinstance(source, (str, Path)):
                yield Task(name, _size_of(source) if size is None else size, str(source))
            else:
                with suppress(SkipFile), source() as content:
                    self._rows.append(_write_file(self._home, self._hashes, (name, "payload", stamp), content))
                if len(self._rows) >= _COMMIT_FILES:
                    self._commit(emit)

    def _is_up_to_date(self, name: str, source: Source, stamp: str) -> bool:
        match = self._progress.find(name)
        if match is None:
            return False
        file, already_met = match
        if already_met:
            raise UnsafeMember(where=name, why="duplicate")
        # Size and time unchanged since it was copied. A source that cannot say is copied again.
        if file.stamp and file.stamp == _source_stamp(source, stamp):
            # What is never marked is gone from the source, and taken out of the package at the end.
            self._progress.mark_seen(name)
            return True
        self._progress.drop(name)
        return False

    def _record(self, task: Task, hashed: Hashed) -> None:
        if hashed.why:
            _raise_or_skip(task.name, hashed.why, self._aside, task.size_bytes)
            with suppress(OSError):  # what was copied before it could not be read any further
                self.path.joinpath(*task.name.split("/")).unlink()
            return
        self._rows.append(PackagedFile(task.name, "payload", hashed.stamp, hashed.size_bytes, hashed.digests))

    def _commit(self, emit: Listener) -> None:
        rows, self._rows = self._rows, []
        self._progress.add(rows)
        if rows:
            emit(Event("package_files", {"files": len(rows), "bytes": sum(row.size_bytes for row in rows)}))

    def tag(self, name: str, blocks: Iterable[bytes]) -> None:
        """Writes a tag file."""
        self._progress.add([_write_file(self._home, self._hashes, (name, "tag", ""), _BlockReader(blocks))])

    def finish(self) -> None:
        """Makes all of it durable."""
        sync_tree(self.path)

    def close(self) -> None:
        """Lets the folder go."""
        self._home.close()


class ArchiveBuild:
    """A package that grows as a zip or tar beside its target."""

    def __init__(
        self,
        progress: Progress,
        hashes: Sequence[str],
        shape: tuple[Form, str],
        folders: Sequence[str] = (),
        *,
        private: bool = False,
        aside: OnUnreadable | None = None,
    ) -> None:
        self._aside = aside
        self.path = progress.folder / "package"
        self._folders = folders
        self._mode = 0o600 if private else 0o644
        self._progress = progress
        self._hashes = hashes
        self._shape = shape
        self._base = int(progress.get("length") or 0)
        self._rows: list[PackagedFile] = []
        self._bytes = 0
        self._names = Names()
        self._sink = open_sink(self.path, *shape, self._base, mode=self._mode)

    def begin(self, first: tuple[str, bytes] | None = None) -> None:
        """The first file, so that a reader knows a package by its beginning; then the folders."""
        # A build that was killed while it wrote its tags begins them anew: they come after the payload, and cannot be
        # replaced in the middle of an archive file.
        end = self._progress.get("payload_end")
        if end is not None:
            self._cut(int(end))
        if self._base == 0 and (first is not None or self._folders):
            if first is not None:
                self._add(first[0], "tag", _BlockReader([first[1]]), len(first[1]))
            for folder in self._folders:
                self._sink.folder(folder)
            self._checkpoint()

    def take(self, files: Iterable[File], emit: Listener) -> None:
        """Adds every file that is not there yet."""
        for name, source, size, stamp in self._remaining_files(files):
            self._names.add(tuple(name.split("/")))
            self._take_one(name, source, size, stamp)
            if len(self._rows) >= _MARK_FILES or self._bytes >= _MARK_BYTES:
                self._commit(emit)
        self._commit(emit)
        self._progress.put_fact("payload_end", str(self._base))

    def _remaining_files(self, files: Iterable[File]) -> Iterator[File]:
        """What does not stand yet: a build that goes on compares its rows with its source, batch by batch."""
        source = iter(files)
        batch: list[File] = []
        base = -1
        # The members of an archive file stand in the order of the source, so rows and source are walked side by side.
        # At the first difference everything from the mark before it is cut off and taken again.
        rows = self._progress.rows("payload")
        for row in rows:
            if row.base != base:
                base = row.base
                self._remember_names(batch)
                batch = []
            file = next(source, None)
            if file is not None:
                batch.append(file)
            if file is None or file[0] != row.name or not row.stamp or row.stamp != _source_stamp(file[1], file[3]):
                rows.close()
                self._cut(base)
                break
        else:
            self._remember_names(batch)
            batch = []
        yield from batch
        yield from source

    def _remember_names(self, batch: Iterable[File]) -> None:
        for name, *_ in batch:
            self._names.add(tuple(name.split("/")))

    def _cut(self, base: int) -> None:
        self._sink.close()
        self._progress.cut(base)
        self._base = base
        self._sink = open_sink(self.path, *self._shape, base, mode=self._mode)

    def _take_one(self, name: str, source: Source, size: int | None, stamp: str) -> None:
        if not isinstance(source, (str, Path)):
            with suppress(SkipFile), source() as content:
                self._add(name, "payload", content, size, stamp)
            return
        try:
            file = os.fdopen(open_descriptor(source), "rb", buffering=0)
        except OSError as error:
            _raise_or_skip(
                name, "gone" if isinstance(error, FileNotFoundError) else "unreadable", self._aside, size or 0
            )
            return
        with file:
            before = os.fstat(file.fileno())
            self._add(name, "payload", file, before.st_size, stamp_of(before) + stamp)
            # The bytes are in the archive file already, but behind the last mark: the next build cuts them off.
            if stamp_of(os.fstat(file.fileno())) != stamp_of(before):
                raise ItemChanged(key=name, why="content")

    def _add(self, name: str, kind: Kind, content: Readable, size: int | None, stamp: str = "") -> None:
        if size is None and self._shape[0] != "zip":  # a tar must know the size before the bytes
            with self._spooled(iter(lambda: content.read(BLOCK_BYTES), b"")) as (spool, spooled_bytes):
                self._add(name, kind, spool, spooled_bytes, stamp)
            return
        hashing = _HashingReader(content, self._hashes)
        member = self._sink.add(name, hashing, size, (modified_ns(stamp) or 0) / 1_000_000_000)
        self._bytes += hashing.size_bytes
        digests = hashing.digests()
        self._rows.append(
            PackagedFile(name, kind, stamp, hashing.size_bytes, digests, member.begin, member.crc, self._base)
        )

    @contextmanager
    def _spooled(self, blocks: Iterable[bytes]) -> Iterator[tuple[BinaryIO, int]]:
        with nameless_file(self._progress.folder) as spool:
            for block in blocks:
                spool.write(block)
            size = spool.tell()
            spool.seek(0)
            yield spool, size

    def _commit(self, emit: Listener) -> None:
        if self._rows:
            emit(Event("package_files", {"files": len(self._rows), "bytes": self._bytes}))
        self._checkpoint()

    def _checkpoint(self) -> None:
        # In this order: bytes, fsync, row. A row must never promise bytes that a power cut can take.
        length = self._sink.checkpoint()
        _sync(self.path)
        self._progress.add(self._rows, length)
        self._rows, self._bytes, self._base = [], 0, length

    def tag(self, name: str, blocks: Iterable[bytes]) -> None:
        """Adds a tag file; its blocks are written aside first, for a tar must know how many."""
        with self._spooled(blocks) as (spool, size):
            self._add(name, "tag", spool, size)
        self._checkpoint()

    def finish(self) -> None:
        """Writes the end, and makes all of it durable."""
        self._sink.finish(PlacedFile(row.name, row.size_bytes, row.place, 0, row.crc) for row in self._progress.rows())
        _sync(self.path)

    def close(self) -> None:
        """Lets the file go."""
        self._sink.close()
        self._names.close()


class _HashingReader:
    """Hashes what is read through it, by several algorithms at once."""

    def __init__(self, source: Readable, hashes: Sequence[str]) -> None:
        self._source = source
        self._running = [empty_hasher(name).copy() for name in hashes]
        self.size_bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        block = self._source.read(size)
        self.size_bytes += len(block)
        for hasher in self._running:
            hasher.update(block)
        return block

    def digests(self) -> tuple[str, ...]:
        """The checksums of what was read so far."""
        return tuple(hasher.hexdigest() for hasher in self._running)


class _BlockReader:
    """Gives small pieces of bytes as large ones."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._buffer = bytearray()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        target_bytes = BLOCK_BYTES if size < 0 else size
        while len(self._buffer) < target_bytes:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._buffer += piece
        block = bytes(self._buffer[:target_bytes])
        del self._buffer[:target_bytes]
        return block


def _write_file(
    home: ConfinedFolder, hashes: Sequence[str], file_info: tuple[str, Kind, str], content: Readable
) -> PackagedFile:
    name, kind, stamp = file_info
    hashing = _HashingReader(content, hashes)
    with os.fdopen(home.create(name), "wb", buffering=0) as file:
        while block := hashing.read(BLOCK_BYTES):
            view = memoryview(block)
            while view:
                view = view[file.write(view) :]
        modified = modified_ns(file_info[2])
        if modified is not None:
            keep_time(file.fileno(), modified)
    return PackagedFile(name, kind, stamp, hashing.size_bytes, hashing.digests())


def _size_of(source: str | Path) -> int:
    try:
        return Path(source).stat().st_size
    except OSError:
        return 0  # whoever opens it tells what is wrong


def _source_stamp(source: Source, stamp: str) -> str:
    """What is said of a source now; empty if nothing is known."""
    if not isinstance(source, (str, Path)):
        return stamp
    try:
        return stamp_of(Path(source).stat()) + stamp
    except OSError:
        return ""


def _fault(name: str, why: str) -> SourceFault | UnsafeMember:
    kind = _FAULTS.get(why)
    return UnsafeMember(where=name, why="duplicate") if kind is None else kind(key=name, why=why)


def _raise_or_skip(name: str, why: str, aside: OnUnreadable | None, size_bytes: int) -> None:
    """Raises what keeps a file from being taken, or tells it where the package is made without the file."""
    fault = _fault(name, why)
    if aside is None or not isinstance(fault, _SKIPPABLE_FAULTS):
        raise fault
    aside(name, size_bytes, fault)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
