"""What the facts of a file mean, as METS and PREMIS write them: sizes, checksums, names of algorithms.

Readers ask here. Rules look at the attributes as they stand, for they must find what is wrong with them.
"""

from __future__ import annotations

import re

MOST_KEPT = 10_000
"""No honest header has more agents or notes, and no entity of PREMIS more texts of one name."""
PRONOM = "PRONOM"
_MOST_DIGITS = 18
_NAMES = {"MD5": "MD5", **{f"SHA{bits}": f"SHA-{bits}" for bits in (1, 256, 384, 512)}}
_NAMES |= {f"SHA2{bits}": f"SHA-{bits}" for bits in (256, 384, 512)}


def size_of_text(text: str) -> int | None:
    """A size in bytes, with the blanks around it that the schema lets stand; None for what is no number.

    >>> size_of_text(" 12 "), size_of_text("12 bytes"), size_of_text("")
    (12, None, None)
    """
    digits = text.strip().removeprefix("+")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS else None


def checksum_of_text(text: str) -> str:
    """A checksum as it is compared: small letters, no blanks around it."""
    return text.strip().lower()


def checksum_name(spelt: str) -> str:
    """An algorithm as METS calls it; as it stands where METS has no such.

    >>> checksum_name("sha256"), checksum_name("SHA2-512"), checksum_name("CRC32")
    ('SHA-256', 'SHA-512', 'CRC32')
    """
    name = spelt.strip()
    return _NAMES.get(re.sub(r"[-_ ]", "", name.upper()), name)
