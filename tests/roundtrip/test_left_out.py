"""What is found in a package is carried into another, or told by name: nothing goes missing in silence."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest

from noarkit.extraction.convert import ConvertOptions, convert, set_aside_path

METS = b'<mets:mets xmlns:mets="http://www.loc.gov/METS/" PROFILE="https://earksip.dilcis.eu/profile"/>'
# a package of each form, and the files in it that nothing of the form speaks of
PACKAGES = {
    "eark": (
        {
            "METS.xml": METS,
            "representations/rep1/METS.xml": METS,
            "representations/rep1/data/a.txt": b"a",
            "representations/rep1/metadata/preservation/premis.xml": b"<premis/>",
            "representations/rep1/notes.txt": b"beside the data",
            "schemas/mets.xsd": b"<x/>",
            "forgotten.txt": b"at the root",
        },
        {"representations/rep1/notes.txt", "forgotten.txt"},
    ),
    "dias": (
        {
            "dias-mets.xml": METS,
            "log.xml": b"<x/>",
            "content/a.txt": b"a",
            "descriptive_metadata/ead.xml": b"<ead/>",
            "forgotten/b.txt": b"b",
        },
        {"forgotten/b.txt"},
    ),
    "bagit": (
        {
            "bagit.txt": b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
            "manifest-sha256.txt": b"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  data/a.txt\n",
            "data/a.txt": b"a",
            "own-tags/who.txt": b"us",
        },
        set(),  # a tag file goes along as a document of the source
    ),
    "noark5": (
        {"content/arkivstruktur.xml": b"<arkiv/>", "content/arkivuttrekk.xml": b"<addml/>", "letter.txt": b"a"},
        {"letter.txt"},
    ),
}


def laid(place: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def listed(package: Path) -> set[str]:
    if not set_aside_path(package).exists():
        return set()
    with set_aside_path(package).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert {row[2] for row in rows[1:]} <= {"not-carried"}
    return {row[0] for row in rows[1:]}


@pytest.mark.parametrize("form", PACKAGES)
@pytest.mark.parametrize("target", ["eark-sip", "dias-sip"])
def test_what_no_form_speaks_of_is_listed_by_name(form: str, target: str, tmp_path: Path) -> None:
    files, beside = PACKAGES[form]
    source = laid(tmp_path / "source", files)
    made = convert(source, tmp_path / "made", ConvertOptions(target))
    assert made.source_form == form
    assert listed(made.package) == beside
    assert made.set_aside == len(beside)


@pytest.mark.parametrize("target", ["eark-sip", "dias-sip"])
def test_a_tag_file_goes_along_as_it_was(target: str, tmp_path: Path) -> None:
    source = laid(tmp_path / "source", PACKAGES["bagit"][0])
    made = convert(source, tmp_path / "made", ConvertOptions(target))
    if target == "dias-sip":
        (packed,) = made.package.glob("*.tar")
        subprocess.run(["tar", "-xf", packed, "-C", made.package], check=True)
    kept = [path for path in made.package.rglob("*") if "who.txt" in path.name]
    assert [path.read_bytes() for path in kept] == [b"us"]


@pytest.mark.parametrize("form", ["eark", "dias", "noark5"])
def test_a_bag_takes_a_package_whole(form: str, tmp_path: Path) -> None:
    files, _ = PACKAGES[form]
    made = convert(laid(tmp_path / "source", files), tmp_path / "made", ConvertOptions("bagit"))
    assert (made.files, made.set_aside, listed(made.package)) == (len(files), 0, set())
