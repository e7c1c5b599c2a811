"""What is shown of which format, and what others may rightly call it; which it is, `documents.detect` tells."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import cast, get_args

from noarkit.documents.containers import format_of_file
from noarkit.documents.detect import ending_of, format_of
from noarkit.model.formats import classify_format
from noarkit.reading_room.viewers.port import Detected, Kind, Note


@dataclass(frozen=True, slots=True)
class FormatRow:
    """A format: the kind that shows it, and what others may rightly call it."""

    kind: Kind
    types: tuple[str, ...]
    endings: tuple[str, ...]


def detect(head: bytes, name: str = "", media_type: str = "") -> Detected:
    """What a document is that begins with `head`, which need not be longer than `LONG_HEAD_BYTES`."""
    return detected_as(format_of(head, name, media_type))


def detect_file(path: Path, name: str, media_type: str) -> Detected:
    """What the file at `path` is, with a look into what holds others. Runs in the child."""
    format_name = format_of_file(path, name, media_type)
    return detected_as(format_name if format_name in formats() else "zip")


def detected_as(name: str) -> Detected:
    """A format by our name of it, which the table must have."""
    row = formats()[name]
    return Detected(name, row.types[0], row.kind)


@cache
def formats() -> Mapping[str, FormatRow]:
    """Every format that is told apart, by our name of it."""
    data = tomllib.loads(files("noarkit.reading_room.viewers").joinpath("formats.toml").read_text("utf-8"))
    kinds = get_args(Kind)
    return {
        name: FormatRow(cast(Kind, kinds[kinds.index(row["kind"])]), tuple(row["types"]), tuple(row["endings"]))
        for name, row in data.items()
    }


def differences(detected: Detected, name: str, stated_type: str) -> list[Note]:
    """Notes on a name or a stated type that speak of another format than the bytes do."""
    notes = []
    if detected.format == "empty":
        return [Note("empty-file")]
    stated = stated_type.partition(";")[0].strip().lower()
    is_text = detected.format in _TEXTS
    says_nothing = stated in ("", "application/octet-stream", "binary/octet-stream") or (
        is_text and stated.startswith("text/")
    )
    if not says_nothing and not _is_stated(stated, detected.format) and detected.format not in ("unknown", "ole"):
        notes.append(Note("type-differs", {"stated": stated, "detected": detected.media_type}))
    ending = ending_of(name)
    claimed = [other for other, others in formats().items() if ending in others.endings]
    if ending and claimed and detected.format not in claimed and not (is_text and "text" in claimed):
        notes.append(Note("name-differs", {"ending": ending, "detected": detected.format}))
    return notes


def may_be_shown(name: str, stated_type: str) -> bool:
    """True if the ending of a name, or else the stated type, is that of a format that there is a view for."""
    stated, ending = stated_type.partition(";")[0].strip().lower(), ending_of(name)
    rows = [row for row in formats().values() if ending in row.endings] or [
        row for other, row in formats().items() if stated and (stated in row.types or stated in (other, *row.endings))
    ]
    return any(row.kind != "facts" for row in rows)


def _is_stated(type_name: str, detected: str) -> bool:
    """True if a stated type may mean the format that was detected. It is a media type, a PRONOM identifier, or a name
    such as `PDF/A` or `RA-PDF`; a name that nobody knows says nothing."""
    if type_name.partition("/")[0] in _MEDIA:
        return type_name in formats()[detected].types
    name = classify_format(type_name, "", None).name if _PUID.fullmatch(type_name) else type_name
    words = frozenset(_WORD.findall(name.lower().replace("jpeg 2000", "jp2").replace("jpeg2000", "jp2")))
    meant = {other for other, row in formats().items() if other in words or words.intersection(row.endings)}
    return not meant or detected in meant or (detected in _TEXTS and "text" in meant)


_TEXTS = frozenset({"text", "csv", "tsv", "xml", "json", "eml", "mbox"})
"""Formats that may rightly be called text, by a name or a type."""
_MEDIA = frozenset({"application", "audio", "chemical", "font", "image", "inode", "message", "model", "text", "video"})
_PUID = re.compile(r"(?:x-)?fmt/[0-9]+")
_WORD = re.compile(r"[a-z0-9]+")
