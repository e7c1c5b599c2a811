"""Every rule for E-ARK packages is broken by a package of its own, and by little else in it; good ones break none.

NOARKIT_DEEP=1 holds every broken package against the official schemas too.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from noarkit.forms.eark import spec
from noarkit.forms.eark.rules.codes import rules_for
from noarkit.forms.eark.rules.run import EarkValidateOptions, looks_like_eark, validate_eark
from noarkit.forms.findings import ValidateResult
from noarkit.words.texts import LANGUAGES, fields, texts
from samples.packages.eark import PROFILES, good, write_folder
from samples.packages.eark_bad import BAD_PACKAGES
from samples.packages.eark_changes import BadPackage
from samples.packages.eark_published import OF_COPIES, PUBLISHED
from samples.packages.eark_table import stays_valid
from samples.packages.make_eark import place

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
RULES = rules_for("2.2.0")
OTHERWISE = {"EARK-NAME", "EARK-ODD", "EARK-UNREADABLE", "EARK-XSD-NONE", "EARK-XSD", *OF_COPIES}
"""Rules that a file system breaks, that schemas are needed for, or copies (tests/copies/packages): they have tests
of their own."""
UNJUDGED = {"EARK-XSD-NONE", "EARK-XSD"}
"""What schemas of ours add, or that there are none."""


def told(report: ValidateResult) -> str:
    """All that was found, for whoever reads why a test failed."""
    return "\n".join(
        f"{one.rule.code} {one.count} " + "; ".join(f"{at.file}:{at.line} {dict(at.data)}" for at in one.places)
        for one in report.outcomes
    )


def official(reference: Path) -> Path:
    """The official schemas."""
    return reference / "xsd" / "eark"


def test_every_rule_has_a_package_that_breaks_it() -> None:
    assert {bad.code for bad in BAD_PACKAGES} | OTHERWISE == set(RULES)
    assert len({bad.name for bad in BAD_PACKAGES}) == len(BAD_PACKAGES)


@pytest.mark.parametrize("bad", [bad for bad in BAD_PACKAGES if bad.code != "EARK-XSD"], ids=lambda bad: bad.name)
def test_a_package_broken_in_one_way_is_told_of_that(bad: BadPackage, tmp_path: Path) -> None:
    report = validate_eark(place(bad.draft(), tmp_path, bad.packed))
    rules = rules_for(report.version)
    assert bad.code in report.codes, told(report)
    assert report.codes <= {bad.code, *bad.also, *bad.shape_breaks, *UNJUDGED}, told(report)
    errors = {code for code in report.codes if rules[code].level == "error"}
    assert report.valid == (not errors)
    assert report.valid == stays_valid(bad)
    if rules[bad.code].level == "error":
        assert not report.valid
    outcome = next(one for one in report.outcomes if one.rule.code == bad.code)
    published = PUBLISHED.get(report.version, {}).get(bad.code)
    assert published is None or outcome.rule.level == {"MUST": "error", "SHOULD": "warning"}[published]
    for lang in LANGUAGES:
        for found in outcome.places:
            forms = texts(lang).forms("rules", bad.code, "told")
            assert any(fields(form) <= found.data.keys() for form in forms), f"{bad.code} tells {dict(found.data)}"


@pytest.mark.parametrize(
    "bad", [bad for bad in BAD_PACKAGES if DEEP or bad.code.startswith("EARK-XSD")], ids=lambda bad: bad.name
)
def test_with_the_official_schemas_it_is_told_of_nothing_else_but_by_them(
    bad: BadPackage, tmp_path: Path, reference: Path
) -> None:
    report = validate_eark(place(bad.draft(), tmp_path, bad.packed), EarkValidateOptions(official(reference)))
    assert bad.code in report.codes, told(report)
    assert report.codes <= {bad.code, *bad.also, *bad.shape_breaks, "EARK-XSD"}, told(report)


@pytest.mark.parametrize(("kind", "version"), PROFILES)
@pytest.mark.parametrize("packed", ["folder", "zip", "tar"])
def test_a_good_package_breaks_no_rule(kind: str, version: str, packed: str, tmp_path: Path, reference: Path) -> None:
    path = place(good(kind, version), tmp_path, packed)
    assert looks_like_eark(path)
    report = validate_eark(path, EarkValidateOptions(official(reference)))
    assert report.codes == frozenset(), told(report)
    assert report.version == version
    assert report.summary["kind"] == (kind,)
    assert report.summary["representations"] == ("rep1",)


def test_a_rule_has_the_level_of_the_version(tmp_path: Path) -> None:
    levels = {version: rules_for(version)["CSIP96"].level for version in spec.VERSIONS}
    assert levels == {"2.0.4": "error", "2.1.0": "error", "2.2.0": "warning"}
    assert rules_for("2.1.0")["SIP18"].level == "info"
    bad = next(bad for bad in BAD_PACKAGES if bad.code == "CSIP96")
    path = place(bad.draft(), tmp_path)
    assert validate_eark(path).valid
    assert not validate_eark(path, EarkValidateOptions(version="2.1.0")).valid
    assert validate_eark(path, EarkValidateOptions(version="2.1.0")).version == "2.1.0"


def test_every_requirement_of_the_profiles_is_a_rule(reference: Path) -> None:
    asked: set[str] = set()
    for path in sorted((reference / "xsd" / "eark" / "profiles").glob("*-v2-[012]-[04].xml")):
        found = re.findall(r'<requirement ID="([A-Z]+[0-9]+)" REQLEVEL="(\w+)"', path.read_text("utf-8"))
        asked |= {code for code, _ in found}
        if "2-2-0" in path.name:
            for code, level in found:
                assert RULES[code].level == {"MUST": "error", "SHOULD": "warning", "MAY": "info"}[level], code
    assert asked - RULES.keys() == {"CSIP87", "CSIP115"} & asked


def test_a_folder_around_the_package_is_seen_through(tmp_path: Path) -> None:
    write_folder(good(), tmp_path / "around")
    report = validate_eark(tmp_path / "around")
    assert report.codes <= UNJUDGED, told(report)


def test_what_is_no_package_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    assert not looks_like_eark(tmp_path)
    assert not looks_like_eark(tmp_path / "a.txt")
    report = validate_eark(tmp_path)
    assert report.codes <= {"CSIPSTR4", *UNJUDGED} and "CSIPSTR4" in report.codes
