"""Names and value tables of ADDML: elements, hash algorithms, separators, character sets."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping

NAMESPACE = "http://www.arkivverket.no/standarder/addml"
ROOT = "addml"
USUAL_NAME = "addml.xml"
CHECKSUM = "checksum"
ALGORITHM = "algorithm"
VALUE = "value"
FILE_NAME = "filename"
RECORD_COUNTS = ("numberofrecords", "numberofoccurrences")
HASHES: Mapping[str, str] = {"md5": "md5", "sha1": "sha1", "sha256": "sha256", "sha384": "sha384", "sha512": "sha512"}
"""hashlib's names of the algorithms, by their names in ADDML in lower case and without hyphens."""

_SEPARATORS: Mapping[str, str] = {
    "CRLF": "\r\n",
    "LF": "\n",
    "CR": "\r",
    "TAB": "\t",
    "SPACE": " ",
    "SEMICOLON": ";",
    "COMMA": ",",
    "PIPE": "|",
}
_ESCAPES = (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"))
# ISO 646-NO, the 7-bit set of older systems
_NORWEGIAN_ASCII = {ord(written): meant for written, meant in zip("[\\]{|}", "ÆØÅæøå", strict=True)}
_NORWEGIAN_NAMES = frozenset({"iso646no", "iso646no1", "ns45511", "norsk7bit"})
# Python knows more codecs than there are character sets: compression, escapes, names of hosts
_PLAIN_CODECS = re.compile(r"ascii|cp\d+|iso8859-\d+|utf-(?:8|16|32)(?:-[bl]e)?|mac-\w+|koi8-\w|latin.*|hp-roman8")
_CHARSETS: Mapping[str, str] = {
    "ansi": "cp1252",
    "windows1252": "cp1252",
    "utf8": "utf-8-sig",
    "iso10646": "utf-8-sig",
    "unicode": "utf-16",
    "utf16": "utf-16",
    "ascii": "ascii",
    "usascii": "ascii",
    "iso88591": "latin-1",
    "latin1": "latin-1",
    "ibm850": "cp850",
    "ibm865": "cp865",
}


def separator_of(name: str) -> str:
    """Returns the characters that a separator's name stands for (`CRLF`, `TAB`, `\\t`); any other stands for itself."""
    plain = name.strip()
    if plain.upper() in _SEPARATORS:
        return _SEPARATORS[plain.upper()]
    if plain in ("CRLFCRLF", "LFLF"):
        return plain.replace("CR", "\r").replace("LF", "\n")
    text = name if name.strip() == "" else plain
    for written, character in _ESCAPES:
        text = text.replace(written, character)
    return text


def charset_of(name: str) -> tuple[str, Mapping[int, str]] | None:
    """Returns Python's codec of a character set and a table for `str.translate` after decoding; None if unknown."""
    plain = "".join(sign for sign in name.partition(":")[0].lower() if sign.isalnum())
    if plain in _NORWEGIAN_NAMES:
        return "ascii", _NORWEGIAN_ASCII
    if plain in _CHARSETS:
        return _CHARSETS[plain], {}
    try:
        codec = codecs.lookup(name.partition(":")[0].strip()).name
    except (LookupError, ValueError):
        return None
    return (codec, {}) if _PLAIN_CODECS.fullmatch(codec) else None
