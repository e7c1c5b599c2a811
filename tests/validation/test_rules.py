"""Every rule is broken by a package of its own and by nothing else in it; good packages break none."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.forms.findings import LEVELS, rules_of
from noarkit.forms.validation import ValidateResult, validate
from noarkit.model.xml_model import VERSIONS, Version
from noarkit.words.texts import LANGUAGES, fields, texts
from samples.packages.bad import BAD, Bad
from samples.packages.describe import seal
from samples.packages.good import good_draft
from samples.packages.make import drafts_with, write_good

RULES = rules_of("noarkit.forms.noark5.rules")
CHECKED = {code for code, rule in RULES.items() if rule.level != "info"}
OURS = {"N102"}
"""What every package with our own schemas is told."""


def official(reference: Path) -> Path:
    """The official schemas by version, where they are at hand."""
    return reference / "xsd" / "noark5"


def told(report: ValidateResult) -> str:
    """All that was found, for whoever reads why a test failed."""
    return "\n".join(f"{one.rule.code} {one.count} {one.places[:2]}" for one in report.outcomes)


def test_every_rule_that_is_checked_has_a_package_that_breaks_it() -> None:
    assert {bad.code for bad in BAD} == CHECKED
    assert len({bad.name for bad in BAD}) == len(BAD)


@pytest.mark.parametrize("bad", [bad for bad in BAD if not bad.official], ids=lambda bad: bad.name)
def test_a_package_broken_in_one_way_is_told_of_that_alone(bad: Bad, tmp_path: Path) -> None:
    bad.draft().write(tmp_path)
    report = validate(tmp_path)
    assert report.codes - (OURS - {bad.code}) == {bad.code}, told(report)
    assert report.valid == (RULES[bad.code].level == "warning")
    outcome = next(one for one in report.outcomes if one.rule.code == bad.code)
    assert outcome.count >= len(outcome.places) > 0
    for lang in LANGUAGES:
        for place in outcome.places:
            forms = texts(lang).forms("rules", bad.code, "told")
            assert fields(forms[0]) <= place.data.keys(), f"{bad.code} tells {dict(place.data)}"


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_with_the_official_schemas_it_is_told_of_nothing_else_either(bad: Bad, tmp_path: Path, reference: Path) -> None:
    bad.draft(drafts_with(None if bad.code == "N102" else official(reference))).write(tmp_path)
    report = validate(tmp_path)
    assert report.codes == {bad.code}, told(report)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_good_package_breaks_no_rule(version: Version, tmp_path: Path) -> None:
    write_good(tmp_path, version)
    report = validate(tmp_path)
    assert report.valid
    assert report.codes == OURS, told(report)
    assert report.version == version


@pytest.mark.parametrize("version", VERSIONS)
def test_a_good_package_with_the_official_schemas_breaks_none_at_all(
    version: Version, tmp_path: Path, reference: Path
) -> None:
    write_good(tmp_path, version, official(reference))
    assert validate(tmp_path).codes == frozenset()
    judged_by_them = validate(tmp_path, schemas=official(reference) / version)
    assert judged_by_them.codes == frozenset()


def test_what_is_told_has_a_line_and_a_unit_wherever_there_is_one(tmp_path: Path) -> None:
    bad = next(bad for bad in BAD if bad.code == "N322")
    bad.draft().write(tmp_path)
    report = validate(tmp_path)
    place = next(one for one in report.outcomes if one.rule.code == "N322").places[0]
    lines = (tmp_path / "arkivstruktur.xml").read_text("utf-8").splitlines()
    assert place.file == "arkivstruktur.xml"
    assert place.line is not None and lines[place.line - 1].startswith("<mappe")
    assert place.system_id is not None and place.system_id in lines[place.line]
    assert place.data["value"] == "Under behandling"


def test_every_rule_says_on_what_it_stands_and_has_words_in_both_languages() -> None:
    for code, rule in RULES.items():
        assert rule.level in LEVELS and rule.cites and rule.area, code
        for lang in LANGUAGES:
            assert texts(lang).text("rules", code, "title").strip()
            assert texts(lang).has("rules", code, "told") == (rule.level != "info"), code


def test_all_that_the_known_validators_check_is_cited_somewhere() -> None:
    cited = {cite for rule in RULES.values() for cite in rule.cites}
    unused = {31, 49, 50, *range(52, 59)}
    expected = {f"N5.{number:02}" for number in range(1, 65) if number not in unused}
    expected |= {f"ASC{number}" for number in range(1, 22)} | {f"AST{number}" for number in range(1, 23)}
    expected |= {f"AUT{number}" for number in range(1, 9)} | {"LJC1", "LJT1", "LJT2", "OJT1", "OJT2", "ELC1", "ELT1"}
    expected |= {"P1", "P2"}
    assert expected - cited == set()


# Tests of Arkade that report errors, and the rules on them that only warn: what a note on a published package calls
# valid stays valid, and a package without changes has no change log that its schema allows.
ERRORS = {f"N5.{n:02}" for n in (1, 2, 3, 12, 19, 28, 29, 30, 32, 33, 47, 48, 51, 59, 60, 61, 62, 63)}
MILDER = {
    "N011": "the schema wants a change, and there was none",
    "N217": "documaster-valid-case-archive: the same official schema, with other line ends",
    "N417": "a package without documents may be what was agreed on",
    "N418": "the catalogue wants what Arkade does not",
    "N302": "documaster-valid-case-archive: a classification system that several arkivdeler repeat",
    "N602": "documaster-valid-case-archive: before 5.0 a dokumentobjekt has no systemID",
}


def test_what_arkade_reports_as_an_error_is_one_or_says_that_arkade_does() -> None:
    checked = {code: rule for code, rule in RULES.items() if rule.level != "info" and ERRORS & set(rule.cites)}
    assert {code for code, rule in checked.items() if rule.level != "error"} == MILDER.keys()
    for code in MILDER.keys() - {"N602"}:
        assert all("Arkade" in texts(lang).text("rules", code, "told") for lang in LANGUAGES)


def test_a_journal_with_the_schema_of_2019_may_not_use_what_came_in_2023(tmp_path: Path, reference: Path) -> None:
    older = reference / "xsd" / "noark5" / "5.0-pre2023-as-bundled-in-arkade-2.12.4"
    draft = good_draft("5.0", older)
    seal(draft)
    draft.write(tmp_path)
    report = validate(tmp_path)
    assert report.codes == {"N103"}, told(report)
    places = next(one for one in report.outcomes if one.rule.code == "N103").places
    assert [place.file for place in places] == ["loependeJournal.xml", "offentligJournal.xml"]
    assert all(place.line for place in places)
