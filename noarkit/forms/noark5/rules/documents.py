"""Reads every file of a package once: size, sha256, first bytes, and whether a PDF claims to be PDF/A.

Several processes may share the work: each walks the whole tree, and claims block after block of the files in it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from noarkit.documents.damage import KNOWN_ENDINGS, ZIPPED, damage_of, is_locked
from noarkit.forms.noark5.rules.formats import FormatIdentifier, declared_pdfa, format_identifier
from noarkit.forms.noark5.rules.messages import Message, Rows
from noarkit.forms.noark5.rules.store import Row
from noarkit.forms.noark5.rules.values import formats
from noarkit.model.formats import is_accepted
from noarkit.safe.descriptors import read_at
from noarkit.safe.digest import Readable
from noarkit.safe.tree import TreeEntry, is_file, walk_tree
from noarkit.sources.files.codecs import VIDEO_ENDINGS, unaccepted_codec

BLOCK = 64
"""So many files are claimed at once."""

_BATCH = 2_000
_CHUNK = 1024 * 1024
_CLAIM = b"pdfaid"
_FIRST = 8
_HEAD = 4096
_METADATA = 1024
_STARTS = formats().first_bytes

Claim = Callable[[], int]
"""Returns the number of the next free block; no number is returned twice."""


def read_files(root: Path, claim: Claim) -> Iterator[Message]:
    """A row for every file of the blocks that were claimed; links and special files come with the first block."""
    rows: list[Row] = []
    own_block, count = claim(), 0
    with format_identifier() as identifier:
        for entry in walk_tree(root):
            block = count // BLOCK
            count += 1
            if block < own_block:
                continue
            row = row_of_entry(entry, identifier)
            if row is not None:
                rows.append(row)
            if count % BLOCK == 0:
                own_block = claim()
            if len(rows) >= _BATCH:
                yield Rows("files", tuple(rows))
                rows.clear()
    yield Rows("files", tuple(rows))


def hash_file(path: Path, algorithm: str) -> bytes | None:
    """The digest of a file by any algorithm that hashlib knows; None for another, or where the file is gone."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, algorithm).digest()
    except (ValueError, OSError):
        return None


def row_of_entry(entry: TreeEntry, identifier: FormatIdentifier) -> Row | None:
    """The row of what was met in a walk; None for a folder."""
    if entry.kind == "folder":
        return None
    bare_row = _bare_row(entry.name, "link" if entry.kind == "link" else "other")
    return bare_row if entry.kind != "file" else row_of_file(entry.name, entry.open, identifier) or bare_row


def unreadable_row(name: str) -> Row:
    """The row of a file that cannot be opened or read."""
    return _bare_row(name, "other")


def row_of_file(name: str, open_file: Callable[[], int], identifier: FormatIdentifier) -> Row | None:
    """The row of a regular file that `open_file` gives a descriptor of; None where it cannot be opened or read."""
    try:
        descriptor = open_file()
    except OSError:
        return None
    try:
        if not is_file(descriptor):
            return None
        row = _file_row(name, partial(os.read, descriptor))
        if "/" not in name:  # what describes the documents
            return row
        suffix, head = _suffix(name), read_at(descriptor, _HEAD, 0)
        puid = row[-1] or _codec_of(descriptor, row, suffix) or identifier.identify(descriptor, suffix, head)
        return (*row[:-2], _is_whole(descriptor, row, suffix), puid)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _bare_row(name: str, kind: str) -> Row:
    return (os.fsencode(name), kind, 0, None, None, None, None, None, None)


def packed_row(name: str, content: Readable) -> Row:
    """The row of a document that lies in an archive file. One whose end must be looked at is laid beside for that."""
    suffix = _suffix(name)
    if "/" not in name or not _is_looked_at(suffix):
        row = row_of(name, content)
        return (*row[:-2], 1, row[-1]) if "/" in name else row
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(content, file, _CHUNK)
        file.seek(0)
        row = _file_row(name, partial(_whole_blocks, file))
        codec = _codec_of(file.fileno(), row, suffix)
        return (*row[:-2], _is_whole(file.fileno(), row, suffix), row[-1] or codec)


def _is_looked_at(suffix: str) -> bool:
    return suffix == "pdf" or (is_accepted(None, suffix) and suffix in (KNOWN_ENDINGS | VIDEO_ENDINGS))


def _is_whole(descriptor: int, row: Row, suffix: str) -> int:
    """0 for a document that breaks off or cannot be opened, where no other rule tells it: as of one that is empty,
    begins as something else, or is in no archive format. Of a PDF that declares nothing it goes before its format."""
    size, fits, claim = int(str(row[2])), row[5], row[6]
    if not _is_looked_at(suffix) or (suffix == "pdf" and claim):
        return 1
    if suffix in ZIPPED and is_locked(descriptor):
        return 0
    damage = damage_of(descriptor, size, suffix)
    return int(damage in ("", "empty") or (damage == "wrong-start" and fits == 0))


def _codec_of(descriptor: int, row: Row, suffix: str) -> str | None:
    """What stands for the format of a video with a codec that no depot takes: its ending, with the codec."""
    codec = unaccepted_codec(descriptor, int(str(row[2])), suffix)
    return f"{suffix} ({codec})" if codec else None


def row_of(name: str, content: Readable) -> Row:
    """The row of a file that lies in an archive file."""
    return _file_row(name, partial(_whole_blocks, content))


def _whole_blocks(content: Readable, size: int) -> bytes:
    """A block that is short only at the end, however little is given at a time."""
    block = content.read(size)
    while block and len(block) < size and (more := content.read(size - len(block))):
        block += more
    return block


def _file_row(name: str, read: Callable[[int], bytes]) -> Row:
    size, digest, first, metadata = _read(read)
    suffix = _suffix(name)
    starts = _STARTS.get(suffix)
    fits = None if starts is None or size == 0 else int(first.startswith(starts))
    ending = suffix.encode("utf-8", "replace").decode()
    puid = declared_pdfa(metadata) if metadata else None
    return (os.fsencode(name), "file", size, digest, ending, fits, int(bool(metadata)), None, puid)


def _suffix(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


def _read(read: Callable[[int], bytes]) -> tuple[int, bytes, bytes, bytes]:
    """Size, sha256, first bytes, and the metadata of PDF/A where they were met."""
    block = read(_CHUNK)
    first = block[:_FIRST]
    pdf = first.startswith(b"%PDF")
    if len(block) < _CHUNK:
        return len(block), hashlib.sha256(block).digest(), first, _metadata_in(block) if pdf else b""
    hasher = hashlib.sha256()
    size, metadata, tail = 0, b"", b""
    while block:
        hasher.update(block)
        size += len(block)
        if pdf and not metadata:
            metadata = _metadata_in(tail + block if tail else block)
            tail = block[-_METADATA:]
        block = read(_CHUNK)
    return size, hasher.digest(), first, metadata


def _metadata_in(block: bytes) -> bytes:
    """What stands around the first mark of PDF/A; nothing where there is none."""
    at = block.find(_CLAIM)
    return b"" if at < 0 else block[max(0, at - _METADATA) : at + _METADATA]
