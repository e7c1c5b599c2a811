"""The records of a flat file, one by one, in constant memory. A record that is not as described comes with its line
and the reason, and is never mended.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from noarkit.forms.addml.model import FileDefinition, Layout, RecordType
from noarkit.safe.digest import BLOCK_BYTES, Readable

Why = Literal[
    "addml-field-count",
    "addml-length",
    "addml-record-type",
    "addml-quote",
    "addml-charset",
    "addml-too-long",
]
MOST_CHARACTERS = 8 * 1024 * 1024
"""No record is longer; what has no separator for so long is not the file that was described."""
_MOST_LINES_QUOTED = 1_000
_UNDECODED = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FlatRecord:
    """A record: which type of the definition it is of, the line where it begins, and the text of each field."""

    type_index: int
    line: int
    values: Sequence[str]


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A record that is not as described. With `is_end` nothing behind it could be read."""

    line: int
    why: Why
    is_end: bool = False


@dataclass(frozen=True, slots=True)
class HeaderRecord:
    """A line above the records."""

    line: int


RecordItem = FlatRecord | BrokenRecord | HeaderRecord


def why_unreadable(definition: FileDefinition) -> str:
    """Why files of a definition cannot be read as tables; empty if they can."""
    layout = definition.layout
    if layout is None or not definition.record_types:
        return "addml-undefined"
    if not layout.encoding:
        return "addml-unknown-charset"
    if layout.delimiter and not layout.separator:
        return "addml-undefined"
    for record_type in definition.record_types:
        if not record_type.fields:
            return "addml-undefined"
        if record_type.repeats or record_type.is_incomplete:
            return "addml-repeating" if record_type.repeats else "addml-incomplete"
        if any(field.type.packing for field in record_type.fields):
            return "addml-packed"
        if not layout.delimiter and not _has_places(record_type):
            return "addml-undefined"
    places = [_identifier_index(record, definition.identifier) for record in definition.record_types]
    return "addml-undefined" if len(places) > 1 and None in places else ""


def read_records(source: Readable, definition: FileDefinition) -> Iterator[RecordItem]:
    """Every record of a file whose definition can be read."""
    layout = definition.layout
    if layout is None:
        return
    lines = _Lines(source, layout)
    try:
        items = _parted(lines, definition) if layout.separator else _adjoining(lines, definition)
        yield from map(partial(_translated, layout), items)
    except UnicodeError:
        yield BrokenRecord(lines.number + 1, "addml-charset", is_end=True)
    except _TooLong:
        yield BrokenRecord(lines.number + 1, "addml-too-long", is_end=True)


def _parted(lines: _Lines, definition: FileDefinition) -> Iterator[RecordItem]:
    """Records with a separator between them."""
    layout = definition.layout
    headers = max(record_type.header_lines for record_type in definition.record_types)
    delimited = _Delimited(lines, layout) if layout is not None and layout.delimiter else None
    chooser = _TypeChooser(definition)
    for text in lines:
        line = lines.number
        if line <= headers:
            yield HeaderRecord(line)
        elif delimited is not None:
            item = chooser.of_values(delimited.split(text), line)
            if isinstance(item, BrokenRecord):
                delimited.give_back()  # each of the lines is judged by itself
            yield item
        else:
            yield chooser.of_positions(text, line)


def record_length(record_type: RecordType) -> int:
    """How many characters a record of fixed positions has."""
    ends = [(field.start or 0) + (field.length or 0) for field in record_type.fields]
    return record_type.length if record_type.length is not None else max(ends)


def _has_places(record_type: RecordType) -> bool:
    """True if every field has a place that a record can have."""
    known = all(
        field.start is not None and field.start >= 0 and field.length is not None and field.length > 0
        for field in record_type.fields
    )
    return known and 0 < record_length(record_type) <= MOST_CHARACTERS


class _TooLong(Exception):
    """A record without an end."""


def _identifier_index(record_type: RecordType, identifier: str) -> int | None:
    return next((at for at, field in enumerate(record_type.fields) if field.name == identifier), None)


def _translated(layout: Layout, item: RecordItem) -> RecordItem:
    """A record with its characters as they are meant; broken where some are none of the character set."""
    if not isinstance(item, FlatRecord):
        return item
    if _UNDECODED.search("".join(item.values)):
        return BrokenRecord(item.line, "addml-charset")
    if not layout.translation:
        return item
    return FlatRecord(item.type_index, item.line, [text.translate(layout.translation) for text in item.values])


class _Lines:
    """The texts between separators, with the number of each from 1."""

    def __init__(self, source: Readable, layout: Layout) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder(layout.encoding)("surrogateescape")
        self._separator = layout.separator
        self._waiting: deque[str] = deque()
        self._tail = ""
        self._is_end = False
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        while (text := self.next_line()) is not None:
            yield text

    def next_line(self) -> str | None:
        """The next text; None at the end. What follows the last separator is one only where there is something."""
        while not self._waiting:
            if self._is_end:
                return None
            parts = (self._tail + self.block()).split(self._separator)
            self._tail = parts.pop()
            self._waiting.extend(parts)
            if self._is_end and self._tail:
                self._waiting.append(self._tail)
            if len(self._tail) > MOST_CHARACTERS:
                raise _TooLong
        self.number += 1
        return self._waiting.popleft()

    def put_back(self, texts: Sequence[str]) -> None:
        """Has texts come again."""
        self._waiting.extendleft(reversed(texts))
        self.number -= len(texts)

    def block(self) -> str:
        """Some characters more; none at the end."""
        while True:
            block = self._source.read(BLOCK_BYTES)
            text = self._decoder.decode(block, not block)
            if not block:
                self._is_end = True
            if text or self._is_end:
                return text


