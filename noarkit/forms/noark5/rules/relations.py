"""What the values of one unit owe those of the same or of the unit around it: numbers that stand once, dates in order.

`relations.toml` says which; here each unit that closes is held against its rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from noarkit.forms.noark5.rules.walk_state import Frame, WalkState

_DAY = 10
_CLOSED = "|closed"
"""What a unit leaves with its values: when the first of the units around what it holds was closed, and its name."""
_MAIN = "Hoveddokument"


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
_WITHIN = {row.unit: row.fields for row in relations().within}


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
        return datetime.fromisoformat(last).astimezone(UTC) < datetime.fromisoformat(first).astimezone(UTC)
    except (ValueError, OverflowError):
        return True


def check_within(state: WalkState, frame: Frame) -> None:
    """The dates of a unit lie within the period of the package."""
    bounds, values = state.bounds, frame.values
    for name in _WITHIN[frame.kind]:
        day = values.get(name)
        if day and ((bounds.start and day[:_DAY] < bounds.start) or (bounds.end and day[:_DAY] > bounds.end)):
            state.hit("N340", frame.at, element=f"{frame.kind} {name}", value=day)


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


def check_once(state: WalkState, frame: Frame, parent: Frame, code: str, *names: str) -> None:
    """Values of a unit that stand once within the unit around it."""
    values, inner = frame.values, parent.inner
    texts = [values[name] for name in names if name in values]
    if not texts or names[0] not in values:
        return
    seen_key = "|".join((names[0], *texts))
    if seen_key in inner:
        state.hit(code, frame.at, element=" + ".join(names), value=" ".join(texts), within=parent.kind)
    inner[seen_key] = 1


def check_main_document(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A record has one main document."""
    if frame.values.get("tilknyttetRegistreringSom") == _MAIN and parent.inner.get(_MAIN):
        state.hit("N338", frame.at)


def note_number(state: WalkState, frame: Frame, name: str, scope: int) -> None:
    """Keeps a number that stands once within what may hold millions: it is looked at when all are known."""
    text = frame.values.get(name)
    if text is not None:
        state.store.add("numbers", (name, scope, text, frame.at))


def check_rising(state: WalkState, frame: Frame, parent: Frame, number: int | None) -> None:
    """The number of a letter within its case: where each is above the one before, none stands twice."""
    if number is None:
        return
    if number <= parent.inner.get("|number", -1):
        state.has_repeated_numbers = True
    else:
        parent.inner["|number"] = number
