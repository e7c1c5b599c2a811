"""The selection of an extract: a whole archive, a fonds, a series, a class, a period, or the results of a query.

A query is written `TYPE: CONDITION` with values in place, as `Saksmappe: saksaar = 2020 && tittel %= 'Bygg%'`; it says
which folders or records belong, and everything above and below them comes along.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from shlex import quote

from noarkit.archive.paging import pages
from noarkit.archive.port import Archive
from noarkit.archive.values import Parameter, Query, SavedObject
from noarkit.errors import PackageFault, UsageFault
from noarkit.extraction.name_lookup import find_named
from noarkit.model import metamodel
from noarkit.option_fields import option

FOLDERS = "AbstraktMappe"
RECORDS = "AbstraktRegistrering"

_SHOWN = 20
_LITERAL = re.compile(r"'((?:[^']|'')*)'|\b\d{4}-\d{2}-\d{2}\b|(?<![\w@.])-?\d+\b|\b(?:true|false|null)\b")
_WORDS: Mapping[str, Parameter] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Selection:
    """What to take. A fonds or series is named by id, uuid or title, a class by id, uuid or klasseIdent."""

    arkiv: str | None = option(metavar="NAME")
    arkivdel: str | None = option(metavar="NAME")
    klasse: str | None = option(metavar="NAME")
    since: date | None = option(flag="--from", kind="day", metavar="DATE")
    until: date | None = option(flag="--to", kind="day", metavar="DATE")
    query: str | None = option(flag="--select", metavar="QUERY")

    @property
    def description(self) -> dict[str, str]:
        """The selection as stable text by name, to know a resumed extract by."""
        by_name = {"arkiv": self.arkiv, "arkivdel": self.arkivdel, "klasse": self.klasse, "select": self.query}
        period = {"from": self.since and self.since.isoformat(), "to": self.until and self.until.isoformat()}
        return {name: value for name, value in {**by_name, **period}.items() if value}


@dataclass(frozen=True, slots=True)
class ResolvedSelection:
    """A selection as the archive understands it. `is_whole_archive`: no condition at all, so that every object is
    taken."""

    arkiv: SavedObject
    is_whole_archive: bool
    series: tuple[str, ...] = ()
    klasse: str | None = None
    kind: str = FOLDERS
    where: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


def resolve(archive: Archive, selection: Selection) -> ResolvedSelection:
    """Finds what is named. Raises `UsageFault` where it is not there, `PackageFault` where several fonds ask for a
    choice."""
    series = find_named(archive, "Arkivdel", selection.arkivdel) if selection.arkivdel else None
    klasse = find_named(archive, "Klasse", selection.klasse) if selection.klasse else None
    fonds = _fonds(archive, selection, series)
    kind, condition, parameters = parse_query(selection.query) if selection.query else (FOLDERS, "", {})
    if selection.since or selection.until:
        period = "opprettetDato = [@from:@to}"
        condition = f"({condition}) && {period}" if condition else period
        parameters = {**parameters, **_period(selection)}
    limited = bool(condition) or series is not None or klasse is not None
    alone = not archive.query(Query("Arkiv", "id != @i", {"@i": _number(fonds.id)}, limit=1)).objects
    return ResolvedSelection(
        fonds,
        alone and not limited,
        (series.id,) if series else (),
        klasse.id if klasse else None,
        kind,
        condition,
        parameters,
    )


def parse_query(text: str) -> tuple[str, str, dict[str, Parameter]]:
    """`TYPE: CONDITION` as the type, the condition and its parameters. Raises `UsageFault` for any other form."""
    kind, colon, condition = text.partition(":")
    kind = kind.strip()
    families = {FOLDERS, RECORDS}
    is_known_type = kind in families or (kind in metamodel().types and metamodel().family(kind) in families)
    if not colon or not condition.strip() or not is_known_type:
        near = get_close_matches(kind, _selectable(), 1) if condition.strip() else []
        guess = {"fix": f"--select {quote(f'{near[0]}:{condition}')}", "is_guess": True} if near else {}
        raise UsageFault(what="select-form", where=text, **(guess or {"fix": "--select", "own": "query"}))
    parameters: dict[str, Parameter] = {}

    def take_literal(match: re.Match[str]) -> str:
        name = f"@s{len(parameters) + 1}"
        word = match.group(0)
        parameters[name] = match.group(1).replace("''", "'") if word.startswith("'") else _value(word)
        return name

    return kind, _LITERAL.sub(take_literal, condition.strip()), parameters


def _selectable() -> list[str]:
    """The types of folders and records."""
    families = {FOLDERS, RECORDS}
    return [name for name in metamodel().types if metamodel().family(name) in families]


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
        return find_named(archive, "Arkiv", selection.arkiv)
    if series is not None:
        return _find_one(
            archive, Query("Arkiv", "id = @i", {"@i": _number(series.links["refArkiv"])}, limit=2), "refArkiv"
        )
    fonds = all_fonds(archive, most=_SHOWN + 1)
    if len(fonds) > 1:
        choices = [
            f"noarkit extract -o PKG --arkiv {candidate.id} ({candidate.fields.get('tittel', '')})"
            for candidate in fonds[:_SHOWN]
        ]
        choices += ["…"] * (len(fonds) > _SHOWN)
        raise PackageFault(where="Arkiv", why="several-fonds", commands="; ".join(choices))
    if not fonds:
        raise PackageFault(where="Arkiv", why="no-fonds", choice="--archive")
    return fonds[0]


def all_fonds(archive: Archive, *, most: int | None = None) -> list[SavedObject]:
    """Every fonds of an archive, or `most` of them, by ascending id."""
    fonds_list: list[SavedObject] = []
    for page in pages(archive, Query("Arkiv")):
        fonds_list += page.objects
        if most is not None and len(fonds_list) >= most:
            break
    return sorted(fonds_list, key=lambda fonds: (len(fonds.id), fonds.id))[:most]


def _find_one(archive: Archive, query: Query, description: str) -> SavedObject:
    matches = archive.query(query).objects
    if len(matches) > 1:
        raise PackageFault(where=description, why="several-fonds", detail="--arkiv")
    if not matches:
        raise PackageFault(where=description, why="no-fonds")
    return matches[0]


def _number(object_id: str) -> Parameter:
    return int(object_id) if object_id.isdigit() else object_id
