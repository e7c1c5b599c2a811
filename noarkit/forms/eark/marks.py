"""What makes a place an E-ARK package: a METS of an E-ARK profile, or any METS with representations beside it."""

from __future__ import annotations

import re

from noarkit.forms.form_markers import FormEvidence, root_of

METS_NAMES = ("METS.xml", "mets.xml", "Mets.xml")
REPRESENTATIONS = re.compile(r"representations(?:/.*)?", re.DOTALL | re.IGNORECASE)

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
    lowered = head.lower()
    return root_of(head) == "mets" and _METS_NAMESPACE in head and any(word in lowered for word in _WORDS)
