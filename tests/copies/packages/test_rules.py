"""One thing wrong in what PREMIS says of copies, and one rule that tells it; all else about the package holds."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest

import noarkit
from tests.copies.planning.made import LETTER, lay, sha256

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
    ],
)
def test_one_defect_is_told_by_one_rule(
    package: Path, tmp_path: Path, place: Path, pattern: str, new: str, code: str
) -> None:
    assert new_codes(package, edited(package, tmp_path / "changed", place, pattern, new)) == {code}


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
