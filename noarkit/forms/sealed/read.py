"""Opens a sealed package and proves it: nothing is believed before its signature was found good.

`open_sealed` proves the signature, the list and that just the listed files are there, at their sizes; `prove` reads
every byte. Of a zip or tar it also proves that it is, byte for byte, what the writer makes of these files: there is no
room for anything between them. Lists lie in a temporary database, so that millions of files cost no memory.
"""

from __future__ import annotations

import hashlib
import io
import os
import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn

from noarkit.errors import SealBroken, UsageFault
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.forms.container.locators import locator_of
from noarkit.forms.container.sinks import Form, PlacedFile, sink_into
from noarkit.forms.container.storage import Storage, open_storage
from noarkit.forms.sealed.spec import (
    FILES,
    KINDS,
    MOST_SEAL_BYTES,
    PLAN,
    SEAL,
    SIGNATURE,
    Kind,
    Seal,
    SealedFile,
    claimed_key,
    parse_list_line,
    read_seal,
    top_of,
)
from noarkit.safe.digest import BLOCK_BYTES, HashingReader, Readable
from noarkit.safe.scratch import scratch
from noarkit.safe.signing import SIGNATURE_BYTES, PublicKey
from noarkit.safe.unpack import form_of

EVENTS: EventFields = {"seal_proven": {"files": "count", "bytes": "count"}}
_MARKS = (SEAL, SIGNATURE, FILES)
_TOPS = tuple(f"{top_of(kind)}/".encode() for kind in KINDS)
_HEAD_BYTES, _TAIL_BYTES = 4 * 1024, 64 * 1024
_MOST_LINE_BYTES = 64 * 1024
_TELL_EVERY = 500
_BATCH = 2_000


def is_sealed(path: Path) -> bool:
    """True for what is a sealed package, or was one before it was damaged: that must never pass for a plain source."""
    if path.is_dir():
        return any(os.path.lexists(path / name) for name in (*_MARKS, PLAN))
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            tail = file.read(_TAIL_BYTES)
    except OSError:
        return False  # whoever reads it will say why it cannot be read
    return any(top in end for end in (head, tail) for top in _TOPS)


def sealed_source_fault(where: str) -> UsageFault:
    """The fault that names the way in: a bundle is received by `ingest`, with a key that is trusted."""
    words = ("noarkit", "ingest", where, "-o", f"{Path(where).name.partition('.')[0]}-run", "--trust-key")
    return UsageFault(what="sealed-source", where=where, do=shlex.join(words))


@contextmanager
def open_sealed(path: Path, trusted_keys: Sequence[PublicKey], kind: Kind) -> Iterator[SealedPackage]:
    """The package at `path`, sealed by one of the `trusted_keys`. Raises `SealBroken`, and what `safe` refuses."""
    with closing(open_storage(path)) as storage, closing(scratch()) as db:
        seal, key, sha256 = _proven_seal(storage, trusted_keys)
        if seal.kind != kind:
            raise SealBroken(where=storage.where, why=f"seal-is-{seal.kind}")
        sealed = SealedPackage(path, storage, db, (seal, key, sha256))
        sealed.take_list()
        yield sealed


