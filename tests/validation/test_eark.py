"""E-ARK packages as they are met: every dialect of hrefs, both PREMIS, mixed algorithms, and what others published."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest

from noarkit.errors import PackageFault
from noarkit.events import Event
from noarkit.forms.eark.rules.run import EarkValidateOptions, validate_eark
from noarkit.forms.findings import Place, ValidateResult
from noarkit.forms.validation import validate
from samples.packages.eark import OBJID, REP, Draft, good, said, seal, write_folder, write_tar, write_zip

README = "documentation/readme.txt"
MINIMAL = {"CSIP69", "CSIP71", "CSIP80", "CSIP82", "CSIP114", "EARK-UNLISTED"}
"""What is wrong with every minimal package of the board, the one it calls valid too: xlink.xsd is not the file that was
described, its structural map is called as in a draft, and its .gitkeep files stand in no list."""

# What the note beside each says, in rules: those that must be found beside the rest.
MINIMAL_VERDICTS: Mapping[str, set[str]] = {
    "minimal_IP_with_schemas": set(),
    "minimal_IP_invmets": {"CSIP14", "EARK-XSD"},
    "minimal_IP_nocrtdt": {"CSIP7"},
    "minimal_IP_noflscid": {"CSIP59"},
    "minimal_IP_nomtshdr": {"CSIP117"},
    "minimal_IP_nopcktyp": {"CSIP9"},
}
OLD_VERDICTS: Mapping[str, set[str]] = {
    # of a draft of 2017: labels in lower case, no package type, two files that were changed after they were described
    "eark-sip/a46ab3d0-c710-4d73-b58d-e93e30b53a82.zip": {"CSIP9", "CSIP27", "CSIP69", "CSIP90", "EARK-UNLISTED"},
    # of the same time: the whole submission inside, its own log longer than when it was described
    "eark-aip/urn+uuid+385a3080-b714-4b0f-a975-8fd8e214d752.tar": {"CSIP9", "CSIP43", "CSIP59", "CSIP81"},
    "eark-aip/urn+uuid+7d0d1987-0f1c-47a7-8fd6-cc5c7de4064f.tar": {"CSIP9", "CSIP43", "CSIP59", "CSIP81"},
}


@pytest.fixture
def published(reference: Path) -> Path:
    """Where the packages of others lie."""
    place = reference.parent / "samples" / "oais"
    if not place.is_dir():
        pytest.skip("no published packages beside the reference tables")
    return place


def errors(report: ValidateResult) -> set[str]:
    """The rules that make a package invalid."""
    return {one.rule.code for one in report.outcomes if one.rule.level == "error"}


def places(report: ValidateResult, code: str) -> tuple[Place, ...]:
    """Where a rule does not hold."""
    return next((one.places for one in report.outcomes if one.rule.code == code), ())


@pytest.mark.parametrize("name", MINIMAL_VERDICTS)
@pytest.mark.parametrize("schemas", [None, "official"])
def test_a_minimal_package_of_the_board_breaks_the_rule_that_its_name_says(
    published: Path, reference: Path, name: str, schemas: str | None
) -> None:
    wish = EarkValidateOptions(reference / "xsd" / "eark" / "local") if schemas else EarkValidateOptions()
    report = validate_eark(published / "eark-csip-minimal" / f"{name}.zip", wish)
    broken = MINIMAL_VERDICTS[name]
    other = {"CSIP59"} if name == "minimal_IP_nomtshdr" else set()  # it lacks two things
    assert errors(report) == MINIMAL | broken | other


@pytest.mark.parametrize("name", OLD_VERDICTS)
def test_an_old_package_of_the_board_is_read_in_its_dialect_and_told_what_it_lacks(published: Path, name: str) -> None:
    report = validate_eark(published / name)
    assert OLD_VERDICTS[name] <= errors(report)
    assert not report.codes & {"EARK-HREF", "EARK-REMOTE", "CSIP79", "CSIP24", "CSIP38", "CSIP110"}
    assert next(place.data["why"] for place in places(report, "EARK-SPELLING")) == "file"


def test_every_published_package_is_judged_here(published: Path) -> None:
    named = {f"eark-csip-minimal/{name}.zip" for name in MINIMAL_VERDICTS} | OLD_VERDICTS.keys()
    there = {
        str(path.relative_to(published))
        for path in published.glob("eark-*/*")
        if path.suffix in (".zip", ".tar") or path.is_dir()
    }
    assert there == named


def spelt(href: str, name: str) -> Draft:
    """A package whose file has one name, and whose METS spells it so."""
    draft = good()
    draft.files[name] = draft.files.pop(README)
    draft.edit("METS.xml", f'xlink:href="{README}"', f'xlink:href="{href}"')
    return draft


@pytest.mark.parametrize(
    ("href", "name", "way"),
    [
        ("documentation/a%20b.txt", "documentation/a b.txt", None),
        ("./documentation/a.txt", "documentation/a.txt", None),
        ("documentation//a.txt", "documentation/a.txt", None),
        ("file:documentation/a.txt", "documentation/a.txt", "file"),
        ("FILE:documentation/a.txt", "documentation/a.txt", "file"),
        ("file:./documentation/a.txt", "documentation/a.txt", "file"),
        ("file://./documentation/a.txt", "documentation/a.txt", "file"),
        ("documentation%2Fa+b.txt", "documentation/a b.txt", "form-encoded"),
        ("documentation%2Fa.txt", "documentation/a.txt", "form-encoded"),
        ("documentation/a+b.txt", "documentation/a b.txt", "form-encoded"),
        ("documentation/a+b.txt", "documentation/a+b.txt", None),
        ("documentation/a%20b.txt", "documentation/a%20b.txt", "not-encoded"),
        ("documentation/100%.txt", "documentation/100%.txt", None),
        ("documentation\\a.txt", "documentation/a.txt", "backslash"),
        ("documentation/bl%C3%A5.txt", "documentation/blå.txt", None),
        ("documentation/blå.txt", unicodedata.normalize("NFD", "documentation/blå.txt"), "composition"),
        ("documentation/urn:x.txt", "documentation/urn:x.txt", None),
        ("urn:x.txt", "urn:x.txt", None),
    ],
)
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_every_dialect_of_hrefs_is_read_and_an_unusual_one_is_told(
    tmp_path: Path, href: str, name: str, way: str | None, form: str
) -> None:
    draft = spelt(href, name)
    path = write_folder(draft, tmp_path) if form == "folder" else write_zip(draft, tmp_path / f"{OBJID}.zip")
    report = validate_eark(path)
    # the PREMIS of the package still speaks of the old name
    assert errors(report) <= {"EARK-XSD", *({"CSIP64"} if "/" not in name else ())}, [
        (one.rule.code, one.places) for one in report.outcomes
    ]
    told = [place.data["why"] for place in places(report, "EARK-SPELLING")]
    assert told == ([way] if way else [])


def test_the_right_name_is_taken_where_two_could_be_meant(tmp_path: Path) -> None:
    draft = spelt("documentation/a%20b.txt", "documentation/a b.txt")
    draft.files["documentation/a%20b.txt"] = b"another"
    report = validate_eark(write_folder(draft, tmp_path))
    assert [place.data["name"] for place in places(report, "EARK-UNLISTED")] == ["documentation/a%20b.txt"]
    assert errors(report) == {"CSIP60", "EARK-UNLISTED"}


def test_hrefs_of_a_representation_may_begin_at_the_package(tmp_path: Path) -> None:
    draft = good()
    name = f"{REP}/METS.xml"
    draft.edit(name, 'xlink:href="data/', f'xlink:href="{REP}/data/', -1)
    content = draft.files[name]
    before = said(good().files[name])
    draft.edit("METS.xml", before, said(content))
    report = validate_eark(write_folder(draft, tmp_path))
    assert report.valid
    assert [place.data["why"] for place in places(report, "EARK-SPELLING")] == ["from-package"]


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-1", "SHA-384", "SHA-512"])
@pytest.mark.parametrize("form", ["folder", "tar", "tar.gz"])
def test_files_with_another_algorithm_are_compared_too(tmp_path: Path, algorithm: str, form: str) -> None:
    draft = good()
    content = draft.files[README]
    known = hashlib.sha256(content).hexdigest()
    other = hashlib.new(algorithm.replace("-", "").lower(), content).hexdigest().upper()
    draft.edit(
        "METS.xml", f'CHECKSUM="{known}" CHECKSUMTYPE="SHA-256"', f'CHECKSUM="{other}" CHECKSUMTYPE="{algorithm}"'
    )
    for number, change in enumerate((content, content[:-1] + b"!")):
        draft.files[README] = change
        above = tmp_path / str(number)
        above.mkdir()
        path = write_folder(draft, above) if form == "folder" else write_tar(draft, above / f"{OBJID}.{form}")
        report = validate_eark(path)
        # PREMIS still has the other checksum, which is compared for its own sake
        wanted = set() if number == 0 else {"CSIP71", "EARK-PREMIS-CHECKSUM"}
        assert errors(report) == wanted


def test_premis_of_version_2_is_read_too(tmp_path: Path) -> None:
    draft = good()
    name = f"{REP}/metadata/preservation/premis.xml"
    text = draft.files[name].decode().replace("http://www.loc.gov/premis/v3", "info:lc/xmlns/premis-v2")
    draft.files[name] = text.replace("<size>4<", "<size>40<").encode()
    seal(draft)
    report = validate_eark(write_folder(draft, tmp_path))
    assert errors(report) == {"EARK-PREMIS-SIZE"}
    found = [(place.file, place.data["name"], place.data["expected"]) for place in places(report, "EARK-PREMIS-SIZE")]
    assert found == [(name, f"{REP}/data/a.txt", "40"), (name, f"{REP}/data/sub/b.txt", "40")]


def test_premis_is_held_against_a_schema_that_was_given(tmp_path: Path, reference: Path) -> None:
    draft = good()
    name = "metadata/preservation/premis.xml"
    draft.files[name] = draft.files[name].replace(b"<agentName>Maker</agentName>", b"<agentTitle>Maker</agentTitle>")
    seal(draft)
    path = write_folder(draft, tmp_path)
    assert validate_eark(path).codes == frozenset()
    report = validate_eark(path, EarkValidateOptions(reference / "xsd" / "eark"))
    assert [(place.file, place.data["element"]) for place in places(report, "EARK-XSD")] == [(name, "agentTitle")]


def test_a_folder_without_schemas_judges_nothing_and_one_with_broken_ones_is_a_fault(tmp_path: Path) -> None:
    path = write_folder(good(), tmp_path)
    folder = tmp_path / "schemas"
    folder.mkdir()
    assert validate_eark(path, EarkValidateOptions(folder)).codes == {"EARK-XSD-NONE"}
    text = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.loc.gov/METS/"><x/></xs:schema>'
    (folder / "mets.xsd").write_text(text, "utf-8")
    with pytest.raises(PackageFault) as fault:
        validate_eark(path, EarkValidateOptions(folder))
    assert fault.value.data["why"] == "schema"


def located(text: str) -> str:
    """PREMIS whose objects name their place instead of a path, as writers do that list many."""
    return (
        text.replace("<objectIdentifierValue>data/", "<objectIdentifierValue>id-")
        .replace("<originalName>data/", "<contentLocationValue>data/")
        .replace("</originalName>", "</contentLocationValue>")
    )


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("", "", ""),
        ("<size>4<", "<size>5<", "EARK-PREMIS-SIZE"),
        ("<messageDigest>", "<messageDigest>00", "EARK-PREMIS-CHECKSUM"),
        ("<contentLocationValue>data/", "<contentLocationValue>gone/", "EARK-PREMIS-OBJECT"),
        ("<contentLocationValue>data/", "<contentLocationValue>../../../data/", "EARK-HREF"),
    ],
)
def test_objects_that_name_their_place_are_compared_in_one_go(tmp_path: Path, old: str, new: str, code: str) -> None:
    draft = good()
    name = f"{REP}/metadata/preservation/premis.xml"
    draft.files[name] = located(draft.files[name].decode()).replace(old, new).encode()
    seal(draft)
    report = validate_eark(write_folder(draft, tmp_path))
    assert report.codes - {"EARK-PREMIS-OBJECT" if code == "EARK-HREF" else ""} == ({code} if code else set())
    assert all(place.file == name and place.line for place in places(report, code))


def test_an_object_may_be_found_by_the_id_that_mets_gives_its_file(tmp_path: Path) -> None:
    draft = good()
    name = f"{REP}/metadata/preservation/premis.xml"
    text = draft.files[name].decode().replace("data/a.txt", "file-a").replace("data/sub/b.txt", "file-none")
    draft.files[name] = text.encode()
    seal(draft)
    report = validate_eark(write_folder(draft, tmp_path))
    assert [place.data["name"] for place in places(report, "EARK-PREMIS-OBJECT")] == ["file-none"]


def test_a_submission_that_was_kept_inside_is_held_to_what_it_lists(tmp_path: Path) -> None:
    draft, inner = good("AIP"), good()
    for name, content in inner.files.items():
        draft.files[f"submission/{name}"] = content
    known = said(inner.files["METS.xml"])
    entry = (
        f'<fileGrp ID="grp-sub" USE="Submission"><file ID="file-sub" MIMETYPE="text/xml" {known}>'
        '<FLocat LOCTYPE="URL" xlink:type="simple" xlink:href="submission/METS.xml"/></file></fileGrp>\n</fileSec>'
    )
    draft.edit("METS.xml", "</fileSec>", entry)
    assert errors(validate_eark(write_folder(draft, tmp_path / "a"))) == set()
    draft.files[f"submission/{REP}/data/a.txt"] = b"two\n"
    report = validate_eark(write_folder(draft, tmp_path / "b"))
    assert errors(report) == {"CSIP71"}
    assert [place.file for place in places(report, "CSIP71")] == [f"submission/{REP}/METS.xml"]


def test_the_lower_case_namespace_of_the_extensions_is_the_same(tmp_path: Path) -> None:
    draft = good()
    draft.edit("METS.xml", "https://DILCIS.eu/XML/METS/", "https://dilcis.eu/XML/METS/", -1)
    assert validate_eark(write_folder(draft, tmp_path)).codes - {"EARK-XSD"} == frozenset()


def test_whoever_asks_for_any_package_gets_the_same_report(tmp_path: Path) -> None:
    heard: list[Event] = []
    path = write_folder(good(), tmp_path)
    report = validate(path, listener=heard.append)
    assert (report.form, report.version, report.codes) == ("eark", "2.2.0", frozenset())
    assert [event.data["file"] for event in heard if event.name == "validating"] == ["METS.xml", f"{REP}/METS.xml"]
    assert report.summary["files"] == (str(len(good().files)),)
    assert report.summary["bytes"] == (str(sum(map(len, good().files.values()))),)


def test_more_than_a_thousand_files_are_hashed_while_they_are_read_about(tmp_path: Path) -> None:
    from scripts.benchmarks.eark_validate import big_package

    path = big_package(tmp_path, 1_500, 10)
    assert validate_eark(path).valid
    changed = path / REP / "data" / "00001" / "00001400.bin"
    changed.write_bytes(b"0123456789")
    (path / REP / "data" / "00000" / "00000700.bin").unlink()
    (path / REP / "data" / "00000" / "00000800.bin").write_bytes(b"")
    report = validate_eark(path)
    found = {code: [place.data["name"][-12:] for place in places(report, code)] for code in errors(report)}
    assert found == {
        "CSIP71": ["00000800.bin", "00001400.bin"],
        "CSIP69": ["00000800.bin"],
        "CSIP79": ["00000700.bin"],
    }


_PARENT = (
    '<structMap ID="map-p" TYPE="PHYSICAL" LABEL="parent AIP"><div ID="div-p" LABEL="AIP parent identifier">'
    '<div ID="div-q"><mptr LOCTYPE="OTHER" OTHERLOCTYPE="UUID" xlink:href="urn:uuid:1"/></div></div></structMap>'
)
_LOGICAL = (
    '<structMap ID="map-l" TYPE="logical"><div ID="div-l"><div ID="div-m"><mptr LOCTYPE="URL" xlink:type="simple" '
    'xlink:href="{}"/></div></div></structMap>'
)
_UNNAMED = '<structMap ID="map-u" TYPE="PHYSICAL"><div ID="div-u"><div LABEL="metadata"/></div></structMap>'


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("<structMap", f"{_PARENT}<structMap", set()),
        ("</mets>", f"{_PARENT}</mets>", set()),
        ("</mets>", f"{_LOGICAL.format(f'{REP}/METS.xml')}</mets>", set()),
        ("</mets>", f"{_LOGICAL.format('representations/rep2/METS.xml')}</mets>", {"CSIP110"}),
        ("<structMap", f"{_UNNAMED}<structMap", set()),
        (
            "</mets>",
            '<structMap ID="map-2" TYPE="PHYSICAL" LABEL="CSIP"><div ID="div-2"/></structMap></mets>',
            {"CSIP80", "CSIP82"},
        ),
        ("</fileSec>", "</fileSec><amdSec/>", {"CSIP31"}),
        ("</fileSec>", '</fileSec><fileSec ID="files-2"/>', {"CSIP58"}),
        (
            '<div ID="div-xsd" LABEL="Schemas">\n',
            '<div ID="div-xsd" LABEL="Schemas">\n<mptr LOCTYPE="URL"/>',
            {"CSIP110"},
        ),
        ('LABEL="Representations/rep1"', 'LABEL="Representations"', {"CSIP107"}),
        ("<name>Maker</name>", "<name>Maker</name><name>Other</name>", {"CSIP14"}),
        ("<metsHdr ", "<?made by?><!-- a note --><metsHdr ", set()),
    ],
)
def test_a_small_change_is_told_as_what_it_is(tmp_path: Path, old: str, new: str, codes: set[str]) -> None:
    draft = good()
    draft.edit("METS.xml", old, new)
    assert validate_eark(write_folder(draft, tmp_path)).codes - {"EARK-XSD"} == codes


@pytest.mark.parametrize(
    ("attribute", "value", "code"),
    [("SIZE", "many", "CSIP69"), ("SIZE", "-9", "CSIP69"), ("CHECKSUM", "", "CSIP71"), ("MIMETYPE", "text", "CSIP68")],
)
def test_a_value_that_cannot_be_is_told(tmp_path: Path, attribute: str, value: str, code: str) -> None:
    draft = good()
    content = draft.files[README]
    known = {"SIZE": str(len(content)), "CHECKSUM": hashlib.sha256(content).hexdigest(), "MIMETYPE": "text/plain"}
    begin = '<file ID="file-doc" MIMETYPE="text/plain" ' if attribute != "MIMETYPE" else '<file ID="file-doc" '
    before = said(content) if attribute != "MIMETYPE" else 'MIMETYPE="text/plain"'
    after = before.replace(f'{attribute}="{known[attribute]}"', f'{attribute}="{value}"')
    draft.edit("METS.xml", begin + before, begin + after)
    report = validate_eark(write_folder(draft, tmp_path))
    assert report.codes - {"EARK-XSD"} == {code}
    assert places(report, code)[0].data.get("value", "") == value


def test_a_size_with_the_blanks_that_the_schema_lets_stand_is_no_flaw(tmp_path: Path) -> None:
    draft = good()
    size = len(draft.files[README])
    begin = '<file ID="file-doc" MIMETYPE="text/plain" '
    before = said(draft.files[README])
    draft.edit("METS.xml", begin + before, begin + before.replace(f'SIZE="{size}"', f'SIZE=" {size} "'))
    assert errors(validate_eark(write_folder(draft, tmp_path))) == set()


def test_a_representation_is_judged_on_its_own_level(tmp_path: Path) -> None:
    draft = good()
    name = f"{REP}/METS.xml"
    draft.edit(name, 'OBJID="rep1"', 'OBJID="other"')
    draft.edit(name, ' LABEL="Metadata"', ' LABEL="metadata"')
    draft.edit("METS.xml", said(good().files[name]), said(draft.files[name]))
    report = validate_eark(write_folder(draft, tmp_path))
    assert errors(report) == {"CSIP1"}
    assert [(place.file, place.data["value"]) for place in places(report, "CSIP1")] == [(name, "other")]
    assert [place.data["rule"] for place in places(report, "EARK-REPRESENTATION")] == ["CSIP90", "CSIP88"]
