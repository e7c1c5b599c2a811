"""Escapes text for XML that is written piece by piece; characters that XML forbids become U+FFFD."""

from __future__ import annotations

import re

_REPLACEMENT = "\ufffd"
_IN_TEXT = re.compile(r"[&<>\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_IN_ATTRIBUTE = re.compile(r"[&<>\"\x00-\x1f\ud800-\udfff\ufffe\uffff]")
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def escape_text(value: str) -> str:
    """A text between tags; line ends and tabs stay as they are.

    >>> escape_text("a & b\\x01")
    'a &amp; b\ufffd'
    """
    return _IN_TEXT.sub(_escaped, value) if _IN_TEXT.search(value) else value


def escape_attribute(value: str) -> str:
    """A text in quotation marks, or between tags where line ends must survive any reader.

    >>> escape_attribute('"a"\\n')
    '&quot;a&quot;&#10;'
    """
    return _IN_ATTRIBUTE.sub(_escaped, value) if _IN_ATTRIBUTE.search(value) else value


def _escaped(match: re.Match[str]) -> str:
    return _NAMED.get(match.group(), _REPLACEMENT)
