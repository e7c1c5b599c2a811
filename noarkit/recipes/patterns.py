"""Prevents catastrophic backtracking (ReDoS): regular expressions whose work has a bound known before they run.

Python's engine can be made to hang by a short pattern and a hostile text: `(a+)+b` tries every way to cut a row of n
letters «a» into pieces, 2 to the power of n of them, before it gives up. So a pattern is read first. Look-arounds, back
references and repeats of anything that itself varies are refused. What remains costs at most
`ways` times (length of the text) to the power of `degree`, and that says how long a text it may be tried on.

    [0-9]+-[0-9]+     degree 1: «-» is no digit, so the first repeat has one place to stop
    .*foo.*           degree 2: tried on texts of at most 7,071 characters
    (a|b)?c           degree 0, four ways: any text up to the longest allowed
    (a+)+b            refused: «pattern-repeats-what-varies»
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# The work allowed for one text, in steps of the engine; a text that could take more is not tried.
_STEPS = 50_000_000
_LONGEST = 100_000
_SHORTEST = 200
_FAR = 1_000_000
_SAMPLE = "".join(map(chr, range(0x180))) + "\u2010\u2013\u2014\u2019\u2028\u3000\uff10\u0661"
_ESCAPED = "dDwWsSbBAZ.^$*+?{}[]()|\\/-_ #&~:;,!\"'%@=<>tnr"
_ZERO_WIDTH = ("\\b", "\\B", "\\A", "\\Z", "^", "$")


class PatternRefused(ValueError):
    """A pattern that is wrong, or whose work has no bound that one can live with. The text is a stable word."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern and the longest text it may be tried on."""

    compiled: re.Pattern[str]
    longest: int

    def groups(self, text: str) -> list[str | None] | None:
        """The groups where the beginning of `text` matches (the whole match where there are none), else None."""
        if len(text) > self.longest:
            raise PatternRefused("text-too-long-for-pattern")
        match = self.compiled.match(text)
        if match is None:
            return None
        return list(match.groups()) if self.compiled.groups else [match.group()]


def read_pattern(text: str) -> Pattern:
    """Compiles `text`, or raises PatternRefused with the reason."""
    if len(text) > 500:
        raise PatternRefused("pattern-too-long")
    body = text[4:] if text.startswith("(?i)") else text
    reader = _Reader(body)
    branches = reader.choice()
    if reader.at < len(body):
        raise PatternRefused("pattern-syntax")
    cost = _cost_of_branches(branches)
    # Solved for the length: ways * length ** degree <= steps.
    longest = int((_STEPS / cost.ways) ** (1 / max(cost.degree, 1)))
    # A pattern that could only be tried on texts shorter than a line is of no use, so it is refused when the recipe is
    # read.
    if longest < _SHORTEST:
        raise PatternRefused("pattern-too-costly")
    try:
        return Pattern(re.compile(text), min(longest, _LONGEST))
    except (re.error, OverflowError, RecursionError) as fault:
        raise PatternRefused("pattern-syntax") from fault


@dataclass(frozen=True, slots=True)
class _Cost:
    """How much work a pattern can be: `ways` times the length of the text to the power of `degree`."""

    ways: int = 1
    degree: int = 0