class SealedPackage:
    """An open package whose signature is good. `sha256` is that of its seal, `key` who signed it."""

    def __init__(
        self, path: Path, storage: Storage, db: sqlite3.Connection, seal_and_key: tuple[Seal, PublicKey, str]
    ) -> None:
        self.where = storage.where
        self.seal, self.key, self.sha256 = seal_and_key
        self.packed = storage.folder is None
        self._path = path
        self._storage = storage
        self._db = db

    def take_list(self) -> None:
        """Reads the list, holds it against the seal, and the names and sizes that are there against the list."""
        self._db.execute(
            "CREATE TABLE listed (n INTEGER PRIMARY KEY, name TEXT UNIQUE, size INTEGER, sha256 TEXT, seen INTEGER,"
            " begin INTEGER, crc INTEGER)"
        )
        self._db.execute("BEGIN")
        expected = self.seal.file_list
        if expected.name != FILES:
            self._raise_broken("seal-list", expected.name)
        with self._open_stored(FILES) as content:
            reader = HashingReader(content)
            for line in _lines(reader, self.where):
                self._insert(parse_list_line(line, self.where))
        if (reader.hexdigest(), reader.size_bytes) != (expected.sha256, expected.size_bytes):
            self._raise_broken("seal-list", FILES)
        count, size = self._db.execute("SELECT count(*), coalesce(sum(size), 0) FROM listed").fetchone()
        if (count, size) != (self.seal.files, self.seal.size_bytes):
            self._raise_broken("seal-list", FILES)
        # in the order in which they lie: what seals comes last
        self._insert(expected)
        for name, most in ((SEAL, MOST_SEAL_BYTES), (SIGNATURE, SIGNATURE_BYTES)):
            with self._open_stored(name) as file:
                block = file.read(most + 1)
            self._insert(SealedFile(name, len(block), hashlib.sha256(block).hexdigest()))
        self._compare_names()
        self._db.execute("COMMIT")

    def _insert(self, file: SealedFile) -> None:
        try:
            self._db.execute(
                "INSERT INTO listed (name, size, sha256, seen) VALUES (?, ?, ?, 0)",
                (file.name, file.size_bytes, file.sha256),
            )
        except sqlite3.IntegrityError:
            self._raise_broken("seal-list", file.name)

    def _compare_names(self) -> None:
        for file in self._storage.files():
            if file.odd:
                self._raise_broken("seal-added", file.name)
            row = self._db.execute("SELECT size FROM listed WHERE name = ?", (file.name,)).fetchone()
            if row is None:
                self._raise_broken("seal-added", file.name)
            if row[0] != file.size_bytes:
                self._raise_broken("seal-changed", file.name)
            self._db.execute("UPDATE listed SET seen = 1 WHERE name = ?", (file.name,))
        missing = self._db.execute("SELECT name FROM listed WHERE NOT seen ORDER BY n LIMIT 1").fetchone()
        if missing is not None:
            self._raise_broken("seal-removed", missing[0])

    def files(self) -> Iterator[SealedFile]:
        """Every file that is sealed, in the order in which they lie; not those that seal."""
        for _, sealed_file in self._rows():
            if sealed_file.name not in _MARKS:
                yield sealed_file

    def find(self, name: str) -> SealedFile | None:
        """One of them by its name."""
        row = self._db.execute("SELECT name, size, sha256 FROM listed WHERE name = ?", (name,)).fetchone()
        return None if row is None else SealedFile(*row)

    def locator_for(self, name: str) -> str:
        """What finds a file again without the list: its name in a folder, its place in an archive file."""
        member = self._storage.member(name)
        return name if member is None else locator_of(member)

    @contextmanager
    def open(self, name: str) -> Iterator[Readable]:
        """The bytes of a file, which are proven when they were read to the end: `SealBroken` where they are others."""
        sealed_file = self.find(name)
        if sealed_file is None:
            self._raise_broken("seal-removed", name)
        with self._open_stored(name) as content:
            yield _ProvingReader(content, sealed_file, self.where)

    def prove(self, emit: Listener = ignore_event) -> None:
        """Reads every byte. Raises `SealBroken` for whatever is not as it was sealed."""
        if not self.packed:
            for _ in self._read_all(emit):
                pass
            return
        form: Form = "zip" if form_of(self._path) == "zip" else "tar"
        with self._path.open("rb") as file:
            comparing_file = _ComparingFile(file, self.where)
            sink = sink_into(comparing_file, form, top_of(self.seal.kind))  # type: ignore[arg-type]  # all of a file that a sink uses
            for n, sealed_file, content in self._read_all(emit):
                member = sink.add(sealed_file.name, content, sealed_file.size_bytes)
                self._db.execute("UPDATE listed SET begin = ?, crc = ? WHERE n = ?", (member.begin, member.crc, n))
            rows = self._db.execute("SELECT name, size, begin, crc FROM listed ORDER BY n")
            sink.finish(PlacedFile(name, size, begin, 0, crc) for name, size, begin, crc in rows)
            if comparing_file.tell() != self._path.stat().st_size:
                self._raise_broken("seal-packing", self._path.name)

    def _read_all(self, emit: Listener) -> Iterator[tuple[int, SealedFile, Readable]]:
        """Every file with its bytes; what the caller leaves unread is read, and all of it held against its checksum."""
        count = size = 0
        for n, sealed_file in self._rows():
            with self._open_stored(sealed_file.name) as content:
                proving = _ProvingReader(content, sealed_file, self.where)
                yield n, sealed_file, proving
                while proving.read(BLOCK_BYTES):
                    pass
            count, size = count + 1, size + sealed_file.size_bytes
            if count % _TELL_EVERY == 0:
                emit(Event("seal_proven", {"files": count, "bytes": size}))
        emit(Event("seal_proven", {"files": count, "bytes": size}))

    def _rows(self) -> Iterator[tuple[int, SealedFile]]:
        """Batch by batch, so that whoever asks may ask something else in between."""
        last = 0
        while rows := self._db.execute(
            "SELECT n, name, size, sha256 FROM listed WHERE n > ? ORDER BY n LIMIT ?", (last, _BATCH)
        ).fetchall():
            for last, name, size, sha256 in rows:
                yield last, SealedFile(name, size, sha256)

    def _open_stored(self, name: str) -> AbstractContextManager[Readable]:
        return _open_stored(self._storage, name)

    def _raise_broken(self, why: str, name: str) -> NoReturn:
        raise SealBroken(where=self.where, why=why, name=name)


