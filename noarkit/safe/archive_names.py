"""Names in zip and tar files that are no UTF-8: in which encoding they are read, and a guess where nobody says."""

from __future__ import annotations

import codecs
import os

from noarkit.errors import UsageFault

_ZIP = "cp437"
_LATIN, _WINDOWS, _NORDIC = "latin-1", "cp1252", "cp865"
_CONTROLS = frozenset(range(0x80, 0xA0))
# æ, ø, å, Æ, Ø and Å as the machines of the time wrote them
_NORDIC_LETTERS = frozenset(b"\x91\x9b\x86\x92\x9d\x8f")


def named_encoding(name: str | None) -> str:
    """An encoding of text that is known here; empty for none. Raises `UsageFault`."""
    if not name:
        return ""
    try:
        "a/b".encode(name).decode(name)
        return codecs.lookup(name).name
    except (LookupError, UnicodeError, ValueError) as error:
        raise UsageFault(what="bad-value", where=f"--encoding {name}", fix="--encoding", own="encoding") from error


def tar_name(name: str, encoding: str) -> str:
    """The name of a member of a tar, whose bytes are read in `encoding` where they are no UTF-8."""
    if not encoding or name.isascii():
        return name
    return _read(os.fsencode(name), name, encoding)


def zip_name(name: str, encoding: str) -> str:
    """The name of an entry of a zip that is not marked as UTF-8 (`name` is what cp437 makes of it)."""
    if not encoding or name.isascii():
        return name
    raw = name.encode(_ZIP)
    return _read(raw, raw.decode("utf-8", "replace"), encoding)


def guessed_encoding(name: str) -> str:
    """In which encoding a name is likely to be whose bytes are no UTF-8."""
    high = {byte for byte in os.fsencode(name) if byte >= 0x80}
    if not high & _CONTROLS:
        return _LATIN
    return _NORDIC if high <= _NORDIC_LETTERS else _WINDOWS


def _read(raw: bytes, as_utf8: str, encoding: str) -> str:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode(encoding, "surrogateescape")
    return as_utf8
