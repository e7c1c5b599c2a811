"""The journal of a place by day: every journal post by its number, for the office (running) and for the public.

In the public journal a title is the public title; what is screened, or lies in something that is, has no other title
and no names of parties, and no other post names a party that is screened.
Pages are of bounded size, however many posts a day has.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from noarkit.catalogue.entries import SCREENED
from noarkit.catalogue.port import Json
from noarkit.model.disclosure import HIDES_PARTIES, MASK, PARTIES, mask_fields, of_fields

PAGE = 200
POSTS = "type IN ('journalpost', 'Journalpost')"
"""Which items are journal posts, in the letters of the index in the store."""
SEQUENCE = "CAST(json_extract(fields, '$.journalsekvensnummer') AS INTEGER)"
_PAGE_OF_POSTS = (
    "SELECT i.n, i.ref, i.day, i.ident, i.title, i.status, i.screened, i.fields, p.ref, p.ident, p.title, p.screened,"  # noqa: S608  # our own expressions
    " p.type, json_extract(p.fields, '$.offentligTittel')"
    f" FROM (SELECT n, coalesce({SEQUENCE}, 0) AS number FROM item"
    f" WHERE {POSTS} AND day = ? AND (coalesce({SEQUENCE}, 0), n) > (?, ?)"
    f" ORDER BY coalesce({SEQUENCE}, 0), n LIMIT ?) page"
    " JOIN item i ON i.n = page.n LEFT JOIN item p ON p.n = i.parent ORDER BY page.number, page.n"
)
INDEX = f"CREATE INDEX item_journal ON item (day, coalesce({SEQUENCE}, 0), n) WHERE {POSTS}"
TABLE = "CREATE TABLE journal_day (day TEXT PRIMARY KEY, posts INTEGER NOT NULL) WITHOUT ROWID"
FILL = f"INSERT INTO journal_day SELECT day, count(*) FROM item WHERE {POSTS} GROUP BY day"  # noqa: S608  # our own words
_CASES = frozenset({"saksmappe", "mappe", "moetemappe"})


@dataclass(frozen=True, slots=True)
class JournalQuery:
    """Which posts: those of a day (the last one that has any, if None), from behind the item number `after` on."""

    day: str | None = None
    public: bool = False
    after: int = 0
    limit: int = PAGE


@dataclass(frozen=True, slots=True)
class Correspondent:
    """A party of a journal post; its name is None where the public does not see it."""

    role: str
    name: str | None
    hidden: bool = False
    """True for a name that is masked on the card of the post."""


@dataclass(frozen=True, slots=True)
class JournalCase:
    """The case that a post belongs to; its title is None where the public does not see it."""

    ref: str
    ident: str
    title: str | None
    screened: bool


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One journal post. `type` is the document type as the place states it (incoming, outgoing, note), `number` its
    sequence and year, `document_number` that of the case with the post's own. Titles and names that the public does not
    see are None in the public journal; `screened` is told in both."""

    n: int
    ref: str
    day: str
    number: str
    document_number: str
    type: str
    title: str | None
    screened: bool
    status: str
    document_date: str
    correspondents: tuple[Correspondent, ...]
    case: JournalCase | None


@dataclass(frozen=True, slots=True)
class JournalDay:
    """A day with how many posts it has."""

    day: str
    posts: int

    @property
    def year(self) -> str:
        """The year of the day; empty where the posts have no date."""
        return self.day[:4]


@dataclass(frozen=True, slots=True)
class JournalPage:
    """Some posts of a day, how many it has in all, the days around it, and what to ask for next (None at the end)."""

    day: str
    posts: int
    entries: tuple[JournalEntry, ...]
    before: str | None
    behind: str | None
    after: int | None


