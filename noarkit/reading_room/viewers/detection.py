"""What a document is, by its first bytes; what others call it is only compared with that.

Nothing is parsed here: signatures, and for texts the words that a format begins with. What lies in a zip or an OLE file
is told by `containers`, in the child.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import cast, get_args

from noarkit.documents.detect import looks_like_mail, looks_like_mailbox
from noarkit.documents.encodings import MARKS
from noarkit.model.formats import classify_format
from noarkit.reading_room.viewers.port import Detected, Kind, Note

HEAD_BYTES = 64 * 1024
_PDF_WITHIN = 1024
_ROWS = 20
_LONGEST_ROW = 8_000
_LONG_CELL = 60

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "png"),
    (0, b"\xff\xd8\xff", "jpeg"),
    (0, b"GIF87a", "gif"),
    (0, b"GIF89a", "gif"),
    (0, b"II*\0", "tiff"),
    (0, b"MM\0*", "tiff"),
    (0, b"II+\0", "tiff"),
    (0, b"MM\0+", "tiff"),
    (0, b"\0\0\0\x0cjP  \r\n\x87\n", "jp2"),
    (0, b"\xff\x4f\xff\x51", "jp2"),
    (0, b"8BPS\0", "psd"),
    (0, b"\0\0\x01\0", "ico"),
    (0, b"PK\x03\x04", "zip"),
    (0, b"PK\x05\x06", "zip"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (0, b"\x1f\x8b\x08", "gzip"),
    (257, b"ustar", "tar"),
    (0, b"7z\xbc\xaf\x27\x1c", "sevenzip"),
    (0, b"Rar!\x1a\x07", "rar"),
    (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\0", "xz"),
    (0, b"SQLite format 3\0", "sqlite"),
    (0, b"fLaC", "flac"),
    (0, b"OggS", "ogg"),
    (0, b"ID3", "mp3"),
    (0, b"\x7fELF", "program"),
    (0, b"\xcf\xfa\xed\xfe", "program"),
    (0, b"\xce\xfa\xed\xfe", "program"),
    (0, b"\0\x01\0\0\0", "font"),
    (0, b"OTTO\0", "font"),
    (0, b"wOFF", "font"),
    (0, b"wOF2", "font"),
    (0, b"%!PS-", "postscript"),
    (0, b"\xc5\xd0\xd3\xc6", "postscript"),
)
_RIFF = {b"WEBP": "webp", b"WAVE": "wav", b"AVI ": "avi"}
_BRANDS = (
    (re.compile(rb"heic|heix|hevc|hevx|heim|heis|mif1|msf1|avif|avis"), "heif"),
    (re.compile(rb"jp2 |jpx |jpm "), "jp2"),
    (re.compile(rb"M4A |M4B |M4P "), "m4a"),
    (re.compile(rb"isom|iso[2-9]|mp4[12]|avc1|dash|M4V |MSNV|qt  |3gp|f4v "), "mp4"),
)
_MPEG_AUDIO = re.compile(rb"\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff][\x10-\xef]")
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,4000}?-->\s*)*"
    r"<(?:!doctype\s+html|html|head|body|script|iframe|meta|title|base|style|table|div|p|a|h[1-6]|img|form|center|font"
    r"|br|b)\b",
    re.IGNORECASE | re.DOTALL,
)
_SVG = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:(?:<!--.{0,4000}?-->|<!doctype\s+svg[^\[>]{0,500}(?:\[.{0,8000}?\]\s*)?>)\s*)*"
    r"<(?:svg:)?svg\b",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(r"\s*<(?:\?xml\s|!DOCTYPE\s|[A-Za-z_][\w.:-]{0,100}(?:\s+[\w.:-]{1,100}\s*=|\s*/?>))")
_JSON = re.compile(r'\s*(?:\{\s*(?:"|\})|\[\s*(?:[\[{"\]0-9tfn-]|\]))')
_XHTML = re.compile(r"<html\b[^>]{0,500}http://www\.w3\.org/1999/xhtml", re.IGNORECASE)
_NO_TEXT = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class FormatRow:
    """A format: the kind that shows it, and what others may rightly call it."""

    kind: Kind
    types: tuple[str, ...]
    endings: tuple[str, ...]


def detect(head: bytes) -> Detected:
    """What a document is that begins with `head`, which need not be longer than `HEAD_BYTES`."""
    return detected_as(_format_of(head))


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


_MEDIA = frozenset({"application", "audio", "chemical", "font", "image", "inode", "message", "model", "text", "video"})
_PUID = re.compile(r"(?:x-)?fmt/[0-9]+")
_WORD = re.compile(r"[a-z0-9]+")


def ending_of(name: str) -> str:
    """The ending of a name in small letters, empty where it is none."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    return ending if ending.isalnum() and len(ending) <= 10 else ""


