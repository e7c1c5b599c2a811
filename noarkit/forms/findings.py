"""The findings of a validation: rules with level and sources, places, counts, and the report with all of them.

A rule is data (`rules.toml` of each form); its sentences are in `words/` by its code. A place is a file, a line and
the systemID of the unit around it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, get_args

from noarkit.results import HIDDEN, SPREAD, JsonObject, Result, json_field, json_value
from noarkit.verdict import Breach, Deposit, Facts, Load, Verdict

Level = Literal["error", "warning", "info"]
LEVELS: tuple[Level, ...] = get_args(Level)
_BY_LEVEL: Mapping[Level, Deposit] = {"error": "stops", "warning": "remark", "info": "silent"}
KEPT = 100
"""The number of places that are reported for each rule; all are counted."""

_SHOWN = 200
_FOLDERS, _RECORDS, _DOCUMENTS = "N907", "N912", "N923"
"""The rules of the Noark 5 form that count them."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is checked. `cites` names tests of other validators, requirements and sections it stands on.

    `foreign` names what of the packages that others published is known to break it, or is empty. `level` says whether
    the package is valid, `deposit` whether it can be delivered, and `reason` what then is to be mended.
    """

    code: str
    level: Level
    area: str
    cites: tuple[str, ...]
    foreign: str = ""
    deposit: Deposit = "silent"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule was broken, and with what."""

    file: str
    line: int | None = None
    system_id: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A rule that was broken: how often, and the first places."""

    rule: Rule
    count: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """A statistic in rows of labels and numbers. `remaining` is the number of rows that are not shown."""

    rule: Rule
    rows: tuple[tuple[tuple[str, ...], int], ...]
    total: int
    remaining: int = 0


@dataclass(frozen=True, slots=True)
class RuleCount(JsonObject):
    """How often a rule is broken."""

    code: str
    level: Level
    count: int


def _rule_counts(outcomes: tuple[Outcome, ...]) -> list[RuleCount]:
    return [RuleCount(outcome.rule.code, outcome.rule.level, outcome.count) for outcome in outcomes]


@dataclass(frozen=True, slots=True)
class ValidateResult(Result):
    """The result of validating one package. `summary` is in the order in which it is shown.

    `description_sha256` is that of the description of the Noark 5 extract that the package is or holds: empty where it
    lacks one, None where there is no extract. `verdict` says whether it is ready for deposit, None where nobody judged.
    """

    package: str
    form: str
    version: str
    summary: Mapping[str, tuple[str, ...]] = field(metadata=HIDDEN)
    rules: tuple[Rule, ...] = field(metadata=HIDDEN)
    outcomes: tuple[Outcome, ...] = field(metadata=json_field("rules", _rule_counts))
    counts: tuple[Count, ...] = field(metadata=HIDDEN)
    seconds: float
    description_sha256: str | None = field(default=None, metadata=HIDDEN)
    verdict: Verdict | None = field(default=None, metadata=SPREAD)

    def number(self, level: Level) -> int:
        """How many places of that level were found."""
        return sum(outcome.count for outcome in self.outcomes if outcome.rule.level == level)

    @property
    @json_value()
    def valid(self) -> bool:
        """True if there is no error; warnings are allowed."""
        return not any(outcome.rule.level == "error" for outcome in self.outcomes)

    @property
    @json_value("errors")
    def error_count(self) -> int:
        """How many places break a rule that must be kept."""
        return self.number("error")

    @property
    @json_value("warnings")
    def warning_count(self) -> int:
        """How many places are worth a look."""
        return self.number("warning")

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all broken rules."""
        return frozenset(outcome.rule.code for outcome in self.outcomes)

    def facts(self, flaws: Iterable[str] = (), loads: Iterable[Load] = (), restored: int = 0) -> Facts | None:
        """What is to be judged of a delivery, with what its making told of it, the loads behind it, and how many things
        got the values of their source back; None where there is no extract."""
        if self.description_sha256 is None:
            return None
        totals = {count.rule.code: count.total for count in self.counts}
        return Facts(
            tuple(
                Breach(outcome.rule.code, outcome.count, outcome.rule.deposit, outcome.rule.reason)
                for outcome in self.outcomes
            ),
            frozenset(flaws),
            self.summary.get("creators", ()),
            self.summary.get("system", ())[:1],
            totals.get(_FOLDERS, 0) + totals.get(_RECORDS, 0),
            totals.get(_DOCUMENTS, 0),
            tuple(loads),
            self.form,
            next(iter(self.summary.get("agreement", ())), ""),
            restored,
        )


