"""What the archive fills in by itself: defaults, who and when, years, sequences and identifiers.

A number that the caller gives is kept, and its sequence moves ahead of it, so that no number is given out twice. Case
files and plain folders share one sequence a year, and so do all records, because their identifiers look alike.
"""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping

from noarkit.server.schema import table_name
from noarkit.server.transaction.plan import TypePlan
from noarkit.server.transaction.stage import Stage, Thing
from noarkit.server.values import Stored, day_of, year_of

_FOLDERS, _RECORDS = "folder", "record"


def generate(stage: Stage) -> None:
    """Fills in every new object; call it once all links are made."""
    year = year_of(stage.now_ms)
    _fill(stage, stage.new, year)
    number(stage, stage.new)


def fill_one(stage: Stage, thing: Thing) -> None:
    """Fills in what one object lacks, as when it becomes another type; `number` follows."""
    for name, stored in _defaults(stage, thing.plan, year_of(stage.now_ms)).items():
        if thing.values.get(name) is None:
            thing.put(name, stored)


def number(stage: Stage, things: Iterable[Thing]) -> None:
    """Gives years, numbers and identifiers to those of `things` that lack them."""
    by_family: dict[str, list[Thing]] = defaultdict(list)
    for thing in things:
        by_family[thing.plan.family].append(thing)
    year = year_of(stage.now_ms)
    _number_in_year(stage, by_family["AbstraktMappe"], _FOLDERS, year)
    _number_in_year(stage, by_family["AbstraktRegistrering"], _RECORDS, year)
    posts = [thing for thing in by_family["AbstraktRegistrering"] if thing.plan.name == "Journalpost"]
    _number_below(stage, posts, "journalpostnummer", ("refMappe", "refArkivdel"))
    _number_below(stage, by_family["Dokument"], "dokumentnummer", ("refRegistrering",))
    _number_below(stage, by_family["Dokumentversjon"], "versjonsnummer", ("refDokument",))
    for thing in by_family["Presedens"]:
        _complete_precedent(stage, thing)


def _fill(stage: Stage, things: list[Thing], year: int) -> None:
    ready: dict[str, dict[str, Stored]] = {}
    uuids = _uuids(len(things))
    for thing, uuid in zip(things, uuids, strict=True):
        plan = thing.plan
        defaults = ready.get(plan.name)
        if defaults is None:
            defaults = ready[plan.name] = _defaults(stage, plan, year)
        thing.values = {
            "id": thing.id,
            "type": plan.name,
            "version": 1,
            "uuid": uuid,
            **defaults,
            **thing.values,
        }
        if thing.nulled:
            for name in thing.nulled:
                if name in defaults and name not in plan.must:
                    del thing.values[name]


def _defaults(stage: Stage, plan: TypePlan, year: int) -> dict[str, Stored]:
    words: Mapping[str, Stored] = {
        "<now>": stage.now_ms,
        "<today>": day_of(stage.now_ms),
        "<user-name>": stage.caller.name,
        "<user-id>": stage.caller.account,
        "<current-year>": year,
    }
    return {**plan.constants, **{name: words[word] for name, word in plan.moments.items()}}


def _uuids(count: int) -> list[str]:
    """Random UUIDs of version 4, many from one draw."""
    drawn = os.urandom(16 * count).hex()
    return [
        f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) & 3]}{h[17:20]}-{h[20:]}"
        for h in (drawn[at : at + 32] for at in range(0, 32 * count, 32))
    ]


# What carries a year and a number in its family, by type; the others get a number for their identifier alone.
_NUMBERED: Mapping[str, tuple[str, str]] = {
    "Saksmappe": ("saksaar", "sakssekvensnummer"),
    "Journalpost": ("journalaar", "journalsekvensnummer"),
}


