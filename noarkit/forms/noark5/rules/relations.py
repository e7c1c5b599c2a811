"""What the values of one unit owe those of the same or of the unit around it: numbers that stand once, dates in order.

`relations.toml` says which; here each unit that closes is held against its rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

from noarkit.forms.noark5.rules.walk_state import Frame, WalkState

_DAY = 10
_CLOSED = "|closed"
"""What a unit leaves with its values: when the first of the units around what it holds was closed, and its name."""
_ROLE, _MAIN = "tilknyttetRegistreringSom", "Hoveddokument"


@dataclass(frozen=True, slots=True)
class Unique:
    """Values of a unit that stand once within another."""

    unit: str
    fields: tuple[str, ...]
    within: str
    code: str


@dataclass(frozen=True, slots=True)
class After:
    """A date of a unit that is not before the earliest of others: its own, those `of` the unit around it, or those of
    the units `inside` it."""

    unit: str
    field: str
    others: tuple[str, ...]
    code: str
    of: str = ""
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Within:
    """Dates of a unit that lie within the period of the package."""

    unit: str
    fields: tuple[str, ...]
    code: str


@dataclass(frozen=True, slots=True)
class Relations:
    """All that `relations.toml` says."""

    unique: tuple[Unique, ...]
    after: tuple[After, ...]
    within: tuple[Within, ...]


@cache
def relations() -> Relations:
    """The table."""
    table = tomllib.loads(files("noarkit.forms.noark5.rules").joinpath("relations.toml").read_text("utf-8"))
    return Relations(
        tuple(Unique(row["unit"], tuple(row["fields"]), row["within"], row["code"]) for row in table["unique"]),
        tuple(After(**{**row, "others": tuple(row["others"])}) for row in table["after"]),
        tuple(Within(row["unit"], tuple(row["fields"]), row["code"]) for row in table["within"]),
    )


def _orders() -> Mapping[str, tuple[After, ...]]:
    rows: dict[str, tuple[After, ...]] = {}
    for row in relations().after:
        if not row.inside:
            rows[row.unit] = (*rows.get(row.unit, ()), row)
    return rows


ORDERS = _orders()
"""Which dates follow others, by the unit whose dates they are."""
_WITHIN = {row.unit: row for row in relations().within}


def check_order(state: WalkState, frame: Frame, parent: Frame) -> None:
    """Each date of a unit that must follow others does."""
    values = frame.values
    for row in ORDERS.get(frame.kind, ()):
        last = values.get(row.field)
        if last is None or (row.of and parent.kind != row.of):
            continue
        source = parent.values if row.of else values
        first = name = ""
        for other_name in row.others:
            text = source.get(other_name)
            if text and (not first or text < first):
                first, name = text, other_name
        if first and is_before(last, first):
            state.hit(row.code, frame.at, element=f"{frame.kind} {row.field}", last=last, other=name, first=first)


def is_before(last: str, first: str) -> bool:
    """True if a date lies on an earlier day than another, also where both tell their zones."""
    if last[:_DAY] >= first[:_DAY]:
        return False
    try:
        last_at, first_at = datetime.fromisoformat(last), datetime.fromisoformat(first)
    except ValueError:
        return True
    # without its zone a moment is told by its day alone
    return None in (last_at.tzinfo, first_at.tzinfo) or last_at < first_at


def check_within(state: WalkState, frame: Frame) -> None:
    """The dates of a unit lie within the period of the package."""
    bounds, values, row = state.bounds, frame.values, _WITHIN[frame.kind]
    for name in row.fields:
        day = values.get(name)
        if day and ((bounds.start and day[:_DAY] < bounds.start) or (bounds.end and day[:_DAY] > bounds.end)):
            state.hit(row.code, frame.at, element=f"{frame.kind} {name}", value=day)


def check_made_before_closed(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A record was made before the first of the units around it was closed."""
    made_at = frame.values.get("opprettetDato")
    closed, kind = _first_closing(parent)
    if made_at and closed and is_before(closed, made_at):
        state.hit("N339", frame.at, element=kind, last=closed, first=made_at)


def _first_closing(frame: Frame) -> tuple[str, str]:
    """When the first of a unit and those around it was closed, and which kind it is; remembered with the unit."""
    known_text = frame.values.get(_CLOSED)
    if known_text is None:
        above = _first_closing(frame.parent) if frame.parent is not None else ("", "")
        own = frame.values.get("avsluttetDato", "") if frame.kind in _CLOSING else ""
        closed, kind = (own, frame.kind) if own and (not above[0] or own < above[0]) else above
        frame.values[_CLOSED] = f"{closed} {kind}"
        return closed, kind
    closed, _, kind = known_text.partition(" ")
    return closed, kind


_CLOSING = frozenset(row.unit for row in relations().after if row.inside)
_DOCUMENTS = frozenset({"dokumentbeskrivelse", "dokumentobjekt"})
"""Units of which the unit around them holds few, so that their numbers are compared as they come."""


def _near_numbers() -> Mapping[str, tuple[Unique, ...]]:
    rows: dict[str, tuple[Unique, ...]] = {}
    for row in relations().unique:
        if row.unit in _DOCUMENTS and row.fields != (_ROLE,):
            rows[row.unit] = (*rows.get(row.unit, ()), row)
    return rows


def _far_numbers() -> Mapping[str, tuple[tuple[str, bool], ...]]:
    rows: dict[str, tuple[tuple[str, bool], ...]] = {}
    for row in FAR_NUMBERS.values():
        rows[row.unit] = (*rows.get(row.unit, ()), (row.fields[0], row.within == "klassifikasjonssystem"))
    return rows


FAR_NUMBERS: Mapping[str, Unique] = {
    row.fields[0]: row for row in relations().unique if row.unit in ("klasse", "mappe", "registrering")
}
"""The rows of the table whose numbers are kept until all are known, by their fields."""
_NEAR, _FAR = _near_numbers(), _far_numbers()


def check_numbers(state: WalkState, frame: Frame, parent: Frame) -> None:
    """The numbers of a unit that stand once: in the unit around it, at once; in what may hold millions, when all are
    known."""
    values = frame.values
    for row in _NEAR.get(frame.kind, ()):
        texts = [values[name] for name in row.fields if name in values]
        if row.fields[0] not in values:
            continue
        seen_key = "|".join((row.fields[0], *texts))
        if seen_key in parent.inner:
            element, value = " + ".join(row.fields), " ".join(texts)
            state.hit(row.code, frame.at, element=element, value=value, within=parent.kind)
        parent.inner[seen_key] = 1
    for name, is_of_system in _FAR.get(frame.kind, ()):
        if name in values:
            scope = state.system_at if is_of_system else state.fonds_at
            state.store.add("numbers", (name, scope, values[name], frame.at))


def check_main_document(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A record has one main document."""
    if frame.values.get(_ROLE) == _MAIN and parent.inner.get(_MAIN):
        state.hit("N338", frame.at)


def check_rising(state: WalkState, frame: Frame, parent: Frame, number: int | None) -> None:
    """The number of a letter within its case: where each is above the one before, none stands twice."""
    if number is None:
        return
    if number <= parent.inner.get("|number", -1):
        state.has_repeated_numbers = True
    else:
        parent.inner["|number"] = number