class _ProvingReader:
    """Bytes that have the checksum and size they should have, once all of them were read."""

    def __init__(self, content: Readable, sealed_file: SealedFile, where: str) -> None:
        self._reader = HashingReader(content)
        self._sealed_file = sealed_file
        self._where = where

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; at their end `SealBroken` where they are not what was listed."""
        try:
            block = self._reader.read(size)
        except OSError as error:
            raise SealBroken(where=self._where, why="unreadable", name=self._sealed_file.name) from error
        if not block and size != 0:
            actual = (self._reader.hexdigest(), self._reader.size_bytes)
            if actual != (self._sealed_file.sha256, self._sealed_file.size_bytes):
                raise SealBroken(where=self._where, why="seal-changed", name=self._sealed_file.name)
        return block


class _ComparingFile(io.RawIOBase):
    """A file that is written to only with what stands in it already."""

    def __init__(self, file: BinaryIO, where: str) -> None:
        self._file = file
        self._where = where
        self._at = 0

    def write(self, block: bytes, /) -> int:  # type: ignore[override]  # bytes are what a sink gives
        self._file.seek(self._at)
        if self._file.read(len(block)) != block:
            raise SealBroken(where=self._where, why="seal-packing", name=Path(self._where).name)
        self._at += len(block)
        return len(block)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._at = offset
        return offset

    def tell(self) -> int:
        return self._at


def _proven_seal(storage: Storage, trusted_keys: Sequence[PublicKey]) -> tuple[Seal, PublicKey, str]:
    """The seal, who signed it, and its sha256: read only after one of the trusted was found to have signed it."""
    with _open_stored(storage, SEAL) as file:
        content = file.read(MOST_SEAL_BYTES + 1)
    with _open_stored(storage, SIGNATURE) as file:
        signature = file.read(SIGNATURE_BYTES + 1)
    if len(content) > MOST_SEAL_BYTES or len(signature) != SIGNATURE_BYTES:
        raise SealBroken(where=storage.where, why="seal-signature")
    for key in trusted_keys:
        if key.signed(signature, content):
            return read_seal(content, storage.where), key, hashlib.sha256(content).hexdigest()
    claimed = claimed_key(content)
    if claimed in {key.fingerprint for key in trusted_keys}:
        raise SealBroken(where=storage.where, why="seal-signature")
    raise SealBroken(where=storage.where, why="seal-stranger", fingerprint=claimed[:64] or None)


@contextmanager
def _open_stored(storage: Storage, name: str) -> Iterator[Readable]:
    with ExitStack() as stack:
        try:
            content = stack.enter_context(storage.open(name))
        except FileNotFoundError as error:
            raise SealBroken(where=storage.where, why="seal-removed", name=name) from error
        except OSError as error:
            raise SealBroken(where=storage.where, why="unreadable", name=name) from error
        yield content


def _lines(content: Readable, where: str) -> Iterator[bytes]:
    tail = b""
    while block := content.read(BLOCK_BYTES):
        *lines, tail = (tail + block).split(b"\n")
        yield from lines
        if len(tail) > _MOST_LINE_BYTES:
            raise SealBroken(where=where, why="seal-list", name=FILES)
    if tail:
        raise SealBroken(where=where, why="seal-list", name=FILES)
