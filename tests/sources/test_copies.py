"""Files that hold the same are found, whatever they are called, and no more is read than that takes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from noarkit.errors import ItemUnreadable
from noarkit.graph.entity import Content
from noarkit.sources.scan import HEAD_BYTES, Copied, Copies


class _Stream(io.BytesIO):
    def still_the_same(self) -> bool:
        """Nobody changes it."""
        return True


class Held:
    """Files in memory, and which of them were opened."""

    def __init__(self, **files: bytes) -> None:
        self.files = files
        self.opened: list[str] = []

    @contextmanager
    def open(self, content: Content) -> Iterator[_Stream]:
        """One of them; `locked` cannot be read."""
        self.opened.append(content.locator)
        if content.locator == "locked":
            raise ItemUnreadable(key=content.locator, why="EACCES")
        yield _Stream(self.files[content.locator])

    def compared(self, most_bytes: int = 1 << 40) -> Copied:
        """What is found among them."""
        with closing(Copies()) as copies:
            for name, data in self.files.items():
                copies.add(Content(name, name, len(data)))
            return copies.compare(self.open, most_bytes)


LARGE = b"x" * HEAD_BYTES


def test_copies_are_counted_beside_the_first_of_each() -> None:
    held = Held(a=b"one", b=b"one", c=b"two", d=b"one", e=b"alone", f=b"", g=b"")
    assert held.compared() == Copied(contents=1, files=2, bytes=6)
    assert set(held.opened) == {"a", "b", "c", "d"}, "a size of its own needs no look"


def test_large_files_are_read_whole_only_where_they_begin_alike() -> None:
    held = Held(a=LARGE + b"1", b=LARGE + b"1", c=LARGE + b"2", d=b"y" * (HEAD_BYTES + 1))
    assert held.compared() == Copied(contents=1, files=1, bytes=HEAD_BYTES + 1)
    assert sorted(held.opened) == ["a", "a", "b", "b", "c", "c", "d"]


@pytest.mark.parametrize("most", [0, HEAD_BYTES])
def test_what_is_too_much_to_read_is_told(most: int) -> None:
    assert Held(a=LARGE + b"1", b=LARGE + b"1").compared(most) == Copied(not_compared=2)


def test_what_cannot_be_read_is_told() -> None:
    assert Held(a=b"one", locked=b"one").compared() == Copied(not_compared=1)
