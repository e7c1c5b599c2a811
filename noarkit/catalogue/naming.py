"""Finds the item that a person means: by its ref or veil, number, id in the archive, uuid or source key."""

from __future__ import annotations

import re

from noarkit.catalogue.catalogue import Catalogue, Entry
from noarkit.catalogue.index_words import ARCHIVE_IDS, SOURCE_KEYS, UUIDS, known_name_token
from noarkit.catalogue.masking import item_ref
from noarkit.catalogue.port import Json
from noarkit.catalogue.veil import VEIL_SIGN
from noarkit.errors import UsageFault

_SHOWN = 5
_SHOWN_SIGN = re.compile(r"\\u([0-9a-f]{4})")
"""A sign that a terminal must not get, as people are shown it."""
_MOST_CANDIDATES = 2_000


def find_item(catalogue: Catalogue, name: str) -> Entry:
    """The one item with this ref, or whose ref has this veil; else with this number (2011/1042-3), id in the archive,
    uuid, or source key, in this order. The ref of a document means the item that it belongs to.

    Raises `UsageFault`: `no-such-item`, or `ambiguous-item` with the refs of those that it may mean.
    """
    name = unveiled(catalogue, name)
    entry = _by_reference(catalogue, name) or _by_reference(catalogue, _SHOWN_SIGN.sub(_sign, name))
    if entry is not None:
        return entry
    matches = catalogue.find_ident(name, _SHOWN + 1)
    if not matches:
        candidates = list(_with_words(catalogue, name))
        for names in (ARCHIVE_IDS, UUIDS, SOURCE_KEYS):
            matches = [entry for entry in candidates if _has_value(dict(catalogue.card(entry.ref).fields), names, name)]
            if matches:
                break
    if not matches:
        raise UsageFault(what="no-such-item", where=name)
    if len(matches) > 1:
        refs = ", ".join(item_ref(entry) for entry in matches[:_SHOWN])
        raise UsageFault(what="ambiguous-item", where=name, do=refs + (", …" if len(matches) > _SHOWN else ""))
    return matches[0]


def unveiled(catalogue: Catalogue, name: str) -> str:
    """The ref that a name is the veil of (`~<veil>`); any other name as it is."""
    if not name.startswith(VEIL_SIGN):
        return name
    try:
        return catalogue.unveil(name.removeprefix(VEIL_SIGN))
    except UsageFault:
        return name


def _by_reference(catalogue: Catalogue, name: str) -> Entry | None:
    for find in (catalogue.entry, lambda ref: catalogue.document(ref)[1]):
        try:
            return find(name)
        except UsageFault:
            continue
    return None


def _sign(match: re.Match[str]) -> str:
    return chr(int(match.group(1), 16))


def _with_words(catalogue: Catalogue, name: str) -> list[Entry]:
    """The items that hold the words of a name, one after the other, and those of which all of it is masked."""
    whole_name = f"filters : {known_name_token(name)}"
    words = '{title metadata} : "' + name.replace('"', '""') + '"' if any(sign.isalnum() for sign in name) else ""
    return catalogue.find_words(f"({words}) OR {whole_name}" if words else whole_name, limit=_MOST_CANDIDATES)


def _has_value(value: Json, names: frozenset[str], sought: str) -> bool:
    """True if a field of one of these names, however deep, has this value."""
    if isinstance(value, list):
        return any(_has_value(inner, names, sought) for inner in value)
    if isinstance(value, dict):
        return any(
            (name in names and str(inner) == sought) or _has_value(inner, names, sought)
            for name, inner in value.items()
        )
    return False
