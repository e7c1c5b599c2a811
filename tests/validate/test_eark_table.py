"""Each rule that E-ARK publishes at MUST or SHOULD is judged, and a package of ours shows it; or it says why not.

The packages that break a rule are judged in `test_eark_rules`; here stand their good twins, and that none is missing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.validate.eark.codes import rules_for
from noarkit.validate.eark.run import validate_eark
from samples.packages.eark_bad import BAD_PACKAGES, BadPackage
from samples.packages.eark_published import NOT_JUDGED, PUBLISHED
from samples.packages.eark_table import lines, table
from samples.packages.make_eark import place

LEVELS = {"MUST": "error", "SHOULD": "warning"}
SCHEMAS = {"EARK-XSD", "EARK-XSD-NONE"}
"""Told where no official schemas are at hand."""
OURS = "EARK-"


def _twins() -> list[BadPackage]:
    """A broken package for each good twin: many have the same."""
    found = {(bad.kind, bad.version, bad.twin_packed, bad.shape): bad for bad in reversed(BAD_PACKAGES)}
    return list(found.values())


@pytest.mark.parametrize("version", PUBLISHED)
def test_every_published_rule_is_judged_at_its_level_or_says_why_not(version: str) -> None:
    rules = rules_for(version)
    published = PUBLISHED[version]
    assert {code for code in published if code not in rules} == NOT_JUDGED.keys() & published.keys()
    for code in published.keys() & rules.keys():
        assert rules[code].level == LEVELS[published[code]], code


def test_what_is_not_judged_is_published_and_says_why() -> None:
    assert NOT_JUDGED.keys() <= {row.code for row in table()}
    assert all(len(why) > 20 for why in NOT_JUDGED.values())


def test_every_rule_has_packages_that_break_it_or_a_reason() -> None:
    for row in table():
        assert bool(row.cases) != bool(row.why_not), row.code


@pytest.mark.parametrize("version", PUBLISHED)
def test_no_rule_is_told_at_those_levels_that_nobody_published(version: str) -> None:
    told = {code for code, rule in rules_for(version).items() if rule.level in LEVELS.values()}
    # The header's mandatory agents of a SIP and all of the AIP are asked by the newest version alone.
    newest = PUBLISHED["2.2.0"].keys()
    assert {code for code in told if not code.startswith(OURS)} <= PUBLISHED[version].keys() | newest
    assert {code for code in told if code.startswith(OURS)} <= {bad.code for bad in BAD_PACKAGES} | {
        "EARK-NAME",
        "EARK-ODD",
        "EARK-UNREADABLE",
        "EARK-XSD-NONE",
    }


@pytest.mark.parametrize("bad", _twins(), ids=lambda bad: f"{bad.name}-{bad.twin_packed}")
def test_the_good_twin_of_a_broken_package_holds(bad: BadPackage, tmp_path: Path) -> None:
    report = validate_eark(place(bad.twin(), tmp_path, bad.twin_packed))
    assert report.valid
    assert report.codes - SCHEMAS == set(bad.shape_breaks)


def test_a_broken_package_differs_from_its_twin() -> None:
    for bad in BAD_PACKAGES:
        draft, twin = bad.draft(), bad.twin()
        same = (draft.files, draft.top) == (twin.files, twin.top)
        assert same == (bad.packed not in ("folder", "zip", "tar")), bad.name


def test_the_table_shows_every_rule_with_its_verdict() -> None:
    text = "\n".join(lines())
    for row in table():
        assert f"| {row.code} |" in text
    assert "| CSIP96 | MUST (2.0.4), MUST (2.1.0), SHOULD (2.2.0) |" in text
    assert "| AIP1 | MUST | | | not judged: " in text
