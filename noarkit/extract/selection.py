"""Which part of an archive is meant: all of it, a fonds, a series, a class, a period, or what a query finds.

A query is written `TYPE: CONDITION` with values in place, as `Saksmappe: saksaar = 2020 && tittel %= 'Bygg%'`; it says
which folders or records belong, and everything above and below them comes along.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from noarkit.archive.paging import pages
from noarkit.archive.port import Archive
from noarkit.archive.values import Parameter, Query, SavedObject
from noarkit.errors import PackageFault, UsageFault
from noarkit.model import metamodel

FOLDERS = "AbstraktMappe"
RECORDS = "AbstraktRegistrering"

_SHOWN = 20
_LITERAL = re.compile(r"'((?:[^']|'')*)'|\b\d{4}-\d{2}-\d{2}\b|(?<![\w@.])-?\d+\b|\b(?:true|false|null)\b")
_WORDS: Mapping[str, Parameter] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Selection:
    """What to take. A fonds or series is named by id, uuid or title, a class by id, uuid or klasseIdent."""

    arkiv: str | None = None
    arkivdel: str | None = None
    klasse: str | None = None
    since: date | None = None
    until: date | None = None
    query: str | None = None

    @property
    def told(self) -> dict[str, str]:
        """What was asked for, in words that stay the same, so that a resumed extract is the same one."""
        named = {"arkiv": self.arkiv, "arkivdel": self.arkivdel, "klasse": self.klasse, "select": self.query}
        period = {"from": self.since and self.since.isoformat(), "to": self.until and self.until.isoformat()}
        return {name: value for name, value in {**named, **period}.items() if value}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A selection as the archive understands it. `whole`: no condition at all, so that every object is taken."""

    arkiv: SavedObject
    whole: bool
    series: tuple[str, ...] = ()
    klasse: str | None = None
    kind: str = FOLDERS
    where: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


def resolve(archive: Archive, selection: Selection) -> Chosen:
    """Finds what is named. Raises `PackageFault` where it is not there, or where several fonds ask for a choice."""
    series = _named(archive, "Arkivdel", selection.arkivdel, "tittel") if selection.arkivdel else None
    klasse = _named(archive, "Klasse", selection.klasse, "klasseIdent") if selection.klasse else None
    fonds = _fonds(archive, selection, series)
    kind, where, parameters = parse_query(selection.query) if selection.query else (FOLDERS, "", {})
    if selection.since or selection.until:
        period = "opprettetDato = [@from:@to}"
        where = f"({where}) && {period}" if where else period
        parameters = {**parameters, **_period(selection)}
    limited = bool(where) or series is not None or klasse is not None
    alone = not archive.query(Query("Arkiv", "id != @i", {"@i": _number(fonds.id)}, limit=1)).objects
    return Chosen(
        fonds,
        alone and not limited,
        (series.id,) if series else (),
        klasse.id if klasse else None,
        kind,
        where,
        parameters,
    )


def parse_query(text: str) -> tuple[str, str, dict[str, Parameter]]:
    """`TYPE: CONDITION` as the type, the condition and its parameters. Raises `UsageFault` for any other form."""
    kind, colon, condition = text.partition(":")
    kind = kind.strip()
    families = {FOLDERS, RECORDS}
    known = kind in families or (kind in metamodel().types and metamodel().family(kind) in families)
    if not colon or not condition.strip() or not known:
        raise UsageFault(what="select-form", where=text, do='--select "Saksmappe: saksaar = 2020"')
    parameters: dict[str, Parameter] = {}

    def taken(match: re.Match[str]) -> str:
        name = f"@s{len(parameters) + 1}"
        word = match.group(0)
        parameters[name] = match.group(1).replace("''", "'") if word.startswith("'") else _value(word)
        return name

    return kind, _LITERAL.sub(taken, condition.strip()), parameters


def _value(word: str) -> Parameter:
    if word in _WORDS:
        return _WORDS[word]
    return word if word.count("-") == 2 else int(word)


def _period(selection: Selection) -> dict[str, Parameter]:
    """The period as bounds; its last day counts whole."""
    until = date.fromordinal(selection.until.toordinal() + 1) if selection.until else None
    return {
        "@from": selection.since.isoformat() if selection.since else "*",
        "@to": until.isoformat() if until else "*",
    }


def _fonds(archive: Archive, selection: Selection, series: SavedObject | None) -> SavedObject:
    if selection.arkiv:
        return _named(archive, "Arkiv", selection.arkiv, "tittel")
    if series is not None:
        return _one(archive, Query("Arkiv", "id = @i", {"@i": _number(series.links["refArkiv"])}, limit=2), "refArkiv")
    found = all_fonds(archive, most=_SHOWN + 1)
    if len(found) > 1:
        told = [f"noarkit extract -o PKG --arkiv {one.id} ({one.fields.get('tittel', '')})" for one in found[:_SHOWN]]
        told += ["…"] * (len(found) > _SHOWN)
        raise PackageFault(where="Arkiv", why="several-fonds", commands="; ".join(told))
    if not found:
        raise PackageFault(where="Arkiv", why="no-fonds")
    return found[0]


def all_fonds(archive: Archive, *, most: int | None = None) -> list[SavedObject]:
    """Every fonds of an archive, or `most` of them, by ascending id."""
    found: list[SavedObject] = []
    for page in pages(archive, Query("Arkiv")):
        found += page.objects
        if most is not None and len(found) >= most:
            break
    return sorted(found, key=lambda one: (len(one.id), one.id))[:most]


def _named(archive: Archive, kind: str, name: str, field_name: str) -> SavedObject:
    conditions = ["id = @n"] if name.isascii() and name.isdigit() and len(name) < 19 else []
    for where in [*conditions, "uuid = @n", f"{field_name} = @n"]:
        value: Parameter = int(name) if where == "id = @n" else name
        found = archive.query(Query(kind, where, {"@n": value}, limit=2)).objects
        if len(found) == 1:
            return found[0]
        if found:
            raise PackageFault(where=f"{kind} {name}", why="several-of-that-name")
    raise PackageFault(where=f"{kind} {name}", why="not-there")


def _one(archive: Archive, query: Query, what: str) -> SavedObject:
    found = archive.query(query).objects
    if len(found) > 1:
        raise PackageFault(where=what, why="several-fonds", detail="--arkiv")
    if not found:
        raise PackageFault(where=what, why="no-fonds")
    return found[0]


def _number(object_id: str) -> Parameter:
    return int(object_id) if object_id.isdigit() else object_id
