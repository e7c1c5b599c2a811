"""Finds items by the words in the text of their documents, and the words in their context."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from orjson import loads

from noarkit.catalogue.context import Context, contexts_of
from noarkit.catalogue.expression import ExpressionWriter, no_expansion
from noarkit.catalogue.query import Query, Term
from noarkit.catalogue.text.decoding import parts_of, stretches_from
from noarkit.catalogue.text.texts import unpack_text
from noarkit.catalogue.vocabulary import Vocabulary
from noarkit.model.disclosure import mask_text

_MOST_SHOWN = 3_000_000
"""Characters of texts that are looked through for one page of hits."""
_MOST_DOCUMENTS = 10
"""Of one item, whose texts are looked through."""
_MATCHES = (
    "SELECT d.item, {weight} FROM texts.spoken JOIN texts.read r ON r.text = spoken.rowid"
    " JOIN main.document d ON d.ref = r.ref WHERE spoken MATCH ? AND NOT d.screened LIMIT ?"
)
_TEXTS = (
    "SELECT d.ref, t.packed, t.characters, t.stretches FROM main.document d JOIN texts.read r ON r.ref = d.ref"
    " JOIN texts.text t ON t.n = r.text WHERE d.item = ? AND NOT d.screened AND t.characters > 0 ORDER BY d.n LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class TextMatch:
    """What was found in a document: its ref, and the words in context."""

    ref: str
    contexts: tuple[Context, ...]


class TextMatcher:
    """Matches a query against the texts that are attached to the connection of a catalogue."""

    def __init__(self, db: sqlite3.Connection, query: Query, *, fold: bool) -> None:
        self._db = db
        self._query = query
        self._fold = fold
        self._room = _MOST_SHOWN
        self._terms = Vocabulary(db, "texts") if _are_counted(db) else None
        writer = ExpressionWriter(
            fold=fold, columns="", expand=self._terms.expand if self._terms is not None else no_expansion
        )
        # what is asked of a title, no text can answer
        is_of_titles = any(term.name == "title" for term in query.all_terms())
        self._expression = "" if is_of_titles else writer.write_words(query)

    def items(self, most: int) -> dict[int, float]:
        """The numbers of items with an open document that matches, at most so many, with their weights (the best
        lowest). A hit for a word of what is screened would tell that it is there."""
        if not self._expression:
            return {}
        weight = "bm25(spoken)" if self._can_be_weighed() else "0.0"
        weights: dict[int, float] = {}
        for item, rank in self._db.execute(_MATCHES.format(weight=weight), (self._expression, most)):
            weights[item] = min(rank, weights.get(item, 0.0))
        return weights

    def _can_be_weighed(self) -> bool:
        """True where no word is so common that weighing it would be dear."""
        terms_of_texts = self._terms
        if terms_of_texts is None:
            return False
        return not any(terms_of_texts.is_common(term) for term in self._query.positive_terms())

    def contexts(self, item: int, search_terms: Sequence[Term], most: int) -> list[TextMatch]:
        """The documents of an item with the words in context, as far as there is room on this page; none of what is
        screened itself."""
        matches: list[TextMatch] = []
        for ref, packed, characters, stretches in self._db.execute(_TEXTS, (item, _MOST_DOCUMENTS)):
            if characters > self._room or len(matches) >= most:
                break
            self._room -= characters
            text = unpack_text(packed)
            contexts = (
                replace(context, layer=layer)
                for layer, part in parts_of(text, stretches_from(loads(stretches), len(text)))
                for context in contexts_of(ref, mask_text(part), search_terms, fold=self._fold, most=2)
            )
            if first := tuple(islice(contexts, 2)):
                matches.append(TextMatch(ref, first))
        return matches


def _are_counted(db: sqlite3.Connection) -> bool:
    """True where the words of all texts are counted: not while documents are being read."""
    row = db.execute(
        "SELECT value = (SELECT coalesce(max(n), 0) FROM texts.text) FROM texts.meta WHERE name = 'counted'"
    ).fetchone()
    return row is not None and bool(row[0])
