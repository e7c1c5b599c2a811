"""POST /full-text/search: runs a search and answers its finds with the linked objects that belong to them.

For each word, the objects that hold it are followed along the doctype's references to the finds; a find must be reached
from every word. With public use, the closed fields of screened objects do not count.

    "water pipe" in doctype Mappe:
    temp.hit    word 0 = "water": Sakspart 7, AbstraktMappe 3      word 1 = "pipe": AbstraktMappe 3
    temp.found  after word 0: folders with party 7, and folder 3   after word 1: folder 3
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noarkit.server.calling import Call
from noarkit.server.fulltext.doctypes import DOCTYPES, Doctype
from noarkit.server.fulltext.index import OPEN, catch_up
from noarkit.server.fulltext.presentation import (
    EXPANDABLE,
    SearchContext,
    Value,
    find_value,
    not_closed_sql,
    note_closed,
    render_facets,
    render_results,
)
from noarkit.server.query.paths import MAY_READ
from noarkit.server.query.reading_rights import watch_rights
from noarkit.server.query.request import boolean_member, number_member, object_member, text_member, whole_text
from noarkit.server.rendering import find_screened
from noarkit.server.schema import table_name
from noarkit.server.settings import Settings
from noarkit.server.wire import Answer, Refusal

_DEFAULT_LIMIT = 10
_MAX_FILTER_VALUES = 1_000
_BATCH = 2_000
_TEMPORARY = (
    "CREATE TEMP TABLE hit (word INTEGER, family TEXT, id INTEGER, PRIMARY KEY (word, family, id)) WITHOUT ROWID",
    "CREATE TEMP TABLE found (id INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE closed (family TEXT, id INTEGER, PRIMARY KEY (family, id)) WITHOUT ROWID",
)

_Subquery = tuple[str, tuple[int | str, ...]]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A parsed search request; `words` is None if the query is blank and asks for everything."""

    doctype: Doctype
    words: list[str] | None
    filters: Mapping[str, tuple[str, ...]]
    public_use: bool
    expand: tuple[str, ...]
    offset: int
    limit: int


def search(call: Call) -> Answer:
    """Answers `{"total", "results", "facets"}`; what was committed before the call is found."""
    settings = call.service.settings
    request = read_search_request(call.body, settings)
    catch_up(call.service)
    with call.service.db.snapshot() as db:
        context = SearchContext(
            db,
            settings,
            request.doctype,
            checks_rights=watch_rights(db, call.caller),
            public_use=request.public_use,
            words=tuple(request.words or ()),
            expand=request.expand,
        )
        for statement in _TEMPORARY:  # gone again when the reading ends, which rolls back
            db.execute(statement)
        return Answer(body=_answer(context, request))


def read_search_request(body: object, settings: Settings) -> SearchRequest:
    """The request in `body`; a Refusal names the member that is wrong."""
    members = object_member(body, "the body")
    doctype_name = text_member(members, "doctype", None)
    if doctype_name not in DOCTYPES:
        raise Refusal(400, f"doctype must be one of {', '.join(DOCTYPES)}.")
    if not isinstance(members.get("query"), str):
        raise Refusal(400, "query must be a string.")
    limit, offset = number_member(members, "limit", _DEFAULT_LIMIT), number_member(members, "offset", 0)
    if not 0 <= limit <= settings.query_limit:
        raise Refusal(400, f"limit must be between 0 and {settings.query_limit}.")
    if offset < 0:
        raise Refusal(400, "offset must not be negative.")
    return SearchRequest(
        doctype=DOCTYPES[doctype_name],
        words=expressions(text_member(members, "query", "")),
        filters=_filters(members),
        public_use=boolean_member(members, "publicUse", True),
        expand=_expand(members),
        offset=offset,
        limit=limit,
    )


def _filters(members: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    filters: dict[str, tuple[str, ...]] = {}
    for name, values in object_member(members.get("filters"), "filters").items():
        if not isinstance(values, list) or len(values) > _MAX_FILTER_VALUES:
            raise Refusal(400, f"filters: {name} must be a list of at most {_MAX_FILTER_VALUES} values.")
        if not all(isinstance(value, str | int) for value in values):
            raise Refusal(400, f"filters: the values of {name} must be strings.")
        texts = (str(value).lower() if isinstance(value, bool) else str(value) for value in values)
        filters[name] = tuple(whole_text(value, name) for value in texts)
    return filters


def _expand(members: Mapping[str, object]) -> tuple[str, ...]:
    value = members.get("expand")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(name, str) and name in EXPANDABLE for name in value):
        raise Refusal(400, f"expand must be a list of {', '.join(EXPANDABLE)}.")
    return tuple(dict.fromkeys(value))


def _answer(context: SearchContext, request: SearchRequest) -> dict[str, object]:
    db = context.db
    if request.words is None:
        right = f" WHERE {MAY_READ}('{context.doctype.family}', id)" if context.checks_rights else ""
        db.execute(f"INSERT INTO found SELECT id FROM {table_name(context.doctype.family)}{right}")  # noqa: S608  # names of the metamodel
    for number, words in enumerate(context.words):
        _note_hits(context, number, words)
        _keep_finds(context, _subqueries_for_word(context, number), first=number == 0)
    for name, values in request.filters.items():
        _apply_filter(context, find_value(context.doctype, name), values)
    total = int(db.execute("SELECT COUNT(*) FROM found").fetchone()[0])
    page = db.execute("SELECT id FROM found ORDER BY id DESC LIMIT ? OFFSET ?", (request.limit, request.offset))
    ids = [int(row[0]) for row in page.fetchall()]
    return {"total": total, "results": render_results(context, ids), "facets": render_facets(context, total)}


