"""Hashes taken while bytes pass are the hashes of the bytes."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

from noarkit.safe.digest import HashingReader, copy_hashing, hash_of, sha256_of, sha256_of_stream

CONTENT = bytes(range(256)) * 9000


def test_the_hash_of_a_file_is_the_hash_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(CONTENT)
    assert sha256_of(path) == hashlib.sha256(CONTENT).hexdigest()
    assert hash_of(path, "md5") == hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()


def test_a_reader_hashes_what_passed_so_far() -> None:
    reader = HashingReader(io.BytesIO(CONTENT))
    assert reader.read(10) == CONTENT[:10]
    assert reader.hexdigest() == hashlib.sha256(CONTENT[:10]).hexdigest()
    assert b"".join(reader) == CONTENT[10:]
    assert (reader.hexdigest(), reader.size_bytes) == (hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


def test_a_copy_is_whole_and_knows_its_hash_and_size() -> None:
    target = io.BytesIO()
    digest = copy_hashing(io.BytesIO(CONTENT), target)
    assert target.getvalue() == CONTENT
    assert (digest.sha256, digest.size_bytes) == (hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


def test_an_empty_stream_has_the_hash_of_nothing() -> None:
    assert copy_hashing(io.BytesIO(), io.BytesIO()).sha256 == hashlib.sha256().hexdigest()


def test_what_is_left_of_a_stream_is_hashed() -> None:
    stream = io.BytesIO(CONTENT)
    stream.read(7)
    assert sha256_of_stream(stream) == hashlib.sha256(CONTENT[7:]).hexdigest()
