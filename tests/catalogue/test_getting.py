"""A document is handed out whole and as it is known, or not at all."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import noarkit
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.port import Document, Item, PlaceIdentity
from noarkit.errors import ChecksumDiffers, ItemChanged, ItemUnreadable, NoarkitError, UsageFault
from noarkit.events import Listener
from noarkit.records import ContentStream
from tests.catalogue.looking import catalogued

CONTENT = b"x" * 3_000_000


class _Stream(io.BytesIO):
    def __init__(self, content: bytes, *, same: bool, breaks: bool) -> None:
        super().__init__(content)
        self._same = same
        self._breaks = breaks

    def read(self, size: int | None = -1, /) -> bytes:
        """The bytes, until it breaks off."""
        if self._breaks and self.tell() >= 1_000_000:
            raise ItemUnreadable(key="d", why="EIO")
        return super().read(size)

    def still_the_same(self) -> bool:
        """Whether somebody wrote to it meanwhile."""
        return self._same


class Shelf:
    """A place with one letter, whose bytes come as each test wants them."""

    identity = PlaceIdentity("files", "shelf", "/shelf", "1")

    def __init__(self, sha256: str = "", *, same: bool = True, breaks: bool = False) -> None:
        self._sha256 = sha256
        self._same = same
        self._breaks = breaks

    def items(self, emit: Listener) -> Iterator[Item]:
        """The letter, and a folder without one."""
        yield Item("l", None, "file", "letter", documents=(Document("d", sha256=self._sha256, locator="l"),))
        yield Item("f", None, "folder", "folder", documents=(Document("e"),))

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        """Opens it."""
        yield _Stream(CONTENT, same=self._same, breaks=self._breaks)

    def close(self) -> None:
        """Nothing is held open."""


@pytest.mark.parametrize(
    ("shelf", "fault"),
    [
        (Shelf("ab" * 32), ChecksumDiffers),
        (Shelf(same=False), ItemChanged),
        (Shelf(breaks=True), ItemUnreadable),
    ],
)
def test_what_is_not_as_it_was_leaves_no_file(shelf: Shelf, fault: type[NoarkitError], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with catalogued(shelf, tmp_path) as catalogue, pytest.raises(fault):
        noarkit.get(catalogue, "l", tmp_path / "out" / "letter")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_document_with_its_checksum_is_written_and_said_to_be_checked(tmp_path: Path) -> None:
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    with catalogued(Shelf(sha256.upper()), tmp_path) as catalogue:
        fetched = noarkit.get(catalogue, "l", tmp_path / "letter")
    assert (tmp_path / "letter").read_bytes() == CONTENT
    assert (fetched.is_checked, fetched.sha256, fetched.size_bytes) == (True, sha256, len(CONTENT))


@pytest.mark.parametrize(("name", "what"), [("f", "no-document"), ("e", "no-document"), ("nothing", "no-such-item")])
def test_what_has_no_file_is_told(name: str, what: str, tmp_path: Path) -> None:
    with catalogued(Shelf(), tmp_path) as catalogue, pytest.raises(UsageFault) as told:
        noarkit.get(catalogue, name, tmp_path / "letter")
    assert told.value.data["what"] == what


def test_a_catalogue_that_was_given_stays_open(tmp_path: Path) -> None:
    with catalogued(Shelf(), tmp_path) as catalogue:
        assert isinstance(catalogue, Catalogue)
        assert [len(list(noarkit.ls(catalogue))) for _ in range(2)] == [2, 2]
