"""POST /full-text/search: finds, with what belongs to them.

Every word leads, through links that the caller may read, from the objects that hold it to what is looked for; a find
must be led to by every word. With public use, the closed words of screened objects lead nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noarkit.server.calling import Call
from noarkit.server.fulltext.doctypes import DOCTYPES, Doctype
from noarkit.server.fulltext.index import OPEN, catch_up
from noarkit.server.fulltext.tell import (
    EXPANDABLE,
    Telling,
    Value,
    facets,
    not_closed,
    note_closed,
    results,
    value_of,
)
from noarkit.server.fulltext.words import expressions
from noarkit.server.query.guard import watch_rights
from noarkit.server.query.paths import MAY_READ
from noarkit.server.query.request import boolean_member, number_member, object_member, text_member, whole_text
from noarkit.server.rendering import screened
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

_Way = tuple[str, tuple[int | str, ...]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search asks for; `words` is None where it asks for everything."""

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
    wanted = read_wanted(call.body, settings)
    catch_up(call.service)
    with call.service.db.reading() as db:
        telling = Telling(
            db,
            settings,
            wanted.doctype,
            guarded=watch_rights(db, call.caller),
            public_use=wanted.public_use,
            words=tuple(wanted.words or ()),
            expand=wanted.expand,
        )
        for statement in _TEMPORARY:  # gone again when the reading ends, which rolls back
            db.execute(statement)
        return Answer(body=_answer(telling, wanted))


def read_wanted(body: object, settings: Settings) -> Wanted:
    """The request in `body`; a Refusal names the member that is wrong."""
    members = object_member(body, "the body")
    name = text_member(members, "doctype", None)
    if name not in DOCTYPES:
        raise Refusal(400, f"doctype must be one of {', '.join(DOCTYPES)}.")
    if not isinstance(members.get("query"), str):
        raise Refusal(400, "query must be a string.")
    limit, offset = number_member(members, "limit", _DEFAULT_LIMIT), number_member(members, "offset", 0)
    if not 0 <= limit <= settings.query_limit:
        raise Refusal(400, f"limit must be between 0 and {settings.query_limit}.")
    if offset < 0:
        raise Refusal(400, "offset must not be negative.")
    return Wanted(
        doctype=DOCTYPES[name],
        words=expressions(text_member(members, "query", "")),
        filters=_filters(members),
        public_use=boolean_member(members, "publicUse", True),
        expand=_expand(members),
        offset=offset,
        limit=limit,
    )


def _filters(members: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, values in object_member(members.get("filters"), "filters").items():
        if not isinstance(values, list) or len(values) > _MAX_FILTER_VALUES:
            raise Refusal(400, f"filters: {name} must be a list of at most {_MAX_FILTER_VALUES} values.")
        if not all(isinstance(value, str | int) for value in values):
            raise Refusal(400, f"filters: the values of {name} must be strings.")
        told = (str(value).lower() if isinstance(value, bool) else str(value) for value in values)
        found[name] = tuple(whole_text(value, name) for value in told)
    return found


def _expand(members: Mapping[str, object]) -> tuple[str, ...]:
    value = members.get("expand")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(name, str) and name in EXPANDABLE for name in value):
        raise Refusal(400, f"expand must be a list of {', '.join(EXPANDABLE)}.")
    return tuple(dict.fromkeys(value))


def _answer(telling: Telling, wanted: Wanted) -> dict[str, object]:
    db = telling.db
    if wanted.words is None:
        guard = f" WHERE {MAY_READ}('{telling.doctype.family}', id)" if telling.guarded else ""
        db.execute(f"INSERT INTO found SELECT id FROM {table_name(telling.doctype.family)}{guard}")  # noqa: S608  # names of the metamodel
    for number, words in enumerate(telling.words):
        _note_hits(telling, number, words)
        _keep(telling, _led_to(telling, number), first=number == 0)
    for name, values in wanted.filters.items():
        _filter(telling, value_of(telling.doctype, name), values)
    total = int(db.execute("SELECT COUNT(*) FROM found").fetchone()[0])
    page = db.execute("SELECT id FROM found ORDER BY id DESC LIMIT ? OFFSET ?", (wanted.limit, wanted.offset))
    ids = [int(row[0]) for row in page.fetchall()]
    return {"total": total, "results": results(telling, ids), "facets": facets(telling, total)}


