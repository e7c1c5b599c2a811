"""Writes a query of the search box as an expression of FTS5.

Every word of the reader stands quoted, and every filter as hexadecimal digits: nothing that anybody types is syntax. A
beginning of a word is written out as the words that begin so, where they are few: SQLite then finds the first of them
at once, instead of all of them first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from noarkit.catalogue.query import ALL, Query, Term, filter_token, spellings_of, tokens_of

Expand = Callable[[str], Sequence[str]]
"""The words that begin with this one; none where they are many, or not known."""
_EVERY = f"filters : {ALL}"


def no_expansion(word: str) -> Sequence[str]:
    """Leaves every beginning of a word to SQLite."""
    return ()


class ExpressionWriter:
    """Writes queries over an index with the given columns for words (all it has, where that is empty)."""

    def __init__(self, *, fold: bool = False, columns: str = "title metadata", expand: Expand = no_expansion) -> None:
        self._fold = fold
        self._columns = columns
        self._expand = expand

    def write(self, query: Query) -> str:
        """Words and filters; every item where nothing is asked for."""
        required = [self._write_group(group) for group in query.groups if not _is_exclusion(group)]
        excluded = [self.write_term(group[0]) for group in query.groups if _is_exclusion(group)]
        return _join(required or [_EVERY], excluded)

    def write_words(self, query: Query) -> str:
        """The words alone, for an index without filters; empty where there are none to look for."""
        groups = [[term for term in group if not term.is_filter] for group in query.groups]
        required = [
            " OR ".join(f"({self.write_term(term)})" for term in group if not term.is_excluded)
            for group in groups
            if not _is_exclusion(group)
        ]
        excluded = [self.write_term(group[0]) for group in groups if _is_exclusion(group)]
        required = [part for part in required if part]
        return _join(required, excluded) if required else ""

    def write_term(self, term: Term) -> str:
        """One term, as if it were not excluded."""
        if term.is_filter:
            return _write_filter(term)
        columns = "title" if term.name == "title" and self._columns else self._columns
        begin = f"{{{columns}}} : " if columns else ""
        texts = spellings_of(term.text) if self._fold else (term.text,)
        return " OR ".join(f"{begin}{self._write_text(text, term)}" for text in texts)

    def _write_text(self, text: str, term: Term) -> str:
        if term.is_exact:
            return _quote(text)
        tokens = tokens_of(text)
        words = self._expand(tokens[0]) if len(tokens) == 1 else ()
        if words:
            return "(" + " OR ".join(_quote(word) for word in words) + ")"
        return _quote(text) + " *"

    def _write_group(self, group: Sequence[Term]) -> str:
        parts = []
        for term in group:
            part = self.write_term(term)
            parts.append(f"({_EVERY} NOT ({part}))" if term.is_excluded else f"({part})")
        return " OR ".join(parts)


def year_prefixes(span: str) -> list[str]:
    """A span of years (`1998..2003`) as beginnings of their four digits: `1998 1999 2000 2001 2002 2003`, and `199`
    for a whole decade."""
    first, last = (int(year) for year in span.split(".."))
    prefixes = []
    while first <= last:
        step = next(size for size in (1000, 100, 10, 1) if first % size == 0 and first + size - 1 <= last)
        prefixes.append(f"{first:04}"[: 5 - len(str(step))])
        first += step
    return prefixes


def _is_exclusion(group: Sequence[Term]) -> bool:
    return len(group) == 1 and group[0].is_excluded


def _join(required: list[str], excluded: list[str]) -> str:
    expression = " AND ".join(f"({part})" for part in required)
    return f"({expression})" + "".join(f" NOT ({part})" for part in excluded)


def _write_filter(term: Term) -> str:
    if term.name == "year":
        tokens = [f"y{prefix}" for prefix in year_prefixes(term.text)]
        return " OR ".join(f"filters : {token}" + ("" if len(token) == 5 else " *") for token in tokens)
    assert term.name and term.name != "title"  # noqa: S101  # a filter
    token = filter_token(term.name, term.text)
    return f"filters : {token}" if term.is_exact else f"filters : {token} *"


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
