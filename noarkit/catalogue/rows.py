"""Items as rows of a catalogue: what the store writes, made by itself or by a place that numbers its items.

A place that knows the number of each item before it is read may make rows in several processes and hand them over in
batches, in any order; see `RowStream`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import orjson

from noarkit.catalogue.entries import OPEN, PART_SCREENED, SCREENED
from noarkit.catalogue.index_words import formats_of, word_row, year_of
from noarkit.catalogue.masking import is_document_screened, is_part_screened
from noarkit.catalogue.port import CustodyStep, Document, Item

Row = tuple[object, ...]


@dataclass(slots=True)
class Numbers:
    """What is counted while a catalogue is filled: its summary, and its items by type."""

    documents: int = 0
    size_bytes: int = 0
    without_file: int = 0
    screened: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    years: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)

    def add(self, item: Item, *, screened: bool) -> None:
        """Counts one item."""
        self.documents += len(item.documents)
        self.screened += screened
        for document in item.documents:
            self.size_bytes += document.size_bytes or 0
            self.without_file += document.locator is None
        self.types[item.type] = self.types.get(item.type, 0) + 1
        for key, counts in ((item.fault, self.faults), (item.state, self.states), (year_of(item.day), self.years)):
            if key:
                counts[key] = counts.get(key, 0) + 1

    def add_all(self, other: Numbers) -> None:
        """Counts what others have counted."""
        self.documents += other.documents
        self.size_bytes += other.size_bytes
        self.without_file += other.without_file
        self.screened += other.screened
        for own, counts in (
            *((self.faults, other.faults), (self.states, other.states)),
            *((self.years, other.years), (self.types, other.types)),
        ):
            for key, count in counts.items():
                own[key] = own.get(key, 0) + count

    def as_tuple(self) -> Row:
        """As plain values, to be sent to another process; `Numbers(*values)` is the same again."""
        return (
            *(self.documents, self.size_bytes, self.without_file, self.screened),
            *(self.faults, self.states, self.years, self.types),
        )


@dataclass(slots=True)
class RowBatch:
    """Rows of some items, by table. All of it are plain values, so that a child may make them."""

    items: list[Row] = field(default_factory=list)
    documents: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)
    changes: list[Row] = field(default_factory=list)
    words: list[Row] = field(default_factory=list)
    numbers: Numbers = field(default_factory=Numbers)

    def add(self, item: Item, n: int, parent: int, *, screened: bool) -> None:
        """The rows of one item. `parent` is the number of what it lies in, 0 at the top; `screened` holds for it or for
        something above it."""
        self.numbers.add(item, screened=screened)
        formats = sorted(formats_of(item.documents)) if item.documents else []
        self.items.append(
            (
                *(n, item.ref, parent, item.type, item.title, item.ident, item.day, _year_number(item), item.status),
                *(
                    item.klass,
                    screening_of(item, screened=screened),
                    item.fault,
                    item.state,
                    len(item.documents),
                    " ".join(formats),
                ),
                orjson.dumps(item.fields).decode(),
            )
        )
        for document in item.documents:
            self.documents.append(document_row(document, n, screened=screened))
        for name, ref in item.links:
            self.links.append((n, name, ref))
        for change in item.history:
            self.changes.append((n, change.at, change.actor, change.field, change.before, change.after))
        self.words.append(word_row(n, item, formats, screened=screened))


class StartOver:
    """Stands in a stream of rows that cannot be gone on with: everything before it is forgotten, and items follow."""


@runtime_checkable
class RowStream(Protocol):
    """The items of a place that numbers them itself, from 1 on."""

    def batches(self) -> Iterator[RowBatch | Item | StartOver]:
        """The same items as rows, in any order; single items, which the store numbers, may follow behind."""
        ...


class NumberedItems(Iterator[Item]):
    """The items of a place, one by one as any place has them, or as rows for whoever asks for batches."""

    def __init__(
        self, items: Callable[[], Iterator[Item]], batches: Callable[[], Iterator[RowBatch | Item | StartOver]]
    ) -> None:
        self._items = items
        self._batches = batches
        self._iterator: Iterator[Item] | None = None

    def __next__(self) -> Item:
        if self._iterator is None:
            self._iterator = self._items()
        return next(self._iterator)

    def batches(self) -> Iterator[RowBatch | Item | StartOver]:
        """The same items as rows; see `RowStream`."""
        return self._batches()


def screening_of(item: Item, *, screened: bool) -> int:
    """What the column `screened` says of an item; `screened` holds for it or for something above it."""
    return SCREENED if screened else PART_SCREENED if is_part_screened(item) else OPEN


def _year_number(item: Item) -> int | None:
    year = year_of(item.day)
    return int(year) if year else None


def document_row(document: Document, item: int, *, screened: bool) -> Row:
    """The row of a document of the item with this number; `screened` holds for that."""
    custody = [step_fields(step) for step in document.custody]
    return (
        *(item, document.ref, document.title, document.name, document.variant, document.version),
        *(document.media_type, document.puid, document.size_bytes, document.sha256, document.locator),
        *(orjson.dumps(document.fields).decode(), orjson.dumps(custody).decode()),
        int(screened or is_document_screened(document)),
    )


def step_fields(step: CustodyStep) -> dict[str, object]:
    """A step as it is written down."""
    fields: dict[str, object] = {"step": step.step, "at": step.at, "sha256": step.sha256, "agent": step.agent}
    return {**fields, "facts": dict(step.facts)} if step.facts else fields
