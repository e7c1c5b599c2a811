"""The pictures of Rich Text Format: groups of hexadecimal digits, or of bytes whose number is stated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from noarkit.documents.contents import Contents
from noarkit.documents.rtf import refuse_deep, rtf_content

_PICTURE = re.compile(rb"\\pict(?![a-zA-Z])")
_SECOND_FORM = re.compile(rb"\{\s*\\nonshppict\s*\{?\s*\Z")
_HEAD = re.compile(rb"(?:\\\*|\\[a-zA-Z]{1,32}-?\d{0,10} ?|\{[^{}]{0,2000}\}|[\s{}])*")
_BINARY = re.compile(rb"\\bin(\d{1,9}) \Z")
_DIGITS = re.compile(rb"[0-9a-fA-F\s]*")
_LINK = re.compile(rb"""\\fldinst\b[^{}\\]{0,40}(?:\{[^{}]{0,40})?\s?HYPERLINK\s{0,20}"([^"]{1,2000})\"""")
_BEFORE = 64


def rtf_contents(path: Path) -> Contents:
    """What an RTF document holds. Raises `DocumentRefused`."""
    content = rtf_content(path)
    refuse_deep(content)
    contents = Contents(uncounted=("equations",) if b"\\mmath" in content else ())
    for number, picture in enumerate(_pictures(content), start=1):
        contents.add_picture(f"\\pict {number}", picture)
    for match in _LINK.finditer(content):
        contents.add("links", match[1].decode("latin-1"))
    return contents


def _pictures(content: bytes) -> Iterator[bytes]:
    """The bytes of each picture; not those of its second form for older programs."""
    for match in _PICTURE.finditer(content):
        if _SECOND_FORM.search(content, max(0, match.start() - _BEFORE), match.start()):
            continue
        head = _HEAD.match(content, match.end())
        place = head.end() if head else match.end()
        binary = _BINARY.search(content, match.end(), place)
        if binary:
            yield content[place : place + int(binary[1])]
            continue
        digits = _DIGITS.match(content, place)
        text = b"".join(digits[0].split()) if digits else b""
        yield bytes.fromhex(text[: len(text) // 2 * 2].decode())
