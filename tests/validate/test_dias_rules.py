"""Every rule for DIAS packages is broken by a package of its own and by nothing else in it; good ones break none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.errors import PackageFault
from noarkit.validate.dias.run import RULES, looks_like_dias, validate_dias
from noarkit.validate.findings import Report
from noarkit.validate.noark5.run import Wish
from noarkit.words.texts import LANGUAGES, fields, texts
from samples.packages.dias import UUID, good_dias
from samples.packages.dias_aic import BAD_AIC, BadAic, write_aic
from samples.packages.dias_bad import BAD_DIAS, BadDias, extract, holding, without

INFO = {code for code, rule in RULES.items() if rule.level == "info"}
ELSEWHERE = {"D114", "D310"}
"""Broken by a folder, or a disk, that no generator writes; tests below lay them."""
OURS = {"N102"}
"""What every extract with our own schemas is told."""


def told(report: Report) -> str:
    return "\n".join(f"{one.rule.code} {one.count} {one.places[:2]}" for one in report.outcomes)


def graver(report: Report) -> set[str]:
    return {code for code in report.codes if code not in INFO and not code.startswith("N9")}


def test_every_rule_has_a_package_that_breaks_it() -> None:
    assert {bad.code for bad in BAD_DIAS} | {bad.code for bad in BAD_AIC} == set(RULES) - INFO - ELSEWHERE
    assert len({bad.name for bad in BAD_DIAS}) == len(BAD_DIAS)


@pytest.mark.parametrize("bad", BAD_DIAS, ids=lambda bad: bad.name)
def test_a_package_broken_in_one_way_is_told_of_that_alone(bad: BadDias, tmp_path: Path) -> None:
    report = validate_dias(bad.draft().write(tmp_path / "p"))
    assert graver(report) - OURS == {bad.code, *bad.also}, told(report)
    assert report.valid == all(RULES[code].level == "warning" for code in (bad.code, *bad.also))
    outcome = next(one for one in report.outcomes if one.rule.code == bad.code)
    assert outcome.count >= len(outcome.places) > 0
    for lang in LANGUAGES:
        for place in outcome.places:
            forms = texts(lang).forms("rules", bad.code, "told")
            assert fields(forms[0]) <= place.data.keys(), f"{bad.code} tells {dict(place.data)}"


@pytest.mark.parametrize("bad", BAD_AIC, ids=lambda bad: bad.name)
def test_an_aic_broken_in_one_way_is_told_of_that_alone(bad: BadAic, tmp_path: Path) -> None:
    report = validate_dias(bad.write(tmp_path / "p"))
    assert report.codes == {bad.code}, told(report)
    assert report.valid == (RULES[bad.code].level == "warning")
    for outcome in report.outcomes:
        for place in outcome.places:
            assert fields(texts("en").forms("rules", bad.code, "told")[0]) <= place.data.keys()


def test_a_good_aic_breaks_no_rule_and_neither_do_its_aips(tmp_path: Path) -> None:
    path = write_aic(tmp_path / "p")
    assert looks_like_dias(path)
    report = validate_dias(path)
    assert (report.codes, report.version, report.summary["files"]) == (frozenset(), "AIC", ("2",))
    for folder in (entry for entry in (tmp_path / "p").iterdir() if entry.is_dir()):
        assert graver(validate_dias(folder)) == set()


@pytest.mark.parametrize("type_", ["SIP", "AIP"])
@pytest.mark.parametrize("shape", ["pair", "tar", "description", "folder"])
def test_a_good_package_breaks_no_rule_in_any_shape(type_: str, shape: str, tmp_path: Path) -> None:
    draft = good_dias(type_)
    pair = draft.write(tmp_path / "p")
    place = {
        "pair": pair,
        "tar": pair / f"{UUID}.tar",
        "description": pair / f"{UUID}.xml",
        "folder": draft.unpack(tmp_path / "u"),
    }[shape]
    report = validate_dias(place)
    assert graver(report) == set(), told(report)
    assert report.version == type_
    assert report.codes == ({"D701", "D502"} if shape == "folder" else {"D701"})
    assert looks_like_dias(place)


@pytest.mark.parametrize("unpacked", [False, True])
def test_the_extract_within_is_judged_by_its_own_rules_in_the_same_report(unpacked: bool, tmp_path: Path) -> None:
    draft = good_dias("AIP", extract())
    place = draft.unpack(tmp_path / "u") if unpacked else draft.write(tmp_path / "p")
    report = validate_dias(place)
    assert report.valid, told(report)
    assert graver(report) == OURS, told(report)
    assert any(count.rule.code == "N912" and count.total for count in report.counts)
    broken = good_dias("SIP", extract())
    broken.files["content/arkivstruktur.xml"] = broken.files["content/arkivstruktur.xml"].replace(
        b"<tittel>", b"<title>", 1
    )
    report = validate_dias(broken.write(tmp_path / "broken"))
    assert not report.valid
    places = [place for outcome in report.outcomes if outcome.rule.code.startswith("N") for place in outcome.places]
    assert all(place.file.startswith("content/") for place in places)


def test_what_a_type_lacks_or_has_too_much_is_told_as_information(tmp_path: Path) -> None:
    draft = good_dias("AIP")
    without("content/systemhåndbok.pdf", "administrative_metadata/repository_operations/report.txt")(draft)
    report = validate_dias(draft.write(tmp_path / "aip"))
    assert "D110" in report.codes and report.valid
    draft = good_dias("SIP")
    holding("descriptive_metadata/ead.xml", '<ead xmlns="http://ead3.archivists.org/schema/"/>')(draft)
    report = validate_dias(draft.write(tmp_path / "sip"))
    assert "D112" in report.codes and report.valid


def test_a_link_in_an_unpacked_package_is_no_file_of_it(tmp_path: Path) -> None:
    place = good_dias().unpack(tmp_path / "u")
    (place / "content" / "link.txt").symlink_to("/etc/passwd")
    report = validate_dias(place)
    assert graver(report) == {"D114"}, told(report)


def test_a_file_that_is_listed_and_is_a_link_is_never_read(tmp_path: Path) -> None:
    place = good_dias().unpack(tmp_path / "u")
    (place / "content" / "b.txt").unlink()
    (place / "content" / "b.txt").symlink_to("/etc/passwd")
    report = validate_dias(place)
    assert graver(report) == {"D114"}, told(report)


def test_the_official_schemas_judge_where_they_are_named(tmp_path: Path, reference: Path) -> None:
    folder = tmp_path / "official"
    folder.mkdir()
    for name in (
        "METS/latest/DIAS_METS.xsd",
        "PREMIS/latest/DIAS_PREMIS.xsd",
        "INFOFIL/latest/submissionDescription.xsd",
    ):
        found = reference / "xsd" / "dias" / name
        (folder / found.name).write_bytes(found.read_bytes())
    report = validate_dias(good_dias("AIP").write(tmp_path / "p"), Wish(folder))
    assert graver(report) == set(), told(report)
    bad = next(bad for bad in BAD_DIAS if bad.name == "D202-no-document-id")
    assert graver(validate_dias(bad.draft().write(tmp_path / "b"), Wish(folder))) == {"D202"}


def test_many_findings_are_counted_and_the_first_are_shown(tmp_path: Path) -> None:
    draft = good_dias()
    draft.late.update({f"content/more/{number}.txt": b"" for number in range(250)})
    (outcome,) = [one for one in validate_dias(draft.write(tmp_path / "p")).outcomes if one.rule.code == "D303"]
    assert (outcome.count, len(outcome.places)) == (250, 100)


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    for place, why in ((tmp_path, "no-dias"), (tmp_path / "a.txt", "no-dias"), (tmp_path / "none", "not-there")):
        with pytest.raises(PackageFault) as fault:
            validate_dias(place)
        assert fault.value.data["why"] == why
        assert not looks_like_dias(place)


def test_several_packages_in_one_folder_are_validated_one_by_one(tmp_path: Path) -> None:
    good_dias().write(tmp_path)
    replace(good_dias(), name="other", description_name="other").write(tmp_path)
    with pytest.raises(PackageFault) as fault:
        validate_dias(tmp_path)
    assert fault.value.data["why"] == "several-packages"
    assert looks_like_dias(tmp_path)
    assert validate_dias(tmp_path / f"{UUID}.tar").valid
