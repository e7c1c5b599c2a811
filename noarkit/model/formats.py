"""Which formats the regulation takes for deposit, judged by PRONOM identifier, name and media type of a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

ApprovalStatus = Literal["approved", "conditions", "unclear", "not-approved"]

# many formats look like these from their first bytes; the name tells more
_SAYS_LITTLE = frozenset(
    {"text/plain", "text/xml", "application/xml", "application/zip", "application/octet-stream", "application/x-empty"}
    | {"application/json", "inode/x-empty"}
)

PDFA_WANTED = frozenset(("docx", "docm", "dotx", "dotm", "pptx", "pptm", "potx", "ppsx", "odt", "odp"))
"""Endings of texts and presentations that are taken with a PDF/A beside them. Spreadsheets do not survive pages."""

_ACCEPTED = frozenset({"approved", "conditions", "unclear"})
APPROVAL_STATUSES: tuple[ApprovalStatus, ...] = ("approved", "conditions", "unclear", "not-approved")


@dataclass(frozen=True, slots=True)
class Format:
    """A format by its usual name, and how it stands with the regulation."""

    name: str
    status: ApprovalStatus


def classify_format(puid: str | None, suffix: str, media_type: str | None) -> Format:
    """The format of a file; one that the regulation does not name goes by its media type or ending."""
    by_puid, by_ending, by_type = _format_tables()
    of_type = None if media_type in _SAYS_LITTLE else by_type.get(media_type or "")
    of_ending = by_ending.get(suffix.lower()) if media_type in _SAYS_LITTLE or not media_type else None
    match = by_puid.get(puid or "") or of_type or of_ending or by_type.get(media_type or "")
    if match is None:
        return Format(media_type or suffix.lower() or "?", "not-approved")
    if puid and puid not in by_puid and media_type != "text/plain":
        # its PRONOM identifier is known, and is none of those that are taken; but many formats are plain text
        return Format(match.name, "not-approved")
    return match


def is_accepted(puid: str | None, suffix: str) -> bool:
    """True for a document that depots take by its format: by its PRONOM identifier where that is known, else by the
    ending of its name. Whether a PDF is a PDF/A, and a video has a codec that is taken, only its bytes tell."""
    return classify_format(puid or None, suffix, None).status in _ACCEPTED


@cache
def _format_tables() -> tuple[Mapping[str, Format], Mapping[str, Format], Mapping[str, Format]]:
    data = tomllib.loads(files("noarkit.model").joinpath("archive-formats.toml").read_text("utf-8"))
    tables: tuple[dict[str, Format], ...] = ({}, {}, {})
    for entry in data["format"]:
        for table, key in zip(tables, ("puids", "endings", "media_types"), strict=True):
            table.update(dict.fromkeys(entry.get(key, ()), Format(entry["name"], entry["standing"])))
    return tables[0], tables[1], tables[2]
