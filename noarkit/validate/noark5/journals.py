"""One pass through a journal or the change log: rows for the store, and what the file can tell alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from xml.parsers import expat

from noarkit.errors import UnsafeXml
from noarkit.model.xml_model import xml_model
from noarkit.packages.noark5 import spec
from noarkit.safe.sax import check_text, event_parser, feed
from noarkit.safe.xml import LIMITS
from noarkit.validate.noark5.messages import Counted, Head, Message, Notes, Rows
from noarkit.validate.noark5.store import Row, packed
from noarkit.validate.noark5.units import told, whole

JOURNALS = (spec.RUNNING_JOURNAL, spec.PUBLIC_JOURNAL)
"""The two journals; their place here is their number."""

_BATCH = 5_000
Values = dict[str, str]
_HEAD = ("journalStartDato", "journalSluttDato", "antallJournalposter", "seleksjon")
_CASE = ("saksaar", "sakssekvensnummer")
_ENTRY = (
    "systemID",
    "journalaar",
    "journalsekvensnummer",
    "journalpostnummer",
    "tittel",
    "offentligTittel",
    "journaldato",
    "skjermingMetadata",
)
_CHANGE = ("referanseArkivenhet", "referanseMetadata", "endretDato", "endretAv", "tidligereVerdi", "nyVerdi")


def read_journal(path: Path, journal: int) -> Iterator[Message]:
    """The entries of a journal in their order, its head, and what is wrong in it."""
    with path.open("rb") as file:
        reading = _JournalReading(journal, path.name)
        for _ in feed(reading.parser, file, path.name):
            reading.flat.check_texts()
            if len(reading.rows) >= _BATCH:
                yield Rows("entries", tuple(reading.rows))
                reading.rows.clear()
    yield Rows("entries", tuple(reading.rows))
    yield Head(journal, reading.head, reading.head_at, reading.entries, reading.newer_at)
    yield from reading.notes.told()


def read_change_log(path: Path) -> Iterator[Message]:
    """The changes of a change log, and what is wrong in it."""
    with path.open("rb") as file:
        reading = _ChangeReading(path.name)
        for _ in feed(reading.parser, file, path.name):
            reading.flat.check_texts()
            if len(reading.rows) >= _BATCH:
                yield Rows("changes", tuple(reading.rows))
                reading.rows.clear()
    yield Rows("changes", tuple(reading.rows))
    yield Counted({("N938",): reading.changes})
    yield from reading.notes.told()


class _Flat:
    """The callbacks of a document whose groups hold leaves: keeps wanted leaves of the group that is open."""

    def __init__(self, document: str, file: str, groups: tuple[str, ...], wanted: tuple[str, ...]) -> None:
        self.parser = event_parser(file)
        self.notes = Notes(file)
        self._file = file
        self._chunks: list[str] = []
        prefix = f"{spec.namespace(document)} "
        self._groups = {prefix + name: name for name in groups}
        self._wanted = {prefix + name: name for name in wanted}
        self.parser.CharacterDataHandler = self._chunks.append
        self.parser.XmlDeclHandler = self._declared

    def check_texts(self) -> None:
        """Refuses a text that never ends."""
        check_text(self._chunks, self.parser, self._file)

    def listen(self, opened: Callable[[str], None], closed: Callable[[str, Values], None]) -> None:
        """Calls `opened` and `closed` for each group, the latter with the leaves that were kept."""
        group, known, chunks, notes = self._groups.get, self._wanted, self._chunks, self.notes
        clear, join, parser, deepest = chunks.clear, "".join, self.parser, LIMITS.max_depth
        open_groups: list[Values] = [{}]
        depth = 0

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > deepest:
                raise UnsafeXml(where=self._file, why="depth", line=parser.CurrentLineNumber)
            clear()
            kind = group(name)
            if kind is not None:
                open_groups.append({})
                opened(kind)

        def end(name: str) -> None:
            nonlocal depth
            depth -= 1
            kind = group(name)
            if kind is not None:
                closed(kind, open_groups.pop())
                return
            text = join(chunks)
            if not text or text.isspace():
                notes.hit("N010", parser.CurrentByteIndex, element=name.rpartition(" ")[2])
            if name in known:
                open_groups[-1][known[name]] = text

        parser.StartElementHandler = start
        parser.EndElementHandler = end

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        if version != "1.0" or (encoding or "UTF-8").upper() not in ("UTF-8", "UTF8"):
            self.notes.hit("N008", self.parser.CurrentByteIndex, value=f"{version} {encoding or ''}".strip())


class _JournalReading:
    def __init__(self, journal: int, file: str) -> None:
        document = JOURNALS[journal]
        groups = ("journalhode", "journalregistrering", "klasse", "saksmappe", "journalpost", "korrespondansepart")
        newer = _newer(document)
        self.flat = _Flat(
            document,
            file,
            (*groups, "arkivskaper", document),
            (*_ENTRY, *_HEAD, *_CASE, *{name for names in newer.values() for name in names}),
        )
        self.parser: expat.XMLParserType = self.flat.parser
        self.notes = self.flat.notes
        self.head: dict[str, str] = {}
        self.head_at = 0
        self.entries = 0
        self.rows: list[Row] = []
        self._journal = journal
        self._at = 0
        self._before = (0, 0)
        self._case: tuple[int | None, int | None] = (None, None)
        self._newer = newer
        self.newer_at: int | None = None
        self.flat.listen(self._opened, self._closed)

    def _opened(self, group: str) -> None:
        if group == "journalpost":
            self._at = self.parser.CurrentByteIndex
        elif group == "journalhode":
            self.head_at = self.parser.CurrentByteIndex

    def _closed(self, group: str, values: Values) -> None:
        if self.newer_at is None and not self._newer.get(group, _NONE).isdisjoint(values):
            self.newer_at = self.parser.CurrentByteIndex
        if group == "journalpost":
            self._entry(values)
        elif group == "saksmappe":
            self._case = (whole(values.get("saksaar")), whole(values.get("sakssekvensnummer")))
        elif group == "journalhode":
            self.head = values

    def _entry(self, values: dict[str, str]) -> None:
        self.entries += 1
        key = values.get("systemID", "")
        year, sequence = whole(values.get("journalaar")) or 0, whole(values.get("journalsekvensnummer")) or 0
        if (year, sequence) < self._before:
            self.notes.hit("N505", self._at, key, year=str(year), sequence=str(sequence))
        self._before = (year, sequence)
        day = values.get("journaldato", "")[:10]
        first, last = self.head.get("journalStartDato", "")[:10], self.head.get("journalSluttDato", "")[:10]
        if day and ((first and day < first) or (last and day > last)):
            self.notes.hit("N512", self._at, key, value=day)
        title = told(values.get("offentligTittel" if self._journal else "tittel"))
        number = whole(values.get("journalpostnummer"))
        self.rows.append((self._journal, packed(key), year, sequence, number, day, title, *self._case, self._at))


_NONE: frozenset[str] = frozenset()


def _newer(document: str) -> Mapping[str, frozenset[str]]:
    """The fields of each group that the first edition of 5.0 did not have."""
    groups = xml_model("5.0").documents[document].groups.values()
    return {group.name: frozenset(one.name for one in group.own if one.since_2023) for group in groups}


class _ChangeReading:
    def __init__(self, file: str) -> None:
        self.flat = _Flat(spec.CHANGE_LOG, file, ("endring", spec.CHANGE_LOG), _CHANGE)
        self.parser: expat.XMLParserType = self.flat.parser
        self.notes = self.flat.notes
        self.changes = 0
        self.rows: list[Row] = []
        self._at = 0
        self.flat.listen(self._opened, self._closed)

    def _opened(self, group: str) -> None:
        if group == "endring":
            self._at = self.parser.CurrentByteIndex

    def _closed(self, group: str, values: Values) -> None:
        if group == "endring":
            self.changes += 1
            target = packed(values.get("referanseArkivenhet", ""))
            self.rows.append((target, values.get("referanseMetadata", ""), self._at))
