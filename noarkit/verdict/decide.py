"""Decides whether a delivery is ready, from what is known of it. The only place that does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal  # facts read back from JSON

from noarkit.results import JsonObject, json_value
from noarkit.verdict.reasons import ORDER, Deposit, Grade
from noarkit.verdict.verdict import Acceptance, Reason, Verdict

EMPTY = "empty"
_WARNINGS, _FORM = "warnings", "form"
_NOBODY = frozenset({"", "-", "?", "ukjent", "unknown", "test", "noark 5"})
_FLAWS = {
    "open-units": "open",
    "own-schemas": "schemas",
    "changed-meanwhile": "changed-meanwhile",
    "system-unnamed": "system",
    "creator-unknown": "creator",
    "posts-outside-cases": "journals",
    "changes-left-out": "change-log",
    "no-changes": "change-log",
}
"""What the making of a package knows of it, and the reason that it is."""
_RESTORED = "dates-restored"
_REMARKS = {
    "changes-noted": "changes-noted",
    _RESTORED: _RESTORED,
    "origin-unstated": "origin",
    "agreement-unnamed": "agreement",
    "unit-unnamed": "unit",
}
"""What it knows that is told with the package."""
PERIOD_DERIVED = "period-derived"
"""Told where nobody stated the period, and it was taken from the dates of the units themselves."""
_PERIOD = "period"
_WITH_AGREEMENT = frozenset({"dias"})
"""Forms of package that no depot receives without the number of an agreement."""

_OF_COLUMNS: tuple[tuple[str, Grade, str], ...] = (
    ("case-numbers", "stops", "unnumbered"),
    ("source-dates", "stops", "undated"),
    ("columns", "remark", "unused"),
    ("open-in-source", "remark", "still_open"),
)
"""What a load made of the columns of its source: the reason, its grade, and the count of the load."""
LoadProof = Literal["none", "part", "bytes"]
"""How far it is proved that a load is in the archive: not, in part, or whole and every byte."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule of the form that is broken, in so many places; what that means for a delivery, and which reason it is."""

    code: str
    count: int
    deposit: Deposit
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Load(JsonObject):
    """A load behind a delivery: where its run lies, the folder or database that was read, and how far it is proved.

    Of the records that were `read`, so many are in the archive, or left out and listed. `objects` is how many folders,
    records, documents and versions it made there; `lost` how many of them the package lacks, though it was made of the
    whole archive; `redated` how many units have the day of the load for a date though their documents are older.

    Of what the source says and the plan does not take: `unused` columns, cases that are `unnumbered` or have another
    number, folders and records that are `undated`; `still_open` cases that only the load closed.

    `differing` is how many cases and records its plan would have given other values than earlier runs gave them, and
    `cases` names the first of them.
    """

    run: str
    plan_sha256: str
    source: str
    proof: LoadProof
    read: int = 0
    archived: int = 0
    left_out: int = 0
    objects: int = 0
    lost: int = 0
    redated: int = 0
    unused: int = 0
    unnumbered: int = 0
    undated: int = 0
    still_open: int = 0
    differing: int = 0
    cases: str = ""

    @property
    @json_value()
    def gap(self) -> int:
        """How many no list accounts for."""
        return self.lost + abs(self.read - self.archived - self.left_out)

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> Load:
        """A load that was kept. Raises `TypeError` for what is none."""
        load = cls(**values)
        for field in fields(cls):
            kind = str if field.name in ("run", "plan_sha256", "source", "proof", "cases") else int
            if not isinstance(getattr(load, field.name), kind):
                raise TypeError(field.name)
        return load


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a delivery. `flaws` are what its making told of it, `loads` what it was made of; `units` counts
    folders and records, and is None where nobody could count them, as are `documents`. `form` is that of the package,
    `agreement` the number that it states itself; `restored` how many things got the values of their source back."""

    breaches: tuple[Breach, ...] = ()
    flaws: frozenset[str] = frozenset()
    creators: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    units: int | None = None
    documents: int | None = None
    loads: tuple[Load, ...] = ()
    form: str = ""
    agreement: str = ""
    restored: int = 0

    def to_dict(self) -> dict[str, object]:
        """The facts as plain values, to be kept and judged again."""
        return {**asdict(self), "flaws": sorted(self.flaws)}

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> Facts:
        """The facts that were kept. Raises `KeyError` and `TypeError` for what are none."""
        parts = {name: tuple(values[name]) for name in ("creators", "systems")}
        parts["breaches"] = tuple(Breach(**breach) for breach in values["breaches"])
        parts["loads"] = tuple(map(Load.of_dict, values.get("loads", ())))
        return cls(**{**values, **parts, "flaws": frozenset(values["flaws"])})


def names_nobody(name: str) -> bool:
    """True for a name that is put where nobody is known, such as Ukjent."""
    return name.strip().lower() in _NOBODY


def decide(facts: Facts, accepted: Iterable[Acceptance] = ()) -> Verdict:
    """The verdict on a delivery, with all reasons; those that `accepted` covers keep it back no longer."""
    reasons: dict[str, Reason] = {}
    for reason in _reasons(facts):
        earlier = reasons.get(reason.code)
        reasons[reason.code] = reason if earlier is None else _combine(earlier, reason)
    acceptances = tuple(accepted)
    judged = (
        replace(reason, accepted=next((entry for entry in acceptances if entry.covers(reason)), None))
        for reason in reasons.values()
    )
    return Verdict(tuple(sorted(judged, key=lambda reason: (reason.grade == "remark", ORDER[reason.code]))))


def _combine(first: Reason, second: Reason) -> Reason:
    """One reason of two that are of one kind; the same thing told by the making and by a rule is counted once."""
    count = first.count + second.count if first.rules and second.rules else max(first.count, second.count)
    rules = tuple(sorted({*first.rules, *second.rules}))
    return Reason(first.code, "stops" if "stops" in (first.grade, second.grade) else "remark", count, rules)


def _reasons(facts: Facts) -> Iterator[Reason]:
    for breach in facts.breaches:
        is_derived = breach.reason == _PERIOD and PERIOD_DERIVED in facts.flaws
        if breach.deposit == "stops":
            yield Reason(breach.reason or _FORM, "remark" if is_derived else "stops", breach.count, (breach.code,))
        elif breach.deposit == "remark":
            yield Reason(_WARNINGS, "remark", breach.count, (breach.code,))
    for flaw in sorted(facts.flaws):
        if flaw in _FLAWS:
            yield Reason(_FLAWS[flaw], "stops", 1)
        elif flaw in _REMARKS:
            yield Reason(_REMARKS[flaw], "remark", facts.restored if flaw == _RESTORED and facts.restored else 1)
    if facts.form in _WITH_AGREEMENT and not facts.agreement:
        yield Reason("agreement", "stops", 1)
    if facts.units == 0 or facts.documents == 0:
        yield Reason(EMPTY, "stops", 1)
    places = {load.source.casefold() for load in facts.loads}
    if all(names_nobody(name) or name.strip().casefold() in places for name in facts.creators):
        yield Reason("creator", "stops", 1)
    if all(names_nobody(name) for name in facts.systems):
        yield Reason("system", "stops", 1)
    yield from _of_loads(facts.loads)


def _of_loads(loads: tuple[Load, ...]) -> Iterator[Reason]:
    """What is to be said of the loads behind a delivery: nothing where each is proved and accounts for its records."""
    if not loads:
        yield Reason("load-unknown", "remark", 1)
    unproved, proved_in_part = (sum(load.proof == proof for load in loads) for proof in ("none", "part"))
    if unproved:
        yield Reason("load", "stops", unproved)
    if proved_in_part:
        yield Reason("load-in-part", "remark", proved_in_part)
    if gap := sum(load.gap for load in loads):
        yield Reason("source", "stops", gap)
    if differing := sum(load.differing for load in loads):
        cases = "; ".join(load.cases for load in loads if load.cases)
        yield Reason("other-values", "stops", differing, units=cases)
    if redated := sum(load.redated for load in loads):
        yield Reason("load-dates", "stops", redated)
    for code, grade, name in _OF_COLUMNS:
        if count := sum(getattr(load, name) for load in loads):
            yield Reason(code, grade, count)