def _format_of(head: bytes) -> str:
    if not head:
        return "empty"
    for offset, signature, name in _SIGNATURES:
        if head.startswith(signature, offset):
            return name
    binary = _binary_format(head)
    if binary:
        return binary
    # a PDF may stand behind some bytes of others, but not behind markup, which a browser would take it for
    at = head.find(b"%PDF-", 0, _PDF_WITHIN)
    if at >= 0 and not _is_markup(head[:at].decode("latin-1")):
        return "pdf"
    text = head.decode("latin-1") if at >= 0 else _text_of(head)
    return "unknown" if text is None else _text_format(head, text)


def _binary_format(head: bytes) -> str:
    if head.startswith(b"RIFF") and len(head) >= 12:
        return _RIFF.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return next((name for brand, name in _BRANDS if brand.match(head, 8)), "unknown")
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "webm" if b"webm" in head[:64] else "matroska"
    if head.startswith(b"BM") and len(head) >= 18 and head[14:18] in _BITMAP_HEADERS and not any(head[6:10]):
        return "bmp"
    if head.startswith(b"MZ") and _NO_TEXT.search(head[:256]):
        return "program"
    if _MPEG_AUDIO.match(head) and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "mp3"
    return ""


_TEXTS = frozenset({"text", "csv", "tsv", "xml", "json", "eml", "mbox"})
"""Formats that may rightly be called text, by a name or a type."""
_BITMAP_HEADERS = frozenset(size.to_bytes(4, "little") for size in (12, 40, 52, 56, 64, 108, 124))


def _text_of(head: bytes) -> str | None:
    """The first bytes as text, roughly: enough to tell a format by; None where they are no text."""
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return head.decode(encoding, "replace")
    if head.startswith((b"<\0", b"{\0")) or (len(head) > 8 and _is_wide(head, 1)):
        return head.decode("utf-16-le", "replace")
    if head.startswith((b"\0<", b"\0{")) or (len(head) > 8 and _is_wide(head, 0)):
        return head.decode("utf-16-be", "replace")
    sample = head[:4096]
    if head.count(0) * 500 > len(head) or len(_NO_TEXT.findall(sample)) * 50 > len(sample):
        return None
    return head.decode("utf-8", "replace") if _is_utf8(head) else head.decode("cp1252", "replace")


def _is_wide(head: bytes, at: int) -> bool:
    """True for what looks like UTF-16 without a mark: nearly every second byte is 0, and the others are not."""
    sample = head[:2048]
    zeros, others = sample[at::2].count(0), sample[1 - at :: 2].count(0)
    return zeros > 0.9 * len(sample[at::2]) and not others


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _is_markup(text: str) -> bool:
    return bool(_HTML.match(text) or _SVG.match(text) or _XML.match(text))


def _text_format(head: bytes, text: str) -> str:
    text = text.removeprefix("\ufeff")
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if looks_like_mailbox(head[:4096]):
        return "mbox"
    if _SVG.match(text):
        return "svg"
    if _HTML.match(text) or _XHTML.search(text, 0, 2000):
        return "html"
    if _XML.match(text):
        return "xml"
    if looks_like_mail(head[:4096], ""):
        return "eml"
    if _JSON.match(text):
        return "json"
    return _table_format(text)


def _table_format(text: str) -> str:
    """Texts whose first rows have the same number of the same separator are tables."""
    separator = separator_of(text, is_cut=len(text) >= HEAD_BYTES // 4)
    return "text" if not separator else "tsv" if separator == "\t" else "csv"


def separator_of(text: str, *, is_cut: bool) -> str:
    """What separates the fields of a table that begins so; empty for a text that is none. `is_cut` where it goes on."""
    for separator in ("\t", ";", ",", "|"):
        if separator not in text[:_LONGEST_ROW]:
            continue
        try:
            rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=separator), _ROWS))
        except csv.Error:
            continue
        rows = [row for row in (rows[:-1] if is_cut and len(rows) > 1 else rows) if row]
        widths = {len(row) for row in rows}
        if len(rows) >= 2 and len(widths) == 1 and min(widths) >= 2 and not _is_prose(rows, separator):
            return separator
    return ""


def _is_prose(rows: list[list[str]], separator: str) -> bool:
    """True for sentences that happen to have as many commas each: their cells are long, or begin with a blank."""
    if sum(len(row[0]) for row in rows) > _LONG_CELL * len(rows):
        return True
    cells = [cell for row in rows for cell in row[1:]]
    return separator in ",;" and sum(cell.startswith(" ") for cell in cells) * 2 > len(cells)
