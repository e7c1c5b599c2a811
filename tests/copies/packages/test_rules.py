"""One thing wrong in what PREMIS says of copies, and one rule that tells it; all else about the package holds."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import shutil
from pathlib import Path

import bagit
import pytest
from lxml import etree

import noarkit
from samples.packages import copies as samples
from samples.packages import dias as samples_dias
from samples.packages.copies import BAD_COPIES, COPY, DIAS, PREMIS_3, CopiedLetter
from tests.copies.packages.foreign import ForeignPremis
from tests.copies.planning.made import LETTER, lay, sha256
from tests.forms.bagit.bags import folder, parts, seal
from tests.forms.dias.official import Official
from tests.forms.eark.oracles import premis_schema

PREMIS = Path("metadata/preservation/premis.xml")
REP1, REP2 = Path("representations/rep1"), Path("representations/rep2")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of documents with copies of two of them."""
    folder = tmp_path_factory.mktemp("rules")
    documents, copies = lay(folder)
    noarkit.convert(documents, folder / "package", form="eark-aip", copies=copies.folder)
    return folder / "package"


def edited(package: Path, target: Path, place: Path, pattern: str, new: str, count: int = 1) -> Path:
    """A copy of the package with a change in one PREMIS, whose METS knows of it."""
    shutil.copytree(package, target)
    path = target / place / PREMIS
    text = path.read_text("utf-8")
    changed = re.sub(pattern, new, text, count=count)
    assert changed != text
    replace(target, path, changed)
    return target


def replace(root: Path, path: Path, text: str) -> None:
    """Writes a document anew; every METS above it that has its checksum and size gets the new ones."""
    old, new = path.read_bytes(), text.encode()
    path.write_bytes(new)
    if path == root / "METS.xml":
        return
    facts = [(hashlib.sha256(one).hexdigest(), len(one)) for one in (old, new)]
    for mets in (path.parents[2] / "METS.xml", root / "METS.xml"):
        said = mets.read_text("utf-8")
        told = re.sub(
            rf'SIZE="{facts[0][1]}"(?P<rest>[^>]*)CHECKSUM="{facts[0][0]}"',
            rf'SIZE="{facts[1][1]}"\g<rest>CHECKSUM="{facts[1][0]}"',
            said,
        )
        if told != said:
            replace(root, mets, told)
            return


def new_codes(package: Path, changed: Path) -> set[str]:
    return set(noarkit.validate(changed).codes - noarkit.validate(package).codes)


def test_a_package_as_it_is_made_breaks_none_of_them(package: Path) -> None:
    assert not [code for code in noarkit.validate(package).codes if code.startswith("EARK-")]


@pytest.mark.parametrize(
    ("place", "pattern", "new", "code"),
    [
        (REP2, r"(?<=Value>)ID-rep1-file-2(?=</related)", "ID-rep1-file-99", "EARK-COPY-SOURCE"),
        (REP1, r"(?<=Value>)ID-rep2-file-1(?=</related)", "gone", "EARK-COPY-SOURCE"),
        (REP2, f"sha256 {sha256(LETTER)}", f"sha256 {'0' * 64}", "EARK-COPY-CHECKSUM"),
        (REP2, r"to [0-9a-f]{64}", f"to {'f' * 64}", "EARK-COPY-CHECKSUM"),
        (
            REP2,
            r"(?s)(<eventType>migration</eventType>.*?)<eventOutcomeInformation>.*?</eventOutcomeInformation>",
            r"\1",
            "EARK-COPY-EVENT",
        ),
        (REP1, r"(?<=<relatedEventIdentifierValue>)[^<]+", "none", "EARK-COPY-EVENT"),
        (REP2, "fmt/40 to fmt/477", "fmt/40 to fmt/354", "EARK-COPY-FORMAT"),
        (REP2, "fmt/40 to fmt/477", "fmt/40 to fmt/279", "EARK-COPY-FORMAT"),
    ],
)
def test_one_defect_is_told_by_one_rule(
    package: Path, tmp_path: Path, place: Path, pattern: str, new: str, code: str
) -> None:
    assert new_codes(package, edited(package, tmp_path / "changed", place, pattern, new)) == {code}


