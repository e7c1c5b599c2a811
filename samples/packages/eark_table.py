"""The table of the E-ARK rules: for each one that is published at MUST or SHOULD, our packages and the verdict on them.

python -m samples.packages.make_eark --table        prints it, with what is not judged and why
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from noarkit.forms.eark.rules.codes import rules_for
from samples.packages.eark_bad import BAD_PACKAGES
from samples.packages.eark_changes import BadPackage
from samples.packages.eark_published import NOT_JUDGED, NOT_LISTED, PUBLISHED, Level


@dataclass(frozen=True, slots=True)
class Row:
    """A rule, its level in each version, and the packages that break it; `why_not` = why it is not judged."""

    code: str
    levels: tuple[tuple[str, Level], ...]
    cases: tuple[BadPackage, ...]
    why_not: str = ""


@cache
def table() -> tuple[Row, ...]:
    """A row for each rule, in the order of the specifications."""
    codes = list(dict.fromkeys(code for version in reversed(PUBLISHED) for code in PUBLISHED[version]))
    return tuple(
        Row(
            code,
            tuple((version, rules[code]) for version, rules in PUBLISHED.items() if code in rules),
            tuple(bad for bad in BAD_PACKAGES if bad.code == code),
            NOT_JUDGED.get(code, ""),
        )
        for code in sorted(codes, key=_order)
    )


def stays_valid(bad: BadPackage) -> bool:
    """The verdict on a broken package: it is valid where all that it breaks are recommendations and options."""
    rules = rules_for(bad.version)
    return all(rules[code].level != "error" for code in (bad.code, *bad.also, *bad.shape_breaks))


def _order(code: str) -> tuple[str, int]:
    family = code.rstrip("0123456789")
    return family, int(code.removeprefix(family))


def lines() -> Iterator[str]:
    """The table as Markdown."""
    yield "| rule | level | broken by | also broken, by nature | verdict |"
    yield "| --- | --- | --- | --- | --- |"
    for row in table():
        levels = dict(row.levels)
        said = [f"{level} ({version})" for version, level in levels.items()]
        level = said[0].split()[0] if len(set(levels.values())) == 1 else ", ".join(said)
        if row.why_not:
            yield f"| {row.code} | {level} | | | not judged: {row.why_not} |"
        for bad in row.cases:
            verdict = "valid" if stays_valid(bad) else "not valid"
            yield f"| {row.code} | {level} | {bad.what} ({bad.kind}) | {' '.join(bad.also)} | {verdict} |"
    for what, why in NOT_LISTED.items():
        yield f"\n{what}: {why}."
