"""Extracts the text of documents (plain text, HTML, mail, PDF, office files) in a process with limited resources.

`python -m noarkit.server.document_text` reads one JSON request a line (`{"path", "name", "media_type"}`) and answers
each with one line (`{"text"}` or `{"why"}`). It runs as a child process because parsers of untrusted documents may
loop, crash or eat memory: it limits its own memory and may not write files, and its parent kills it when an answer
takes too long. A document that cannot be parsed has no text.
"""

from __future__ import annotations

import email
import email.policy
import json
import sys
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from pathlib import Path

from noarkit.documents.layers import lines_of
from noarkit.documents.parts import PartKind, office_parts
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.word import word_spans
from noarkit.documents.zipped import open_package
from noarkit.safe import xml
from noarkit.safe.html import HtmlReader
from noarkit.safe.limits import ProcessLimits, limit_process, yield_to_others

MOST_CHARACTERS = 1_000_000
MOST_BYTES = 64 * 1024 * 1024
_MOST_MEMORY_BYTES = 1024 * 1024 * 1024
_MOST_PARTS = 2_000
_XML_LIMITS = xml.XmlLimits(max_bytes=MOST_BYTES)
# Which parts of an office file hold words, and after which elements a word ends.
_WITH_WORDS: tuple[PartKind, ...] = (
    "sharedStrings",
    "worksheet",
    "slide",
    "notesSlide",
)
_ENDS = frozenset({"p", "h", "br", "tab", "tr", "tc", "t", "si", "c", "cell", "table-cell", "table-row", "s"})
# Elements of a spreadsheet whose text is a number, a formula or the place of a shared string.
_NO_WORDS = frozenset({"v", "f"})
_INVISIBLE = frozenset({"script", "style", "head", "template"})


class Unreadable(Exception):
    """The document has no words that can be read."""


def text_of(path: Path, name: str, media_type: str) -> str:
    """The text of a document, at most a million characters. Raises `Unreadable`."""
    if path.stat().st_size > MOST_BYTES:
        raise Unreadable("too-large")
    with path.open("rb") as file:
        head = file.read(1024)
    reader = _reader(head, name.lower(), media_type.lower())
    pieces, length = [], 0
    try:
        for piece in reader(path):
            pieces.append(piece)
            length += len(piece)
            if length >= MOST_CHARACTERS:
                break
    except DocumentRefused as refused:
        if not length:
            raise Unreadable(str(refused.reason)) from refused
    return "".join(pieces)[:MOST_CHARACTERS].replace("\x00", " ")


def is_plain(name: str, media_type: str) -> bool:
    """True for plain text, which only has to be decoded."""
    is_other = media_type in ("text/html", "text/calendar") or name.lower().endswith((".html", ".htm"))
    return media_type.startswith("text/") and not is_other


def _reader(head: bytes, name: str, media_type: str) -> Callable[[Path], Iterator[str]]:
    if head.lstrip()[:5] == b"%PDF-":
        return _pdf
    if head[:4] == b"PK\x03\x04":
        return _office
    if media_type == "message/rfc822" or name.endswith(".eml"):
        return _mail
    if media_type in ("text/html", "application/xhtml+xml") or name.endswith((".html", ".htm", ".xhtml")):
        return _html
    if is_plain(name, media_type) or media_type in ("application/json", "application/xml"):
        return plain
    raise Unreadable("kind")


def plain(path: Path) -> Iterator[str]:
    """The text of a plain text file, by its byte order mark, else as UTF-8, else as Windows-1252."""
    with path.open("rb") as file:
        yield _decode(file.read(MOST_CHARACTERS * 4))


def _decode(content: bytes) -> str:
    for byte_order_mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(byte_order_mark):
            return content.decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as fault:
        is_cut = fault.start >= len(content) - 4  # in the middle of a character, where reading stopped
        return content.decode("utf-8", "ignore") if is_cut else content.decode("cp1252", "replace")


class _Words(HtmlReader):
    """Collects the visible text of an HTML page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._invisible_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begins an element."""
        self._invisible_depth += tag in _INVISIBLE
        self.pieces.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """Ends one."""
        self._invisible_depth -= tag in _INVISIBLE and self._invisible_depth > 0
        self.pieces.append(" ")

    def handle_data(self, data: str) -> None:
        """Some text."""
        if not self._invisible_depth:
            self.pieces.append(data)


def _html(path: Path) -> Iterator[str]:
    for piece in plain(path):
        yield _visible_text(piece)


def _visible_text(page: str) -> str:
    words = _Words()
    words.feed(page)
    words.close()
    return "".join(words.pieces)


def _mail(path: Path) -> Iterator[str]:
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    for name in ("subject", "from", "to", "cc", "date"):
        yield f"{message.get(name, '')}\n"
    for part in list(message.walk())[:_MOST_PARTS]:
        if part.get_content_type() in ("text/plain", "text/html"):
            content = _decode_part(part)
            yield (_visible_text(content) if part.get_content_type() == "text/html" else content) + "\n"
        elif part.get_filename():
            yield f"{part.get_filename()}\n"


def _decode_part(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    try:
        return content.decode(part.get_content_charset("utf-8"), "replace")
    except LookupError:
        return _decode(content)


def _pdf(path: Path) -> Iterator[str]:
    import pypdf

    with path.open("rb") as file:
        for page in pypdf.PdfReader(file).pages:
            yield page.extract_text() + "\n"


class _OfficeWords:
    """Collects the text of one XML part of an office file."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._open_elements: list[str] = []

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._open_elements)

    def place(self, line: Callable[[], int], /) -> None:
        """Lines are of no interest."""

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""
        self._open_elements.append(name.rpartition("}")[2])

    def end(self, name: str, /) -> None:
        """It ends, and often a word with it."""
        if self._open_elements.pop() in _ENDS:
            self.pieces.append("\n" if name.endswith("}p") else "" if name.endswith("}t") else " ")

    def data(self, text: str, /) -> None:
        """Some text."""
        if self._open_elements[-1] not in _NO_WORDS:
            self.pieces.append(text)


def _office(path: Path) -> Iterator[str]:
    with open_package(path) as package:
        parts = office_parts(package)
        if parts is None:
            raise Unreadable("kind")
        if parts.format == "docx":
            yield from (line.text for line in lines_of(word_spans(parts)))
            return
        for part in (parts.main, *parts.of(*_WITH_WORDS))[:_MOST_PARTS]:
            words = _OfficeWords()
            with package.archive.open(part) as file:
                for _ in xml.read(file, words, limits=_XML_LIMITS):
                    yield "".join(words.pieces)
                    words.pieces.clear()
            yield "\n"


def _limit_resources() -> None:
    """Limits the memory and the file size of this process; elsewhere the parent's time-out is the only limit."""
    yield_to_others()
    limit_process(ProcessLimits(memory_bytes=_MOST_MEMORY_BYTES, file_bytes=0))


def _answer(question: str) -> dict[str, str]:
    try:
        request = json.loads(question)
        return {"text": text_of(Path(request["path"]), str(request["name"]), str(request["media_type"]))}
    except Unreadable as fault:
        return {"why": str(fault)}
    except Exception as fault:  # noqa: BLE001  # a document may break its reader in any way; it then has no words
        return {"why": type(fault).__name__}


def main() -> None:
    """Answers until its questions end."""
    import logging

    logging.disable(logging.CRITICAL)
    _limit_resources()
    for question in sys.stdin:
        sys.stdout.write(json.dumps(_answer(question)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
