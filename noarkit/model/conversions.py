"""How a conversion of a document to an archival format is told: the carrier in `formatDetaljer`, and its comment.

The archive service has no field for `<konvertering>`. The copy's `formatDetaljer` carries it in a fixed grammar that
reads as a sentence and is read back exactly, and an external id of the copy names the checksum of its source:

    fmt/477 · fra fmt/412 · 2026-11-22T09:12:03Z · LibreOffice 7.4.7.2 · av noarkit 0.1 · regel ooxml-text
        · sha256 <of the source> → <of the copy> · formål bruk · merknad fields, comments
        · godtatt av Kari Berg, 2026-11-23T08:00:00Z

A copy for reading says so (`formål bruk`); one that says nothing is archival.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Purpose = Literal["archive", "access"]
PURPOSES: tuple[Purpose, ...] = ("archive", "access")
"""What a copy is for: to be kept for ever, or to be read with ease and made anew when it is lost."""
_MARKS: dict[Purpose, str] = {"archive": "+a", "access": "+r"}
"""What is added to the key of a version to name its copy. No key of a recipe or package ends so."""

_SHA256_PREFIX = "sha256:"
_BETWEEN = " · "
_ARROW = " → "
_FROM, _BY, _RULE, _SUM, _NOTE, _ACCEPTED = "fra ", "av ", "regel ", "sha256 ", "merknad ", "godtatt av "
_FOR_ACCESS = "formål bruk"
# Signs of the grammar, of lists in it, and whatever an archive or XML would not give back as it was.
_UNSAFE = re.compile("[%·,→\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]|[^\\S ]|^ | $| (?= )")
_ESCAPED = re.compile("%([0-9A-F]{2,6});")
_SHA256 = re.compile("[0-9a-f]{64}")
_SUMS = re.compile("sha256 ([0-9a-f]{64}) → ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion of a document. Formats are PRONOM identifiers where they are known; `made_at` is a time in UTC
    (`2026-11-22T09:12:03Z`), `made_by` a person or system, `findings` codes of what a person should know. A copy that
    was held until a person took it as it is says who that was, and when."""

    source_format: str
    result_format: str
    made_at: str
    made_by: str
    tool: str
    rule: str
    source_sha256: str
    result_sha256: str
    findings: tuple[str, ...] = ()
    accepted_by: str = ""
    accepted_at: str = ""
    purpose: Purpose = "archive"


def details_text(conversion: Conversion) -> str:
    """A conversion as the text that `formatDetaljer` of the copy holds."""
    parts = [
        _escape(conversion.result_format),
        _FROM + _escape(conversion.source_format),
        _escape(conversion.made_at),
        _escape(conversion.tool),
        _BY + _escape(conversion.made_by),
        _RULE + _escape(conversion.rule),
        f"{_SUM}{_escape(conversion.source_sha256)}{_ARROW}{_escape(conversion.result_sha256)}",
    ]
    return _BETWEEN.join((*parts, *_remarks(conversion)))


def converted_sums(text: str) -> list[str]:
    """The sha256 of what was converted, by every conversion that a text tells of."""
    return [sums[1] for sums in _SUMS.finditer(text)]


def parse_details(text: str) -> Conversion | None:
    """The conversion that a `formatDetaljer` carries; None for any other text."""
    parts = text.split(_BETWEEN)
    if not 7 <= len(parts) <= 10:
        return None
    result, source, made_at, tool, made_by, rule, sums, *remarks = parts
    purpose: Purpose = "access" if remarks and remarks[0] == _FOR_ACCESS else "archive"
    remarks = remarks[purpose == "access" :]
    accepted = remarks.pop() if remarks and remarks[-1].startswith(_ACCEPTED) else ""
    notes = remarks[:1]
    accepted_by, _, accepted_at = accepted.removeprefix(_ACCEPTED).partition(", ")
    marked = ((source, _FROM), (made_by, _BY), (rule, _RULE), (sums, _SUM), *((note, _NOTE) for note in notes))
    first_sum, arrow, second_sum = sums.removeprefix(_SUM).partition(_ARROW)
    if not arrow or any(not part.startswith(mark) for part, mark in marked):
        return None
    findings = tuple(_unescape(one) for note in notes for one in note.removeprefix(_NOTE).split(", "))
    conversion = Conversion(
        source_format=_unescape(source.removeprefix(_FROM)),
        result_format=_unescape(result),
        made_at=_unescape(made_at),
        made_by=_unescape(made_by.removeprefix(_BY)),
        tool=_unescape(tool),
        rule=_unescape(rule.removeprefix(_RULE)),
        source_sha256=_unescape(first_sum),
        result_sha256=_unescape(second_sum),
        findings=findings,
        accepted_by=_unescape(accepted_by),
        accepted_at=_unescape(accepted_at),
        purpose=purpose,
    )
    # a text that only resembles the grammar would come out as another one
    return conversion if details_text(conversion) == text else None


