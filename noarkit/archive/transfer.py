"""Uploads and downloads in blocks, hashed on the way, never held whole in memory.

An upload that turns out longer or shorter than promised is a changed item: it is broken off and never becomes whole.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from noarkit.archive.answers import CallContext, strange_answer
from noarkit.archive.connection import Reply
from noarkit.archive.stream import BrokenExchange
from noarkit.archive.values import Downloaded, Upload
from noarkit.errors import AnswerLost, ChecksumDiffers, ItemChanged, ItemUnreadable, RunFault
from noarkit.safe import atomic
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.fixity import BY_ARCHIVE, SHA256, differences, sha256_stated

_AT_ONCE_BYTES = 64 * 1024
_NOT_PLAIN = re.compile(r'[^ !#-\[\]-~]|"')
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff/\\]")
_MAX_NAME = 255
_EXTENDED_NAME = re.compile(r"filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)", re.IGNORECASE)
_PLAIN_NAME = re.compile(r'filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))', re.IGNORECASE)


class Body:
    """The body of an upload, read once. Small ones are read at once, so that they leave with their headers."""

    def __init__(self, content: Upload, stream: Readable) -> None:
        self._name = content.name
        self._stream = stream
        self._hash = hashlib.sha256()
        self.size_bytes = 0
        self.whole = False
        self.promised_bytes = content.size_bytes if content.size_bytes is not None else _size_on_disk(stream)

    @property
    def sha256(self) -> str:
        """Of what was read so far."""
        return self._hash.hexdigest()

    def content(self) -> bytes | Body:
        """Returns the request body for the transport: bytes if it is small, else this object, to be iterated."""
        if self.promised_bytes is None or self.promised_bytes > _AT_ONCE_BYTES:
            return self
        return b"".join(self)

    def __iter__(self) -> Iterator[bytes]:
        remaining_bytes = self.promised_bytes
        self.whole = remaining_bytes == 0 and self._check_end()
        while remaining_bytes is None or remaining_bytes > 0:
            block = self._read(BLOCK_BYTES if remaining_bytes is None else min(remaining_bytes, BLOCK_BYTES))
            if not block:
                break
            self._hash.update(block)
            self.size_bytes += len(block)
            if remaining_bytes is not None:
                remaining_bytes -= len(block)
                # looked at before the last block leaves: the answer may come as soon as it has
                self.whole = remaining_bytes == 0 and self._check_end()
            yield block
        if remaining_bytes:
            raise ItemChanged(key=self._name, why="size")
        self.whole = True

    def _check_end(self) -> bool:
        if self._read(1):
            raise ItemChanged(key=self._name, why="size")
        return True

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except OSError as error:
            raise ItemUnreadable(key=self._name, why=os.strerror(error.errno) if error.errno else "read") from error


def disposition(name: str) -> bytes:
    """The Content-Disposition header of an upload: an ASCII name for the old, the real name for the others.

    What no archive need take in a name (control signs, slashes, too much of it) is not sent: the bytes are what counts.
    """
    fit = _sanitize(name)
    real = fit.encode("utf-8")
    plain = _NOT_PLAIN.sub("_", fit)
    return f"attachment; filename=\"{plain}\"; filename*=utf-8''{quote(real, safe='')}".encode("ascii")


def _sanitize(name: str) -> str:
    fit = _UNFIT.sub("_", name).strip()
    if len(fit) > _MAX_NAME:
        stem, dot, ext = fit.rpartition(".")
        fit = f"{stem[: _MAX_NAME - len(ext) - 1]}.{ext}" if dot and len(ext) < 16 else fit[:_MAX_NAME]
    return fit if fit.strip(".") else "_"


def parse_file_name(header: str | None) -> str | None:
    """Parses the file name of a Content-Disposition header: for display only, never a path to write to."""
    if header is None:
        return None
    if extended := _EXTENDED_NAME.search(header):
        try:
            return unquote_to_bytes(extended[2]).decode(extended[1])
        except (LookupError, UnicodeDecodeError):
            pass
    if plain := _PLAIN_NAME.search(header):
        return re.sub(r"\\(.)", r"\1", plain[1]) if plain[1] is not None else plain[2]
    return None


def receive_download(
    reply: Reply, target: Path, context: CallContext, *, expected_sha256: str | None, durable: bool
) -> Downloaded:
    """Writes a download to `target`, whole or not at all. Raises `ChecksumDiffers`, `DiskFull`, `RunFault`."""
    if (reply.header(b"content-encoding") or "identity").lower() != "identity":
        raise strange_answer(context, "encoded")
    digest = hashlib.sha256()
    size_bytes = 0
    try:
        with atomic.open_atomic(target, sync=durable) as file:
            try:
                for block in reply.pieces():
                    digest.update(block)
                    size_bytes += file.write(block)
            except BrokenExchange as error:
                # the archive named a file and broke off over it: where, tells a damaged file from a bad line
                if error.reason != "lost" or reply.header(b"content-disposition") is None:
                    raise
                raise AnswerLost(call=context.call, why=error.detail, received_bytes=size_bytes) from error
            statements = sha256_stated(expected_sha256, BY_ARCHIVE)
            for difference in differences(statements, {SHA256: digest.hexdigest()}, size_bytes):
                raise ChecksumDiffers(call=context.call, ours=difference.expected, theirs=difference.measured)
    except OSError as error:
        raise RunFault(where=str(target), why=os.strerror(error.errno) if error.errno else "write") from error
    name = parse_file_name(reply.header(b"content-disposition"))
    return Downloaded(target, digest.hexdigest(), size_bytes, name, reply.header(b"content-type"))


def _size_on_disk(stream: Readable) -> int | None:
    """The size of an open file, where the stream is one and stands at its start; None if nobody can say."""
    descriptor = getattr(stream, "fileno", None)
    if descriptor is None:
        return None
    try:
        status = os.fstat(descriptor())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
