"""The sources that rules cite, so that a reader of a report need not know what «N5.27» or «CSIP60» is short for."""

from __future__ import annotations

import re
from collections.abc import Iterable

# the first pattern that fits says what a citation is of; its sentence is in words/, as cited.NAME
_SOURCES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("arkade-test", r"N5\.\d"),
        ("requirement", r"krav "),
        ("metadata", r"M\d"),
        ("extraction-validator", r"(?:P|AST|ASC|AUT|LJT|LJC|OJT|OJC|ELT|ELC)\d"),
        ("appendix", r"(?:vedlegg|kap\.) "),
        ("regulation", r"forskrift "),
        ("rfc", r"RFC "),
        ("bagit-profiles", r"BagIt Profiles"),
        ("bagit", r"BagIt "),
        ("csip", r"(?:E-ARK )?CSIP"),
        ("eark-sip", r"(?:E-ARK )?SIP"),
        ("eark-aip", r"E-ARK AIP"),
        ("eark-dip", r"E-ARK DIP"),
        ("premis", r"PREMIS "),
        ("mets", r"METS "),
        ("arkade", r"Arkade "),
        ("national-archives", r"NA delivery"),
        ("dias", r"DIAS|submissionDescription"),
        ("posix", r"POSIX "),
        ("ead", r"EAD\b"),
        ("eac", r"EAC-CPF"),
        ("danish-order", r"BEK "),
        ("siard", r"SIARD "),
    )
)


def source_of(cite: str) -> str | None:
    """The name of the source that a citation is of; None for one that speaks for itself."""
    return next((name for name, pattern in _SOURCES if pattern.match(cite)), None)


def cited_sources(cites: Iterable[str]) -> list[dict[str, str]]:
    """Each source that is cited, with the first of its citations as an example, in the order of the sources."""
    examples: dict[str, str] = {}
    for cite in cites:
        name = source_of(cite)
        if name is not None:
            examples.setdefault(name, cite)
    return [{"name": name, "example": examples[name]} for name, _ in _SOURCES if name in examples]
