"""Names that every system and every form of package can bear, made of names that some cannot.

portable_part("a:b.txt")     'a=3Ab.txt'

The rule, for each part of a path:

- A byte that is no UTF-8, a control character, one of `< > : " \\ | ? *`, a last dot or blank, and the first letter of
  a name that is a device on some system (CON, NUL …) are written by number, as quoted-printable text has it: `=3A`. (A
  `%` would have to be encoded anew in bags and addresses, which not every reader undoes.)
- A name that could be the outcome of this rule for another name has its own `=` encoded, so that no two names become
  one. All others, also those with a `=`, stay as they are.
- A name that is then longer than 255 bytes, and one that some system takes for another of its folder (case, composition
  of letters), is cut and distinguished by a checksum of its bytes: `Name~8c5f….txt`. Of names that are taken for one,
  the first by bytes keeps its own.
"""

from __future__ import annotations

import hashlib
import os
import re

from noarkit.errors import UnsafePath
from noarkit.safe.keys import path_of
from noarkit.safe.paths import MAX_NAME_BYTES, checked_parts, is_device, is_plainly_safe

_ODD = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"\\|?*\u2028\u2029\ufffe\uffff\ud800-\udfff]')
_ESCAPED = re.compile(r"=([0-9A-F]{2})")
_NO_XML = re.compile(r"[\x00-\x1f\ufffe\uffff]")
_LIKE_ESCAPED = re.compile(r"=(?=[0-9A-F]{2})")
_SHORT_END = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")
_HASHED = re.compile(r"~(?=[0-9a-f]{32}(?:\.[A-Za-z0-9]{1,10})?\Z)")
_DIGEST_BYTES = 16
_CUT_ESCAPE = re.compile(r"=[0-9A-F]?\Z")


def portable_part(part: str) -> str:
    """One part of a path (undecodable bytes as `os.fsdecode` has them) as every system can bear it.

    >>> portable_part("CON.txt"), portable_part("50% rabatt?.txt"), portable_part("100%.txt")
    ('=43ON.txt', '50% rabatt=3F.txt', '100%.txt')
    """
    if _is_plain(part):
        return part
    name = _escape(part)
    return name if len(name.encode()) <= MAX_NAME_BYTES else distinct_part(part)


def distinct_part(part: str) -> str:
    """The same, distinguished from every other name: for one that is too long, or that is taken for another."""
    name = _escape(part)
    match = _SHORT_END.search(name)
    suffix = match[0] if match else ""
    digest = hashlib.blake2b(os.fsencode(part), digest_size=_DIGEST_BYTES).hexdigest()
    room = MAX_NAME_BYTES - 1 - len(digest) - len(suffix)
    stem = name[: len(name) - len(suffix)].encode()[:room].decode("utf-8", "ignore")
    return f"{_CUT_ESCAPE.sub('', stem)}~{digest}{suffix}"


def portable_path(name: str) -> str:
    """Every part of a path as every system can bear it."""
    if is_plainly_safe(name) and not name.endswith(" ") and " /" not in name:
        return name
    return "/".join(map(portable_part, name.split("/")))


def repaired_path(name: str) -> str:
    """The parts of a path that no package could bear as every system can, and all others as they are: for files that
    other files refer to by their names."""
    return "/".join(part if _is_allowed_part(part) else portable_part(part) for part in name.split("/"))


def _is_allowed_part(part: str) -> bool:
    try:
        part.encode()
        checked_parts(part)
    except (UnicodeEncodeError, UnsafePath):
        return False
    return _NO_XML.search(part) is None


def is_portable_name_of(key: str, stored_name: str) -> bool:
    """True if `stored_name` is what a path became by this rule, whose key this is: what a package tells of an original
    name is believed only then."""
    try:
        parts = os.fsdecode(path_of(key)).split("/")
    except (UnsafePath, ValueError):
        return False
    steps = stored_name.split("/")
    if len(parts) != len(steps) or "\0" in key:
        return False
    return all(step in (portable_part(part), distinct_part(part)) for part, step in zip(parts, steps, strict=True))


def _is_plain(part: str) -> bool:
    """True for a name that stays as it is."""
    odd = _ODD.search(part) or part.endswith((".", " ")) or _HASHED.search(part) or is_device(part)
    if odd or len(part.encode()) > MAX_NAME_BYTES:
        return False
    if not _LIKE_ESCAPED.search(part):
        return True
    # it looks as if it were encoded: is it what another name becomes?
    decoded = os.fsdecode(_decode(part))
    return _is_plain(decoded) or _escape(decoded) != part


def _escape(part: str) -> str:
    """The name with all that some system cannot bear percent-encoded; nothing else becomes the same."""
    name = _ODD.sub(_by_number, _LIKE_ESCAPED.sub("=3D", part))
    name = _HASHED.sub("=7E", name)
    if name.endswith((".", " ")):
        name = name[:-1] + f"={ord(name[-1]):02X}"
    return f"={ord(name[0]):02X}{name[1:]}" if is_device(name) else name


def _decode(part: str) -> bytes:
    """The bytes of a name in which every `=XX` stands for a byte."""
    pieces = enumerate(_ESCAPED.split(part))
    return b"".join(bytes.fromhex(piece) if odd % 2 else piece.encode() for odd, piece in pieces)


def _by_number(match: re.Match[str]) -> str:
    return "".join(f"={byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape"))
