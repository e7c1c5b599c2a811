"""The index of the search of a static copy: words in their order, cut in pieces that a page loads as scripts.

A page that was opened from a disk may fetch nothing, but it may load scripts that lie beside it. `index.js` says which
piece begins with which word; `words-N.js` has the words with the numbers of their items, each as the difference to the
one before; `items-N.js` has what is shown of a thousand items; `facets-N.js` what fifty thousand are narrowed by, as
runs of items of one type and year. Only what a page shows is in it, and the text of documents that are copied: nothing
screened.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from noarkit.catalogue.catalogue import Card, Entry
from noarkit.catalogue.port import Json
from noarkit.reading_room.phrasing import Phrases
from noarkit.safe.scratch import scratch

ITEMS_IN_A_PIECE = 1_000
FACETS_IN_A_PIECE = 50_000
_PIECE_BYTES = 160_000
_LONGEST_WORD = 40
_MOST_WORDS = 50_000
"""Of one item, so many different words are found: those of its fields first, then those of its documents."""
_WORD = re.compile(r"[^\W_]+")

Write = Callable[[str, bytes], None]


class IndexBuilder:
    """Gathers the words of items on disk, and writes the pieces at the end."""

    def __init__(self, write: Write, speech: Phrases) -> None:
        self._write = write
        self._speech = speech
        self._db = scratch()
        self._db.execute("BEGIN")
        self._db.execute("CREATE TABLE posting (word TEXT NOT NULL, n INTEGER NOT NULL)")
        self._items: list[list[str]] = []
        self._pieces = 0
        self._types: dict[str, str] = {}
        self._type_numbers: dict[str, int] = {}
        self._runs: list[list[int]] = []
        self._count = 0

    def close(self) -> None:
        """Ends the table."""
        self._db.close()

    def add(self, card: Card, texts: Iterable[str] = ()) -> None:
        """Adds an item as its page shows it, with the texts of its documents; items come in the order of their
        numbers."""
        n = card.entry.n
        words = islice(dict.fromkeys(_words(chain(_texts_of(card), texts))), _MOST_WORDS)
        self._db.executemany("INSERT INTO posting VALUES (?,?)", ((word, n) for word in words))
        self._items.append(self._line(card.entry))
        self._add_facets(card.entry)
        if len(self._items) == ITEMS_IN_A_PIECE:
            self._flush_items()

    def finish(self) -> None:
        """Writes what is left, the words, and the index of the pieces."""
        self._flush_items()
        self._flush_facets()
        firsts = []
        for number, piece in enumerate(_pieces(self._postings())):
            firsts.append(piece[0][0])
            entries = ",".join(f"{json.dumps(word)}:[{','.join(map(str, steps))}]" for word, steps in piece)
            self._write(f"search/words-{number}.js", f"noarkit.words({number},{{{entries}}});\n".encode())
        facts = {"firsts": firsts, "size": ITEMS_IN_A_PIECE, "facets": FACETS_IN_A_PIECE, "types": self._types}
        self._write("search/index.js", f"noarkit.index({json.dumps(facts)});\n".encode())

    def _line(self, entry: Entry) -> list[str]:
        if entry.type not in self._types:
            self._types[entry.type] = self._speech.type_name(entry.type)
        day = self._speech.date(entry.day) if entry.day else ""
        return [entry.ident, entry.title[:200], entry.type, day]

    def _add_facets(self, entry: Entry) -> None:
        """Adds the type of an item, by its place in the table of types, and its year, 0 where it has none."""
        year = entry.day[:4]
        facets = [
            self._type_numbers.setdefault(entry.type, len(self._type_numbers)),
            int(year) if year.isdecimal() and len(year) == 4 else 0,
        ]
        if self._runs and self._runs[-1][:2] == facets:
            self._runs[-1][2] += 1
        else:
            self._runs.append([*facets, 1])
        self._count += 1
        if self._count % FACETS_IN_A_PIECE == 0:
            self._flush_facets()

    def _flush_facets(self) -> None:
        if self._runs:
            number = (self._count - 1) // FACETS_IN_A_PIECE
            text = json.dumps(self._runs, separators=(",", ":"))
            self._write(f"search/facets-{number}.js", f"noarkit.facets({number},{text});\n".encode())
            self._runs.clear()

    def _flush_items(self) -> None:
        if self._items:
            text = json.dumps(self._items, separators=(",", ":"))
            self._write(f"search/items-{self._pieces}.js", f"noarkit.items({self._pieces},{text});\n".encode())
            self._pieces += 1
            self._items.clear()

    def _postings(self) -> Iterator[tuple[str, list[int]]]:
        """Every word with the steps from item to item."""
        current, last = "", 0
        steps: list[int] = []
        for word, n in self._db.execute("SELECT word, n FROM posting ORDER BY word, n"):
            if word != current:
                if steps:
                    yield current, steps
                current, steps, last = word, [], 0
            steps.append(n - last)
            last = n
        if steps:
            yield current, steps


def _pieces(postings: Iterable[tuple[str, list[int]]]) -> Iterator[list[tuple[str, list[int]]]]:
    piece: list[tuple[str, list[int]]] = []
    size = 0
    for word, steps in postings:
        piece.append((word, steps))
        size += len(word) + 3 * len(steps)
        if size >= _PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for word in _WORD.findall(unicodedata.normalize("NFC", text).lower()):
            yield word[:_LONGEST_WORD]


def _texts_of(card: Card) -> Iterator[str]:
    yield card.entry.title
    yield card.entry.ident
    for document in card.documents:
        yield document.title
        yield document.name
    yield from _texts_in(dict(card.fields))


def _texts_in(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_in(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)[:20_000]