@dataclass(frozen=True, slots=True)
class _Item:
    source: str
    single: bool
    least: int
    most: int
    cost: _Cost


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    depth: int = 0

    def choice(self) -> list[list[_Item]]:
        branches = [self._sequence()]
        while self._sign() == "|":
            self.at += 1
            branches.append(self._sequence())
        return branches

    def _sequence(self) -> list[_Item]:
        items: list[_Item] = []
        while self.at < len(self.text) and self._sign() not in "|)":
            items.extend(self._items())
        return items

    def _items(self) -> list[_Item]:
        """The next item with its repeat; a group that stands once and has no choice is what stands in it."""
        start = self.at
        inner = self._atom()
        source = self.text[start : self.at]
        least, most = self._repeat()
        if inner is None:
            return [_Item(source, True, least, most, _Cost())]
        # «(ab)c» is judged as «abc», so that a group made for its value only costs nothing.
        if len(inner) == 1 and (least, most) == (1, 1):
            return inner[0]
        cost = _cost_of_branches(inner)
        # A repeat of what has one way only, such as `(ab)+`, is harmless. If the inside can match in several ways, the
        # ways multiply with each round: 2, 4, 8 … This is the exponential case.
        if most > 1 and cost != _Cost():
            raise PatternRefused("pattern-repeats-what-varies")
        return [_Item(source, False, least, most, cost)]

    def _atom(self) -> list[list[_Item]] | None:
        """Reads one atom: the branches of a group, None for anything that matches a single sign or none."""
        sign = self._sign()
        if sign == "(":
            return self._group()
        if sign == "[":
            self._class()
        elif sign == "\\":
            if self.text[self.at + 1 : self.at + 2] not in tuple(_ESCAPED):
                raise PatternRefused("pattern-syntax")
            self.at += 2
        elif sign in "*+?{":
            raise PatternRefused("pattern-syntax")
        else:
            self.at += 1
        return None

    def _group(self) -> list[list[_Item]]:
        self.depth += 1
        if self.depth > 20:
            raise PatternRefused("pattern-too-costly")
        match = re.compile(r"\((\?:|\?P<[A-Za-z_]\w*>|(?!\?))").match(self.text, self.at)
        if match is None:
            raise PatternRefused("pattern-group")
        self.at = match.end()
        branches = self.choice()
        if self._sign() != ")":
            raise PatternRefused("pattern-syntax")
        self.at += 1
        self.depth -= 1
        return branches

    def _class(self) -> None:
        match = re.compile(r"\[\^?\]?(?:\\.|[^\]\\\[])*\]").match(self.text, self.at)
        if match is None:
            raise PatternRefused("pattern-syntax")
        self.at = match.end()

    def _repeat(self) -> tuple[int, int]:
        match = re.compile(r"([*+?]|\{(\d{1,4})(,(\d{1,4})?)?\})[?+]?").match(self.text, self.at)
        if match is None:
            if self._sign() == "{":
                raise PatternRefused("pattern-syntax")
            return 1, 1
        self.at = match.end()
        simple = {"*": (0, _FAR), "+": (1, _FAR), "?": (0, 1)}.get(match.group(1))
        if simple:
            return simple
        least = int(match.group(2))
        if match.group(3) is None:
            return least, least
        return least, int(match.group(4)) if match.group(4) else _FAR

    def _sign(self) -> str:
        return self.text[self.at : self.at + 1]


def _cost_of_branches(branches: list[list[_Item]]) -> _Cost:
    costs = [_cost_of_sequence(items) for items in branches]
    return _Cost(min(sum(cost.ways for cost in costs), _STEPS), max(cost.degree for cost in costs))


def _cost_of_sequence(items: list[_Item]) -> _Cost:
    ways, degree = 1, 0
    after: _Item | None = None
    # From behind, since whether a repeat has one place to stop depends on what follows it.
    for item in reversed(items):
        ways *= item.cost.ways
        degree += item.cost.degree
        if item.most == _FAR:
            sure = after is not None and _ends_surely(item, after)
            # An open repeat can stop at any of n places, which is one more power of n. If what follows cannot be part
            # of it, there is one place only, and it just costs its own length.
            degree = max(degree, 1) if sure else degree + 1
        elif item.most > item.least:
            # x{2,5} can stop in four places, whatever the text.
            ways *= item.most - item.least + 1
        ways = min(ways, _STEPS)
        after = item
    return _Cost(ways, degree)


def _ends_surely(item: _Item, after: _Item) -> bool:
    """True if what follows the repeat can never be what it repeats, so that there is one way only."""
    if not (item.single and after.single and after.least >= 1) or after.source in _ZERO_WIDTH:
        return False
    try:
        mine, its = re.compile(item.source, re.IGNORECASE), re.compile(after.source, re.IGNORECASE)
    except re.error as fault:
        raise PatternRefused("pattern-syntax") from fault
    # Tried on a sample of characters instead of reasoned about: classes, escapes and case folding are the engine's own.
    return not any(mine.fullmatch(sign) and its.fullmatch(sign) for sign in _SAMPLE)
