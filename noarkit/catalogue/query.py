"""The language of the search box: words, phrases, exclusions, alternatives and filters.

It forgives everything: what cannot be understood is taken as words, so no text is a fault. What becomes of it is an
expression of FTS5 in which every word of the reader stands quoted, so nothing that anybody types is syntax there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from noarkit.model.headings import type_word

MOST_CHARACTERS = 1_000
MOST_TERMS = 40
_MOST_SPELLINGS = 16

FilterName = Literal["type", "year", "class", "status", "format", "screened", "fault", "state"]
FILTERS: dict[str, FilterName] = {
    **dict.fromkeys(("type",), "type"),
    **dict.fromkeys(("year", "år", "aar"), "year"),
    **dict.fromkeys(("class", "klasse"), "class"),
    **dict.fromkeys(("status",), "status"),
    **dict.fromkeys(("format",), "format"),
    **dict.fromkeys(("screened", "skjermet"), "screened"),
    **dict.fromkeys(("fault", "feil", "feilkode"), "fault"),
    **dict.fromkeys(("state", "tilstand"), "state"),
}
"""What a filter may be called, and which it is."""
_TITLE = frozenset({"title", "tittel"})
_OR = frozenset({"OR", "ELLER", "|"})
_AND = frozenset({"AND", "OG", "&", "+"})
_NOT = frozenset({"NOT", "IKKE"})
_YES = frozenset({"yes", "ja", "true", "1", "y", "j"})
_NO = frozenset({"no", "nei", "false", "0", "n"})
_PIECE = re.compile(
    r"""
    \s* (?P<minus> - (?=[^\s-]) )?
    (?: (?P<field> [^\W\d_]+ ) : (?=\S) )?
    (?: " (?P<phrase> [^"]* ) (?: " | $ ) | (?P<word> [^\s"]+ ) )
    """,
    re.VERBOSE,
)
_TOKEN = re.compile(r"[^\W_]+")
_YEARS = re.compile(r"(\d{1,4})?(?:\.\.|-|–)(\d{1,4})?|(\d{1,4})")
_SPELLINGS = (("å", "aa"), ("ø", "oe"), ("æ", "ae"), ("ö", "oe"), ("ä", "ae"))

ALL = "zall"
"""The token that every item has among its filters."""
_PREFIXES: dict[FilterName, str] = {
    **{"type": "t", "year": "y", "class": "c", "status": "s", "format": "f"},
    **{"screened": "p", "fault": "e", "state": "r"},
}


@dataclass(frozen=True, slots=True)
class Term:
    """One word, phrase or filter. `name` is empty for words, `title` for words of the title. What is not exact is
    matched by its beginning: words of three letters and more, and of two where a star says so."""

    text: str
    name: Literal["", "title"] | FilterName = ""
    is_exact: bool = False
    is_excluded: bool = False

    @property
    def is_filter(self) -> bool:
        """True where it says what kind of item is wanted, and nothing of its words."""
        return self.name not in ("", "title")


@dataclass(frozen=True, slots=True)
class Query:
    """What was understood of a text: groups that must all hold; of the terms of a group one is enough."""

    groups: tuple[tuple[Term, ...], ...] = ()
    is_cut: bool = field(default=False)
    """True where the text was longer than is read."""

    def all_terms(self) -> Iterator[Term]:
        """Every term, in the order of the text."""
        for group in self.groups:
            yield from group

    def positive_terms(self) -> list[Term]:
        """The words and phrases that are to be shown where they occur."""
        return [term for term in self.all_terms() if not term.is_filter and not term.is_excluded]

    def has_words(self) -> bool:
        """True where there is a word to look for in a text."""
        return bool(self.positive_terms())


def parse_query(text: str, filters: Iterable[tuple[str, str]] = ()) -> Query:
    """What a text of the search box means, together with filters that were by_name beside it (of those with one name,
    one is enough). Never raises."""
    clean = clean_text(text)
    groups: list[tuple[Term, ...]] = []
    joins = excludes = False
    count = 0
    for piece in _PIECE.finditer(clean[:MOST_CHARACTERS]):
        word = piece["word"]
        if word in _OR and not piece["minus"] and not piece["field"]:
            joins = bool(groups)
            continue
        if word in _AND or word in _NOT:
            excludes = word in _NOT
            continue
        piece_terms = _terms_of(piece, excluded=excludes or piece["minus"] is not None)
        excludes = False
        for term in piece_terms[: MOST_TERMS - count]:
            if joins:
                groups[-1] = (*groups[-1], term)
            else:
                groups.append((term,))
            joins = False
            count += 1
    by_name: dict[str, tuple[Term, ...]] = {}
    for name, value in filters:
        choice = _filter_term(FILTERS.get(name.lower()), clean_text(value), exact=True, excluded=False)
        if choice is not None:
            by_name[choice.name] = (*by_name.get(choice.name, ()), choice)
    groups += [choices[:MOST_TERMS] for choices in by_name.values()]
    return Query(tuple(groups), is_cut=len(clean) > MOST_CHARACTERS or count >= MOST_TERMS)


def clean_text(text: str) -> str:
    """A text as it is searched: composed characters, none that no file could hold."""
    if text.isascii() and "\0" not in text:
        return text
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode().replace("\0", " "))


def tokens_of(text: str) -> list[str]:
    """The words of a text as the index cuts them, in lower case."""
    return _TOKEN.findall(text.lower())


def spellings_of(text: str) -> tuple[str, ...]:
    """The ways in which a word with å, ø, æ, aa, oe or ae may be spelling, itself first."""
    pieces: list[tuple[str, ...]] = []
    at = 0
    lowered = text.lower()
    while at < len(lowered):
        for letter, digraph in _SPELLINGS:
            spelling = letter if lowered.startswith(letter, at) else digraph if lowered.startswith(digraph, at) else ""
            if spelling:
                pieces.append((spelling, digraph if spelling == letter else letter))
                at += len(spelling)
                break
        else:
            pieces.append((lowered[at],))
            at += 1
    ways: list[str] = []
    for letters in product(*pieces):
        ways.append("".join(letters))
        if len(ways) >= _MOST_SPELLINGS:
            break
    return tuple(dict.fromkeys(ways))


def filter_token(name: FilterName, value: str) -> str:
    """The token that an item with this value of a filter has in the index; what begins with the value, begins with it.
    (Hexadecimal digits, which no way of cutting words takes apart.)"""
    if name == "year":
        return f"y{value}"
    if name == "type":
        value = type_word(value)
    return _PREFIXES[name] + value.lower().encode("utf-8", "replace").hex()


def _terms_of(piece: re.Match[str], *, excluded: bool) -> list[Term]:
    """The terms of one piece of the text: a filter, words, a phrase; none where it holds no letter or digit."""
    name, phrase, word = (piece["field"] or "").lower(), piece["phrase"], piece["word"]
    text = phrase if phrase is not None else word
    if name in FILTERS:
        term = _filter_term(FILTERS[name], text, exact=phrase is not None, excluded=excluded)
        if term is not None:
            return [term]
    where: Literal["", "title"] = "title" if name in _TITLE else ""
    if name and not where:  # no filter of ours: the reader means the words
        text = f"{piece['field']}:{text}"
    tokens = tokens_of(text)
    if not tokens:
        return []
    least = 2 if text.endswith("*") else 3
    return [Term(text.rstrip("*"), where, phrase is not None or len(tokens[-1]) < least, excluded)]


def _filter_term(name: FilterName | None, value: str, *, exact: bool, excluded: bool) -> Term | None:
    """A filter with its value; None where the value is none that it can have."""
    value = value.strip()
    if name is None or not value:
        return None
    if name == "year":
        span = _year_span(value)
        return None if span is None else Term(span, name, True, excluded)
    if name == "screened":
        folded = value.lower()
        if folded not in _YES | _NO:
            return None
        return Term("yes" if folded in _YES else "no", name, True, excluded)
    begins = value.endswith("*") and not exact
    text = value.rstrip("*") if begins else value
    return Term(text, name, not begins, excluded) if text else None


def _year_span(value: str) -> str | None:
    match = _YEARS.fullmatch(value)
    if match is None:
        return None
    begin, end, single = match.groups()
    if single:
        begin = end = single
    first, last = int(begin or 0), int(end or 9999)
    return f"{first:04}..{last:04}" if first <= last else None
