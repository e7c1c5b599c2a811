"""Answers a search of a catalogue: hits in pages with the words in context, and how the hits are spread over filters.

The work of a search is bounded, whatever is asked for: beyond `MOST_HITS` a total is said to be more than that, and so
are the counts of filters. What is screened comes out without its title and without context.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import orjson

from noarkit.catalogue.context import Context, contexts_of, fields_of, marks_of
from noarkit.catalogue.entries import Entry, entries_by_number
from noarkit.catalogue.expression import ExpressionWriter
from noarkit.catalogue.facets import Facet, count_facets, may_have_year, pass_filters
from noarkit.catalogue.masking import mask_entry
from noarkit.catalogue.query import Query, Term, parse_query
from noarkit.catalogue.text.matching import TextMatcher
from noarkit.catalogue.vocabulary import Vocabulary
from noarkit.model.disclosure import mask_fields
from noarkit.results import JsonObject, json_field

MOST_HITS = 5_000
PAGE = 50
_MOST_CONTEXTS = 3
_MORE_FOR_FILTERS = 4
"""How many more matches are looked at where filters let only some of them pass."""
_BATCH = 1_000
_WEIGHTS = "10.0, 1.0, 0.0"
"""What a word weighs in the title, in the rest, and among the filters."""

Scope = Literal["metadata", "documents", "both"]
Order = Literal["rank", "day"]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is asked for: a text in the language of the search box, and what was chosen beside it.

    `filters` are names with values (`("type", "Journalpost")`); of those with one name, one is enough. `fold` takes
    å for aa, ø for oe and æ for ae as well, and the other way. The newest stands first by day.
    """

    text: str = ""
    filters: tuple[tuple[str, str], ...] = ()
    scope: Scope = "both"
    order: Order = "rank"
    fold: bool = False
    offset: int = 0
    limit: int = PAGE


@dataclass(frozen=True, slots=True)
class Total(JsonObject):
    """A number of hits; where it is not exact, there are more than that."""

    number: int = field(metadata=json_field("total"))
    is_exact: bool = field(default=True, metadata=json_field("exact"))


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that was found. `marks` are the words in its title, as positions; `contexts` are those elsewhere. What is
    screened has neither, nor a title."""

    entry: Entry
    marks: tuple[tuple[int, int], ...] = ()
    contexts: tuple[Context, ...] = ()
    documents: tuple[str, ...] = ()
    """The refs of the documents whose text holds the words."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of hits; `query` is what was understood of the text."""

    query: Query
    hits: tuple[Hit, ...]
    total: Total
    facets: tuple[Facet, ...]
    offset: int
    limit: int

    @property
    def has_more(self) -> bool:
        """True where another page follows."""
        return self.offset + self.limit < self.total.number


