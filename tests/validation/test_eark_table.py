"""Each rule that E-ARK publishes at MUST or SHOULD is judged, and a package of ours shows it; or it says why not.

The packages that break a rule are judged in `test_eark_rules`; here stand their good twins, and that none is missing.
"""

from __future__ import annotations

import mimetypes
from datetime import date
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from noarkit.errors import PackageFault
from noarkit.forms.eark.rules.codes import rules_for
from noarkit.forms.eark.rules.media import is_media_type
from noarkit.forms.eark.rules.run import validate_eark
from noarkit.forms.eark.spec import CSIP_PROFILE_2_2
from noarkit.forms.eark.write.listing import UNKNOWN_TYPE
from noarkit.forms.validation import validate
from samples.packages.eark import PROFILES, REP, good
from samples.packages.eark_bad import BAD_PACKAGES
from samples.packages.eark_changes import BadPackage
from samples.packages.eark_published import NOT_JUDGED, OF_COPIES, PUBLISHED
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
    assert len(table()) > 100
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
        *OF_COPIES,
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


@pytest.mark.parametrize("packed", ["folder", "zip", "tar", "tar.gz"])
@pytest.mark.parametrize("name", ["", "METS1.xml", "Mets.xml", "old_METS.xml"])
def test_what_lacks_its_mets_document_is_told_of_that_where_it_can_only_be_a_package(
    tmp_path: Path, name: str, packed: str
) -> None:
    draft = good()
    content = draft.files.pop("METS.xml")
    if name:
        draft.files[name] = content
    path = place(draft, tmp_path, packed)
    report = validate(path)
    assert not report.valid
    assert "CSIPSTR4" in report.codes
    told = next(one for one in report.outcomes if one.rule.code == "CSIPSTR4")
    assert told.places[0].data == ({"name": name} if name else {})


def test_what_has_neither_a_top_folder_nor_a_mets_document_is_told_of_its_folder(tmp_path: Path) -> None:
    draft = good()
    draft.top = ""
    del draft.files["METS.xml"]
    assert validate(place(draft, tmp_path, "zip")).codes - SCHEMAS == {"CSIPSTR1"}


def test_a_package_without_representations_is_known_by_a_mets_document_of_another_name(tmp_path: Path) -> None:
    (tmp_path / "METS_old.xml").write_bytes(good().files["METS.xml"])
    assert "CSIPSTR4" in validate(tmp_path).codes


