"""The catalogue of a place, for the tests of all kinds of place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.catalogue.catalogue import Catalogue, Entry
from noarkit.catalogue.port import Place
from noarkit.catalogue.store import write_catalogue
from noarkit.events import ignore_event


@contextmanager
def catalogued(place: Place, folder: Path) -> Iterator[Catalogue]:
    """The catalogue of a place, in a folder of the test."""
    path = folder / "catalogue.db"
    write_catalogue(path, place.identity, place.items(ignore_event))
    with Catalogue(path, place) as catalogue:
        yield catalogue


def every_entry(catalogue: Catalogue, ref: str | None = None) -> Iterator[Entry]:
    """Every item in the order of the tree."""
    after = 0
    while entries := catalogue.children(ref, after):
        for entry in entries:
            yield entry
            yield from every_entry(catalogue, entry.ref)
        after = entries[-1].n