def test_an_original_that_is_gone_is_told_by_its_copy(package: Path, tmp_path: Path) -> None:
    shutil.copytree(package, tmp_path / "changed")
    (letter,) = (one for one in (tmp_path / "changed" / REP1).rglob("*.doc") if one.read_bytes() == LETTER)
    letter.unlink()
    assert "EARK-COPY-SOURCE" in new_codes(package, tmp_path / "changed")


def test_the_finding_names_the_object_and_both_checksums(package: Path, tmp_path: Path) -> None:
    changed = edited(package, tmp_path / "changed", REP2, f"sha256 {sha256(LETTER)}", f"sha256 {'0' * 64}")
    (rule,) = [one for one in noarkit.validate(changed).outcomes if one.rule.code == "EARK-COPY-CHECKSUM"]
    (place,) = rule.places
    assert (place.file, place.data["expected"], place.data["found"]) == (
        str(REP2 / PREMIS),
        "0" * 64,
        sha256(LETTER),
    )
    assert place.line


def test_the_order_of_relationships_and_those_of_other_kinds_change_nothing(package: Path, tmp_path: Path) -> None:
    other = (
        "<relationship><relationshipType>structural</relationshipType><relationshipSubType>is part of"
        "</relationshipSubType><relatedObjectIdentifier><relatedObjectIdentifierType>local</relatedObjectIdentifierType>"
        "<relatedObjectIdentifierValue>elsewhere</relatedObjectIdentifierValue></relatedObjectIdentifier></relationship>"
    )
    changed = edited(
        package, tmp_path / "changed", REP2, "</storage><relationship>", f"</storage>{other}<relationship>"
    )
    assert new_codes(package, changed) == set()


def test_the_written_samples_are_what_foreign_readers_make_of_them(tmp_path: Path, reference: Path) -> None:
    """What breaks the rules is good but for one thing: so say lxml, hashlib and the official schemas."""
    for namespace, place in ((DIAS, "content"), (PREMIS_3, "data")):
        letter = CopiedLetter(place, namespace)
        root = tmp_path / place
        for name, content in letter.files().items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        document = etree.fromstring(letter.premis().encode())
        premis = ForeignPremis({root: document}, namespace)
        expected = {(sha256(COPY), sha256(samples.LETTER))}
        assert premis.derived("has source") == expected
        assert premis.derived("is source of") == {(source, copy) for copy, source in expected}
        (event,) = premis.events("Migration").values()
        detail = premis.text(event, ".//p:eventDetail")
        assert detail.endswith(f"sha256 {sha256(samples.LETTER)} to {sha256(COPY)}")
    assert premis_schema(reference).validate(document)
    whole = samples_dias.premis(samples_dias.UUID, CopiedLetter("content", DIAS).entities())
    assert Official(reference / "xsd" / "dias").schema("premis").validate(etree.fromstring(whole.encode()))


@pytest.mark.parametrize("rule", BAD_COPIES)
def test_a_bag_that_a_foreign_validator_takes_is_still_told_of_its_copies(rule: str, tmp_path: Path) -> None:
    """The manifests hold, which is all that bagit-python asks: what was made of what is told by our rules alone."""
    for number, (_, changes) in enumerate(BAD_COPIES[rule]):
        letter = dataclasses.replace(CopiedLetter("data", PREMIS_3), **changes)  # type: ignore[arg-type]  # fields by name
        path = folder(tmp_path / f"{number}", seal({**parts(letter.files()), "premis.xml": letter.premis().encode()}))
        assert bagit.Bag(str(path)).validate()
        assert noarkit.validate(path).codes == {f"BAGIT-COPY-{rule}"}
