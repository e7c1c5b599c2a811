"""Small pieces of XML, written as text: signs that XML cannot hold become U+FFFD, and nothing else is changed."""

from __future__ import annotations

import re
from collections.abc import Mapping

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_VALUE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
)


def text(value: str) -> str:
    """A text between tags."""
    return _FORBIDDEN.sub("\ufffd", value).translate(_TEXT)


def attributes(values: Mapping[str, str]) -> str:
    """Attributes that have a value, each after a blank."""
    return "".join(f' {name}="{quoted(value)}"' for name, value in values.items() if value)


def quoted(value: str) -> str:
    """A text inside quotation marks."""
    return _FORBIDDEN.sub("\ufffd", value).translate(_VALUE)


def element(name: str, value: str, **values: str) -> str:
    """An element that holds a text."""
    return f"<{name}{attributes(values)}>{text(value)}</{name}>\n"
