"""Searches a place: by what is known of its items, and by the text of their documents once that is read.

What is screened is found, and comes out masked. Nothing that anybody asks for is a fault of the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from noarkit.api.browsing import open_catalogue
from noarkit.api.looking import ListedItem
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.masking import item_ref
from noarkit.catalogue.search import Hit, SearchPage, SearchQuery, Total
from noarkit.catalogue.text.collecting import ReadingOptions, collect_texts
from noarkit.catalogue.veil import shown_ref
from noarkit.events import Listener, ignore_event
from noarkit.results import HIDDEN, JsonObject, Result, json_value
from noarkit.safe.csv_files import write_csv
from noarkit.settings import Place, Settings

CSV_COLUMNS = ("ident", "title", "type", "date", "status", "class", "screened", "fault", "state", "files", "ref")


@dataclass(frozen=True, slots=True)
class FoundContext(JsonObject):
    """Words in context: the field or document that they stand in, the text around them, and their positions."""

    source: str
    text: str
    marks: tuple[tuple[int, int], ...]
    layer: str


@dataclass(frozen=True, slots=True)
class FoundItem(Result):
    """An item that a search found, with the words in context."""

    EVENT: ClassVar = "hit"

    hit: Hit = field(metadata=HIDDEN)

    @property
    @json_value(spread=True)
    def line(self) -> ListedItem:
        """The item as a line of a list."""
        return ListedItem(self.hit.entry)

    @property
    @json_value()
    def marks(self) -> Sequence[tuple[int, int]]:
        """The words in its title, as pairs of positions."""
        return self.hit.marks

    @property
    @json_value()
    def contexts(self) -> Sequence[FoundContext]:
        """The words elsewhere, with what stands around them."""
        return [
            FoundContext(shown_ref(context.source, screened=False), context.text, context.marks, context.layer)
            for context in self.hit.contexts
        ]

    @property
    @json_value()
    def in_documents(self) -> Sequence[str]:
        """The refs of the documents whose text holds the words."""
        return [shown_ref(ref, screened=False) for ref in self.hit.documents]


@dataclass(frozen=True, slots=True)
class FoundItems(Result):
    """A page of what a search found; `unread` documents could not be searched, because nobody has read them yet."""

    EVENT: ClassVar = "search"

    page: SearchPage = field(metadata=HIDDEN)
    unread: int = 0

    @property
    def items(self) -> tuple[FoundItem, ...]:
        """The hits."""
        return tuple(FoundItem(hit) for hit in self.page.hits)

    @property
    @json_value(spread=True)
    def total(self) -> Total:
        """How many there are in all pages."""
        return self.page.total

    @property
    @json_value()
    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """How the hits are spread over the filters."""
        return {facet.name: {value.value: value.count for value in facet.values} for facet in self.page.facets}

    @property
    @json_value("facets_exact")
    def has_exact_facets(self) -> bool:
        """True where the counts of the filters are of all hits."""
        return all(facet.is_exact for facet in self.page.facets)


@dataclass(frozen=True, slots=True)
class DocumentsRead(Result):
    """What became of documents that were read for searching: `documents` read anew, `copies` of what was read before,
    `without` a text by reason, `missing` where the place did not give them, `differing` where their bytes are not
    what was stated of them. `isolated` is false on a system that has no walls for what reads them."""

    EVENT: ClassVar = "documents_text"

    documents: int
    copies: int
    missing: int
    without: dict[str, int] = field(default_factory=dict)
    characters: int = 0
    isolated: bool = True
    differing: int = 0


def search(
    place: Place | Catalogue,
    query: SearchQuery | str,
    *,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> FoundItems:
    """Finds items of a place: a page of them, with words in context, and how all of them are spread.

    Raises what `open_catalogue` raises.
    """
    asked_query = SearchQuery(query) if isinstance(query, str) else query
    with _opened(place, settings, listener) as catalogue:
        unread = catalogue.unread_documents() if asked_query.scope != "metadata" else 0
        return FoundItems(catalogue.search(asked_query), unread)


def read_documents(
    place: Place | Catalogue,
    *,
    options: ReadingOptions | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> DocumentsRead:
    """Reads the documents of a place that nobody has read yet, so that their text is searched too.

    Each is read in a child process that has no network. Goes on where it was stopped. Raises `RunLocked` where another
    process is reading them, and what `open_catalogue` raises.
    """
    with _opened(place, settings, listener) as catalogue:
        counts = collect_texts(catalogue.path, catalogue.place, listener, options)
    return DocumentsRead(
        *(counts.documents, counts.copies, counts.missing, counts.without, counts.characters, counts.is_isolated),
        counts.differing,
    )


def write_search_csv(catalogue: Catalogue, query: SearchQuery, path: Path, heads: tuple[str, ...]) -> int:
    """Writes every item that a search finds to a table, whole or not at all, and counts them. `heads` are the names of
    `CSV_COLUMNS` for people."""
    count = 0

    def rows() -> Iterator[tuple[str | int, ...]]:
        nonlocal count
        for entry in catalogue.search_all(query):
            count += 1
            yield (
                *(entry.ident, entry.title, entry.type, entry.day, entry.status, entry.klass),
                *("x" if entry.screened else "", entry.fault, entry.state, entry.documents),
                item_ref(entry),
            )

    write_csv(path, heads, rows())
    return count


def _opened(
    place: Place | Catalogue, settings: Settings | None, listener: Listener
) -> nullcontext[Catalogue] | Catalogue:
    return (
        nullcontext(place)
        if isinstance(place, Catalogue)
        else open_catalogue(place, settings=settings, listener=listener)
    )