def _number_in_year(stage: Stage, things: list[Thing], kind: str, year: int) -> None:
    ident = "mappeIdent" if kind == _FOLDERS else "registreringsIdent"
    lacking: dict[int, list[Thing]] = defaultdict(list)
    reached: dict[int, int] = {}
    for thing in things:
        values = thing.values
        columns = _NUMBERED.get(thing.plan.name)
        its_year = year if columns is None else _whole(values[columns[0]])
        given = None if columns is None else values.get(columns[1])
        if given is not None:
            reached[its_year] = max(reached.get(its_year, 0), _whole(given))
        elif columns is not None or values.get(ident) is None:
            lacking[its_year].append(thing)
    for its_year, highest in reached.items():
        _reach(stage.db, f"{kind}:{its_year}", highest)
    for its_year, members in lacking.items():
        following = _take(stage.db, f"{kind}:{its_year}", len(members))
        for thing, found in zip(members, range(following, following + len(members)), strict=True):
            _set_number(thing, ident, its_year, found)
    for thing in things:
        if thing.values.get(ident) is None:
            first, second = _NUMBERED[thing.plan.name]
            thing.put(ident, f"{thing.values[first]}/{thing.values[second]}")


def _set_number(thing: Thing, ident: str, year: int, found: int) -> None:
    columns = _NUMBERED.get(thing.plan.name)
    if columns is None:
        thing.put(ident, f"{year}/{found}")
    else:
        thing.put(columns[1], found)


def _number_below(stage: Stage, things: list[Thing], column: str, parents: tuple[str, ...]) -> None:
    """Numbers things within their parent, from 1, or from the highest that the parent holds."""
    lacking: dict[tuple[str, int], list[Thing]] = defaultdict(list)
    reached: dict[tuple[str, int], int] = defaultdict(int)
    for thing in things:
        values = thing.values
        scope = next(((name, _whole(values[name])) for name in parents if values.get(name) is not None), ("", 0))
        given = values.get(column)
        if given is None:
            lacking[scope].append(thing)
        else:
            reached[scope] = max(reached[scope], _whole(given))
    for scope, members in lacking.items():
        following = max(reached[scope], _highest(stage, members[0].plan.family, column, scope)) + 1
        for offset, thing in enumerate(members):
            thing.put(column, following + offset)


def _highest(stage: Stage, family: str, column: str, scope: tuple[str, int]) -> int:
    name, parent_id = scope
    parent = stage.things.get(parent_id)
    if not name or (parent is not None and parent.old is None):
        return 0
    sql = f'SELECT max("{column}") FROM {table_name(family)} WHERE "{name}" = ?'  # noqa: S608  # names of the metamodel
    return int(stage.db.execute(sql, (parent_id,)).fetchone()[0] or 0)


def _complete_precedent(stage: Stage, thing: Thing) -> None:
    filled: Mapping[str, Stored] = {
        "title": _precedent_title(stage, thing),
        "presedensDato": day_of(stage.now_ms),
        "presedensGodkjentDato": stage.now_ms,
        "presedensGodkjentAv": stage.caller.name,
        "presedensGodkjentAvBrukerIdent": stage.caller.account,
        "presedensStatus": "G",
    }
    for name, stored in filled.items():
        if thing.values.get(name) is None:
            thing.put(name, stored)


def _precedent_title(stage: Stage, thing: Thing) -> Stored:
    """The title of the first case file or registry entry that the precedent is linked to."""
    for key, (owner, _, other) in stage.pair_owners.items():
        if owner is thing and stage.pairs[key] and other.values.get("tittel"):
            return other.values["tittel"]
    return "Presedens"


def _reach(db: sqlite3.Connection, name: str, value: int) -> None:
    """Moves a sequence ahead of a number that a caller chose."""
    db.execute(
        "INSERT INTO counter (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
        (name, value),
    )


def _take(db: sqlite3.Connection, name: str, count: int) -> int:
    row = db.execute(
        "INSERT INTO counter (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value",
        (name, count),
    ).fetchone()
    return int(row[0]) - count + 1


def _whole(stored: Stored) -> int:
    return int(stored or 0)
