"""Whether bytes are what was stated of them: the one comparison of a content with its checksums and its size.

Bytes are hashed while they pass, each algorithm once, whoever states it. A size counts where nothing better is stated:
registers round sizes and count them in units of their own, while a checksum that agrees leaves no doubt.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.errors import ChecksumDiffers
from noarkit.safe.digest import BLOCK_BYTES, Readable

if TYPE_CHECKING:
    from hashlib import _Hash

BY_PLAN, BY_ARCHIVE, BY_PACKAGE, BY_EXTRACT = "by-plan", "by-archive", "by-package", "by-extract"
BY_METS, BY_MANIFEST, BY_SIARD, BY_BUNDLE, BY_COPIES = "by-mets", "by-manifest", "by-siard", "by-bundle", "by-copies"
BY_CATALOGUE = "by-catalogue"
"""Who states something of bytes; sentences are in `words/`, under these names."""
SHA256 = "sha256"


@dataclass(frozen=True, slots=True)
class Fixity:
    """What somebody states of bytes: a checksum by an algorithm that hashlib knows, in hexadecimal or Base64, a size,
    or both. `by` says who."""

    algorithm: str = ""
    digest: str = ""
    size_bytes: int | None = None
    by: str = ""

    @property
    def has_checksum(self) -> bool:
        """True if it states a checksum that can be computed here."""
        return bool(self.digest.strip()) and self.algorithm in hashlib.algorithms_available


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that bytes are not: what was stated, and what was measured (a checksum, or a size as digits)."""

    statement: Fixity
    measured: str

    @property
    def expected(self) -> str:
        """What was stated, as `measured` is written."""
        return self.statement.digest.strip() if self.statement.has_checksum else str(self.statement.size_bytes)


def algorithm_of(name: str) -> str:
    """What hashlib calls an algorithm that others write as `SHA-256` or `sha 256`; empty for one not known here."""
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    return plain if plain in hashlib.algorithms_available else ""


def sha256_stated(sha256: str | None, by: str) -> tuple[Fixity, ...]:
    """The statement of a SHA-256; none where there is no checksum."""
    return (Fixity(SHA256, sha256, by=by),) if sha256 else ()


def differences(
    statements: Iterable[Fixity], digests: Mapping[str, str], size_bytes: int | None
) -> tuple[Difference, ...]:
    """What is stated and was measured otherwise. `digests` are hexadecimal, by algorithm; what was not measured cannot
    differ."""
    return tuple(_differences(statements, digests, size_bytes))


def _differences(
    statements: Iterable[Fixity], digests: Mapping[str, str], size_bytes: int | None
) -> Iterator[Difference]:
    for statement in statements:
        if statement.has_checksum:
            measured = digests.get(statement.algorithm)
            if measured is not None and not is_same_digest(statement.digest, measured):
                yield Difference(statement, measured)
        elif None not in (statement.size_bytes, size_bytes) and statement.size_bytes != size_bytes:
            yield Difference(statement, str(size_bytes))


def refuse_differences(found_differences: Iterable[Difference], key: str) -> None:
    """Raises `ChecksumDiffers` for the first difference."""
    for difference in found_differences:
        raise ChecksumDiffers(
            key=key, ours=difference.measured, theirs=difference.expected, detail=difference.statement.by or BY_PACKAGE
        )


class CheckedStream:
    """Bytes that are compared with what is stated of them while they are read. Ask `differences` after the last one."""

    def __init__(
        self, source: Readable, statements: tuple[Fixity, ...], untouched: Callable[[], bool], algorithms: Iterable[str]
    ) -> None:
        self.source = source
        self.statements = statements
        self.untouched = untouched
        self.size_bytes = 0
        self._hashes: dict[str, _Hash] = {name: hashlib.new(name, usedforsecurity=False) for name in algorithms}

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes."""
        block = self.source.read(size)
        for digest in self._hashes.values():
            digest.update(block)
        self.size_bytes += len(block)
        return block

    def __iter__(self) -> Iterator[bytes]:
        """What is left, in blocks."""
        while block := self.read(BLOCK_BYTES):
            yield block

    def read_through(self) -> CheckedStream:
        """Reads what is left, and keeps none of it."""
        for _ in self:
            pass
        return self

    @property
    def sha256(self) -> str:
        """The SHA-256 of what was read so far, where that is computed; else empty."""
        digest = self._hashes.get(SHA256)
        return "" if digest is None else digest.hexdigest()

    def differences(self) -> tuple[Difference, ...]:
        """What is stated otherwise. Good after the last byte."""
        digests = {name: digest.hexdigest() for name, digest in self._hashes.items()}
        return differences(self.statements, digests, self.size_bytes)

    def still_the_same(self) -> bool:
        """True if nobody touched the place meanwhile, and the bytes are what is stated of them."""
        return self.untouched() and not self.differences()


def checked(
    stream: Readable, *statements: Fixity, untouched: Callable[[], bool] | None = None, sha256: bool = False
) -> CheckedStream:
    """A stream whose bytes are compared with each of these statements, and with those that it bears already.

    `untouched` says whether the place is as it was; without it the stream's own `still_the_same` does. With `sha256`
    that is computed in any case.
    """
    if isinstance(stream, CheckedStream):  # nothing is hashed twice
        statements = _each_once((*stream.statements, *statements))
        sha256 = sha256 or bool(stream.sha256)
        untouched = untouched or stream.untouched
        stream = stream.source
    algorithms = {statement.algorithm for statement in statements if statement.has_checksum}
    if sha256:
        algorithms.add(SHA256)
    if untouched is None:
        untouched = getattr(stream, "still_the_same", None) or _always
    return CheckedStream(stream, statements, untouched, algorithms)


def differences_of_file(path: Path, *statements: Fixity) -> tuple[Difference, ...]:
    """What is stated of a file of ours and is not so; the file is read once."""
    with path.open("rb") as file:
        return checked(file, *statements).read_through().differences()


def _each_once(statements: Iterable[Fixity]) -> tuple[Fixity, ...]:
    """What several state alike counts as the statement of the first."""
    first: dict[tuple[str, str, int | None], Fixity] = {}
    for statement in statements:
        first.setdefault((statement.algorithm, statement.digest.strip().lower(), statement.size_bytes), statement)
    return tuple(first.values())


def _always() -> bool:
    return True


def is_same_digest(text: str, measured: str) -> bool:
    """True if a checksum as somebody wrote it, in hexadecimal or Base64, is the one that was measured."""
    spelt = text.strip()
    if spelt.lower() == measured:
        return True
    try:
        return base64.b64decode(spelt, validate=True) == bytes.fromhex(measured)
    except (binascii.Error, ValueError):
        return False
