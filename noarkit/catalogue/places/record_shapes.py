"""Records of one shape, made into rows without a parser.

Most records of an extract have the same elements, and only their texts differ. The first of a shape is parsed; from it
come a pattern of all its tags, and templates of its rows. What matches the pattern letter by letter can be nothing
else; a text with an entity, a quotation mark, a control character or blanks at its ends matches none, and is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter

import orjson

from noarkit.catalogue.index_words import (
    field_words,
    filter_tokens,
    format_of,
    index_text,
    is_coded,
    title_texts,
    with_known_names,
    year_of,
)
from noarkit.catalogue.masking import is_document_screened, is_part_screened
from noarkit.catalogue.places.unit_items import (
    LookUps,
    Plain,
    checked_day,
    moment_of,
    system_ids,
    unit_item,
)
from noarkit.catalogue.places.unmapped_screening import hidden_names
from noarkit.catalogue.port import CustodyStep, Document, Item
from noarkit.catalogue.rows import RowBatch, document_row, screening_of, step_fields
from noarkit.forms.noark5.read.entities import Untakable
from noarkit.forms.noark5.read.structure import unit_key
from noarkit.graph.entity import Content
from noarkit.model.disclosure import HIDDEN, HIDES_PARTIES

MOST_SHAPES = 24
_MOST_LESSONS = 200
_LONGEST_RECORD = 100_000
_TOKEN = re.compile(r"<(/?)([^\s/<>]+)([^<>]*?)(/?)>([^<]*)")
_TEXT = r"(?!\s)([^<>&\"\\\x00-\x1f\x7f\ue000-\ue007\ufffe\uffff]+)(?<!\s)"
# what decides more than a text: a record with another value has another shape
_LITERAL = frozenset({"sjekksumAlgoritme", "versjonsnummer", "format", "formatDetaljer", HIDDEN, HIDES_PARTIES})
# signs for what differs from record to record: a text, the key that it is, the locator and the name of a file
_OPEN, _CLOSE = {"text": "\ue000", "key": "\ue002", "locator": "\ue004", "name": "\ue006"}, "\ue001"
_SIGN = re.compile(r"([\ue000\ue002\ue004\ue006])(\d+)\ue001")
_KIND_OF = {sign: kind for kind, sign in _OPEN.items()}
_CHECKSUM = "sjekksum"
_SIZE, _CUSTODY, _SCREENED = 8, 12, 13
# as an extract tells of them, before they are put in the order of time
_STEPS = ("linked", "created", "converted", "verified")

Values = tuple[str, ...]
Evaluate = Callable[[Values], str]
Learn = Callable[[str], tuple[str, Plain, list[tuple[str, str]]] | None]
"""Parses a record; says its type, its fields and its references. None for what cannot be a shape."""


def _sign(kind: str, number: int) -> str:
    return f"{_OPEN[kind]}{number:04}{_CLOSE}"


@dataclass(slots=True)
class _Slots:
    """Where the values of a record stand: its texts first, then what is made of them."""

    texts: int
    keys: list[int] = field(default_factory=list)
    files: int = 0

    def place(self, kind: str, number: int) -> int:
        """The place of a value among all."""
        if kind == "text":
            return number
        if kind == "key":
            if number not in self.keys:
                self.keys.append(number)
            return self.texts + 2 * self.files + self.keys.index(number)
        return self.texts + 2 * number + (kind == "name")

    def evaluator(self, text: str, *, as_key: bool = False) -> Evaluate:
        """What fills a text with signs in it."""
        pieces = _SIGN.split(text)
        places: list[int] = []
        form = pieces[0].replace("%", "%%")
        for at in range(1, len(pieces), 3):
            kind = _KIND_OF[pieces[at]]
            places.append(self.place("key" if as_key and kind == "text" else kind, int(pieces[at + 1])))
            form += "%s" + pieces[at + 2].replace("%", "%%")
        if not places:
            return lambda _: text
        values_at = itemgetter(*places)
        if form == "%s":
            return values_at
        return lambda values: form % values_at(values)


@dataclass(frozen=True, slots=True)
class _DocumentShape:
    """A document of a record: its row, filled value by value. Its size comes from the file; steps of its custody are
    put in the order of time."""

    columns: tuple[Evaluate | object, ...]
    media_type: str
    puid: str
    is_screened: bool
    steps: tuple[tuple[Evaluate, Evaluate], ...]

    def custody(self, values: Values) -> str:
        """The steps as JSON."""
        steps = [(at(values), step(values)) for at, step in self.steps]
        steps.sort(key=itemgetter(0))
        return f"[{','.join([step for _, step in steps])}]"


@dataclass(frozen=True, slots=True)
class _ShapeWords:
    """What a record of a shape is found by: titles, the texts of its fields, and names that are known as a whole."""

    titles: tuple[Evaluate, ...]
    texts: tuple[Evaluate, ...]
    known_names: tuple[Evaluate, ...]

    @classmethod
    def of(cls, slots: _Slots, item: Item, *, screened: bool) -> _ShapeWords:
        """Those of a record that is screened, or not."""
        screened = screened or item.screened
        words = field_words(item.fields, screened=screened, hides_key=is_part_screened(item))
        parts = (title_texts(item, screened=screened), words.texts, words.known_names)
        return cls(*(tuple(map(slots.evaluator, part)) for part in parts))

    def columns(self, values: Values) -> tuple[str, str]:
        """The words of the title, and all others."""
        texts = [text for evaluate in self.texts if not is_coded(text := evaluate(values))]
        return index_text([evaluate(values) for evaluate in self.titles]), index_text(texts)

    def filters(self, values: Values, tokens: str) -> str:
        """The filters, and the names."""
        names = [name for evaluate in self.known_names if (name := evaluate(values))]
        return with_known_names(tokens, names) if names else tokens


class RecordShape:
    """The rows of all records that match one pattern."""

    def __init__(self, pattern: re.Pattern[str], item: Item, lesson: _Lesson, look_ups: LookUps) -> None:
        self.pattern = pattern
        self._find_file = look_ups.find_file
        self._calls = lesson.calls
        slots = _Slots(lesson.texts, files=len(lesson.calls))
        self.slots = slots
        self._item = item
        self._ref = slots.evaluator(item.ref, as_key=True)
        self._title, self._ident = slots.evaluator(item.title), slots.evaluator(item.ident)
        self._moment, self._status = slots.evaluator(lesson.moment), slots.evaluator(item.status)
        self._fields = slots.evaluator(orjson.dumps(item.fields).decode())
        self._documents = tuple(_document_shape(slots, document, look_ups.prefix) for document in item.documents)
        self._links = tuple((name, slots.evaluator(ref, as_key=True)) for name, ref in item.links)
        self._screening = tuple(screening_of(item, screened=screened) for screened in (False, True))
        self._words = tuple(_ShapeWords.of(slots, item, screened=screened) for screened in (False, True))
        self._arguments = tuple(
            tuple(None if part is None else slots.evaluator(part) for part in call) for call in lesson.calls
        )
        self._ids = tuple(slots.evaluator(system_id, as_key=True) for system_id in lesson.ids)
        self._checksums = lesson.checksums
        self._make_keys = tuple(slots.keys)

    def values(self, texts: tuple[str, ...]) -> tuple[Values, list[Content]] | None:
        """All values of a record from its texts; None where it must be parsed after all."""
        for number in self._checksums:
            if texts[number] != texts[number].lower():
                return None
        files: list[Content] = []
        more: list[str] = []
        for path, sha256, algorithm, checksum in self._arguments:
            try:
                file = self._find_file(
                    path(texts) if path else "",
                    sha256(texts) if sha256 else None,
                    algorithm(texts) if algorithm else "",
                    checksum(texts) if checksum else "",
                )
            except Untakable:
                return None
            files.append(file)
            more += (file.locator, file.name)
        return (*texts, *more, *[unit_key(texts[number]) for number in self._make_keys]), files

    def add(
        self, record: tuple[Values, list[Content]], place: tuple[int, int, str], batch: RowBatch, *, screened: bool
    ) -> Iterator[str]:
        """Adds the rows of a record; `place` is its number, that of what it lies in, and its class. Gives the keys of
        all systemIDs in it."""
        values, files = record
        n, parent, klass = place
        item = self._item
        title, ident, status = self._title(values), self._ident(values), self._status(values)
        day = checked_day(self._moment(values)[:10])
        year = year_of(day)
        screened = screened or item.screened
        words = self._words[screened]
        formats: set[str] = set()
        for number, document in enumerate(self._documents):
            size, name = files[number].size_bytes, files[number].name
            row = [column(values) if callable(column) else column for column in document.columns]
            row[0], row[_SIZE], row[_CUSTODY] = n, size, document.custody(values)
            row[_SCREENED] = int(screened or document.is_screened)
            batch.documents.append(tuple(row))
            formats.add(format_of(name, document.media_type, document.puid))
            batch.numbers.size_bytes += size or 0
        ordered = tuple(sorted(formats - {""}))
        batch.items.append(
            (
                *(
                    n,
                    self._ref(values),
                    parent,
                    item.type,
                    title,
                    ident,
                    day,
                    int(year) if year else None,
                    status,
                    klass,
                ),
                *(self._screening[screened], "", "", len(self._documents), " ".join(ordered), self._fields(values)),
            )
        )
        batch.links += [(n, name, ref) for name, ref in dict.fromkeys((name, ref(values)) for name, ref in self._links)]
        puids = tuple(document.puid for document in self._documents if document.puid)
        tokens = _tokens((item.type, klass, status, day[:4] if year else ""), ordered, puids, screened)
        batch.words.append((n, *words.columns(values), words.filters(values, tokens)))
        _count(batch, item.type, year, documents=len(self._documents), screened=screened)
        return (evaluate(values) for evaluate in self._ids)


def _count(batch: RowBatch, type_name: str, year: str, *, documents: int, screened: bool) -> None:
    numbers = batch.numbers
    numbers.documents += documents
    numbers.screened += screened
    numbers.types[type_name] = numbers.types.get(type_name, 0) + 1
    if year:
        numbers.years[year] = numbers.years.get(year, 0) + 1


@lru_cache(maxsize=10_000)
def _tokens(facets: tuple[str, str, str, str], formats: tuple[str, ...], puids: tuple[str, ...], screened: bool) -> str:
    type_name, klass, status, day = facets
    documents = tuple(Document("", puid=puid) for puid in puids)
    item = Item("", None, type_name, "", day=day, status=status, klass=klass, documents=documents)
    return filter_tokens(item, formats, screened=screened)


def _document_shape(slots: _Slots, document: Document, prefix: str) -> _DocumentShape:
    row = list(document_row(document, 0, screened=False))
    # item, ref, title, name, variant, version, media type, puid, size, sha256, locator, fields, custody, screened
    columns: list[Evaluate | object] = [
        slots.evaluator(value, as_key=at == 1) if isinstance(value, str) and _SIGN.search(value) else value
        for at, value in enumerate(row)
    ]
    steps = sorted(document.custody, key=lambda step: _STEPS.index(step.step))
    return _DocumentShape(
        tuple(columns),
        document.media_type,
        document.puid,
        is_document_screened(document),
        tuple((slots.evaluator(step.at), _step(slots, step)) for step in steps),
    )


def _step(slots: _Slots, step: CustodyStep) -> Evaluate:
    return slots.evaluator(orjson.dumps(step_fields(step)).decode())


@dataclass(slots=True)
class _Lesson:
    """What is known of a record in which signs stand for texts."""

    texts: int
    moment: str = ""
    calls: list[tuple[str | None, ...]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    checksums: tuple[int, ...] = ()

    def find_file(self, path: str, sha256: str | None, algorithm: str, checksum: str) -> Content:
        """A file whose locator and name are signs."""
        number = len(self.calls)
        self.calls.append((path, sha256, algorithm, checksum))
        return Content(_sign("locator", number), _sign("name", number))


class RecordShapes:
    """The shapes that were met so far in one document, the last one first."""

    def __init__(self, look_ups: LookUps) -> None:
        self._look_ups = look_ups
        self._shapes: list[RecordShape] = []
        self._lessons = 0

    def match(self, text: str, start: int) -> tuple[RecordShape, tuple[Values, list[Content]], int] | None:
        """The shape of the record that begins there, its values, and where it ends; None if it must be parsed."""
        shapes = self._shapes
        for place, shape in enumerate(shapes):
            match = shape.pattern.match(text, start)
            if match is not None:
                if place:
                    shapes.insert(0, shapes.pop(place))
                values = shape.values(match.groups())
                return None if values is None else (shape, values, match.end())
        return None

    def learn(self, record: str, parse: Learn) -> None:
        """Makes a shape of a record, as long as there are not too many."""
        if len(self._shapes) >= MOST_SHAPES or self._lessons >= _MOST_LESSONS or len(record) > _LONGEST_RECORD:
            return
        self._lessons += 1
        shape = _shape_of(record, parse, self._look_ups)
        if shape is not None:
            self._shapes.insert(0, shape)


def _shape_of(record: str, parse: Learn, look_ups: LookUps) -> RecordShape | None:
    pieces = _pattern_of(record)
    if pieces is None:
        return None
    pattern, signed, names = pieces
    parsed = parse(signed)
    if parsed is None:
        return None
    type_name, fields, links = parsed
    own = fields.get("systemID")
    if hidden_names(fields):
        return None  # which party is meant is told by its name, and another record has other names
    if not isinstance(own, str) or _SIGN.fullmatch(own) is None:
        return None
    lesson = _Lesson(len(names), moment_of(fields))
    lesson.checksums = tuple(number for number, name in enumerate(names) if name == _CHECKSUM)
    lesson.ids = system_ids(fields)
    signs = LookUps(lesson.find_file, prefix=look_ups.prefix)
    item = unit_item(type_name, (own, None, ""), fields, signs, links)
    if len(item.documents) != len(lesson.calls):
        return None
    return RecordShape(re.compile(pattern), item, lesson, look_ups)


def _pattern_of(record: str) -> tuple[str, str, list[str]] | None:
    """The pattern of a record, the record with signs for its texts, and the names of the elements of those."""
    tokens = list(_TOKEN.finditer(record))
    pattern: list[str] = []
    signed: list[str] = []
    names: list[str] = []
    at = 0
    for number, token in enumerate(tokens):
        if token.start() != at:
            return None
        at = token.end()
        closes, name, _, alone, text = token.groups()
        tag = record[token.start() : token.start(5)]
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        is_leaf = not closes and not alone and following is not None and following[1] == "/" and following[2] == name
        local = name.rpartition(":")[2]
        pattern.append(re.escape(tag))
        signed.append(tag)
        if is_leaf and text.strip() and local not in _LITERAL:
            pattern.append(_TEXT)
            signed.append(_sign("text", len(names)))
            names.append(local)
        elif is_leaf:
            pattern.append(re.escape(text))
            signed.append(text)
        elif text.strip():
            return None
        else:
            pattern.append(r"\s*" if following is not None else "")
            signed.append(text if following is not None else "")
    return ("".join(pattern), "".join(signed), names) if at == len(record) else None