class _Delimited:
    """Cuts lines at a delimiter. A quoted field may hold delimiters, and go on in the next lines."""

    def __init__(self, lines: _Lines, layout: Layout) -> None:
        self._lines = lines
        self._separator = layout.separator
        self._delimiter = layout.delimiter
        self._quote = layout.quote
        self._consumed: list[str] = []
        self._text = ""

    def split(self, text: str) -> list[str] | None:
        """The fields of a record that begins with this line; None if a quote is not closed as it should be."""
        self._text, self._consumed = text, []
        if not self._quote or self._quote not in text:
            return text.split(self._delimiter)
        values: list[str] = []
        at = 0
        while True:
            if not self._text.startswith(self._quote, at):
                end = self._text.find(self._delimiter, at)
                values.append(self._text[at:] if end < 0 else self._text[at:end])
            else:
                value, end = self._quoted(at + len(self._quote))
                is_delimited = value is not None and self._text.startswith(self._delimiter, end)
                if value is None or (not is_delimited and end < len(self._text)):
                    return None
                values.append(value)
                end = end if is_delimited else -1
            if end < 0:
                return values
            at = end + len(self._delimiter)

    def give_back(self) -> None:
        """Has the lines come again that the last record took besides its first."""
        self._lines.put_back(self._consumed)
        self._consumed = []

    def _quoted(self, at: int) -> tuple[str | None, int]:
        """The value behind an opening quote, and where it ends; None if it does not."""
        parts: list[str] = []
        size = 0
        while True:
            end = self._text.find(self._quote, at)
            if end < 0:
                following = self._lines.next_line() if len(self._consumed) < _MOST_LINES_QUOTED else None
                size += len(self._text) - at
                if following is None or size > MOST_CHARACTERS:
                    self._consumed += [] if following is None else [following]
                    return None, 0
                parts += [self._text[at:], self._separator]
                self._consumed.append(following)
                self._text, at = following, 0
                continue
            parts.append(self._text[at:end])
            at = end + len(self._quote)
            if not self._text.startswith(self._quote, at):
                return "".join(parts), at
            parts.append(self._quote)
            at += len(self._quote)


class _TypeChooser:
    """Tells the record types of a file apart, and cuts records of fixed positions."""

    def __init__(self, definition: FileDefinition) -> None:
        self._types = definition.record_types
        several = len(self._types) > 1
        self._places = [_identifier_index(record, definition.identifier) if several else None for record in self._types]
        is_delimited = definition.layout is not None and definition.layout.delimiter != ""
        self._lengths = [] if is_delimited else [record_length(record) for record in self._types]
        self._spans = [
            [slice(field.start or 0, (field.start or 0) + (field.length or 0)) for field in record.fields]
            for record in self._types
        ]

    def of_values(self, values: list[str] | None, line: int) -> RecordItem:
        """The record that has these values."""
        if values is None:
            return BrokenRecord(line, "addml-quote")
        for index, (record, place) in enumerate(zip(self._types, self._places, strict=True)):
            if place is not None and not (place < len(values) and _is_mark(values[place], record.mark)):
                continue
            if len(values) != len(record.fields):
                return BrokenRecord(line, "addml-field-count")
            return FlatRecord(index, line, values)
        return BrokenRecord(line, "addml-record-type")

    def of_positions(self, text: str, line: int) -> RecordItem:
        """The record that this text is."""
        index = self.index_of(text)
        if index is None:
            return BrokenRecord(line, "addml-record-type")
        record, length = self._types[index], self._lengths[index]
        if len(text) > length or (len(text) < length and not record.is_trimmed):
            return BrokenRecord(line, "addml-length")
        return FlatRecord(index, line, [text[span] for span in self._spans[index]])

    def index_of(self, text: str) -> int | None:
        """Which type a text of fixed positions begins with."""
        for index, (record, place) in enumerate(zip(self._types, self._places, strict=True)):
            if place is None or _is_mark(text[self._spans[index][place]], record.mark):
                return index
        return None

    @property
    def longest(self) -> int:
        """The length of the longest type."""
        return max(self._lengths)

    def length_of(self, index: int) -> int:
        """The length of a type."""
        return self._lengths[index]


def _is_mark(text: str, mark: str | None) -> bool:
    return mark is not None and text.strip() == mark.strip()


def _adjoining(lines: _Lines, definition: FileDefinition) -> Iterator[RecordItem]:
    """Records of fixed length with nothing between them. Behind one of no known type none can be found again."""
    chooser = _TypeChooser(definition)
    text, is_end = "", False
    while text or not is_end:
        while len(text) < chooser.longest and not is_end:
            block = lines.block()
            text, is_end = text + block, not block
        at = 0
        while at < len(text) and (is_end or len(text) - at >= chooser.longest):
            lines.number += 1
            index = chooser.index_of(text[at : at + chooser.longest])
            if index is None or len(text) - at < chooser.length_of(index):
                yield BrokenRecord(lines.number, "addml-record-type" if index is None else "addml-length", is_end=True)
                return
            end = at + chooser.length_of(index)
            yield chooser.of_positions(text[at:end], lines.number)
            at = end
        text = text[at:]
