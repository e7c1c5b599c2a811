"""The dates, years and numbers of a plan that need a right: which there are, what would be lost, and carrying them.

The right is `UpdateSystemManaged`. Without it an archive gives a thing its own values, so that a case of 2014 gets the
number of a case of today. A load stops before that; a plan that carries the values keeps them beside the archive's own.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

import orjson

from noarkit.errors import SourceValuesLost
from noarkit.forms.noark5.read.carried_values import NAMES, VALUES, values_to_carry, with_carried
from noarkit.forms.noark5.read.carrying import may_keep
from noarkit.forms.noark5.read.original import GROUP
from noarkit.forms.noark5.read.original import NAMES as GROUP_NAMES
from noarkit.graph.store import GraphStore, fields_json
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal
from noarkit.loading.lease import RunFacts
from noarkit.loading.next_step import command_of
from noarkit.model.metamodel import metamodel
from noarkit.model.system_values import NUMBERS, YEARS, managed_fields

CARRIED = "carried_values"
"""The fact of a plan that says how many things carry values of their source."""
_PAGE = 2_000


@dataclass(frozen=True, slots=True)
class ManagedValue:
    """A field of a type that needs the right, and how many things of the plan bring a value of their own."""

    type: str
    field: str
    given: int


@dataclass(frozen=True, slots=True)
class ValuesAtStake:
    """What an archive would replace by its own: of how many things, in which fields, from which years."""

    things: int
    fields: tuple[str, ...]
    years: str
    """One year, or the first and the last; empty where no value bears one."""


def managed_values(db: sqlite3.Connection) -> tuple[ManagedValue, ...]:
    """The fields of a plan that need the right, by type."""
    names = sorted({name for kind in metamodel().types for name in managed_fields(kind)})
    sums = ", ".join(f"""sum(instr(fields, '"{name}":') > 0)""" for name in names)
    rows = db.execute(f"SELECT type, {sums} FROM entity WHERE target != 'find' GROUP BY type ORDER BY type")  # noqa: S608  # names of the model
    return tuple(
        ManagedValue(kind, name, count)
        for kind, *counts in rows
        for name, count in zip(names, counts, strict=True)
        if count and name in managed_fields(kind)
    )


def values_at_stake(db: sqlite3.Connection, today: date) -> ValuesAtStake | None:
    """What would be lost of a plan that is loaded today without the right; None if nothing would. A value that the
    archive would give itself, such as the date of today, is not lost."""
    things, names_lost, years = 0, set[str](), set[str]()
    for kind in sorted({value.type for value in managed_values(db)}):
        names = managed_fields(kind)
        columns = ", ".join(f"json_extract(fields, '$.{name}')" for name in names)
        query = f"SELECT {columns} FROM entity WHERE type = ? AND target != 'find'"  # noqa: S608  # names of the model
        for row in db.execute(query, (kind,)):
            lost_values = {name: value for name, value in zip(names, row, strict=True) if _differs(name, value, today)}
            things += bool(lost_values)
            names_lost.update(lost_values)
            years.update(str(value)[:4] for name, value in lost_values.items() if name not in NUMBERS)
    if not things:
        return None
    first, last = min(years, default=""), max(years, default="")
    return ValuesAtStake(things, tuple(sorted(names_lost)), first if first == last else f"{first}–{last}")


def _differs(name: str, value: object, today: date) -> bool:
    if value is None:
        return False
    if name in YEARS:
        return str(value) != str(today.year)
    return name in NUMBERS or str(value)[:10] != today.isoformat()


def carry_values(store: GraphStore) -> int:
    """Keeps the values of everything that can keep them, and of what hangs on it, in business-specific metadata.
    Returns how many things keep some. Called before a plan is cut into chunks."""
    holders = 0
    store.db.execute("BEGIN")
    for page in _pages(store.db):
        for number, kind, text in page:
            if not may_keep(kind):
                continue
            fields = orjson.loads(text)
            own_values, children = values_to_carry(kind, fields), _below(store.db, number)
            if own_values or children:
                holders += 1
                text_with_values = fields_json(with_carried(fields, own_values, children))
                store.db.execute("UPDATE entity SET fields = ? WHERE n = ?", (text_with_values, number))
    if holders:
        needs = orjson.loads(store.meta("needs") or "{}")
        needs.setdefault("groups", {}).setdefault(GROUP, {})[VALUES] = "string"
        needs.setdefault("names", {}).update({GROUP: GROUP_NAMES[GROUP], **NAMES})
        store.remember(CARRIED, str(holders))
        store.remember("needs", orjson.dumps(needs, option=orjson.OPT_SORT_KEYS).decode())
    store.db.execute("COMMIT")
    return holders


def refuse_lost_values(
    folder: RunFolder, journal: Journal, graph: GraphStore, facts: RunFacts, now_s: float, *, is_allowed: bool
) -> None:
    """Raises `SourceValuesLost` before the first chunk of a load whose account has not got the right, unless nothing
    would be lost, or somebody allowed it, which the run remembers."""
    if is_allowed:
        journal.remember(todays_dates="yes")
    if journal.meta("loses_values"):
        journal.remember(loses_values="")
    if facts.sets_system_fields or graph.meta(CARRIED) or journal.meta("todays_dates"):
        return
    if journal.chunk_counts().get("done"):
        return  # a load that was begun before anybody asked
    today = datetime.fromtimestamp(now_s, ZoneInfo(graph.meta("zone") or "UTC")).date()
    values = values_at_stake(graph.db, today)
    if values is not None:
        # nothing was sent, so that the run may still be begun with the right, if somebody grants it
        journal.remember(loses_values="yes", sets_system_fields="")
        raise SourceValuesLost(
            where=str(folder.path),
            things=values.things,
            fields=", ".join(values.fields),
            years=values.years,
            today=str(today.year),
            carry=shlex.join(command_of("carry-dates", folder)),
            go_on=shlex.join(command_of("todays-dates", folder)),
        )


def _below(db: sqlite3.Connection, number: int) -> list[tuple[str, dict[str, object]]]:
    """What hangs on a thing, cannot keep values itself, and has some."""
    rows = db.execute("SELECT type, fields FROM entity WHERE parent = ? ORDER BY n", (number,)).fetchall()
    children = [(kind, orjson.loads(fields)) for kind, fields in rows if not may_keep(kind)]
    return [(kind, fields) for kind, fields in children if values_to_carry(kind, fields)]


def _pages(db: sqlite3.Connection) -> Iterator[list[tuple[int, str, str]]]:
    last = 0
    query = "SELECT n, type, fields FROM entity WHERE n > ? AND target != 'find' ORDER BY n LIMIT ?"
    while page := db.execute(query, (last, _PAGE)).fetchall():
        yield page
        last = page[-1][0]
