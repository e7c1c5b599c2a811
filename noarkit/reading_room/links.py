"""The addresses of pages: as the reading room serves them, and as files that lie beside each other.

Pages ask these for every address, so that the same templates make both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import quote, unquote, urlencode

from noarkit.catalogue.catalogue import Entry
from noarkit.catalogue.journal import JournalCase, JournalEntry
from noarkit.catalogue.port import Document
from noarkit.catalogue.search import SearchQuery
from noarkit.catalogue.veil import veil_of
from noarkit.model.disclosure import is_opaque
from noarkit.reading_room.viewers.thumbnails import may_have_thumbnail


@dataclass(frozen=True, slots=True)
class Span:
    """Which of many siblings are shown: those behind a number, those before one, or those of a year."""

    after: int = 0
    before: int = 0
    year: int | None = None

    def query(self) -> dict[str, str]:
        """The span as an address has it."""
        pairs = {"after": self.after, "before": self.before, "year": self.year}
        return {name: str(value) for name, value in pairs.items() if value}


WHOLE = Span()


class Links(Protocol):
    """Where pages are."""

    @property
    def is_live(self) -> bool:
        """True where a server answers: forms, switches and lists on demand."""
        ...

    def page(self, name: str) -> str:
        """A page that a room has once: the front page (`""`), `search`, `journal`, `help`."""
        ...

    def item(self, entry: Entry, span: Span = WHOLE) -> str:
        """The page of an item, with a span of what lies in it."""
        ...

    def siblings(self, parent: Entry | None, span: Span) -> str:
        """The page that lists a span of what lies in an item, or at the top."""
        ...

    def branch(self, parent: Entry | None, span: Span) -> str:
        """Where a script fetches a piece of the tree; empty where it cannot."""
        ...

    def document(self, entry: Entry, document: Document) -> str:
        """The page of a document."""
        ...

    def asset(self, name: str) -> str:
        """A style sheet, a script or a picture of ours."""
        ...


@dataclass(frozen=True, slots=True)
class ServedLinks:
    """Addresses of a server; `root` is where the room begins there."""

    root: str = ""

    @property
    def is_live(self) -> bool:
        """A server answers."""
        return True

    def page(self, name: str, **query: object) -> str:
        """A page, with a query."""
        return f"{self.root}/{name}" + _query({key: str(value) for key, value in query.items()})

    def item(self, entry: Entry, span: Span = WHOLE) -> str:
        """The page of an item."""
        return self.address_of("item", entry.ref, span.query())

    def siblings(self, parent: Entry | None, span: Span) -> str:
        """The page of what they lie in."""
        return self.page("") + _query(span.query()) if parent is None else self.item(parent, span)

    def branch(self, parent: Entry | None, span: Span) -> str:
        """The fragment of a list."""
        if parent is None:
            return self.address_of("tree", "", span.query())
        return self.address_of("tree", parent.ref, span.query())

    def item_of(self, mention: JournalEntry | JournalCase) -> str:
        """The page of an item that the journal names."""
        return self.address_of("item", mention.ref, {})

    def journal(self, day: str, public: bool = False, after: int = 0) -> str:
        """A day of the journal."""
        pairs = {"day": day, "public": "1" if public else "", "after": str(after) if after else ""}
        return self.page("journal") + _query({name: value for name, value in pairs.items() if value})

    def document(self, entry: Entry, document: Document) -> str:
        """The page of a document."""
        return self.address_of("document", document.ref, {})

    def thumbnail(self, document: Document) -> str:
        """A small picture of a document; empty where there is none to be expected."""
        may_have_one = document.sha256 and may_have_thumbnail(document.name, document.media_type)
        return self.address_of("thumbnail", document.ref, {}) if may_have_one else ""

    def links_here(self, entry: Entry, after: int = 0) -> str:
        """The list of all that leads to an item."""
        return self.address_of("links", entry.ref, Span(after).query())

    def links_out(self, entry: Entry, after: int = 0) -> str:
        """The list of all that an item refers to."""
        return self.address_of("links-out", entry.ref, Span(after).query())

    def reveal(self, entry: Entry) -> str:
        """Where an item is asked for unmasked."""
        return self.address_of("reveal", entry.ref, {})

    def reveal_document(self, document: Document) -> str:
        """Where a document of a screened item is asked for."""
        return self.address_of("reveal-document", document.ref, {})

    def search(self, query: SearchQuery, *, without: tuple[str, str] | None = None, **more: str) -> str:
        """The page of a search, changed: with more in it, without one filter, from its first hit unless
        `"offset"` says otherwise."""
        pairs = [("q", query.text)] if query.text else []
        pairs += [pair for pair in query.filters if pair != without]
        own = {"fold": "1" if query.fold else "", "order": query.order if query.order != "rank" else ""}
        pairs += [pair for pair in {**own, **more}.items() if pair[1]]
        return f"{self.root}/search?" + urlencode(pairs)

    def narrowed(self, query: SearchQuery, name: str, value: str) -> str:
        """The page of a search with one filter more."""
        return self.search(replace(query, filters=(*query.filters, (name, value))))

    def csv(self, query: SearchQuery) -> str:
        """A search as a table of all its hits."""
        return self.search(query).replace("/search?", "/list.csv?", 1)

    def csv_of(self, parent: Entry | None) -> str:
        """What lies in an item, or at the top, as a table."""
        if parent is None:
            return self.page("list.csv", **{"in": ""})
        return self.page("list.csv", **({"in": parent.ref} if is_opaque(parent.ref) else {"veil": veil_of(parent.ref)}))

    def asset(self, name: str) -> str:
        """A file of ours."""
        return f"{self.root}/assets/{name}"

    def address_of(self, page: str, ref: str, query: dict[str, str]) -> str:
        """A page of something that a ref names, behind a veil unless the ref can name nobody."""
        if ref and not is_opaque(ref):
            return f"{self.root}/{page}/" + _query({"veil": veil_of(ref), **query})
        return f"{self.root}/{page}/{quote(ref, safe='')}" + _query(query)


def read_ref(raw_path: bytes, page: str, query_ref: str | None) -> str:
    """The ref that an address names, as `ServedLinks.address_of` wrote it. Raises `ValueError` for what is no UTF-8."""
    written = raw_path.decode("ascii").removeprefix(f"/{page}/")
    return unquote(written, errors="strict") or query_ref or ""


def _query(pairs: dict[str, str]) -> str:
    return "?" + urlencode(pairs) if pairs else ""