@dataclass(frozen=True, slots=True)
class Opinion:
    """The result of another validator. `was_asked` is False if it was not run; `known_reasons` are known faults of
    the tool that explain its result; `rules` are the ids of broken rules, where it reports ids."""

    tool: str
    was_asked: bool
    valid: bool
    messages: tuple[str, ...]
    known_reasons: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


ReadOpinion = Callable[[bytes, int], Opinion]
"""Makes an opinion of what a tool printed, and of how it ended."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that breaks a rule: an element of the file by its number, or a line, or the file alone."""

    code: str
    file: str
    number: int | None = None
    line: int | None = None
    system_id: str | None = None
    data: Mapping[str, str] = field(default_factory=dict)


class Tally:
    """Counts hits by rule and keeps the first of each."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules = rules
        self._counts: dict[str, int] = {}
        self._kept: dict[str, list[Hit]] = {}

    def add(self, code: str, file: str, at: tuple[int | None, str | None] = (None, None), **data: object) -> None:
        """One hit at an element of `file`, by its number, in the unit with that systemID."""
        if self.has_room(code):
            self.add_hit(Hit(code, file, at[0], None, at[1], place_data(data)))
        else:
            self._counts[code] += 1

    def add_hit(self, hit: Hit, times: int = 1) -> None:
        """One hit, or the first of several at the same place."""
        self._counts[hit.code] = self._counts.get(hit.code, 0) + times
        kept_hits = self._kept.setdefault(hit.code, [])
        if len(kept_hits) < KEPT:
            kept_hits.append(hit)

    def count_hits(self, code: str, times: int) -> None:
        """Counts hits whose places are not reported."""
        self._counts[code] = self._counts.get(code, 0) + times

    def has_room(self, code: str) -> bool:
        """True while another place of the rule would be kept."""
        return len(self._kept.get(code, ())) < KEPT

    def hits(self) -> list[Hit]:
        """All that were kept."""
        return [hit for hits in self._kept.values() for hit in hits]

    def has(self, code: str) -> bool:
        """True if the rule was broken."""
        return self._counts.get(code, 0) > 0

    def drop(self, code: str, unwanted: Iterable[Hit]) -> None:
        """Removes hits that another rule reports more precisely."""
        hits = [hit for hit in unwanted if hit in self._kept.get(code, ())]
        for hit in hits:
            self._kept[code].remove(hit)
            self._counts[code] -= 1
        if code in self._counts and self._counts[code] == 0:
            del self._counts[code]

    def outcomes(self, lines: Mapping[tuple[str, int], int]) -> tuple[Outcome, ...]:
        """What was found, rule by rule; `lines` knows the line of each element."""
        return tuple(
            Outcome(self._rules[code], count, tuple(_place(hit, lines) for hit in self._kept.get(code, ())))
            for code, count in sorted(self._counts.items())
        )


def place_data(data: Mapping[str, object]) -> dict[str, str]:
    """The data of a place as short texts; None is left out."""
    return {name: str(value)[:_SHOWN] for name, value in data.items() if value is not None}


@cache
def rules_of(package: str) -> Mapping[str, Rule]:
    """The rules of one form, by code, read once from `rules.toml` of its package."""
    text = files(package).joinpath("rules.toml").read_text("utf-8")
    return MappingProxyType(
        {
            code: Rule(
                code,
                entry["level"],
                entry["area"],
                tuple(entry["cites"]),
                entry.get("foreign", ""),
                entry.get("deposit", _BY_LEVEL[entry["level"]]),
                entry.get("reason", ""),
            )
            for code, entry in tomllib.loads(text).items()
        }
    )


def _place(hit: Hit, lines: Mapping[tuple[str, int], int]) -> Place:
    line = hit.line if hit.number is None else lines.get((hit.file, hit.number))
    return Place(hit.file, line, hit.system_id, hit.data)
