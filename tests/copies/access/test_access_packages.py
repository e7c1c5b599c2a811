"""Packages that hold access copies: a representation of their own, each told with its master."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from tests.copies.access.made import write_masters
from tests.copies.packages.foreign import eark, sha256
from tests.forms.eark.oracles import premis_schema

pytestmark = pytest.mark.usefixtures("one_archive")

SIP = "representations/access"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("access-packages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (write_masters(folder) / "letter.txt").write_bytes("Blåbærsyltetøy på kjøkkenbenken".encode("cp1252"))
        noarkit.derive("saker", "copies", policy="policy.toml", workers=1)
        noarkit.plan("saker", "run", copies="copies")
        noarkit.ingest("run", archive="embedded:first", workers=0)
        noarkit.close("run", archive="embedded:first")
        yield folder


@pytest.fixture
def inside(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    return place


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if path.is_file()}


def test_a_folder_with_its_copies_has_three_representations(inside: Path) -> None:
    result = noarkit.convert("saker", "sip", form="eark-sip", copies="copies")
    assert (result.copies, result.access_copies) == (1, 2)
    assert _files(Path("sip/representations/rep1/data")) == {
        f"2024-1/{name}" for name in ("map.tif", "case.tif", "letter.txt")
    }
    assert _files(Path("sip/representations/rep2/data")) == {"2024-1/letter.txt"}
    assert _files(Path(f"sip/{SIP}/data")) == {"2024-1/map.jpg", "2024-1/case.pdf"}
    mets = etree.parse(f"sip/{SIP}/METS.xml")
    assert mets.xpath("string(//*[local-name()='structMap']/*[local-name()='div']/@TYPE)") == "ACCESS"
    assert noarkit.validate("sip").number("error") == 0


def test_each_access_copy_names_its_master_in_premis(inside: Path, reference: Path) -> None:
    noarkit.convert("saker", "sip-premis", form="eark-sip", copies="copies")
    premis = eark(Path("sip-premis"))
    derived = premis.derived("has source")
    copies = Path(f"sip-premis/{SIP}/data/2024-1")
    masters = Path("saker/2024-1")
    assert {
        (sha256(copies / "map.jpg"), sha256(masters / "map.tif")),
        (sha256(copies / "case.pdf"), sha256(masters / "case.tif")),
    } < derived
    document = Path(f"sip-premis/{SIP}/metadata/preservation/premis.xml").read_bytes()
    assert document.count(b", for access<") == 2
    premis_schema(reference).assertValid(etree.fromstring(document))


def test_an_extract_in_a_package_has_its_access_copies_beside_it_where_they_are_asked_for(inside: Path) -> None:
    bare = noarkit.extract("bare", archive="embedded:first", form="eark-sip")
    assert (bare.copies, bare.access_copies, bare.access_left_out) == (1, 0, 2)
    assert not Path(f"bare/{SIP}").exists()
    result = noarkit.extract(
        "whole", noarkit.ExtractOptions(with_access_copies=True), archive="embedded:first", form="eark-sip"
    )
    assert (result.copies, result.access_copies, result.access_left_out) == (1, 2, 0)
    assert {Path(name).suffix for name in _files(Path(f"whole/{SIP}/data"))} == {".jpg", ".pdf"}
    assert {Path(name).suffix for name in _files(Path("whole/representations/rep2/data/dokumenter"))} == {
        ".tif",
        ".txt",
    }
    assert len(eark(Path("whole")).derived("has source")) == 3
    assert noarkit.validate("whole").number("error") == 0


def test_other_packages_have_a_folder_for_them(inside: Path) -> None:
    result = noarkit.convert("saker", "bag", form="bagit", copies="copies")
    assert result.access_copies == 2
    assert _files(Path("bag/data/access")) == {"2024-1/map.jpg", "2024-1/case.pdf"}
    assert noarkit.convert("saker", "dias-sip", form="dias-sip", copies="copies").access_copies == 2
    for package in ("bag", "dias-sip"):
        assert noarkit.validate(package).number("error") == 0


def test_what_is_planned_of_a_package_has_access_copies_again(inside: Path) -> None:
    noarkit.convert("saker", "sip-back", form="eark-sip", copies="copies")
    noarkit.plan("sip-back", "run-back")
    noarkit.ingest("run-back", archive="embedded:back", workers=0)
    noarkit.close("run-back", archive="embedded:back")
    result = noarkit.extract("package-back", archive="embedded:back")
    assert (result.copies, result.access_left_out) == (1, 2)
