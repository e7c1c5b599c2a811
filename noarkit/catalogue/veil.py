"""Veils: what stands in an address instead of a ref that would tell of a person or of something screened.

Addresses are seen by whoever looks over a shoulder, and stay in the history of a browser. A veil is a digest of its
ref: the same each time the catalogue is made again, so an address that somebody noted still leads to its item.
On the command line and in tables a veil is written `~<veil>`.
"""

from __future__ import annotations

import hashlib
import sqlite3

from noarkit.model.identity_numbers import mask_identity_numbers

_DIGITS = 32
VEIL_SIGN = "~"
"""What a veil begins with where it stands in the place of a ref."""

TABLE = "CREATE TABLE veiled (veil TEXT PRIMARY KEY, ref TEXT NOT NULL) WITHOUT ROWID"
# quick first: the function is asked only of refs with as many digits beside each other as such a number has
_DIGIT = "[0-9]"
_PATTERNS = (f"*{_DIGIT * 11}*", f"*{_DIGIT * 6}?{_DIGIT * 5}*")
_FILL = (
    "INSERT OR IGNORE INTO veiled SELECT veil_of(i.ref), i.ref FROM item i"
    " WHERE i.screened OR ((i.ref GLOB ?1 OR i.ref GLOB ?2) AND holds_identity_number(i.ref))",
    "INSERT OR IGNORE INTO veiled SELECT veil_of(d.ref), d.ref FROM document d"
    " WHERE d.screened OR ((d.ref GLOB ?1 OR d.ref GLOB ?2) AND holds_identity_number(d.ref))",
)


def veil_of(ref: str) -> str:
    """The veil of a ref."""
    return hashlib.sha256(ref.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def shown_ref(ref: str, *, screened: bool) -> str:
    """A ref as people see it: its veil where the item is screened, or where there is an identity number in it."""
    return VEIL_SIGN + veil_of(ref) if screened or holds_identity_number(ref) else ref


def holds_identity_number(ref: str) -> bool:
    """True for a ref that has a national identity number in it."""
    return mask_identity_numbers(ref) != ref


def fill_veils(db: sqlite3.Connection) -> None:
    """Writes down the ref behind each veil, when all items and documents stand."""
    db.create_function("veil_of", 1, veil_of, deterministic=True)
    db.create_function("holds_identity_number", 1, holds_identity_number, deterministic=True)
    for statement in _FILL:
        db.execute(statement, _PATTERNS)
