"""SQL:2008 types as SIARD writes them: what a type's name means, and which XML type its cells have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

CellKind = Literal[
    "integer",
    "decimal",
    "float",
    "double",
    "boolean",
    "text",
    "clob",
    "xml",
    "hex",
    "blob",
    "datalink",
    "date",
    "time",
    "timestamp",
    "interval",
]

XSD_TYPES: dict[CellKind, str] = {
    "integer": "xs:integer",
    "decimal": "xs:decimal",
    "float": "xs:float",
    "double": "xs:double",
    "boolean": "xs:boolean",
    "text": "xs:string",
    "clob": "clobType",
    "xml": "clobType",
    "hex": "xs:hexBinary",
    "blob": "blobType",
    "datalink": "blobType",
    "date": "dateType",
    "time": "timeType",
    "timestamp": "dateTimeType",
    "interval": "xs:duration",
}
ALSO: dict[CellKind, frozenset[str]] = {
    "text": frozenset({"clobType"}),
    "hex": frozenset({"blobType"}),
    "clob": frozenset({"xs:string"}),
    "xml": frozenset({"xs:string"}),
    "blob": frozenset({"xs:hexBinary"}),
    "float": frozenset({"xs:double"}),
    "integer": frozenset({"xs:int", "xs:long", "xs:short"}),
    "date": frozenset({"xs:date"}),
    "time": frozenset({"xs:time"}),
    "timestamp": frozenset({"xs:dateTime"}),
    "decimal": frozenset({"xs:integer"}),
}
"""Other XML types that hold the same cells: other writers, and older versions, use them."""

LARGE: frozenset[CellKind] = frozenset({"clob", "xml", "blob", "datalink"})
TEXTUAL: frozenset[CellKind] = frozenset({"text", "clob", "xml"})
BINARY: frozenset[CellKind] = frozenset({"hex", "blob", "datalink"})

# As SQL:2008 spells them, and as metadata.xsd allows: the name, whether a length may or must follow, and the kind.
_N = r"\s*\(\s*[1-9]\d*\s*\)"
_SIZE = r"(\s*\(\s*[1-9]\d*(\s*(K|M|G))?\s*\))?"
_INTERVAL_PART = r"(\s*\(\s*[1-9]\d*\s*\))?"
PATTERNS: tuple[tuple[str, CellKind], ...] = (
    (r"INTEGER|INT|SMALLINT|BIGINT", "integer"),
    (r"(NUMERIC|DECIMAL|DEC)(\s*\(\s*[1-9]\d*\s*(,\s*\d+\s*)?\))?", "decimal"),
    (r"REAL", "float"),
    (r"DOUBLE PRECISION", "double"),
    (rf"FLOAT({_N})?", "double"),
    (rf"(CHARACTER|CHAR)({_N})?", "text"),
    (rf"(CHARACTER\s+VARYING|CHAR\s+VARYING|VARCHAR)({_N})?", "text"),
    (rf"(CHARACTER\s+LARGE\s+OBJECT|CLOB){_SIZE}", "clob"),
    (rf"(NATIONAL\s+CHARACTER|NATIONAL\s+CHAR|NCHAR)({_N})?", "text"),
    (rf"(NATIONAL\s+CHARACTER\s+VARYING|NATIONAL\s+CHAR\s+VARYING|NCHAR VARYING)({_N})?", "text"),
    (rf"(NATIONAL\s+CHARACTER\s+LARGE\s+OBJECT|NCHAR\s+LARGE\s+OBJECT|NCLOB){_SIZE}", "clob"),
    (r"XML", "xml"),
    (rf"BINARY({_N})?", "hex"),
    (rf"(BINARY\s+VARYING|VARBINARY)({_N})?", "hex"),
    (rf"(BINARY\s+LARGE\s+OBJECT|BLOB){_SIZE}", "blob"),
    (r"DATE", "date"),
    (rf"(TIME|TIME\s+WITH\s+TIME\s+ZONE)({_N})?", "time"),
    (r"(TIMESTAMP|TIMESTAMP\s+WITH\s+TIME\s+ZONE)(\s*\(\s*(0|([1-9]\d*))\s*\))?", "timestamp"),
    (
        rf"INTERVAL\s+(((YEAR|MONTH|DAY|HOUR|MINUTE){_INTERVAL_PART}(\s+TO\s+(MONTH|DAY|HOUR|MINUTE|SECOND)"
        rf"{_INTERVAL_PART})?)|(SECOND(\s*\(\s*[1-9]\d*\s*(,\s*\d+\s*)?\))?))",
        "interval",
    ),
    (r"BOOLEAN", "boolean"),
    (r"DATALINK", "datalink"),
)
NEEDS_LENGTH = ("VARCHAR", "NCHAR VARYING", "VARBINARY")
"""In 2.1 a varying type must say its length: the official schema of 2.1 has it so, those of 2.1.1 and 2.2 have not."""

_COMPILED = tuple((re.compile(pattern), kind) for pattern, kind in PATTERNS)
# 1.0 stands on SQL:1999 and knows BIT; others write these without the standard's leave
_FOREIGN: tuple[tuple[re.Pattern[str], CellKind], ...] = (
    (re.compile(r"BIT\s+VARYING.*|BIT\s*\(.*"), "hex"),
    (re.compile(r"BIT"), "boolean"),
    (re.compile(r"TINYINT"), "integer"),
    (re.compile(r"NVARCHAR.*|VARCHAR2.*"), "text"),
    (re.compile(r"TIMESTAMP.*|DATETIME.*"), "timestamp"),
    (re.compile(r"TIME.*"), "time"),
)
_FIGURES = re.compile(r"\d+")


# What products call their types, where an export left the name as it was: words that tell what the cells are.
_LIKELY: tuple[tuple[re.Pattern[str], CellKind], ...] = (
    (re.compile(r"(TINY|SMALL|MEDIUM|BIG)?INT(EGER)?\b.*|(BIG|SMALL)?SERIAL|YEAR.*", re.IGNORECASE), "integer"),
    (re.compile(r"(NUMERIC|DECIMAL|DEC|NUMBER|DECFLOAT|FIXED|(SMALL)?MONEY)\b.*", re.IGNORECASE), "decimal"),
    (re.compile(r"(DOUBLE|FLOAT|BINARY_DOUBLE|BINARY_FLOAT|REAL)\b.*", re.IGNORECASE), "double"),
    (re.compile(r"BOOL(EAN)?", re.IGNORECASE), "boolean"),
    (
        re.compile(r"(TINY|MEDIUM|LONG)?BLOB\b.*|IMAGE|(LONG )?RAW\b.*|(VAR)?BINARY\b.*|BYTEA|BFILE", re.IGNORECASE),
        "blob",
    ),
    (re.compile(r".*\bFOR BIT DATA", re.IGNORECASE), "blob"),
    (re.compile(r"XMLTYPE|XML\b.*", re.IGNORECASE), "xml"),
)


def likely_type(name: str) -> SqlType:
    """What a type is by its name, where `sql_type` does not know it; a text where nothing tells."""
    spelt = name.strip()
    kind = next((kind for pattern, kind in reversed(_LIKELY) if pattern.fullmatch(spelt)), None)
    return SqlType(spelt, kind or "clob", standard=False)


@dataclass(frozen=True, slots=True)
class SqlType:
    """A predefined type. `standard` is False for a name that SQL:2008 does not have, `zoned` True WITH TIME ZONE."""

    name: str
    kind: CellKind
    figures: tuple[int, ...] = ()
    zoned: bool = False
    standard: bool = True


@lru_cache(maxsize=4096)
def sql_type(name: str) -> SqlType | None:
    """What a type's name means; None if nobody knows."""
    spelt = name.strip()
    for standard, patterns in ((True, _COMPILED), (False, _FOREIGN)):
        candidate = spelt if standard else spelt.upper()
        for pattern, kind in patterns:
            if pattern.fullmatch(candidate):
                figures = tuple(map(int, _FIGURES.findall(spelt)))
                return SqlType(spelt, kind, figures, "TIME ZONE" in spelt.upper(), standard)
    upper = spelt.upper()
    if upper != spelt and (upper_type := sql_type(upper)) is not None:
        return SqlType(spelt, upper_type.kind, upper_type.figures, upper_type.zoned, standard=False)
    return None
