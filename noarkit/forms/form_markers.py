"""What is seen of a place that is asked which form it has: parts of it near the top, and the first bytes of its marks.

A mark is a file by which a form can be known. A name alone proves nothing: books have a METS.xml, and a stray bagit.txt
makes no bag, so each form judges the evidence itself (`PackageForm.looks_like`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HEAD_BYTES = 16_384
"""How much of a mark is looked at: its root element with all that it declares."""

# a processing instruction, a comment or a DOCTYPE goes before the root element
_BEFORE_ROOT = re.compile(rb"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)*", re.DOTALL)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)")


@dataclass(slots=True)
class FormEvidence:
    """What was seen of a place. `marker_files` and `patterns` are what the forms look for; `parts` holds the patterns
    that some name there matched, and `heads` the first bytes of its marks."""

    marker_files: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    parts: set[re.Pattern[str]] = field(default_factory=set)
    heads: dict[str, bytes] = field(default_factory=dict)

    def note(self, name: str, head: Callable[[], bytes] | None = None) -> None:
        """A file or folder more; `head` is asked for the first bytes of a mark."""
        self.parts.update(pattern for pattern in self.patterns if pattern.fullmatch(name))
        if head is not None and name in self.marker_files:
            self.heads[name] = head()


def root_of(head: bytes) -> str:
    """The name of the root element of an XML document, without its prefix; empty if there is none."""
    text = as_utf8(head)
    before = _BEFORE_ROOT.match(text)
    match = _ROOT.match(text, before.end() if before else 0)
    return match[1].decode("ascii", "replace") if match else ""


def as_utf8(head: bytes) -> bytes:
    """The first bytes of an XML document in UTF-8, where they were in UTF-16."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    return text.decode("utf-16", "replace").encode() if text[:2] in (b"\xff\xfe", b"\xfe\xff") else text


def head_of(path: Path) -> bytes:
    """The first bytes of a mark; none where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""  # it is told by who reads it