def journal_page(db: sqlite3.Connection, query: JournalQuery) -> JournalPage:
    """One page of the journal, empty for a day without posts."""
    day = query.day if query.day is not None else _last_day(db)
    row = db.execute("SELECT posts FROM journal_day WHERE day = ?", (day,)).fetchone()
    sequence = 0
    if query.after:
        statement = f"SELECT {SEQUENCE} FROM item WHERE n = ?"  # noqa: S608  # our own words
        (sequence,) = db.execute(statement, (query.after,)).fetchone() or (0,)
    rows = db.execute(_PAGE_OF_POSTS, (day, sequence or 0, query.after, query.limit)).fetchall()
    entries = tuple(_entry(values, public=query.public) for values in rows)
    return JournalPage(
        day=day,
        posts=0 if row is None else int(row[0]),
        entries=entries,
        before=_day_beside(db, "SELECT max(day) FROM journal_day WHERE day < ?", day),
        behind=_day_beside(db, "SELECT min(day) FROM journal_day WHERE day > ?", day),
        after=entries[-1].n if len(entries) == query.limit else None,
    )


def journal_days(db: sqlite3.Connection, after: str = "", limit: int = PAGE) -> tuple[JournalDay, ...]:
    """The days that have posts, behind a day, in order."""
    rows = db.execute("SELECT day, posts FROM journal_day WHERE day > ? ORDER BY day LIMIT ?", (after, limit))
    return tuple(JournalDay(str(day), int(posts)) for day, posts in rows)


def _last_day(db: sqlite3.Connection) -> str:
    return str(db.execute("SELECT coalesce(max(day), '') FROM journal_day").fetchone()[0])


def _day_beside(db: sqlite3.Connection, statement: str, day: str) -> str | None:
    value = db.execute(statement, (day,)).fetchone()[0]
    return None if value is None else str(value)


def _entry(values: tuple[Any, ...], *, public: bool) -> JournalEntry:  # Any: a row, whose columns are told here
    n, ref, day, ident, title, status, screened, fields_text, *case_values = values
    fields: dict[str, Json] = orjson.loads(fields_text)
    screened = screened == SCREENED or of_fields(fields).is_screened
    case = _case(case_values, public=public)
    year, sequence = _text(fields, "journalaar"), _text(fields, "journalsekvensnummer")
    post = _text(fields, "journalpostnummer")
    public_title = _text(fields, "offentligTittel")
    if public:
        title = public_title or (None if screened else title)
    return JournalEntry(
        n=n,
        ref=ref,
        day=day,
        number=f"{sequence}/{year}" if sequence and year else ident,
        document_number=f"{case.ident}-{post}" if case is not None and case.ident and post else ident,
        type=_text(fields, "journalposttype"),
        title=title,
        screened=screened,
        status=status,
        document_date=_text(fields, "dokumentetsDato")[:10],
        correspondents=tuple(_correspondents(fields, screened=screened, public=public)),
        case=case,
    )


def _case(values: list[Any], *, public: bool) -> JournalCase | None:  # Any: the rest of that row
    ref, ident, title, screened, kind, public_title = values
    if ref is None or str(kind).lower() not in _CASES:
        return None
    is_screened = screened == SCREENED
    if public:
        title = public_title if isinstance(public_title, str) and public_title else (None if is_screened else title)
    return JournalCase(ref, ident, title, is_screened)


def _correspondents(fields: Mapping[str, Json], *, screened: bool, public: bool) -> Iterator[Correspondent]:
    """The parties of a post. Whose name the card masks has none in the public journal."""
    party_fields = {name: fields.get(name) for name in (PARTIES, HIDES_PARTIES)}
    shown_parties = _list_parties(mask_fields(party_fields, screened=screened))
    for party, shown_party in zip(_list_parties(fields), shown_parties, strict=True):
        if not isinstance(party, dict) or not isinstance(shown_party, dict):
            continue
        name = _text(party, "korrespondansepartNavn")
        hidden = _text(shown_party, "korrespondansepartNavn") == MASK
        yield Correspondent(_text(party, "korrespondanseparttype"), None if hidden and public else name, hidden)


def _list_parties(fields: Mapping[str, Json]) -> list[Json]:
    parties = fields.get(PARTIES)
    return parties if isinstance(parties, list) else [parties]


def _text(fields: Mapping[str, Json], name: str) -> str:
    """A field as text; the first of several."""
    value = fields.get(name)
    if isinstance(value, list):
        value = next(iter(value), None)
    return "" if value is None or isinstance(value, (dict, list)) else str(value).strip()
