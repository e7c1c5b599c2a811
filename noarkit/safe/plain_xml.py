"""Says what a parser would tell of a piece of XML, where that is certain without one.

Whoever takes something out of a document before a parser sees it asks here of its texts. There are several such readers
(the nodes of records, rows of the rules, cells of a table), each quicker than one for all: tags are their own matter.
"""

from __future__ import annotations

import re

# what is no character of XML becomes a space, so that a piece without it stays the very same object
_ALLOWED = bytes(byte if byte >= 0x20 or byte in b"\t\n\r" else 0x20 for byte in range(256))
_NONCHARACTERS = (b"\xef\xbf\xbe", b"\xef\xbf\xbf")
_OTHER_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")
_REFERENCES = (("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))


def has_only_characters(piece: bytes) -> bool:
    """True if nothing stands in a piece of UTF-8 that XML forbids."""
    return piece.translate(_ALLOWED) is piece and not (
        b"\xef" in piece and any(never in piece for never in _NONCHARACTERS)
    )


def plain_text(piece: bytes) -> str | None:
    """A piece with its line ends as a parser tells them, and references unresolved; None where only a parser can say.

    >>> plain_text(b"a &amp; b\\r\\n"), plain_text(b"&nbsp;"), plain_text(b"\\0")
    ('a &amp; b\\n', None, None)
    """
    if not has_only_characters(piece):
        return None
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return None if "&" in text and _OTHER_REFERENCE.search(text) else text


def resolve(text: str, less_than: str = "<") -> str:
    """A plain text with the five references of XML resolved; `less_than` is what `<` becomes.

    >>> resolve("&amp;lt; &lt;")
    '&lt; <'
    """
    text = text.replace("&lt;", less_than)
    for reference, sign in _REFERENCES:
        text = text.replace(reference, sign)
    return text
