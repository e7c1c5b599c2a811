"""A viewer over bytes in memory, and the pieces of a view that tests look at."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lxml import html

from noarkit.reading_room.viewers.pages import ViewAddresses, render_view
from noarkit.reading_room.viewers.port import DocumentSource, View

CONTENT = "http://127.0.0.1:9/content/"
ADDRESSES = ViewAddresses("/document/x", CONTENT)


class Bytes(io.BytesIO):
    """Bytes as a place opens them."""

    def still_the_same(self) -> bool:
        """They are."""
        return True


def source_of(content: bytes, name: str = "", stated_type: str = "") -> DocumentSource:
    """A document of these bytes."""

    @contextmanager
    def opened() -> Iterator[Bytes]:
        yield Bytes(content)

    return DocumentSource(f"{name}-{hashlib.sha256(content).hexdigest()}", opened, name, stated_type)


class Blocks:
    """Blocks of bytes as a place opens them, none of them held together."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)

    def read(self, size: int = -1, /) -> bytes:
        """The next block, whatever is asked for."""
        del size
        return next(self._blocks, b"")

    def still_the_same(self) -> bool:
        """They are."""
        return True


def source_of_blocks(name: str, blocks: Iterable[bytes]) -> DocumentSource:
    """A document of these blocks, known by its name."""

    @contextmanager
    def opened() -> Iterator[Blocks]:
        yield Blocks(blocks)

    return DocumentSource(name, opened, name)


def page_of(view: View, lang: str = "en") -> html.HtmlElement:
    """The view as HTML, read by a parser that is not ours."""
    return html.fromstring(str(render_view(view, lang, ADDRESSES)))


def codes_of(view: View) -> list[str]:
    """What is told of a document."""
    return [note.code for note in view.notes]


def text_of_page(view: View) -> str:
    """What a person reads."""
    return str(page_of(view).text_content())
