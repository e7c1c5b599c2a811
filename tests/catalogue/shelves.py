"""Places of documents for tests: what lies on them is written down, and their catalogues are made in a folder."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.port import Document, Item, PlaceIdentity
from noarkit.catalogue.store import catalogue_path, write_catalogue
from noarkit.errors import ItemVanished
from noarkit.events import Listener, ignore_event
from noarkit.records import ContentStream


class Bytes(io.BytesIO):
    """The bytes of a document, which nobody changes."""

    def still_the_same(self) -> bool:
        return True


@dataclass
class Shelf:
    """A fonds with a record for each document, by its name; those named in `screened` are. What is None has gone."""

    documents: Mapping[str, bytes | None]
    screened: frozenset[str] = frozenset()
    checksums: Mapping[str, str] = field(default_factory=dict)
    version: str = "1"
    opened: list[str] = field(default_factory=list)

    @property
    def identity(self) -> PlaceIdentity:
        return PlaceIdentity("extract", "shelf", "/shelf", self.version)

    def items(self, emit: Listener) -> Iterator[Item]:
        yield Item("f", None, "Arkiv", "Lillevik kommune")
        for number, (name, content) in enumerate(self.documents.items()):
            document = Document(
                *(f"{name}#1", "", name),
                size_bytes=None if content is None else len(content),
                sha256=self.checksums.get(name, ""),
                locator=name,
            )
            yield Item(
                *(name, "f", "Journalpost", f"Brev nr. {number}", "", f"20{number % 20:02}-01-02"),
                screened=name in self.screened,
                documents=(document,),
            )

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        content = self.documents[locator]
        if content is None:
            raise ItemVanished(key=locator, why="ENOENT")
        self.opened.append(locator)
        yield Bytes(content)

    def close(self) -> None: ...


OPENED: list[Catalogue] = []
"""What `catalogue_of` opened, to be closed by whoever runs the tests."""


def catalogue_of(shelf: Shelf, folder: Path) -> Catalogue:
    """The catalogue of a place, made anew in a folder."""
    path = catalogue_path(folder / "shelf")
    write_catalogue(path, shelf.identity, shelf.items(ignore_event))
    OPENED.append(Catalogue(path, shelf))
    return OPENED[-1]
