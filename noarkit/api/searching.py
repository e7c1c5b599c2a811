"""Searches a place: by what is known of its items, and by the text of their documents once that is read.

What is screened is found, and comes out masked. Nothing that anybody asks for is a fault of the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path

from noarkit.api.browsing import open_catalogue
from noarkit.api.looking import ListedItem
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.masking import item_ref
from noarkit.catalogue.search import Hit, SearchPage, SearchQuery
from noarkit.catalogue.text.collecting import ReadingOptions, collect_texts
from noarkit.catalogue.veil import shown_ref
from noarkit.events import Listener, ignore_event
from noarkit.results import Result
from noarkit.safe.csv_files import write_csv
from noarkit.settings import Place, Settings

CSV_COLUMNS = ("ident", "title", "type", "date", "status", "class", "screened", "fault", "state", "files", "ref")


@dataclass(frozen=True, slots=True)
class FoundItem(Result):
    """An item that a search found, with the words in context."""

    hit: Hit

    def to_dict(self) -> dict[str, object]:
        """The hit, as `noarkit search --json` has it. Marks are pairs of positions in the text beside them."""
        return {
            **ListedItem(self.hit.entry).to_dict(),
            "marks": [list(mark) for mark in self.hit.marks],
            "contexts": [
                {
                    "source": shown_ref(context.source, screened=False),
                    "text": context.text,
                    "marks": [list(mark) for mark in context.marks],
                    "layer": context.layer,
                }
                for context in self.hit.contexts
            ],
            "in_documents": [shown_ref(ref, screened=False) for ref in self.hit.documents],
        }


@dataclass(frozen=True, slots=True)
class FoundItems(Result):
    """A page of what a search found; `unread` documents could not be searched, because nobody has read them yet."""

    page: SearchPage
    unread: int = 0

    @property
    def items(self) -> tuple[FoundItem, ...]:
        """The hits."""
        return tuple(FoundItem(hit) for hit in self.page.hits)

    def to_dict(self) -> dict[str, object]:
        """The search without its hits, as `noarkit search --json` ends with it."""
        return {
            "total": self.page.total.number,
            "exact": self.page.total.is_exact,
            "unread": self.unread,
            "facets": {facet.name: {value.value: value.count for value in facet.values} for facet in self.page.facets},
            "facets_exact": all(facet.is_exact for facet in self.page.facets),
        }


@dataclass(frozen=True, slots=True)
class DocumentsRead(Result):
    """What became of documents that were read for searching: `documents` read anew, `copies` of what was read before,
    `without` a text by reason, `missing` where the place did not give them, `differing` where their bytes are not
    what was stated of them. `isolated` is false on a system that has no walls for what reads them."""

    documents: int
    copies: int
    missing: int
    without: dict[str, int] = field(default_factory=dict)
    characters: int = 0
    isolated: bool = True
    differing: int = 0

    def to_dict(self) -> dict[str, object]:
        """What became of them, as `noarkit search --read-documents --json` has it."""
        return asdict(self)


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
