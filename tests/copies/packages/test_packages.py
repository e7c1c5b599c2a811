"""Packages that hold documents and their archival copies: both are there, and PREMIS tells the one from the other."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.errors import SourceFault, UsageFault
from tests.copies.packages.foreign import DIAS, ForeignPremis, eark, sha256
from tests.copies.planning.made import LETTER, MINUTES, Copies, lay, pdfa_of, picture
from tests.copies.planning.made import sha256 as sha256_of
from tests.forms.dias.official import Official
from tests.forms.eark.oracles import premis_schema

pytestmark = pytest.mark.usefixtures("one_archive")

REPS = Path("representations")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Copies]]:
    """A folder of documents with copies of two of them, and an archive that holds all of it."""
    folder = tmp_path_factory.mktemp("packages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        documents, copies = lay(folder)
        noarkit.plan(documents, "run", copies="copies")
        noarkit.ingest("run", archive="embedded:first", workers=0)
        noarkit.close("run", archive="embedded:first")
        yield folder, copies


def pairs(copies: Copies) -> set[tuple[str, str]]:
    """Checksums of each copy and of what it was made of, as the test laid them."""
    return {(sha256_of(copies.made[sha256_of(one)]), sha256_of(one)) for one in (LETTER, MINUTES)}


def make(how: str, form: str, target: str) -> Path:
    """A package of the archive, or of the folder with its copies."""
    if how == "extract":
        noarkit.extract(target, archive="embedded:first", form=form)
    else:
        result = noarkit.convert("saker", target, form=form, copies="copies")
        assert (result.files, result.copies) == (7, 2)
    assert noarkit.validate(target).number("error") == 0
    return Path(target).absolute()


def check_premis(premis: ForeignPremis, expected: set[tuple[str, str]], migration: str) -> None:
    """What PREMIS says is what the bytes say."""
    assert premis.derived("has source") == expected
    assert premis.derived("is source of") == {(source, copy) for copy, source in expected}
    agents = {
        premis.text(one, "p:agentIdentifier/p:agentIdentifierValue"): premis.text(one, "p:agentName")
        for _, one in premis.find("//p:agent")
    }
    files, migrations = premis.files(), premis.events(migration)
    told = set()
    for event in migrations.values():
        if not premis.texts(event, "p:linkingObjectIdentifier[p:linkingObjectIdentifierType!='package']"):
            continue
        assert premis.text(event, "p:eventDateTime") == "2026-01-22T09:12:03Z"
        assert premis.text(event, "p:eventOutcomeInformation/p:eventOutcome") == "success"
        linked = premis.texts(event, "p:linkingAgentIdentifier/p:linkingAgentIdentifierValue")
        assert {"LibreOffice 7.4.7.2", "noarkit"} <= set(linked)
        assert all(name.split(" ")[0] in agents[name] for name in linked)
        source, copy = premis.texts(event, "p:linkingObjectIdentifier/p:linkingObjectIdentifierValue")
        told.add((sha256(files[copy]), sha256(files[source])))
    assert told == expected


@pytest.mark.parametrize("how", ["extract", "convert"])
@pytest.mark.parametrize("form", ["eark-sip", "eark-aip"])
def test_an_e_ark_package_has_originals_and_copies_as_representations(
    place: tuple[Path, Copies], how: str, form: str, reference: Path
) -> None:
    package = make(how, form, f"{how}-{form}")
    premis, expected = eark(package), pairs(place[1])
    check_premis(premis, expected, "migration")
    rep1, rep2 = ({sha256(one) for one in (package / REPS / name / "data").rglob("*.*")} for name in ("rep1", "rep2"))
    assert {source for _, source in expected} <= rep1 - rep2
    assert {copy for copy, _ in expected} <= rep2 - rep1
    validations = premis.events("validation")
    checked = {
        sha256(premis.files()[premis.text(one, ".//p:linkingObjectIdentifierValue")]) for one in validations.values()
    }
    assert checked == rep2 & {copy for copy, _ in expected}
    schema = premis_schema(reference)
    for path in package.rglob("premis.xml"):
        assert schema.validate(etree.parse(path)), schema.error_log


def test_versions_of_tools_are_told_and_formats_by_their_identifiers(place: tuple[Path, Copies]) -> None:
    premis = eark(make("convert", "eark-sip", "told"))
    versions = {
        premis.text(one, "p:agentName"): premis.text(one, "p:agentVersion") for _, one in premis.find("//p:agent")
    }
    assert versions["LibreOffice"] == "7.4.7.2"
    for base, subtype, puid in ((REPS / "rep1", "is source of", "fmt/40"), (REPS / "rep2", "has source", "fmt/477")):
        found = premis.find(f"//p:object[p:relationship/p:relationshipSubType='{subtype}'][.//p:originalName]")
        keys = [premis.text(one, ".//p:formatRegistryKey") for where, one in found if str(where).endswith(str(base))]
        assert keys == [puid, puid]
    notes = {premis.text(event, ".//p:eventOutcomeDetailNote") for event in premis.events("migration").values()}
    assert notes == {"", "fields count=2"}


def test_both_representations_are_related_and_the_events_named_from_both_sides(place: tuple[Path, Copies]) -> None:
    premis = eark(make("convert", "eark-sip", "both"))
    whole = premis.find("//p:object[@xsi:type='representation']")
    said = {
        premis.text(one, "p:objectIdentifier/p:objectIdentifierValue"): premis.texts(
            one, "p:relationship[p:relationshipType='derivation']/p:relationshipSubType"
        )
        for _, one in whole
    }
    assert said == {"rep1": ["is source of"], "rep2": ["has source"]}
    named = [premis.text(one, ".") for _, one in premis.find("//p:relatedEventIdentifierValue")]
    events = premis.events("migration")
    assert sorted(named) == sorted([*events, *events])
    assert len(events) == 2


@pytest.mark.parametrize("how", ["extract", "convert"])
@pytest.mark.parametrize("form", ["dias-sip", "dias-aip"])
def test_a_dias_package_has_folders_of_both(
    place: tuple[Path, Copies], tmp_path: Path, how: str, form: str, reference: Path
) -> None:
    package = make(how, form, f"{how}-{form}")
    (tar,) = package.glob("*.tar")
    with tarfile.open(tar) as file:
        file.extractall(tmp_path, filter="data")
    (root,) = tmp_path.iterdir()
    (document,) = root.rglob("dias-premis.xml")
    premis = ForeignPremis({root: etree.parse(document).getroot()}, DIAS)
    check_premis(premis, pairs(place[1]), "Migration")
    assert {sha256(one) for one in (root / "content" / "original").rglob("*.doc")} == {
        source for _, source in pairs(place[1])
    }
    assert (root / "content" / "archive").is_dir() is (how == "convert")
    assert (root / "content" / "arkivstruktur.xml").is_file() is (how == "extract")
    schema = Official(reference / "xsd" / "dias").schema("premis")
    assert schema.validate(etree.parse(document)), schema.error_log


@pytest.mark.parametrize("how", ["extract", "convert"])
def test_a_bag_has_folders_of_both_and_a_manifest_of_what_the_copies_name(
    place: tuple[Path, Copies], how: str, reference: Path
) -> None:
    bag = make(how, "bagit", f"{how}-bag")
    premis = ForeignPremis({bag: etree.parse(bag / "premis.xml").getroot()})
    check_premis(premis, pairs(place[1]), "migration")
    listed = dict(line.split("  ", 1) for line in (bag / "manifest-sha256.txt").read_text("utf-8").splitlines())
    assert {checksum for pair in pairs(place[1]) for checksum in pair} <= set(listed)
    assert (bag / "data" / "arkivstruktur.xml").is_file() is (how == "extract")
    assert (bag / "data" / "original").is_dir()
    assert (bag / "data" / "archive").is_dir() is (how == "convert")
    schema = premis_schema(reference)
    assert schema.validate(etree.parse(bag / "premis.xml")), schema.error_log


def test_copies_of_namesakes_keep_apart(tmp_path: Path) -> None:
    folder, copies = tmp_path / "saker", Copies(tmp_path / "copies")
    folder.mkdir()
    sources = {"a.doc": b"\xd0\xcf one", "a.docx": b"PK two", "A.odt": b"PK three"}
    for number, (name, content) in enumerate(sources.items()):
        (folder / name).write_bytes(content)
        copies.of(content, "made", pdfa_of(picture(20 + number)))
    noarkit.convert(folder, tmp_path / "package", form="eark-sip", copies=copies.folder)
    names = {one.name for one in (tmp_path / "package" / REPS / "rep2" / "data").iterdir()}
    assert len(names) == len({name.casefold() for name in names}) == 3
    made = {sha256_of(result): source for source, result in copies.made.items()}
    assert eark(tmp_path / "package").derived("has source") == set(made.items())


def test_without_copies_a_package_is_as_before(tmp_path: Path) -> None:
    folder, copies = tmp_path / "saker", Copies(tmp_path / "copies")
    folder.mkdir()
    (folder / "a.doc").write_bytes(b"\xd0\xcf one")
    copies.of(b"\xd0\xcf one", "failed")
    result = noarkit.convert(folder, tmp_path / "package", form="eark-sip", copies=copies.folder)
    assert (result.files, result.copies) == (1, 0)
    assert [one.name for one in (tmp_path / "package" / REPS).iterdir()] == ["files"]


def test_a_copy_whose_bytes_changed_goes_into_no_package(tmp_path: Path) -> None:
    folder, copies = lay(tmp_path)
    copy = sha256_of(copies.made[sha256_of(LETTER)])
    path = copies.folder / "objects" / copy[:2] / copy
    path.chmod(0o600)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(noarkit.errors.NoarkitError) as fault:
        noarkit.convert(folder, tmp_path / "package", form="eark-sip", copies=copies.folder)
    assert isinstance(fault.value, SourceFault) or fault.value.data["detail"] == "F203"
    assert not (tmp_path / "package").exists()


def test_copies_go_with_a_folder_of_documents_alone(place: tuple[Path, Copies]) -> None:
    make("extract", "eark-sip", "whole")
    with pytest.raises(UsageFault):
        noarkit.convert("whole", "again", form="bagit", copies="copies")
    with pytest.raises(UsageFault):
        noarkit.convert("saker", "again", form="noark5", copies="copies")
