r"""Texts in SIARD's XML: what XML cannot hold stands as `\u00xx`, and so does the backslash itself.

`text_of(escaped(text)) == text` for every text, unpaired surrogates and NUL included. Spaces that follow a space are
escaped too, since readers may fold them; a carriage return, since XML turns it into a line feed.
"""

from __future__ import annotations

import re

SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\\&<>\x7f-\x9f\ud800-\udfff\ufffe\uffff]|(?<= ) ")
"""What no cell may hold as it is. One search over many cells at once tells whether any of them needs care."""

_SIGNS = re.compile(r"[\x00-\x08\x0b-\x1f\\&<>\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_ASCII_SIGNS = re.compile(r"[\x00-\x08\x0b-\x1f\\&<>\x7f]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_HIGH_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")
_NO_CONTROLS = bytes(0x20 if (byte < 0x20 and byte not in b"\t\n") or byte == 0x7F else byte for byte in range(256))
_MORE_SPACES = re.compile(r"(?<= ) ")

_QUOTES = re.compile(r'["\t\n]')
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def needs_care(text: str) -> bool:
    """True if anything in the text must be escaped: the same question as `SPECIAL`, quicker for a long text."""
    signs = _ASCII_SIGNS if text.isascii() else _SIGNS
    return "  " in text or signs.search(text) is not None


def escaped(text: str) -> str:
    """The text as it stands in an element."""
    return SPECIAL.sub(_escape, text)


def escaped_but_backslashes(content: bytes) -> str:
    """The same of many texts in UTF-8 at once, quicker; backslashes stay as they are."""
    text = content.decode().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # bytes in which nothing is translated are the very same object
    if content.translate(_NO_CONTROLS) is not content or b"\xef\xbf" in content or _HIGH_CONTROLS.search(content):
        text = _CONTROLS.sub(_escape, text)
    return _MORE_SPACES.sub(_escape, text) if "  " in text else text


def escaped_attribute(text: str) -> str:
    """The text as it stands between double quotes."""
    return _QUOTES.sub(lambda found: f"&#{ord(found[0])};", escaped(text))


def text_of(escaped_text: str) -> str:
    """The text that was escaped; a backslash that begins no escape is itself."""
    return _ESCAPED.sub(_unescape, escaped_text) if "\\" in escaped_text else escaped_text


def _escape(match: re.Match[str]) -> str:
    sign = match[0]
    return _ENTITIES.get(sign) or f"\\u{ord(sign):04x}"


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))
