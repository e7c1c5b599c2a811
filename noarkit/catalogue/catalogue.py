"""The looks into a catalogue: the tree, cards with links both ways, documents, and searches by words.

Everything is answered from the store in pages of bounded size. What is screened comes out masked, unless it is asked
for by `access_log.reveal_card`, which writes an entry to the access log beside the place.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from noarkit.catalogue.conversion_steps import complete_steps
from noarkit.catalogue.entries import Card as Card
from noarkit.catalogue.entries import Entry as Entry
from noarkit.catalogue.entries import Link as Link
from noarkit.catalogue.entries import entries_by_number, select_entries
from noarkit.catalogue.journal import JournalDay, JournalPage, JournalQuery, journal_days, journal_page
from noarkit.catalogue.masking import is_screened
from noarkit.catalogue.moments import exact
from noarkit.catalogue.persons.documents import NOT_OPENED, list_unsearched, search_documents
from noarkit.catalogue.persons.items import search_items
from noarkit.catalogue.persons.matching import Person
from noarkit.catalogue.persons.occurrences import Occurrences
from noarkit.catalogue.port import IN_EXTRACT, PACKAGE, Change, CustodyStep, Document, Place
from noarkit.catalogue.search import Search, SearchPage, SearchQuery
from noarkit.catalogue.statements import statements
from noarkit.catalogue.store import open_catalogue
from noarkit.catalogue.text.decoding import DocumentText
from noarkit.catalogue.text.texts import attach_texts, count_unread, unpack_text, unread_as_noted
from noarkit.errors import UsageFault
from noarkit.model.disclosure import mask_text
from noarkit.safe.fixity import CheckedStream, checked

_DOCUMENT = (
    "SELECT ref, title, name, variant, version, media_type, puid, size, sha256, locator, fields, custody FROM document"
)
_DOCUMENT_COLUMNS = (
    *("ref", "title", "name", "variant", "version", "media_type", "puid", "size_bytes", "sha256", "locator"),
)
PAGE = 200


@dataclass(frozen=True, slots=True)
class Summary:
    """A place in numbers: documents and their bytes, documents without a file, screened items, and how many items have
    each fault, state and year."""

    documents: int = 0
    size_bytes: int = 0
    without_file: int = 0
    screened: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    states: Mapping[str, int] = field(default_factory=dict)
    years: Mapping[str, int] = field(default_factory=dict)


class Catalogue:
    """An open catalogue, and the place that its documents are opened in. Moments are told in `zone`."""

    def __init__(self, path: Path, place: Place, zone: str = "UTC") -> None:
        self.zone = zone
        self.path = path
        self.place = place
        self._db = open_catalogue(path)
        self._texts_attached = False
        self._texts_lock = threading.Lock()
        self._unread: int | None = None
        self._extracted: CustodyStep | None = None

    def close(self) -> None:
        """Ends the store and the place."""
        self._db.close()
        self.place.close()

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def counts(self) -> dict[str, int]:
        """The number of items by type."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'counts'").fetchone()
        counts: dict[str, int] = orjson.loads(row[0])
        return counts

    def entry(self, ref: str) -> Entry:
        """The item with this ref. Raises `UsageFault` where there is none."""
        entry = self._entry_or_none(ref)
        if entry is None:
            raise UsageFault(what="no-such-item", where=ref)
        return entry

    def unveil(self, veil: str) -> str:
        """The ref behind a veil. Raises `UsageFault` where there is none."""
        row = self._db.execute("SELECT ref FROM veiled WHERE veil = ?", (veil,)).fetchone()
        if row is None:
            raise UsageFault(what="no-such-item", where=veil)
        return str(row[0])

    def summary(self) -> Summary:
        """What the place holds in numbers, as they were counted when it was read."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'summary'").fetchone()
        return Summary(**orjson.loads(row[0]))

    def children(
        self, ref: str | None = None, after: int = 0, limit: int = PAGE, *, year: int | None = None
    ) -> list[Entry]:
        """The items that lie directly in another (or at the top), from behind the number `after` on; with `year`, only
        those that are filed under it."""
        parent = 0 if ref is None else self.entry(ref).n
        if year is not None:
            where = "WHERE i.parent = ? AND i.year = ? AND i.n > ? ORDER BY i.n LIMIT ?"
            return self._entries(where, (parent, year, after, limit))
        return self._entries("WHERE i.parent = ? AND i.n > ? ORDER BY i.n LIMIT ?", (parent, after, limit))

    def children_before(
        self, ref: str | None, before: int, limit: int = PAGE, *, year: int | None = None
    ) -> list[Entry]:
        """The last `limit` of those that stand before the number `before`, in the order of the place."""
        parent = 0 if ref is None else self.entry(ref).n
        condition, values = ("AND i.year = ?", (year,)) if year is not None else ("", ())
        where = f"WHERE i.parent = ? {condition} AND i.n < ? ORDER BY i.n DESC LIMIT ?"
        return self._entries(where, (parent, *values, before, limit))[::-1]

    def years_in(self, ref: str | None = None) -> list[int]:
        """The years that the items directly in another are filed under."""
        parent = 0 if ref is None else self.entry(ref).n
        # from year to year by the index, not over a million siblings
        rows = self._db.execute(
            "WITH RECURSIVE step (year) AS (SELECT min(year) FROM item WHERE parent = :parent AND year IS NOT NULL"
            " UNION ALL SELECT (SELECT min(year) FROM item WHERE parent = :parent AND year > step.year) FROM step"
            " WHERE step.year IS NOT NULL) SELECT year FROM step WHERE year IS NOT NULL",
            {"parent": parent},
        )
        return [int(row[0]) for row in rows]

    def entries(self, after: int = 0, limit: int = PAGE) -> list[Entry]:
        """Items of every level in the order of the place, from behind the number `after` on."""
        return self._entries("WHERE i.n > ? ORDER BY i.n LIMIT ?", (after, limit))

    def find_ident(self, ident: str, limit: int = PAGE) -> list[Entry]:
        """The items with this number or code, in the order of the place."""
        return self._entries("WHERE i.ident = ? ORDER BY i.n LIMIT ?", (ident, limit))

    def ancestors(self, ref: str) -> tuple[Entry, ...]:
        """What an item lies in, the topmost first."""
        above: list[Entry] = []
        row = self._db.execute("SELECT parent FROM item WHERE ref = ?", (ref,)).fetchone()
        while row is not None and row[0]:
            above.append(self._entries("WHERE i.n = ?", (row[0],))[0])
            row = self._db.execute("SELECT parent FROM item WHERE n = ?", (row[0],)).fetchone()
        return tuple(reversed(above))

    def card(self, ref: str) -> Card:
        """All that is known of an item. Raises `UsageFault` where there is none."""
        entry = self.entry(ref)
        db = self._db
        fields = orjson.loads(db.execute("SELECT fields FROM item WHERE n = ?", (entry.n,)).fetchone()[0])
        links, later = self.links_from(ref)
        links_count = len(links)
        if later:
            links_count = int(db.execute("SELECT count(*) FROM link WHERE item = ?", (entry.n,)).fetchone()[0])
        # without a join, whose order would be guessed wrongly where a million links lead to one item
        here = self.links_to(ref)
        count = len(here)
        if count == PAGE:
            count = int(db.execute("SELECT count(*) FROM link WHERE ref = ?", (ref,)).fetchone()[0])
        changes = db.execute(
            "SELECT at, actor, field, before, after FROM change WHERE item = ? ORDER BY at LIMIT ?", (entry.n, PAGE)
        )
        return Card(
            entry,
            self.ancestors(ref),
            fields,
            self._documents_of(entry),
            links,
            here,
            tuple(Change(exact(at, self.zone), *values) for at, *values in changes),
            count,
            links_count,
        )

    def documents(self, ref: str) -> tuple[Document, ...]:
        """The documents of an item, and nothing else of it. Raises `UsageFault` where there is no such item."""
        return self._documents_of(self.entry(ref))

    def _documents_of(self, entry: Entry) -> tuple[Document, ...]:
        return tuple(self._documents("WHERE item = ? ORDER BY n", (entry.n,)))

    def links_from(self, ref: str, after: int = 0, limit: int = PAGE) -> tuple[tuple[Link, ...], int]:
        """The links of an item in its own order, from behind a number on, and the number behind which more follow (0:
        none). Raises `UsageFault`."""
        rows = self._db.execute(
            "SELECT rowid, name, ref FROM link WHERE item = ? AND rowid > ? ORDER BY rowid LIMIT ?",
            (self.entry(ref).n, after, limit + 1),
        ).fetchall()
        links = tuple(Link(name, other, self._entry_or_none(other)) for _, name, other in rows[:limit])
        return links, int(rows[limit - 1][0]) if len(rows) > limit else 0

    def links_to(self, ref: str, after: int = 0, limit: int = PAGE) -> tuple[Link, ...]:
        """The links that lead to an item, by the number of what they come from, from behind the number `after` on."""
        here = self._db.execute(
            "SELECT name, item FROM link WHERE ref = ? AND item > ? ORDER BY item LIMIT ?", (ref, after, limit)
        ).fetchall()
        sources = entries_by_number(self._db, [n for _, n in here])
        return tuple(Link(name, source.ref, source) for (name, _), source in zip(here, sources, strict=True))

    def document(self, ref: str) -> tuple[Document, Entry]:
        """A document and the item that it belongs to. Raises `UsageFault` where there is none."""
        row = self._db.execute("SELECT item FROM document WHERE ref = ?", (ref,)).fetchone()
        if row is None:
            raise UsageFault(what="no-such-item", where=ref)
        return next(self._documents("WHERE ref = ?", (ref,))), self._entries("WHERE i.n = ?", (row[0],))[0]

    def document_with(self, sha256: str, near: str = "") -> tuple[Document, Entry] | None:
        """A document with this checksum, of the item `near` where that has one; None where there is none."""
        row = self._db.execute(
            "SELECT d.ref FROM document d JOIN item i ON i.n = d.item WHERE d.sha256 = ? AND d.sha256 != ''"
            " ORDER BY i.ref != ?, d.n LIMIT 1",
            (sha256, near),
        ).fetchone()
        return None if row is None else self.document(str(row[0]))

    @contextmanager
    def open(self, document: Document) -> Iterator[CheckedStream]:
        """Opens the bytes of a document, which are compared with all that is stated of them while they are read.
        Raises `UsageFault` for one without a file, and what the place raises."""
        if document.locator is None:
            raise UsageFault(what="no-document", where=document.ref)
        with self.place.open(document.locator) as stream:
            yield checked(stream, *statements(document, self.place.identity.kind), sha256=True)

    def find_words(self, match: str, after: int = 0, limit: int = PAGE) -> list[Entry]:
        """The items that an expression of FTS5 matches, in the order of the place."""
        where = "WHERE i.n IN (SELECT rowid FROM words WHERE words MATCH ?) AND i.n > ? ORDER BY i.n LIMIT ?"
        return self._entries(where, (match, after, limit))

    def search(self, query: SearchQuery) -> SearchPage:
        """A page of the items that a search finds, by their metadata and by the texts of their documents, as far as
        those are read. No text is a fault; see `noarkit.catalogue.query`."""
        return Search(self._db, query, has_texts=self._has_texts()).page()

    def search_all(self, query: SearchQuery) -> Iterator[Entry]:
        """Every item that a search finds, in the order of the place, masked as on a page."""
        return Search(self._db, query, has_texts=self._has_texts()).entries()

    def document_text(self, ref: str) -> DocumentText | None:
        """The text of a document, as it was read, with identity numbers masked; None where it is not read yet. That of
        what is screened is not given. Raises `UsageFault` where there is no such document."""
        document, entry = self.document(ref)
        if not self._has_texts():
            return None
        row = self._db.execute(
            "SELECT t.packed, t.reason, t.is_cut FROM texts.read r JOIN texts.text t ON t.n = r.text WHERE r.ref = ?",
            (ref,),
        ).fetchone()
        if row is None:
            return None
        if is_screened(document, entry):
            return DocumentText("", "screened")
        return DocumentText(mask_text(unpack_text(row[0])), row[1], bool(row[2]))

    def unread_documents(self) -> int:
        """The number of documents whose text is not read yet."""
        if not self._has_texts():
            summary = self.summary()
            return summary.documents - summary.without_file
        notes = unread_as_noted(self._db)
        if notes is not None:
            return notes
        if self._unread is None:
            self._unread = count_unread(self._db)
        return self._unread

    def find_person(self, person: Person, occurrences: Occurrences, *, reason: str = "") -> tuple[int, int]:
        """Searches every item, and the text of every document that is read, screened or not, and returns how many items
        and documents were searched. Documents whose text is not read are listed as not opened, or, with a `reason`, all
        of them are listed by it and none is searched."""
        where = self.place.identity.where
        items = search_items(self._db, where, person, occurrences)
        if reason or not self._has_texts():
            list_unsearched(self._db, where, occurrences, has_texts=False, reason=reason or NOT_OPENED)
            return items, 0
        return items, search_documents(self._db, where, person, occurrences)

    def _has_texts(self) -> bool:
        with self._texts_lock:
            self._texts_attached = self._texts_attached or attach_texts(self._db, self.path)
            return self._texts_attached

    def journal(self, query: JournalQuery | None = None) -> JournalPage:
        """A page of the journal: posts of a day by their number. The public one hides what is screened."""
        return journal_page(self._db, query or JournalQuery())

    def journal_days(self, after: str = "", limit: int = PAGE) -> tuple[JournalDay, ...]:
        """The days that have journal posts, from behind a day on."""
        return journal_days(self._db, after, limit)

    def _extraction(self, locator: str) -> tuple[CustodyStep, ...]:
        """The step by which a file came out of its archive, into the extract or the package that it lies in. An extract
        alone does not tell when."""
        kind = self.place.identity.kind
        if not locator or not (kind == "extract" or (kind == "package" and locator.startswith(IN_EXTRACT))):
            return ()
        if self._extracted is None:
            row = self._db.execute(
                "SELECT json_extract(fields, '$.created') FROM item WHERE ref = ?", (PACKAGE,)
            ).fetchone()
            self._extracted = CustodyStep("extracted", str(row[0] or "") if row else "")
        return (self._extracted,)

    def _entry_or_none(self, ref: str) -> Entry | None:
        return next(iter(self._entries("WHERE i.ref = ?", (ref,))), None)

    def _entries(self, condition: str, values: Sequence[object]) -> list[Entry]:
        return list(select_entries(self._db, condition, values))

    def _documents(self, condition: str, values: Sequence[object]) -> Iterator[Document]:
        for row in self._db.execute(f"{_DOCUMENT} {condition}", values):
            *columns, fields, custody = row
            steps = tuple(CustodyStep(**step) for step in orjson.loads(custody))
            facts = dict(zip(_DOCUMENT_COLUMNS, columns, strict=True))
            came_out = self._extraction(str(facts["locator"] or ""))
            chain = complete_steps((*steps, *came_out), str(facts["sha256"]), self.zone)
            yield Document(**facts, fields=orjson.loads(fields), custody=chain)
