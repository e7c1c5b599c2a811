"""Hashes files below a folder, and copies files into one while hashing them: by the batch, for a process or a thread.

A file that cannot be taken is told by a word, never by a fault: the batch goes on. The same functions serve in a child
process (`main`), which reads one batch a line and answers one line.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from noarkit.errors import UnsafePath
from noarkit.safe.beneath import ConfinedFolder
from noarkit.safe.descriptors import NO_WAITING, keep_time, open_descriptor, read_into, write_all

BLOCK_BYTES = 1024 * 1024
_ROOM_BYTES = 256 * 1024
_TIME = "\x1e"
_READS_INTO = hasattr(os, "readv")
_SOURCE = os.O_RDONLY | NO_WAITING


class Hashed(NamedTuple):
    """What a file turned out to be; `why` is empty if it could be read. `stamp` is its size and time before. (A
    tuple, since there are millions.)"""

    why: str
    size_bytes: int = 0
    digests: tuple[str, ...] = ()
    stamp: str = ""


def hash_files(root: Path, hashes: Sequence[str], names: Sequence[str]) -> list[Hashed]:
    """The checksums of files below `root`, in the order of `names`; `hashes` are names that hashlib knows."""
    with ConfinedFolder(root) as home:
        return [_hash_one(home, hashes, name) for name in names]


def copy_files(root: Path, hashes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[Hashed]:
    """Copies each source (a `path_text`) to its name below `root`, hashed while it passes, in order.

    A source that changes while it is read is told as `changed`. Nothing is synced. A fault in writing is raised.
    """
    with ConfinedFolder(root) as home:
        return [_copy_one(home, hashes, os.fsdecode(source.encode("latin-1")), name) for source, name in pairs]


def path_text(path: str) -> str:
    """A path as text that any process can be told, whatever its bytes are: one letter a byte."""
    return os.fsencode(path).decode("latin-1")


def stamp_of(status: os.stat_result) -> str:
    """What is the same as long as nobody touched a file."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


def with_time(stamp: str, modified_ns: int | None) -> str:
    """The stamp with the time that its source tells of the file, which counts before that of the file itself."""
    return stamp if modified_ns is None else f"{stamp}{_TIME}{modified_ns}"


def modified_ns(stamp: str) -> int | None:
    """When the file of a stamp was last written to; None for what is no stamp of a file."""
    own, mark, time_text = stamp.rpartition(_TIME)
    if mark and time_text.lstrip("-").isdecimal():
        return int(time_text)
    parts = (own + mark + time_text).split(":")
    numbers = len(parts) == 3 and all(part.isdecimal() for part in (parts[0], parts[1].removeprefix("-"), parts[2]))
    return int(parts[1]) if numbers else None


def main() -> None:
    """Serves batches from stdin until it is closed."""
    for line in sys.stdin.buffer:
        order = json.loads(line)
        act = copy_files if order["copy"] else hash_files
        try:
            results = act(Path(os.fsdecode(order["root"].encode("latin-1"))), order["hashes"], order["batch"])
            answer: object = [[hashed.why, hashed.size_bytes, hashed.digests, hashed.stamp] for hashed in results]
        except OSError as error:
            answer = {"errno": error.errno, "where": str(error.filename or order["root"])}
        try:
            sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            break  # whoever asked is gone, and what is left in the buffer is nobody's
    os._exit(0)


def _hash_one(home: ConfinedFolder, hashes: Sequence[str], name: str) -> Hashed:
    try:
        descriptor = home.open(name)
    except UnsafePath:
        return Hashed("unsafe")
    except OSError as error:
        return Hashed("gone" if isinstance(error, FileNotFoundError) else "unreadable")
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Hashed("not-a-file")
        return _hash_stream(descriptor, None, hashes, status.st_size)
    except OSError:
        return Hashed("unreadable")
    finally:
        os.close(descriptor)


def _copy_one(home: ConfinedFolder, hashes: Sequence[str], source: str, name: str) -> Hashed:
    try:
        descriptor = open_descriptor(source, _SOURCE)
    except OSError as error:
        return Hashed("gone" if isinstance(error, FileNotFoundError) else "unreadable")
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return Hashed("not-a-file")
        try:
            target = home.create(name)
        except (UnsafePath, IsADirectoryError):
            return Hashed("unsafe")
        try:
            copied = _hash_stream(descriptor, target, hashes, before.st_size)
            keep_time(target, before.st_mtime_ns)
        finally:
            os.close(target)
        stamp = stamp_of(before)
        if stamp != stamp_of(os.fstat(descriptor)) or copied.size_bytes != before.st_size:
            return Hashed("changed")
        return Hashed("", copied.size_bytes, copied.digests, stamp)
    finally:
        os.close(descriptor)


def _hash_stream(source: int, target: int | None, hashes: Sequence[str], expected: int) -> Hashed:
    """Reads to the end; a file of the `expected` size in one step, without room for a large one."""
    running = [empty_hasher(name).copy() for name in hashes]
    if expected > _ROOM_BYTES and _READS_INTO:
        size = _hash_large(source, target, running)
        return Hashed("", size, tuple([hasher.hexdigest() for hasher in running]))
    step = min(BLOCK_BYTES, expected + 1)
    size = 0
    while block := os.read(source, step):
        size += len(block)
        for hasher in running:
            hasher.update(block)
        if target is not None:
            write_all(target, block)
        if size == expected and len(block) < step:
            break
    return Hashed("", size, tuple([hasher.hexdigest() for hasher in running]))


@cache
def empty_hasher(name: str) -> hashlib._Hash:
    """One that nothing was hashed with: to copy it costs less than to ask for another by its name."""
    return hashlib.new(name, usedforsecurity=False)


def _hash_large(source: int, target: int | None, running: Sequence[hashlib._Hash]) -> int:
    """The same with room that is made once and stays near the processor."""
    room = memoryview(bytearray(_ROOM_BYTES))
    size = 0
    while read := read_into(source, room):
        size += read
        block = room[:read]
        for hasher in running:
            hasher.update(block)
        if target is not None:
            write_all(target, block)
    return size
