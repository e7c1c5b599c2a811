"""What makes a place an E-ARK package: a METS of an E-ARK profile, or any METS with representations beside it."""

from __future__ import annotations

import re

from noarkit.forms.form_markers import FormEvidence, as_utf8, root_of

METS_NAMES = ("METS.xml", "mets.xml", "Mets.xml")
REPRESENTATIONS = re.compile(r"representations(?:/.*)?", re.DOTALL | re.IGNORECASE)
METS_OF_PART = re.compile(r"representations/[^/]+/mets\.xml", re.DOTALL | re.IGNORECASE)
PARTS_BESIDE = re.compile(r"(?:metadata|documentation|schemas)(?:/.*)?", re.DOTALL | re.IGNORECASE)

_METS_NAMESPACE = b"http://www.loc.gov/METS/"
# E-ARK packages name their profile, or the namespace of its attributes
_WORDS = (b"eark", b"e-ark", b"csip", b"dilcis")


def looks_like_eark(evidence: FormEvidence) -> bool:
    """A METS that names an E-ARK profile, or one of any kind with representations beside it."""
    head = next((evidence.heads[name] for name in METS_NAMES if name in evidence.heads), None)
    if head is None or REPRESENTATIONS in evidence.parts:
        return head is not None
    return names_eark(head)


def names_eark(head: bytes) -> bool:
    """True for the first bytes of a METS document that names an E-ARK profile."""
    text = as_utf8(head)
    return root_of(text) == "mets" and _METS_NAMESPACE in text and any(word in text.lower() for word in _WORDS)


def lacks_of_eark(evidence: FormEvidence) -> str:
    """The METS document of what can only be meant as a package: one that is no XML, or none at all above the parts
    that only a package has."""
    heads = [(name, evidence.heads[name]) for name in METS_NAMES if name in evidence.heads]
    if heads:
        return next((name for name, head in heads if not root_of(head)), "")
    is_meant = REPRESENTATIONS in evidence.parts and evidence.parts & {METS_OF_PART, PARTS_BESIDE}
    return METS_NAMES[0] if is_meant else ""
