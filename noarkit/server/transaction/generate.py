"""Generates the values that the archive fills in: defaults, user and time, years, sequence numbers and identifiers.

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
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.values import Stored, day_of, year_of

_FOLDERS, _RECORDS = "folder", "record"


def generate(stage: Stage) -> None:
    """Fills in every new object; call it once all links are made."""
    year = year_of(stage.now_ms)
    # Defaults first: the year of a case file may be one, and decides the sequence its number comes from.
    _fill(stage, stage.new, year)
    number(stage, stage.new)


def fill_one(stage: Stage, entity: StagedEntity) -> None:
    """Fills in what one object lacks, as when it becomes another type; `number` follows."""
    for name, value in _defaults(stage, entity.plan, year_of(stage.now_ms)).items():
        if entity.values.get(name) is None:
            entity.set_value(name, value)


def number(stage: Stage, entities: Iterable[StagedEntity]) -> None:
    """Gives years, numbers and identifiers to those of `entities` that lack them."""
    by_family: dict[str, list[StagedEntity]] = defaultdict(list)
    for entity in entities:
        by_family[entity.plan.family].append(entity)
    year = year_of(stage.now_ms)
    _number_in_year(stage, by_family["AbstraktMappe"], _FOLDERS, year)
    _number_in_year(stage, by_family["AbstraktRegistrering"], _RECORDS, year)
    posts = [entity for entity in by_family["AbstraktRegistrering"] if entity.plan.name == "Journalpost"]
    _number_below(stage, posts, "journalpostnummer", ("refMappe", "refArkivdel"))
    _number_below(stage, by_family["Dokument"], "dokumentnummer", ("refRegistrering",))
    _number_below(stage, by_family["Dokumentversjon"], "versjonsnummer", ("refDokument",))
    for entity in by_family["Presedens"]:
        _complete_precedent(stage, entity)


def _fill(stage: Stage, entities: list[StagedEntity], year: int) -> None:
    defaults_by_type: dict[str, dict[str, Stored]] = {}
    uuids = iter(_uuids(sum("uuid" not in entity.values for entity in entities)))
    for entity in entities:
        plan = entity.plan
        defaults = defaults_by_type.get(plan.name)
        if defaults is None:
            defaults = defaults_by_type[plan.name] = _defaults(stage, plan, year)
        entity.values = {
            "id": entity.id,
            "type": plan.name,
            "version": 1,
            "uuid": entity.values.get("uuid") or next(uuids),
            **defaults,
            **entity.values,
        }
        if entity.nulled_columns:
            for name in entity.nulled_columns:
                if name in defaults and name not in plan.must:
                    del entity.values[name]


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
    digits = os.urandom(16 * count).hex()
    return [
        f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) & 3]}{h[17:20]}-{h[20:]}"
        for h in (digits[at : at + 32] for at in range(0, 32 * count, 32))
    ]


# What carries a year and a number in its family, by type; the others get a number for their identifier alone.
_NUMBERED: Mapping[str, tuple[str, str]] = {
    "Saksmappe": ("saksaar", "sakssekvensnummer"),
    "Journalpost": ("journalaar", "journalsekvensnummer"),
}


def _number_in_year(stage: Stage, entities: list[StagedEntity], kind: str, year: int) -> None:
    ident = "mappeIdent" if kind == _FOLDERS else "registreringsIdent"
    unnumbered: dict[int, list[StagedEntity]] = defaultdict(list)
    highest_by_year: dict[int, int] = {}
    for entity in entities:
        values = entity.values
        columns = _NUMBERED.get(entity.plan.name)
        entity_year = year if columns is None else _to_int(values[columns[0]])
        chosen_number = None if columns is None else values.get(columns[1])
        if chosen_number is not None:
            highest_by_year[entity_year] = max(highest_by_year.get(entity_year, 0), _to_int(chosen_number))
        elif columns is not None or values.get(ident) is None:
            unnumbered[entity_year].append(entity)
    # Chosen numbers move the sequence on before new ones are drawn, or a new one could be the chosen one again.
    for entity_year, highest in highest_by_year.items():
        _advance_sequence(stage.db, f"{kind}:{entity_year}", highest)
    for entity_year, members in unnumbered.items():
        following = _allocate_numbers(stage.db, f"{kind}:{entity_year}", len(members))
        for entity, value in zip(members, range(following, following + len(members)), strict=True):
            _set_number(entity, ident, entity_year, value)
    for entity in entities:
        if entity.values.get(ident) is None:
            first, second = _NUMBERED[entity.plan.name]
            entity.set_value(ident, f"{entity.values[first]}/{entity.values[second]}")


def _set_number(entity: StagedEntity, ident: str, year: int, value: int) -> None:
    columns = _NUMBERED.get(entity.plan.name)
    if columns is None:
        entity.set_value(ident, f"{year}/{value}")
    else:
        entity.set_value(columns[1], value)


def _number_below(stage: Stage, entities: list[StagedEntity], column: str, parents: tuple[str, ...]) -> None:
    """Numbers things within their parent, from 1, or from the highest that the parent holds."""
    unnumbered: dict[tuple[str, int], list[StagedEntity]] = defaultdict(list)
    highest_by_scope: dict[tuple[str, int], int] = defaultdict(int)
    for entity in entities:
        values = entity.values
        scope = next(((name, _to_int(values[name])) for name in parents if values.get(name) is not None), ("", 0))
        chosen_number = values.get(column)
        if chosen_number is None:
            unnumbered[scope].append(entity)
        else:
            highest_by_scope[scope] = max(highest_by_scope[scope], _to_int(chosen_number))
    for scope, members in unnumbered.items():
        following = max(highest_by_scope[scope], _highest(stage, members[0].plan.family, column, scope)) + 1
        for offset, entity in enumerate(members):
            entity.set_value(column, following + offset)


def _highest(stage: Stage, family: str, column: str, scope: tuple[str, int]) -> int:
    name, parent_id = scope
    parent = stage.entities.get(parent_id)
    if not name or (parent is not None and parent.old is None):
        return 0
    sql = f'SELECT max("{column}") FROM {table_name(family)} WHERE "{name}" = ?'  # noqa: S608  # names of the metamodel
    return int(stage.db.execute(sql, (parent_id,)).fetchone()[0] or 0)


def _complete_precedent(stage: Stage, entity: StagedEntity) -> None:
    defaults: Mapping[str, Stored] = {
        "title": _precedent_title(stage, entity),
        "presedensDato": day_of(stage.now_ms),
        "presedensGodkjentDato": stage.now_ms,
        "presedensGodkjentAv": stage.caller.name,
        "presedensGodkjentAvBrukerIdent": stage.caller.account,
        "presedensStatus": "G",
    }
    for name, value in defaults.items():
        if entity.values.get(name) is None:
            entity.set_value(name, value)


def _precedent_title(stage: Stage, entity: StagedEntity) -> Stored:
    """The title of the first case file or registry entry that the precedent is linked to."""
    for key, (owner, _, target) in stage.pair_owners.items():
        if owner is entity and stage.pairs[key] and target.values.get("tittel"):
            return target.values["tittel"]
    return "Presedens"


def _advance_sequence(db: sqlite3.Connection, name: str, value: int) -> None:
    """Moves a sequence ahead of a number that a caller chose."""
    db.execute(
        "INSERT INTO counter (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
        (name, value),
    )


def _allocate_numbers(db: sqlite3.Connection, name: str, count: int) -> int:
    # Drawn inside the transaction: one writer at a time, and a rollback gives the numbers back, so the sequence has no
    # holes.
    row = db.execute(
        "INSERT INTO counter (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value",
        (name, count),
    ).fetchone()
    return int(row[0]) - count + 1


def _to_int(value: Stored) -> int:
    return int(value or 0)
