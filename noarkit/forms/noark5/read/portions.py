"""Cuts an arkivstruktur.xml into portions that can be parsed side by side, and numbers its archive units on the way.

Only the tags of units are looked at, as bytes. A document in which that could mislead (comments, CDATA, another
encoding than UTF-8) is not cut; whoever parses a portion counts its units, and finds others where one was no unit.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from noarkit.safe import xml
from noarkit.safe.descriptors import forget_pages
from noarkit.safe.xml_portions import MAX_BYTES

PORTION_BYTES = 512 * 1024
_KINDS = rb"(?:arkiv|arkivdel|klassifikasjonssystem|klasse|mappe|registrering)(?=[\s>/])"
_ROOT = re.compile(rb"<((?:[\w.-]+:)?)arkiv(?=[\s>/])")
_ENCODING = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)[\"']")
_MISLEADING = (b"<!", b"<?")
_DEEPEST = 100
_PROLOGUE_BYTES = 64 * 1024
_WINDOW_BYTES = 16 * 1024 * 1024


class OpenUnit(NamedTuple):
    """A unit that has begun before a portion: its number, where it begins and where its first unit does, and how many
    units stand in it by then."""

    number: int
    start: int
    head_end: int
    children: int


class Portion(NamedTuple):
    """Some bytes of a structure: where they begin and end, the number of the last unit before them and of the last one
    in them, the units that are open before them, and the names and numbers of those that are open behind them."""

    start: int
    end: int
    before: int
    last: int
    open_units: tuple[OpenUnit, ...]
    left_open: tuple[tuple[bytes, int], ...]


class CannotCut(Exception):
    """A structure that must be read as a stream."""


@dataclass(slots=True)
class _Frame:
    name: bytes
    number: int
    start: int
    head_end: int = -1
    children: int = 0


def cut(structure: Path, portion_bytes: int = PORTION_BYTES) -> Iterator[Portion]:
    """The portions of a structure in order. Raises `CannotCut`; `PackageFault` and `UnsafeXml` for what no reader of
    XML should take."""
    for _ in xml.stream(structure, ("start",)):
        break  # the prologue was judged
    with structure.open("rb") as file:
        # not closed, but let go with the last match in it: as long as there is one, it would not close
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        root = _find_root(content)
        # of other prefixes than that of the root none is looked for, which is much quicker
        tags = re.compile(rb"<(/?)(" + re.escape(root[1]) + _KINDS + rb")[^<>]*>")
        yield from _portions(content, tags.finditer(content, root.start()), portion_bytes)


def _find_root(content: mmap.mmap) -> re.Match[bytes]:
    """The root of a document that can be cut: its first tag, with its prefix as the first group."""
    root = _ROOT.search(content, 0, _PROLOGUE_BYTES)
    if root is None:
        raise CannotCut
    encoding = _ENCODING.match(content, content.find(b"<"))
    is_utf_8 = content[:2] not in (b"\xff\xfe", b"\xfe\xff") and (
        encoding is None or encoding[1].lower() in (b"utf-8", b"utf8", b"us-ascii")
    )
    if not is_utf_8 or _misleads(content, root.start()):
        raise CannotCut
    return root


def _misleads(content: mmap.mmap, start: int) -> bool:
    """True if signs stand there of what only a parser can tell."""
    for begin in range(start, len(content), _WINDOW_BYTES):
        if any(content.find(sign, begin, begin + _WINDOW_BYTES + 1) >= 0 for sign in _MISLEADING):
            return True
        _let_go(content, begin)
    return False


def _let_go(content: mmap.mmap, end: int) -> None:
    """Takes what was read out of the memory of this process: it is the system's to keep."""
    forget_pages(content, end)


def _portions(content: mmap.mmap, tags: Iterator[re.Match[bytes]], portion_bytes: int) -> Iterator[Portion]:
    number = before = 0
    start = at = -1
    frames: list[_Frame] = []
    open_before: tuple[OpenUnit, ...] = ()
    for match in tags:
        previous, at = at, match.end()
        if not match[1]:
            if frames and previous == start and content[start : match.start()].strip():
                raise CannotCut  # a field among units: it would be in no portion that its unit ends in
            number += 1
            start = match.start() if start < 0 else start
            _begin(frames, _Frame(match[2], number, match.start()))
            if match[0].endswith(b"/>"):
                frames.pop()
            continue
        if not frames or frames[-1].name != match[2]:
            raise CannotCut
        frames.pop()
        end = match.end()
        if end - start >= portion_bytes or not frames:
            if end - start > MAX_BYTES:
                raise CannotCut
            if end // _WINDOW_BYTES != start // _WINDOW_BYTES:
                _let_go(content, start)
            yield Portion(
                start, end, before, number, open_before, tuple((frame.name, frame.number) for frame in frames)
            )
            start, before = end, number
            open_before = tuple(OpenUnit(frame.number, frame.start, frame.head_end, frame.children) for frame in frames)
            if not frames:
                break
    if frames or content[start:].strip():
        raise CannotCut


def _begin(frames: list[_Frame], frame: _Frame) -> None:
    """A unit begins in the innermost one that is open."""
    if frames:
        above = frames[-1]
        above.children += 1
        if above.head_end < 0:
            above.head_end = frame.start
    if len(frames) >= _DEEPEST:
        raise CannotCut
    frames.append(frame)
