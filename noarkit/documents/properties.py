"""When a document was last saved, by its own word: what its program wrote into it, whatever a disk says of the file.

    saved_at(descriptor, size, head)   ->   "2014-03-12T09:15:00Z"     Word, Excel and PowerPoint of any age,
                                                                       OpenDocument, PDF

A few reads at fixed places, whatever the size. Where no time of saving stands, that of making counts. What cannot be
read says nothing: a date that is missing is better than one that is wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime

from noarkit.documents import outlook
from noarkit.documents.zip_tail import SIGNATURE, find_member, read_member, read_tail

_MEMBER_BYTES = 64 * 1024
_LARGEST_CONTAINER = 64 * 1024 * 1024
_OFFICE_PART, _OPEN_PART = b"docProps/core.xml", b"meta.xml"
_IN_OFFICE = (re.compile(rb"<(?:\w+:)?modified\b[^>]*>([^<]+)<"), re.compile(rb"<(?:\w+:)?created\b[^>]*>([^<]+)<"))
_IN_OPEN = (re.compile(rb"<dc:date\b[^>]*>([^<]+)<"), re.compile(rb"<meta:creation-date\b[^>]*>([^<]+)<"))
_IN_XMP = (
    re.compile(rb"xmp:ModifyDate(?:>|\s*=\s*[\"'])([^<\"']+)"),
    re.compile(rb"xmp:CreateDate(?:>|\s*=\s*[\"'])([^<\"']+)"),
)
_INFO = re.compile(rb"/Info\s+(\d{1,10})\s+(\d{1,5})\s+R\b")
_IN_INFO = (re.compile(rb"/ModDate\s*\(\s*D:([^)]{4,40})\)"), re.compile(rb"/CreationDate\s*\(\s*D:([^)]{4,40})\)"))
_OF_PDF = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(?:(\d\d))?)?\s*(Z|[+-]\d\d'?:?\d\d)?.*")
_FIRST_YEAR = 1970
"""What is older was not written by a program, but is what a program writes that knows no time."""


def saved_at(descriptor: int, size: int, head: bytes) -> str | None:
    """When a document says that it was saved last, or made; in ISO 8601, without zone where it tells none."""
    if head.startswith(SIGNATURE):
        return _first_time(_in_zip(descriptor, size))
    if head.startswith(b"%PDF-"):
        return _first_time(_in_pdf(descriptor, size, head))
    if head.startswith(outlook.SIGNATURE) and size <= _LARGEST_CONTAINER:
        with os.fdopen(os.dup(descriptor), "rb") as file:
            times = outlook.document_times(file)
        os.lseek(descriptor, 0, os.SEEK_SET)  # the copy shares its place with the one that is read next
        return _first_time(iter(times))
    return None


def _first_time(texts: Iterator[str]) -> str | None:
    for text in texts:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            continue
        if moment.year > _FIRST_YEAR:
            return text.strip()
    return None


def _in_zip(descriptor: int, size: int) -> Iterator[str]:
    tail = read_tail(descriptor, size)
    for name, patterns in ((_OFFICE_PART, _IN_OFFICE), (_OPEN_PART, _IN_OPEN)):
        member = find_member(tail, name)
        if member is not None:
            yield from _matches(read_member(descriptor, member, _MEMBER_BYTES), patterns)


def _in_pdf(descriptor: int, size: int, head: bytes) -> Iterator[str]:
    """Of the information that the trailer names, else of the metadata that stand in the first or last bytes."""
    tail = read_tail(descriptor, size)
    for reference in reversed(list(_INFO.finditer(tail))):
        begins = re.compile(rb"(?<!\d)%s\s+%s\s+obj\b" % (reference[1], reference[2]))
        for part in (tail, head):
            for beginning in begins.finditer(part):
                yield from map(_of_pdf, _matches(part[beginning.end() :].partition(b"endobj")[0], _IN_INFO))
    for part in (tail, head):
        yield from _matches(part, _IN_XMP)


def _matches(text: bytes, patterns: tuple[re.Pattern[bytes], ...]) -> Iterator[str]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield match[1].decode("ascii", "replace")


def _of_pdf(text: str) -> str:
    """A time as PDF writes it, as ISO 8601 does; without a time of day, the day."""
    parts = _OF_PDF.fullmatch(text)
    if parts is None:
        return ""
    year, month, day, hour, minute, second, zone = parts.groups()
    if hour is None:
        return f"{year}-{month}-{day}"
    shift = zone.replace("'", "").replace(":", "") if zone else ""
    return f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{shift}"
