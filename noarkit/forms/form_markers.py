"""What makes a place a package of a form: a mark file that is what it should be, or one with the parts of its form
beside it. A name alone proves nothing: books have a METS.xml, and a stray bagit.txt makes no bag.

Each form is judged by what was seen of a place: parts of it near the top, and the first bytes of its marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Form = Literal["noark5", "eark", "dias", "bagit", "siard", "plain"]

METS_NAMESPACE = b"http://www.loc.gov/METS/"
HEAD_BYTES = 16_384
"""How much of a mark is looked at: its root element with all that it declares."""

# E-ARK packages name their profile, or the namespace of its attributes
_EARK_WORDS = (b"eark", b"e-ark", b"csip", b"dilcis")
_METS_NAMES = ("METS.xml", "mets.xml", "Mets.xml")
# what stands beside the marks of a form: its kind, and the names that show it
_PARTS: Mapping[str, re.Pattern[str]] = {
    "payload": re.compile(r"manifest-\w+\.txt|data(?:/.*)?", re.DOTALL),
    "representations": re.compile(r"representations(?:/.*)?", re.DOTALL | re.IGNORECASE),
    "content": re.compile(r"content(?:/.*)?", re.DOTALL),
    "documents": re.compile(r"(?:content/)?(?:dokument(?:er)?(?:/.*)?|arkivstruktur\.xsd)", re.DOTALL | re.IGNORECASE),
}
# a processing instruction, a comment or a DOCTYPE goes before the root element
_BEFORE_ROOT = re.compile(rb"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)*", re.DOTALL)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)")


@dataclass(slots=True)
class FormEvidence:
    """What was seen of a place: which parts of a form, and the first bytes of its marks."""

    parts: set[str] = field(default_factory=set)
    heads: dict[str, bytes] = field(default_factory=dict)

    def note(self, name: str, head: Callable[[], bytes] | None = None) -> None:
        """A file or folder more; `head` is asked for the first bytes of a mark."""
        self.parts.update(part for part, names in _PARTS.items() if names.fullmatch(name))
        if head is not None and name in MARKER_FILES:
            self.heads[name] = head()


def root_of(head: bytes) -> str:
    """The name of the root element of an XML document, without its prefix; empty where there is none."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = text.decode("utf-16", "replace").encode()
    before = _BEFORE_ROOT.match(text)
    match = _ROOT.match(text, before.end() if before else 0)
    return match[1].decode("ascii", "replace") if match else ""


def is_bag(evidence: FormEvidence) -> bool:
    """A declaration, and a payload or a manifest: without both nothing says which files the bag has."""
    return "bagit.txt" in evidence.heads and "payload" in evidence.parts


def is_dias(evidence: FormEvidence) -> bool:
    """A DIAS METS, or a file of that name with the folder it describes."""
    head = evidence.heads.get("dias-mets.xml")
    return head is not None and (root_of(head) == "mets" or "content" in evidence.parts)


def is_eark(evidence: FormEvidence) -> bool:
    """A METS that names an E-ARK profile, or one of any kind with representations beside it."""
    head = next((evidence.heads[name] for name in _METS_NAMES if name in evidence.heads), None)
    if head is None or "representations" in evidence.parts:
        return head is not None
    return names_eark(head)


def names_eark(head: bytes) -> bool:
    """True for the first bytes of a METS document that names an E-ARK profile."""
    lowered = head.lower()
    return root_of(head) == "mets" and METS_NAMESPACE in head and any(word in lowered for word in _EARK_WORDS)


def head_of(path: Path) -> bytes:
    """The first bytes of a mark; none where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""  # it is told by who reads it


def is_siard(evidence: FormEvidence) -> bool:
    """A header of SIARD's own, or one of that name with content beside it."""
    head = evidence.heads.get("header/metadata.xml")
    return head is not None and (root_of(head) == "siardArchive" or "content" in evidence.parts)


def is_noark5(evidence: FormEvidence) -> bool:
    """An extract's own documents by their root elements, or by their names with its other parts beside them."""
    for above in ("", "content/"):
        description, structure = (
            evidence.heads.get(f"{above}arkivuttrekk.xml"),
            evidence.heads.get(f"{above}arkivstruktur.xml"),
        )
        if description is not None and (structure is not None or root_of(description) == "addml"):
            return True
        if structure is not None and (root_of(structure) == "arkiv" or "documents" in evidence.parts):
            return True
    return False


def match_form(evidence: FormEvidence, forms: Iterable[Form]) -> Form | None:
    """The first of these forms that a place has."""
    return next((form for form in forms if _CHECKS[form](evidence)), None)


_CHECKS: Mapping[Form, Callable[[FormEvidence], bool]] = {
    "bagit": is_bag,
    "dias": is_dias,
    "eark": is_eark,
    "siard": is_siard,
    "noark5": is_noark5,
}
MARKER_FILES = frozenset(
    {
        *("bagit.txt", "dias-mets.xml", *_METS_NAMES, "header/metadata.xml"),
        *("arkivuttrekk.xml", "arkivstruktur.xml", "content/arkivuttrekk.xml", "content/arkivstruktur.xml"),
    }
)
"""The files by which a form can be known, in the folder that is its root."""
