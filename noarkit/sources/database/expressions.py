"""How an expression of a recipe comes to a value of a row, whatever signs its names have."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def path(*names: str | None) -> str:
    """How an expression comes to a value, name by name.

    >>> path("sak", "tittel"), path("saks år")
    ('record.sak.tittel', "record['saks år']")
    """
    steps = (name or "" for name in names)
    return "record" + "".join(f".{name}" if _NAME.fullmatch(name) else f"['{quoted(name)}']" for name in steps)


def quoted(name: str) -> str:
    """A text between apostrophes of an expression."""
    return name.replace("\\", "\\\\").replace("'", "\\'")