def _note_hits(context: SearchContext, number: int, words: str) -> None:
    """Fills temp.hit with the objects that hold a word; with public use only where the field may be shown."""
    insert_sql = "INSERT OR IGNORE INTO hit SELECT ?, family, rowid FROM fulltext_entry WHERE fulltext_entry MATCH ?"
    context.db.execute(insert_sql, (number, words))
    for family in _families(context, number):
        if family not in context.doctype.searched:
            context.db.execute("DELETE FROM hit WHERE word = ? AND family = ?", (number, family))
        elif context.public_use:
            _drop_closed(context, number, family)
    if context.public_use:
        context.db.execute(insert_sql, (number, f"{{{' '.join(OPEN)}}} : ({words})"))


def _families(context: SearchContext, number: int) -> set[str]:
    return {str(row[0]) for row in context.db.execute("SELECT DISTINCT family FROM hit WHERE word = ?", (number,))}


def _drop_closed(context: SearchContext, number: int, family: str) -> None:
    rows = context.db.execute("SELECT id FROM hit WHERE word = ? AND family = ?", (number, family)).fetchall()
    for start in range(0, len(rows), _BATCH):
        screened_ids = find_screened(context.db, family, [int(row[0]) for row in rows[start : start + _BATCH]])
        deletions = ((number, family, object_id) for object_id in screened_ids)
        context.db.executemany("DELETE FROM hit WHERE word = ? AND family = ? AND id = ?", deletions)


def _subqueries_for_word(context: SearchContext, number: int) -> list[_Subquery]:
    """A subquery of finds for each chain of references that leads from an object with the word to a find."""
    subqueries: list[_Subquery] = []
    for family in sorted(context.doctype.searched & _families(context, number)):
        for chain in context.doctype.chains[family]:
            query = context.chain_query(chain)
            hits = f"{query.id} IN (SELECT id FROM temp.hit WHERE word = ? AND family = ?)"  # noqa: S608  # names of the metamodel
            subqueries.append((_finds_sql(context, query.tables, f"{query.condition} AND {hits}"), (number, family)))
    return subqueries


def _finds_sql(context: SearchContext, tables: str, condition: str) -> str:
    right = f" AND {MAY_READ}('{context.doctype.family}', o.id)" if context.checks_rights else ""
    return f"SELECT o.id FROM {tables} WHERE {condition}{right}"  # noqa: S608  # names of the metamodel


def _keep_finds(context: SearchContext, subqueries: Sequence[_Subquery], *, first: bool) -> None:
    """Intersects temp.found with the union of the subqueries; the first word fills it."""
    sql = " UNION ".join(subquery for subquery, _ in subqueries) or "SELECT 1 WHERE 0"
    operands = [operand for _, values in subqueries for operand in values]
    if first:
        context.db.execute(f"INSERT INTO found {sql}", operands)
    else:
        context.db.execute(f"DELETE FROM found WHERE id NOT IN ({sql})", operands)  # noqa: S608  # names of the metamodel


def _apply_filter(context: SearchContext, value: Value, values: tuple[str, ...]) -> None:
    """Keeps the finds for which a filtered field has one of the values."""
    placeholders = ", ".join("?" * len(values))
    subqueries: list[_Subquery] = []
    for chain in context.doctype.chains[value.family]:
        query = context.chain_query(chain, value.fields)
        condition = f"{query.condition} AND {value.sql(query)} IN ({placeholders})"
        if context.public_use and not value.is_open:
            note_closed(context, value.family, f"SELECT {query.id} FROM {query.tables} WHERE {condition}", values)  # noqa: S608  # names of the metamodel
            condition += f" AND {not_closed_sql(value.family, query)}"
        subqueries.append((_finds_sql(context, query.tables, condition), values))
    _keep_finds(context, subqueries, first=False)


_MAX_WORDS = 64
_MAX_LENGTH = 4_000
_ITEM = re.compile(r'"([^"]*)"(\*?)|([^\s"]+)')


def expressions(text: str) -> list[str] | None:
    """One FTS5 expression for each thing that must be found; None if everything is asked for."""
    if len(text) > _MAX_LENGTH:
        raise Refusal(400, f"query is longer than {_MAX_LENGTH} characters.")
    if text.strip() in ("", "*"):
        return None
    groups: list[list[str]] = []
    is_alternative = False
    for match in _ITEM.finditer(unicodedata.normalize("NFC", text)):
        if match[3] == "OR" and groups:
            is_alternative = True
            continue
        term = _term(match)
        if term and is_alternative:
            groups[-1].append(term)
        elif term:
            groups.append([term])
        is_alternative = False
    if sum(map(len, groups)) > _MAX_WORDS:
        raise Refusal(400, f"query has more than {_MAX_WORDS} words.")
    return [" OR ".join(alternatives) for alternatives in groups]


def _term(match: re.Match[str]) -> str:
    words, star = (match[1], match[2]) if match[3] is None else (match[3].rstrip("*"), match[3][-1:])
    words = words.replace("\x00", " ")
    if not any(character.isalnum() for character in words):
        return ""
    return f'"{words}"*' if star == "*" else f'"{words}"'
