"""Lists as tables of CSV, whole however long they are: what a search finds, what lies in an item. Masked as pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from noarkit.catalogue.catalogue import Entry
from noarkit.catalogue.masking import item_ref, mask_entry
from noarkit.catalogue.search import SearchQuery
from noarkit.reading_room.links import Span
from noarkit.reading_room.looks import Looks
from noarkit.reading_room.phrasing import Phrases
from noarkit.safe.csv_files import write_rows
from noarkit.safe.scratch import nameless_file

MEDIA_TYPE = "text/csv; charset=utf-8"
_CHUNK_BYTES = 256 * 1024
_AT_A_TIME = 1_000
_COLUMNS = ("ident", "title", "type", "date", "status", "class", "screened", "fault", "state", "inside", "files", "ref")


@contextmanager
def table_of(entries: Iterable[Entry], speech: Phrases) -> Iterator[Iterator[bytes]]:
    """The bytes of a table, one row an item. It lies in a nameless file while it is read."""
    with nameless_file() as file:
        write_rows(
            file, [speech.say(f"column.{name}") for name in _COLUMNS], (_row(entry, speech) for entry in entries)
        )
        file.seek(0)
        yield iter(partial(file.read, _CHUNK_BYTES), b"")


def entries_found(looks: Looks, query: SearchQuery) -> Iterator[Entry]:
    """Every item that a search finds, in the order of the place."""
    return map(mask_entry, looks.catalogue.search_all(query))


def entries_in(looks: Looks, parent: Entry | None) -> Iterator[Entry]:
    """Everything that lies directly in an item, or at the top."""
    after = 0
    while siblings := looks.siblings(parent, Span(after=after), _AT_A_TIME).entries:
        yield from siblings
        after = siblings[-1].n


def _row(entry: Entry, speech: Phrases) -> tuple[str | int, ...]:
    return (
        *(entry.ident, entry.title, entry.type, entry.day, entry.status, entry.klass),
        *(speech.say("yes" if entry.screened else "no"), entry.fault, entry.state, entry.children, entry.documents),
        item_ref(entry),
    )