def comment_text(conversion: Conversion) -> str:
    """The comment of a conversion in an extract: the rule, the checksums of both files, what was found, and who took
    the copy as it is."""
    parts = [
        _RULE + _escape(conversion.rule),
        f"{_SUM}{conversion.source_sha256}{_ARROW}{conversion.result_sha256}",
    ]
    return _BETWEEN.join((*parts, *_remarks(conversion)))


@dataclass(frozen=True, slots=True)
class Comment:
    """What the comment of a conversion says: the rule, the sha256 of the source and of the copy, what was found, and
    who took the copy as it is, and when. Empty where it does not say it."""

    rule: str = ""
    source_sha256: str = ""
    result_sha256: str = ""
    findings: tuple[str, ...] = ()
    accepted_by: str = ""
    accepted_at: str = ""
    purpose: Purpose = "archive"


def parse_comment(text: str) -> Comment:
    """What a comment says, as far as `comment_text` wrote it."""
    sums = checksums_in(text) or ("", "")
    parts = text.split(_BETWEEN)
    by_mark = {
        mark: part.removeprefix(mark) for part in parts for mark in (_RULE, _NOTE, _ACCEPTED) if part.startswith(mark)
    }
    by, _, at = by_mark.get(_ACCEPTED, "").partition(", ")
    note = by_mark.get(_NOTE, "")
    return Comment(
        _unescape(by_mark.get(_RULE, "")),
        *sums,
        tuple(map(_unescape, note.split(", "))) if note else (),
        _unescape(by),
        _unescape(at),
        "access" if _FOR_ACCESS in parts else "archive",
    )


def checksums_in(comment: str) -> tuple[str, str] | None:
    """The sha256 of the source and of the copy that a comment names; None where it names none."""
    match = _SUMS.search(comment)
    return None if match is None else (match[1], match[2])


def derived_from(sha256: str) -> str:
    """The external id by which a copy names its source."""
    return _SHA256_PREFIX + sha256


def source_of(external_id: str) -> str | None:
    """The checksum of the source that an external id of a copy names; None for an id of another kind."""
    sha256 = external_id.removeprefix(_SHA256_PREFIX).lower()
    return sha256 if external_id.startswith(_SHA256_PREFIX) and _SHA256.fullmatch(sha256) else None


def copy_key(key: str, purpose: Purpose = "archive") -> str:
    """The key of the copy of a version."""
    return key + _MARKS[purpose]


def original_key(key: str) -> str | None:
    """The key of the version that this is the key of a copy of; None for any other key."""
    mark = next((mark for mark in _MARKS.values() if key.endswith(mark)), None)
    return None if mark is None else key.removesuffix(mark)


def _remarks(conversion: Conversion) -> Iterator[str]:
    """What is told of a conversion only where there is anything to tell."""
    if conversion.purpose == "access":
        yield _FOR_ACCESS
    if conversion.findings:
        yield _NOTE + ", ".join(_escape(finding) for finding in conversion.findings)
    if conversion.accepted_by or conversion.accepted_at:
        yield f"{_ACCEPTED}{_escape(conversion.accepted_by)}, {_escape(conversion.accepted_at)}"


def _escape(text: str) -> str:
    return _UNSAFE.sub(lambda sign: f"%{ord(sign[0]):02X};", text) or "%;"


def _unescape(text: str) -> str:
    return "" if text == "%;" else _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
