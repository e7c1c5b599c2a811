"""The rules that the E-ARK specifications publish at MUST and SHOULD, by version, and those that nobody can judge here.

Ids and levels alone, noted from the published profiles and from the text of the AIP specification. What stands in
`NOT_JUDGED` needs more than one package, or is a matter outside of it; each says what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

Level = Literal["MUST", "SHOULD"]

_CSIP_MUST = (
    "CSIP 1 2 6 7 9-16 18 19 22-30 33 36-44 46 49-57 59 60 64-72 76-85 88-90 94 95 98 99 102 103 106-114 116-119"
)
_CSIP_SHOULD = "CSIP 3 4 8 17 20 21 31 32 34 35 47 48 58 62 91-93 97 101 105"
_POINTERS = "CSIP 96 100 104"
_FOLDERS = {"MUST": "CSIPSTR 1 4", "SHOULD": "CSIPSTR 2 5-7 9-13 15 16"}
_SIP_MUST = "SIP 2 4 10 11 14-17 20 22-24 27 28 31"
_DIP = {"MUST": "DIP 1-3", "SHOULD": "DIP 4"}
_AIP = {"MUST": "AIPM 1-3 5;AIP 1-3 13 16 18 27", "SHOULD": "AIPM 4 6 7;AIP 12 15 17 20-22 28"}


def _expanded(text: str) -> Iterator[str]:
    """`CSIP 1 3-5` as CSIP1, CSIP3, CSIP4, CSIP5."""
    for part in text.split(";"):
        family, *numbers = part.split()
        for number in numbers:
            first, _, last = number.partition("-")
            yield from (f"{family}{one}" for one in range(int(first), int(last or first) + 1))


def _published(must: tuple[str, ...], should: tuple[str, ...]) -> Mapping[str, Level]:
    rules: dict[str, Level] = {code: "SHOULD" for text in should for code in _expanded(text)}
    return rules | {code: "MUST" for text in must for code in _expanded(text)}


_MUST, _SHOULD = (_FOLDERS["MUST"], _DIP["MUST"]), (_FOLDERS["SHOULD"], _DIP["SHOULD"])
PUBLISHED: Mapping[str, Mapping[str, Level]] = {
    "2.0.4": _published((_CSIP_MUST, "CSIP 86", _POINTERS, _SIP_MUST, *_MUST), (_CSIP_SHOULD, *_SHOULD)),
    "2.1.0": _published((_CSIP_MUST, _POINTERS, _SIP_MUST, *_MUST), (_CSIP_SHOULD, *_SHOULD)),
    "2.2.0": _published(
        (_CSIP_MUST, _SIP_MUST, "SIP 12 18 29", _AIP["MUST"], *_MUST),
        (_CSIP_SHOULD, _POINTERS, _AIP["SHOULD"], *_SHOULD),
    ),
}
"""Every rule at those levels, by version. The AIP has a profile, and a text with ids, from 2.2.0 on."""

NOT_JUDGED: Mapping[str, str] = {
    "AIP1": "compares the parts of a representation that lie in several containers; one package is judged at a time",
    "AIP2": "compares the parts of a representation that lie in several containers; one package is judged at a time",
    "AIP21": "asks an archive for a written policy of names; no package holds it",
    "AIP22": "compares the names of all versions and parts of an AIP; that the name begins with the id is AIP20",
    "AIP27": "asks for one folder in the container, as CSIPSTR1 does, which is told; without it nothing says AIP",
}
"""Rules of those lists that are not judged, each with its reason."""

NOT_LISTED: Mapping[str, str] = {
    "CS Preservation Metadata 1.0": "gives its rules no ids that a METS profile lists; of PREMIS the rules of the AIP"
    " specification are judged (AIP7 to AIP18), and sizes, checksums and objects by the EARK-PREMIS rules",
    "AIP 4-6, 9-11, 14, 19 and 23-26": "stand in the text of 2.2.0 at neither level; some judges ask for AIP9 all"
    " the same, by which ids of files begin with ID, and noarkit writes them so",
    "content information types": "ERMS, SIARD, geodata and others have specifications and judges of their own",
}
"""What is published beside those lists, and why it is not in them."""

OF_COPIES = frozenset({"EARK-COPY-CHECKSUM", "EARK-COPY-EVENT", "EARK-COPY-FORMAT", "EARK-COPY-SOURCE"})
"""Rules of ours about archival copies, which tests/copies/packages break."""
