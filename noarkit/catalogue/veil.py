"""Veils: what stands in an address instead of a ref that could name anybody or anything.

Addresses are seen by whoever looks over a shoulder, and stay in the history of a browser. So they hold refs that can
name nobody (uuids) as they are, and veils of all others. A veil is a digest of its
ref: the same each time the catalogue is made again, so an address that somebody noted still leads to its item.
On the command line and in tables a veil is written `~<veil>`.
"""

from __future__ import annotations

import hashlib
import sqlite3

from noarkit.model.disclosure import is_opaque
from noarkit.model.identity_numbers import mask_identity_numbers

_DIGITS = 32
VEIL_SIGN = "~"
"""What a veil begins with where it stands in the place of a ref."""

TABLE = "CREATE TABLE veiled (veil TEXT PRIMARY KEY, ref TEXT NOT NULL) WITHOUT ROWID"
_FILL = (
    "INSERT OR IGNORE INTO veiled SELECT veil_of(i.ref), i.ref FROM item i WHERE i.screened OR NOT is_opaque(i.ref)"
    " ORDER BY 1",
    "INSERT OR IGNORE INTO veiled SELECT veil_of(d.ref), d.ref FROM document d WHERE d.screened OR NOT is_opaque(d.ref)"
    " ORDER BY 1",
)


def veil_of(ref: str) -> str:
    """The veil of a ref."""
    return hashlib.sha256(ref.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def shown_ref(ref: str, *, screened: bool) -> str:
    """A ref as people see it: its veil where the item is screened, or where there is an identity number in it."""
    return VEIL_SIGN + veil_of(ref) if screened or holds_identity_number(ref) else ref


def address_ref(ref: str) -> str:
    """A ref as addresses and logs have it: its veil, unless it can name nobody."""
    return ref if is_opaque(ref) else VEIL_SIGN + veil_of(ref)


def holds_identity_number(ref: str) -> bool:
    """True for a ref that has a national identity number in it."""
    return mask_identity_numbers(ref) != ref


def fill_veils(db: sqlite3.Connection) -> None:
    """Writes down the ref behind each veil, when all items and documents stand."""
    db.create_function("veil_of", 1, veil_of, deterministic=True)
    db.create_function("is_opaque", 1, is_opaque, deterministic=True)
    for statement in _FILL:
        db.execute(statement)