class Search:
    """One search of a catalogue that is open; with `has_texts`, the texts of its documents are attached to it."""

    def __init__(self, db: sqlite3.Connection, query: SearchQuery, *, has_texts: bool = False) -> None:
        self._db = db
        self._asked = query
        self._query = parse_query(query.text, query.filters)
        self._terms = Vocabulary(db)
        self._writer = ExpressionWriter(fold=query.fold, expand=self._terms.expand)
        in_texts = has_texts and query.scope != "metadata" and bool(self._query.positive_terms())
        self._texts = TextMatcher(db, self._query, fold=query.fold) if in_texts else None

    def page(self) -> SearchPage:
        """The hits that were asked for, with all that is said of the others."""
        offset, limit = max(0, self._asked.offset), max(1, min(self._asked.limit, MOST_HITS))
        in_texts, texts_are_exact = self._in_texts()
        numbers, is_exact = self._numbers(offset + limit)
        numbers = list(dict.fromkeys((*numbers, *in_texts)))
        is_exact = is_exact and texts_are_exact and len(numbers) <= MOST_HITS
        del numbers[MOST_HITS:]
        in_order = self._in_order(numbers, in_texts, offset + limit, is_exact=is_exact)
        entries = entries_by_number(self._db, in_order[offset:][:limit])
        return SearchPage(
            self._query,
            tuple(self._hit(entry, is_in_texts=entry.n in in_texts) for entry in entries),
            Total(len(numbers), is_exact),
            tuple(count_facets(self._db, numbers, self._query, is_exact=is_exact)),
            offset,
            limit,
        )

    def entries(self) -> Iterator[Entry]:
        """Every item that matches by its metadata, without bound, in the order of the place, and then those that only
        match by a text. All are masked as on a page."""
        in_texts = self._in_texts()[0] if self._texts is not None else {}
        if self._asked.scope != "documents" or not self._query.positive_terms():
            expression = self._writer.write(self._query)
            rows = self._db.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (expression,))
            while batch := [int(row[0]) for row in rows.fetchmany(_BATCH)]:
                for n in batch:
                    in_texts.pop(n, None)
                yield from map(mask_entry, entries_by_number(self._db, batch))
        yield from map(mask_entry, entries_by_number(self._db, sorted(in_texts)))

    def _in_texts(self) -> tuple[dict[int, float], bool]:
        """The numbers of the items whose documents match, with their weights, and whether these are all."""
        if self._texts is None:
            return {}, True
        has_filters = any(term.is_filter for term in self._query.all_terms())
        most = MOST_HITS * (_MORE_FOR_FILTERS if has_filters else 1)
        weights = self._texts.items(most + 1)
        passing = pass_filters(self._db, list(weights), self._query) if has_filters else weights
        excluded = self._excluded()
        return {n: weights[n] for n in passing if n not in excluded}, len(weights) <= most

    def _excluded(self) -> set[int]:
        """The items whose metadata holds a word that is not wanted."""
        words = [term for term in self._query.all_terms() if term.is_excluded and not term.is_filter]
        expression = " OR ".join(f"({self._writer.write_term(term)})" for term in words)
        return set(self._matches(expression, -1)) if expression else set()

    def _numbers(self, most: int) -> tuple[list[int], bool]:
        """The numbers of the items whose metadata match, and whether these are all. Where they are not, some whose
        titles match come first: as many as are `most`, if there are."""
        if self._asked.scope == "documents" and self._query.positive_terms():
            return [], True
        numbers = self._matches(self._writer.write(self._query), MOST_HITS + 1)
        if len(numbers) <= MOST_HITS:
            return numbers, True
        if self._query.positive_terms() and self._asked.order == "rank":
            in_titles = ExpressionWriter(fold=self._asked.fold, columns="title", expand=self._terms.expand)
            first = self._matches(in_titles.write(self._query), min(most, MOST_HITS))
            numbers = list(dict.fromkeys((*first, *numbers)))
        return numbers[:MOST_HITS], False

    def _matches(self, expression: str, most: int) -> list[int]:
        rows = self._db.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (expression, most))
        return [row[0] for row in rows]

    def _in_order(
        self, numbers: list[int], in_texts: Mapping[int, float], most: int, *, is_exact: bool
    ) -> Sequence[int]:
        if self._asked.order == "day":
            newest = [] if is_exact or in_texts else self._newest(most)
            return self._by_day(newest or numbers)
        if not is_exact:
            return numbers
        weights = self._weights()
        # a word in a text says less of an item than one on its card
        return sorted(numbers, key=lambda n: (min(weights.get(n, 0.0), in_texts.get(n, 0.0) / 2), n))

    def _by_day(self, numbers: Sequence[int]) -> list[int]:
        rows = self._db.execute(
            "SELECT n FROM item WHERE n IN (SELECT value FROM json_each(?)) ORDER BY day DESC, n",
            (orjson.dumps(numbers).decode(),),
        )
        return [row[0] for row in rows]

    def _newest(self, most: int) -> list[int]:
        """The newest of very many hits: year by year, until there are enough."""
        numbers: list[int] = []
        summary = orjson.loads(self._db.execute("SELECT value FROM meta WHERE name = 'summary'").fetchone()[0])
        years = (Term(f"{year}..{year}", "year", is_exact=True) for year in sorted(summary["years"], reverse=True))
        for term in years:
            if not may_have_year(self._query, term.text[:4]):
                continue
            narrowed = replace(self._query, groups=(*self._query.groups, (term,)))
            numbers += self._matches(self._writer.write(narrowed), MOST_HITS)
            if len(numbers) >= most:
                break
        return numbers

    def _weights(self) -> dict[int, float]:
        """How well items match, the best lowest, by the words that are not common."""
        groups = tuple(
            group
            for group in self._query.groups
            if not any(term.is_excluded or self._terms.is_common(term) for term in group)
        )
        if not groups:
            return {}
        expression = self._writer.write(replace(self._query, groups=groups))
        rows = self._db.execute(
            f"SELECT rowid, bm25(words, {_WEIGHTS}) FROM words WHERE words MATCH ?",  # noqa: S608  # a constant of ours
            (expression,),
        )
        return dict(rows.fetchall())

    def _hit(self, entry: Entry, *, is_in_texts: bool) -> Hit:
        masked = mask_entry(entry)
        if entry.screened:
            return Hit(masked)
        search_terms, fold = self._query.positive_terms(), self._asked.fold
        row = self._db.execute("SELECT fields FROM item WHERE n = ?", (entry.n,)).fetchone()
        contexts: list[Context] = []
        for name, text in fields_of(mask_fields(orjson.loads(row[0]), screened=False)):
            if len(contexts) >= _MOST_CONTEXTS:
                break
            if text != entry.title:
                contexts += contexts_of(name, text, search_terms, fold=fold)
        documents = self._texts.contexts(entry.n, search_terms, 3) if self._texts and is_in_texts else []
        for match in documents:
            contexts += match.contexts
        refs = tuple(match.ref for match in documents)
        return Hit(masked, marks_of(masked.title, search_terms, fold=fold), tuple(contexts), refs)