def _note_hits(telling: Telling, number: int, words: str) -> None:
    """Writes down the objects that hold the words; on public use only those that may show them."""
    every = "INSERT OR IGNORE INTO hit SELECT ?, family, rowid FROM fulltext_entry WHERE fulltext_entry MATCH ?"
    telling.db.execute(every, (number, words))
    for family in _families(telling, number):
        if family not in telling.doctype.searched:
            telling.db.execute("DELETE FROM hit WHERE word = ? AND family = ?", (number, family))
        elif telling.public_use:
            _drop_closed(telling, number, family)
    if telling.public_use:
        telling.db.execute(every, (number, f"{{{' '.join(OPEN)}}} : ({words})"))


def _families(telling: Telling, number: int) -> set[str]:
    return {str(row[0]) for row in telling.db.execute("SELECT DISTINCT family FROM hit WHERE word = ?", (number,))}


def _drop_closed(telling: Telling, number: int, family: str) -> None:
    rows = telling.db.execute("SELECT id FROM hit WHERE word = ? AND family = ?", (number, family)).fetchall()
    for start in range(0, len(rows), _BATCH):
        hidden = screened(telling.db, family, [int(row[0]) for row in rows[start : start + _BATCH]])
        gone = ((number, family, each) for each in hidden)
        telling.db.executemany("DELETE FROM hit WHERE word = ? AND family = ? AND id = ?", gone)


def _led_to(telling: Telling, number: int) -> list[_Way]:
    """For each way from an object with words to what is looked for: SQL for the finds at its end."""
    ways: list[_Way] = []
    for family in sorted(telling.doctype.searched & _families(telling, number)):
        for chain in telling.doctype.chains[family]:
            way = telling.way(chain)
            hits = f"{way.id} IN (SELECT id FROM temp.hit WHERE word = ? AND family = ?)"  # noqa: S608  # names of the metamodel
            ways.append((_finds(telling, way.tables, f"{way.where} AND {hits}"), (number, family)))
    return ways


def _finds(telling: Telling, tables: str, where: str) -> str:
    guard = f" AND {MAY_READ}('{telling.doctype.family}', o.id)" if telling.guarded else ""
    return f"SELECT o.id FROM {tables} WHERE {where}{guard}"  # noqa: S608  # names of the metamodel


def _keep(telling: Telling, ways: Sequence[_Way], *, first: bool) -> None:
    """Keeps as found what some way leads to; at first nothing is found yet."""
    sql = " UNION ".join(way for way, _ in ways) or "SELECT 1 WHERE 0"
    operands = [each for _, values in ways for each in values]
    if first:
        telling.db.execute(f"INSERT INTO found {sql}", operands)
    else:
        telling.db.execute(f"DELETE FROM found WHERE id NOT IN ({sql})", operands)  # noqa: S608  # names of the metamodel


def _filter(telling: Telling, value: Value, values: tuple[str, ...]) -> None:
    """Keeps the finds of which something bears one of the values."""
    marks = ", ".join("?" * len(values))
    ways: list[_Way] = []
    for chain in telling.doctype.chains[value.family]:
        way = telling.way(chain, value.fields)
        where = f"{way.where} AND {value.sql(way)} IN ({marks})"
        if telling.public_use and not value.is_open:
            note_closed(telling, value.family, f"SELECT {way.id} FROM {way.tables} WHERE {where}", values)  # noqa: S608  # names of the metamodel
            where += f" AND {not_closed(value.family, way)}"
        ways.append((_finds(telling, way.tables, where), values))
    _keep(telling, ways, first=False)
