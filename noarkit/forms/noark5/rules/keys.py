"""The values of units as rules compare them across units and files: whole numbers, short keys of texts and parties."""

from __future__ import annotations

import zlib

_KEY = 4


def whole_number(text: str | None) -> int | None:
    """A whole number that SQLite can hold, or None."""
    if text is None or len(text) >= 18 or not (text.isdecimal() or text.strip().isdecimal()):
        return None
    return int(text)


def text_key(text: str | None) -> int | None:
    """A text as it is compared."""
    return None if text is None else _crc(text)


def party_key(kind: str | None, name: str | None) -> bytes:
    """Four bytes that tell a party of a letter, by its type and name, from another."""
    return _crc(f"{(kind or '').strip()}\n{(name or '').strip()}").to_bytes(_KEY, "big")


def answer_key(day: str | None, method: str | None) -> bytes:
    """Four bytes that tell a sign-off from another."""
    return _crc(f"{(day or '')[:10]}\n{(method or '').strip()}").to_bytes(_KEY, "big")


def keys_in(key_bytes: bytes) -> list[bytes]:
    """The keys that stand in a row."""
    return [key_bytes[at : at + _KEY] for at in range(0, len(key_bytes), _KEY)]


def sorted_keys(key_bytes: bytes) -> bytes:
    """Keys in a row, in an order that says nothing of where they stood."""
    return key_bytes if len(key_bytes) <= _KEY else b"".join(sorted(keys_in(key_bytes)))


def _crc(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def algorithm_named(text: str) -> str:
    """The name by which hashlib knows an algorithm."""
    word = text.strip().lower()
    return word.replace("-", "").replace("sha3", "sha3_") if word.startswith("sha") else word.replace("-", "")


def digest_key(text: str) -> bytes:
    """A checksum as bytes; what is no hexadecimal number, as it stands."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return text.encode("utf-8", "surrogatepass")
