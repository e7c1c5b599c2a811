"""What stands in the way of using a file, told by its first and last bytes: a password, an end that is missing, the
test file of virus scanners. Old office files are told apart by what their container holds.

A handful of reads at fixed places, whatever the file's size. What is told is a note; the file is taken all the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from noarkit.documents import outlook
from noarkit.graph.entity import Note
from noarkit.safe.descriptors import read_at
from noarkit.sources.files import policy

_TAIL_BYTES = 66 * 1024  # the end of a zip file, with the longest comment it may have
_LARGEST_CONTAINER = 256 * 1024 * 1024
_OF_CONTAINER = {
    "WordDocument": "application/msword",
    "Workbook": "application/vnd.ms-excel",
    "Book": "application/vnd.ms-excel",
    "PowerPoint Document": "application/vnd.ms-powerpoint",
    "VisioDocument": "application/vnd.visio",
    "__properties_version1.0": outlook.MEDIA_TYPE,
}
_LOCKED = ("EncryptedPackage", "EncryptedSummary")
_TEST_FILE_BYTES = 68
_TEST_FILE = "275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f"  # its sha256: the bytes alarm scanners


def conditions(descriptor: int, size: int, head: bytes) -> tuple[str | None, tuple[Note, ...]]:
    """A media type better than the first bytes tell, if there is one, and what stands in the way."""
    if head.startswith(outlook.SIGNATURE):
        return _container(descriptor, size)
    return None, tuple(_notes(descriptor, size, head))


def _container(descriptor: int, size: int) -> tuple[str | None, tuple[Note, ...]]:
    if size > _LARGEST_CONTAINER:
        return None, ()
    with os.fdopen(os.dup(descriptor), "rb") as file:
        names = outlook.streams_in(file)
    os.lseek(descriptor, 0, os.SEEK_SET)  # the copy shares its place with the one that is read next
    if names is None:
        return None, (policy.DAMAGED,)
    kind = next((_OF_CONTAINER[name] for name in _OF_CONTAINER if name in names), None)
    return kind, (policy.LOCKED,) if any(name in names for name in _LOCKED) else ()


def _notes(descriptor: int, size: int, head: bytes) -> Iterator[Note]:
    if head.startswith(b"%PDF-"):
        tail = _tail(descriptor, size)
        if b"%%EOF" not in tail:
            yield policy.DAMAGED
        elif b"/Encrypt" in tail or b"/Encrypt" in head:
            yield policy.LOCKED
    elif head.startswith(b"PK\x03\x04"):
        if b"PK\x05\x06" not in _tail(descriptor, size):
            yield policy.DAMAGED
        elif head[6:7] and head[6] & 1:
            yield policy.LOCKED
    elif _TEST_FILE_BYTES <= size <= _TEST_FILE_BYTES + 60 and _is_test_file(head):
        yield policy.VIRUS_TEST


def _is_test_file(head: bytes) -> bool:
    test_bytes = head[:_TEST_FILE_BYTES]
    return not head[_TEST_FILE_BYTES:].strip() and hashlib.sha256(test_bytes).hexdigest() == _TEST_FILE


def _tail(descriptor: int, size: int) -> bytes:
    return read_at(descriptor, _TAIL_BYTES, max(size - _TAIL_BYTES, 0))
