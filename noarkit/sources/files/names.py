"""Names as they are on disk, as keys, and as people may read them.

A key holds every byte of a path and can be turned back into it: text stands as text, and each undecodable byte, each
control sign and each literal `%` stands percent-encoded. So keys are unique wherever paths are, whatever the names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, islice, pairwise

from noarkit.safe.keys import key_of as key_of
from noarkit.safe.keys import path_of as path_of

REPLACEMENT = "\ufffd"

_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)}
_FEW = 20_000
_PLACES = 2**26 - 1
_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp"})

SYSTEM_NAMES = frozenset(
    {b"thumbs.db", b"ehthumbs.db", b"desktop.ini", b".ds_store", b".localized", b"$recycle.bin"}
    | {b"system volume information", b".spotlight-v100", b".trashes", b".fseventsd"}
)
"""What a desktop system puts into folders, in small letters."""


_SYSTEM_TEXTS = frozenset(name.decode() for name in SYSTEM_NAMES)


def is_system_name(text: str) -> bool:
    """True for the name of what a desktop system puts into folders."""
    return text.lower() in _SYSTEM_TEXTS


def text_of(name: bytes) -> str:
    """A name as Unicode, sign by sign as it stands; each undecodable byte becomes U+FFFD."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return _ESCAPED_BYTE.sub(REPLACEMENT, name.decode("utf-8", "surrogateescape"))


def readable(name: str) -> str:
    """A name as XML 1.0 may hold it: control signs become their pictures (␀ ␛), other forbidden signs U+FFFD."""
    if name.isprintable():
        return name
    return _FORBIDDEN.sub(lambda match: _PICTURES.get(ord(match[0]), REPLACEMENT), name)


def is_decodable(name: bytes) -> bool:
    """True if every byte of the name belongs to a sign."""
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_plain(name: str) -> bool:
    """True if every sign of a name shows, and none stands for a byte that is no text."""
    return name.isprintable() and REPLACEMENT not in name


def has_forbidden(name: str) -> bool:
    """True if the name holds a sign that XML 1.0 forbids."""
    return _FORBIDDEN.search(name) is not None


def has_invisible(name: str) -> bool:
    """True if the name holds signs that do not show or that turn the reading direction: breaks, marks, joiners."""
    return not name.isprintable() and any(unicodedata.category(sign) in _INVISIBLE for sign in name)


def find_twins(names: Iterable[bytes], again: Iterable[bytes]) -> dict[bytes, bool]:
    """The names that some system would take for another of the same folder; the value is True if case alone differs.

    Takes the names twice, so that a folder of a million entries costs a bitmap and not a copy of its names.
    """
    doubled, mask = _doubled(names)
    if not doubled:
        return {}
    groups: dict[bytes, list[bytes]] = {}
    for name in again:
        folded = _fold(name)
        if hash(folded) & mask in doubled:
            groups.setdefault(folded, []).append(name)
    return {name: _differ_by_case(group) for group in groups.values() if len(group) > 1 for name in group}


def normalize_name(name: str) -> str:
    """What two writings of one name have in common: composition (NFC) and case aside."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _fold(name: bytes) -> bytes:
    if name.isascii():
        return name.lower()
    return normalize_name(name.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _doubled(names: Iterable[bytes]) -> tuple[set[int], int]:
    """Hashes that more than one name has, and the mask they are cut by. A list tells them where names are few, else a
    bitmap of 8 MB."""
    name_iterator = iter(names)
    few = list(islice(name_iterator, _FEW))
    plain = all(map(bytes.isascii, few))
    places = sorted(map(hash, map(bytes.lower, few) if plain else map(_fold, few)))
    doubled = {first for first, second in pairwise(places) if first == second}
    if len(few) < _FEW:
        return doubled, -1
    doubled = {place & _PLACES for place in doubled}
    bitmap = bytearray((_PLACES + 1) // 8)
    for place in chain(dict.fromkeys(places), (hash(_fold(name)) for name in name_iterator)):
        byte, bit = (place & _PLACES) >> 3, 1 << (place & 7)
        if bitmap[byte] & bit:
            doubled.add(place & _PLACES)
        bitmap[byte] |= bit
    return doubled, _PLACES


def _differ_by_case(group: list[bytes]) -> bool:
    composed_only = {unicodedata.normalize("NFC", name.decode("utf-8", "surrogateescape")) for name in group}
    return len(composed_only) == len(group)