@pytest.mark.parametrize("name", ["representations/a.txt", "metadata/a.txt", "METS_old.xml", "a/METS_old.xml"])
def test_a_folder_that_may_be_anything_is_no_package(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("<mets/>")
    with pytest.raises(PackageFault):
        validate(tmp_path)


@pytest.mark.parametrize("folder", ["schemas", "documentation"])
def test_schemas_and_documentation_may_lie_in_a_representation_instead(tmp_path: Path, folder: str) -> None:
    draft = good()
    name = {"schemas": "schemas/ead.xsd", "documentation": "documentation/readme.txt"}[folder]
    draft.files[f"{REP}/{name}"] = draft.files.pop(name)
    report = validate_eark(place(draft, tmp_path))
    assert not report.codes & {"CSIPSTR15", "CSIPSTR16"}


def test_a_folder_of_representations_without_one_is_told(tmp_path: Path) -> None:
    draft = good()
    for name in [name for name in draft.files if name.startswith("representations/")]:
        del draft.files[name]
    path = place(draft, tmp_path)
    assert "CSIPSTR9" in validate_eark(path).codes
    (path / "representations").mkdir()
    codes = validate_eark(path).codes
    assert "CSIPSTR10" in codes
    assert "CSIPSTR9" not in codes


def test_nothing_was_changed_after_the_day_of_the_validation(tmp_path: Path) -> None:
    path = place(good(), tmp_path)  # changed on 2024-05-06
    assert "CSIP8" in validate(path, today=date(2024, 5, 4)).codes
    assert "CSIP8" not in validate(path, today=date(2024, 5, 5)).codes  # it is tomorrow already somewhere


@pytest.mark.parametrize(
    ("content", "other", "codes"),
    [
        ("citssiard_v1_0", "SIARD_2.2", set()),
        ("CITS_SIARD", "SIARD_2.2", set()),
        ("OTHER", "Cards", set()),
        ("OTHER", "OTHER", set()),
        ("OTHER", "SIARD2", {"CSIP5"}),
        ("MIXED", "SIARD_2.2", {"CSIP5"}),
    ],
)
def test_another_content_type_stands_with_other_or_names_the_version_of_siard(
    tmp_path: Path, content: str, other: str, codes: set[str]
) -> None:
    draft = good()
    both = f'csip:CONTENTINFORMATIONTYPE="{content}" csip:OTHERCONTENTINFORMATIONTYPE="{other}"'
    draft.edit("METS.xml", 'csip:CONTENTINFORMATIONTYPE="MIXED"', both)
    assert validate_eark(place(draft, tmp_path)).codes - SCHEMAS == codes


@pytest.mark.parametrize(
    ("media_type", "holds"),
    [
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", True),
        ("application/x-empty", True),
        ("x-conference/x-cooltalk", True),
        ("image/svg+xml", True),
        ("Text/Plain", True),
        ("text/plain;charset=utf-8", True),
        ("chemical/x-pdb", True),
        ("plain/text", False),
        ("text/", False),
        ("text/a/b", False),
        ("text/<b>", False),
        ("nonsense", False),
        ("text /plain", False),
    ],
)
def test_a_media_type_is_of_a_kind_that_exists(tmp_path: Path, media_type: str, holds: bool) -> None:
    draft = good()
    draft.edit("METS.xml", 'MIMETYPE="text/plain"', f'MIMETYPE="{escape(media_type)}"')
    assert ("CSIP68" in validate_eark(place(draft, tmp_path)).codes) != holds


def test_a_use_may_be_spelt_in_another_case_than_its_folder(tmp_path: Path) -> None:
    draft = good()
    draft.edit("METS.xml", 'USE="Representations/rep1"', 'USE="Representations/REP1"')
    assert "CSIP64" not in validate_eark(place(draft, tmp_path)).codes


def test_a_group_may_name_the_whole_administrative_section(tmp_path: Path) -> None:
    draft = good()
    draft.edit("METS.xml", 'USE="Documentation" ADMID="adm-1"', 'USE="Documentation" ADMID="amd"')
    assert validate_eark(place(draft, tmp_path)).codes <= SCHEMAS


@pytest.mark.parametrize(
    ("kind", "version", "profile", "judged"),
    [
        ("SIP", "2.2.0", "", False),
        ("SIP", "2.1.0", "", True),
        ("CSIP", "2.2.0", "", True),  # the address of CSIP without a version is that of those before 2.2.0
        ("CSIP", "2.2.0", CSIP_PROFILE_2_2, False),
    ],
)
def test_media_types_are_those_of_the_registry_up_to_version_2_1(
    tmp_path: Path, kind: str, version: str, profile: str, judged: bool
) -> None:
    draft = good(kind, version)
    draft.edit("METS.xml", 'MIMETYPE="text/plain"', 'MIMETYPE="text/nonsense"')
    if profile:
        draft.edit("METS.xml", PROFILES[kind, version], profile)
    assert ("CSIP68" in validate_eark(place(draft, tmp_path)).codes) == judged


def test_every_media_type_that_we_guess_from_a_name_counts_as_registered() -> None:
    guessed = {*mimetypes.types_map.values(), *mimetypes.common_types.values(), UNKNOWN_TYPE}
    assert [one for one in sorted(guessed) if not is_media_type(one, registered=True)] == []


def test_a_representation_that_is_not_pointed_to_is_counted(tmp_path: Path) -> None:
    bad = next(one for one in BAD_PACKAGES if one.name == "CSIP105-one-left-out")
    report = validate_eark(place(bad.draft(), tmp_path))
    told = next(one for one in report.outcomes if one.rule.code == "CSIP105")
    assert told.places[0].data == {"count": "2", "found": "1"}
