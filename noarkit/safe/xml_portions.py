"""A door for XML that is parsed portion by portion, each whole, which is quicker than any stream of calls.

Whoever cuts a document knows which elements are open at either end, and closes them. A portion stands within an element
of ours, so that a document type in it is malformed, and no entity can be declared.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, ParseError, XMLParser

from noarkit.errors import PackageFault

MAX_BYTES = 64 * 1024 * 1024
"""No portion may be longer: it is held in memory as a tree."""


def parse_portion(pieces: Iterable[bytes], where: str) -> Element:
    """The element of ours around these pieces of UTF-8. Raises `PackageFault` where they are not well-formed."""
    parser = XMLParser(encoding="utf-8")  # noqa: S314  # nothing can be declared where an element is open
    try:
        parser.feed(b"<portion>")
        for piece in pieces:
            parser.feed(piece)
        parser.feed(b"</portion>")
        root: Element = parser.close()
    except (ParseError, ValueError, LookupError) as error:
        raise PackageFault(where=where, why="malformed-xml", detail=str(error)) from error
    return root
