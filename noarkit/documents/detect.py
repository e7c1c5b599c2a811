"""What a file is, by its first bytes: our name of its format, and its media type.

Nothing is parsed here: signatures, and for texts the words that a format begins with. What lies in a zip or an OLE file
is told by `containers`.
"""

from __future__ import annotations

import codecs
import csv
import importlib
import io
import re
import sys
import threading
from contextlib import suppress
from itertools import islice
from typing import Any, Protocol

from noarkit.documents.encodings import is_text, marked_encoding
from noarkit.documents.signatures import SignatureTable
from noarkit.events import Event, Listener

FEW_TYPES = "few-media-types"
HEAD_BYTES = 4096
LONG_HEAD_BYTES = 64 * 1024
"""Enough to tell a table by its first rows."""
MAIL = "message/rfc822"
MAIL_FILES = frozenset({"eml", "msg"})
SAVED_PAGES = frozenset({"mht", "mhtml"})

_HEADER_LINE = re.compile(rb"[!-9;-~]{1,76}:[ \t\r\n]")
_MAIL_HEADER = re.compile(rb"^(?:from|to|cc|date|subject|message-id|received|return-path|mime-version):", re.I | re.M)
_FROM_LINE = re.compile(rb"From [^\n]{0,500}\d\d:\d\d[^\n]{0,200}\d{4}[^\n]{0,40}\n[!-9;-~]{1,76}:")
_MAIL_EXTENSIONS = SAVED_PAGES | {"eml"}
_STATED_TEXTS = {MAIL: "eml", "text/html": "html", "application/xhtml+xml": "html"}
_NAMED_TEXTS = {**dict.fromkeys(_MAIL_EXTENSIONS, "eml"), "html": "html", "htm": "html", "xhtml": "html"}
_TAG = re.compile(r"</?[a-z][^<>]{0,500}>|&(?:[a-z]{2,8}|#[0-9]{1,6});", re.IGNORECASE)
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
_BITMAP_HEADERS = frozenset(size.to_bytes(4, "little") for size in (12, 40, 52, 56, 64, 108, 124))


class _Handle(Protocol):
    def from_buffer(self, buffer: bytes, /) -> str: ...


def knows_few_types() -> bool:
    """True where the system has no libmagic and nothing brings one, so that our own small table tells media types."""
    return isinstance(_signatures(), SignatureTable)


def emit_few_types(emit: Listener) -> None:
    """Remarks it, once for a source, where our own small table tells media types. Windows has no libmagic by itself,
    and the manual says what that means."""
    if sys.platform != "win32" and knows_few_types():
        emit(Event("remark", {"stream": "files", "why": FEW_TYPES}))


class MediaTypes:
    """Tells media types. Each thread that asks gets a signature handle of its own, since one cannot be shared."""

    def __init__(self) -> None:
        self._own = threading.local()

    def of(self, head: bytes, ext: str) -> str:
        """The media type of a file that begins with `head` and whose name ends with `ext`."""
        media_type = self._handle().from_buffer(head)
        if media_type != MAIL and media_type.startswith("text/") and looks_like_mail(head, ext):
            return MAIL
        return media_type

    def _handle(self) -> _Handle:
        handle: _Handle | None = getattr(self._own, "handle", None)
        if handle is None:
            handle = self._own.handle = _signatures()
        return handle


def looks_like_mail(head: bytes, ext: str) -> bool:
    """True for a mail by its header lines: one known is enough where the name says so too, else three are wanted."""
    if _HEADER_LINE.match(head) is None:
        return False
    top = head.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    header_names = {match[0].lower() for match in _MAIL_HEADER.finditer(top)}
    return len(header_names) >= (1 if ext in _MAIL_EXTENSIONS else 3)


def looks_like_mailbox(head: bytes) -> bool:
    """True if the bytes begin as a mailbox does: a dated `From ` line, then a header."""
    return _FROM_LINE.match(head.replace(b"\r\n", b"\n")) is not None


def format_of(head: bytes, name: str = "", media_type: str = "") -> str:
    """Our name of the format of a document that begins with `head`, which need not be longer than `LONG_HEAD_BYTES`;
    `"zip"` and `"ole"` for whatever lies in those, `"unknown"` for what nobody here knows.

    The bytes decide. A name or a stated type says only whether one known header is enough to make a text a mail, and
    one tag wherever it stands to make it a page.
    """
    if not head:
        return "empty"
    for offset, signature, format_name in _SIGNATURES:
        if head.startswith(signature, offset):
            return format_name
    binary = _binary_format(head)
    if binary:
        return binary
    # a PDF may stand behind some bytes of others, but not behind markup, which a browser would take it for
    at = head.find(b"%PDF-", 0, _PDF_WITHIN)
    if at >= 0 and not _is_markup(head[:at].decode("latin-1")):
        return "pdf"
    text = head.decode("latin-1") if at >= 0 else _text_of(head)
    if text is None:
        return "unknown"
    stated = media_type.partition(";")[0].strip().lower()
    return _text_format(head, text, _STATED_TEXTS.get(stated) or _NAMED_TEXTS.get(ending_of(name), ""))


def ending_of(name: str) -> str:
    """The ending of a name in small letters, empty where it is none."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    return ending if ending.isalnum() and len(ending) <= 10 else ""


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


def _signatures() -> _Handle:
    """libmagic's own, those of the package that brings it, or where it runs on no such system (Windows) ours."""
    with suppress(ImportError):
        return _libmagic()
    # only where the system has no libmagic: its presence would point a system's own at signatures of another age
    with suppress(ImportError):
        importlib.import_module("pylibmagic")
        return _libmagic()
    return SignatureTable()


def _libmagic() -> _Handle:
    library: Any = importlib.import_module("magic")  # Any: it tells no types
    handle: _Handle = library.Magic(mime=True)
    return handle


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


def _text_of(head: bytes) -> str | None:
    """The first bytes as text, roughly: enough to tell a format by; None where they are no text."""
    if not is_text(head[:HEAD_BYTES]):
        return None
    encoding = marked_encoding(head[:HEAD_BYTES]) or ("utf-8" if _is_utf8(head) else "cp1252")
    return head.decode(encoding, "replace")


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _is_markup(text: str) -> bool:
    return bool(_HTML.match(text) or _SVG.match(text) or _XML.match(text))


def _text_format(head: bytes, text: str, hint: str) -> str:
    text = text.removeprefix("\ufeff")
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if looks_like_mailbox(head[:HEAD_BYTES]):
        return "mbox"
    if _SVG.match(text):
        return "svg"
    if _HTML.match(text) or _XHTML.search(text, 0, 2000) or (hint == "html" and _TAG.search(text)):
        return "html"
    if _XML.match(text):
        return "xml"
    if looks_like_mail(head[:HEAD_BYTES], hint):
        return "eml"
    if _JSON.match(text):
        return "json"
    return _table_format(text)


def _table_format(text: str) -> str:
    """Texts whose first rows have the same number of the same separator are tables."""
    separator = separator_of(text, is_cut=len(text) >= LONG_HEAD_BYTES // 4)
    return "text" if not separator else "tsv" if separator == "\t" else "csv"


def _is_prose(rows: list[list[str]], separator: str) -> bool:
    """True for sentences that happen to have as many commas each: their cells are long, or begin with a blank."""
    if sum(len(row[0]) for row in rows) > _LONG_CELL * len(rows):
        return True
    cells = [cell for row in rows for cell in row[1:]]
    return separator in ",;" and sum(cell.startswith(" ") for cell in cells) * 2 > len(cells)
