"""What the system and libraries say of files and texts, by the key of its sentence: they say it in English alone."""

from __future__ import annotations

import errno
import os
import re
from functools import cache

_QUOTED = re.compile(r"^(['\"])(.*)\1$", re.DOTALL)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), name)
    for pattern, name in (
        (r"Expected '=' after a key in a key/value pair", "toml-equals"),
        (r"Expected '(?P<sign>\]+)' at the end of an? (?:table|array) declaration", "toml-head"),
        (r"Expected newline or end of document after a statement", "toml-line"),
        (r"Expected (?P<sign>.+)", "toml-expected"),
        (r"Cannot declare \((?P<name>.*?),?\) twice", "toml-twice"),
        (r"Cannot overwrite a value", "toml-overwrite"),
        (r"Duplicate inline table key (?P<name>.+)", "toml-twice"),
        (r"Cannot (?:mutate immutable|redefine) namespace \((?P<name>.*?),?\)", "toml-closed"),
        (r"(?:Found invalid|Illegal) character (?P<sign>.+)", "toml-character"),
        (r"Invalid initial character for a key part", "toml-key"),
        (r"Invalid statement", "toml-statement"),
        (r"Invalid value", "toml-value"),
        (r"Invalid date or datetime", "toml-date"),
        (r"Invalid hex value|Escaped character is not a Unicode scalar value", "toml-escape"),
        (r"Unescaped '\\' in a string", "toml-backslash"),
        (r"Unclosed array", "toml-array"),
        (r"Unclosed inline table", "toml-table"),
        (r"Unterminated string", "toml-string"),
        (r"no element found(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-none"),
        (r"syntax error(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-syntax"),
        (r"not well-formed \(invalid token\)(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-token"),
        (r"mismatched tag(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-tag"),
        (r"(?:unclosed token|unclosed CDATA section)(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-open"),
        (r"junk after document element(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-junk"),
        (r"duplicate attribute(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-twice"),
        (r"unbound prefix(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-prefix"),
        (r"undefined entity(?:: line (?P<line>\d+), column (?P<column>\d+))?", "xml-entity"),
        (r"(?:unknown encoding|encoding specified in XML declaration is incorrect)(?:: .*)?", "xml-encoding"),
        (r"(?:XML|xml) (?:or text )?declaration not (?:at start of|well-formed).*", "xml-declaration"),
        (r"file is not a database|database disk image is malformed|malformed database schema.*", "sqlite-damaged"),
        (r"unable to open database file", "sqlite-not-opened"),
        (r"attempt to write a readonly database", "sqlite-read-only"),
        (r"database(?: table| schema)? is locked(?:: .*)?", "sqlite-locked"),
        (r"database or disk is full", "sqlite-full"),
        (r"disk I/O error", "sqlite-disk"),
        (r"no such (?:table|column): (?P<name>.+)", "sqlite-without"),
        (r"there is no end of a directory|File is not a zip file|the directory is broken", "zip-directory"),
        (r"the directory goes on beyond its last entry|something stands behind the end of the directory", "zip-more"),
        (r"the (?:directory|end of a large directory) is not where it should be", "zip-elsewhere"),
        (r"the directory is too short for its entries|the file ends too early", "ends-early"),
        (r"the header of (?P<name>.+) (?:is not what the directory says|bears another name)", "zip-header"),
        (r"(?P<name>.+) is stored with two sizes", "zip-two-sizes"),
        (r"(?P<name>.+) says that it is larger than anything can be", "zip-size"),
        (r"(?P<name>.+) is not what its checksum says|Bad CRC-32 for file (?P<file>.+)|CRC check failed.*", "checksum"),
        (r"Bad magic number .*|(?:bad|invalid|truncated|empty) (?:checksum|header|file)", "header"),
        (r"unexpected end of data|Truncated file header|unpack requires a buffer of .*", "ends-early"),
        (r"Compressed file ended before the end-of-stream marker was reached", "ends-early"),
        (r"Error -\d+ while decompressing data: .*|Corrupt input data|Invalid data stream", "compressed"),
        (r"Input format not supported by decoder|Not a gzipped file .*", "compressed"),
    )
)


def message_key(text: str) -> tuple[str, dict[str, object]] | None:
    """The key of what a library said in `[messages]`, and what it names; None for what we do not know."""
    if " " not in text or len(text) > 500:  # a word of ours, or a name
        return None
    for pattern, key in _PATTERNS:
        match = pattern.fullmatch(text)
        if match is not None:
            data = {field: _QUOTED.sub(r"\2", value) for field, value in match.groupdict().items() if value}
            return key, {"name" if field == "file" else field: value for field, value in data.items()}
    return None


@cache
def errors_of_the_system() -> dict[str, str]:
    """What the system calls an error, and the name of its number, which is the key of its reason: `Permission denied`
    is `EACCES`."""
    return {os.strerror(number): name for number, name in errno.errorcode.items()}
