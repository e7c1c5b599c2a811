"""The form of a place is found by first bytes and by what lies inside, whatever it is called."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from noarkit.errors import HostileInput, PackageFault
from noarkit.forms.recognition import detect_form

MARKS = [
    ("bagit", ["bagit.txt", "data/METS.xml"]),
    ("eark", ["METS.xml", "representations/rep1/data/arkivstruktur.xml"]),
    ("dias", ["content/arkivstruktur.xml", "dias-mets.xml"]),
    ("noark5", ["arkivstruktur.xml", "dokumenter/a.pdf"]),
    ("noark5", ["content/arkivuttrekk.xml", "content/arkivstruktur.xml"]),
    ("plain", ["brev/METS.txt", "a.xml"]),
]
BOOK = b"""<?xml version="1.0"?><!-- a scanned book --><mets xmlns="http://www.loc.gov/METS/" PROFILE="http://a/b/alto"/>"""
EARK = b"""<?xml version='1.0'?><mets:mets xmlns:mets="http://www.loc.gov/METS/" PROFILE="https://earkcsip.dilcis.eu/p"/>"""
# a mark by its name, what it holds, and what stands beside it
BY_CONTENT = [
    ("plain", "bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n", ()),
    ("bagit", "bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n", ("manifest-sha256.txt",)),
    ("plain", "METS.xml", BOOK, ("alto/1.xml", "image/1.tif")),
    ("plain", "METS.xml", b"<not-mets/>", ()),
    ("plain", "METS.xml", b"", ()),
    ("eark", "METS.xml", EARK, ()),
    ("eark", "METS.xml", b"<mets:me", ("representations/rep1/data/a.txt",)),
    ("plain", "dias-mets.xml", b"a note on DIAS", ()),
    ("dias", "dias-mets.xml", b"<mets:mets xmlns:mets='http://www.loc.gov/METS/'/>", ()),
    ("plain", "arkivstruktur.xml", b"<note/>", ()),
    ("noark5", "arkivstruktur.xml", b"\xef\xbb\xbf<!DOCTYPE arkiv><arkiv xmlns='a'>", ()),
    ("noark5", "arkivuttrekk.xml", "<?xml version='1.0' encoding='utf-16'?><addml/>".encode("utf-16"), ()),
    ("plain", "arkivuttrekk.xml", b"<?xml version='1.0'?><a><addml/></a>", ()),
]


def folder(place: Path, names: Sequence[str]) -> Path:
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"<x/>")
    return place


def packed(place: Path, names: Sequence[str], kind: str) -> Path:
    if kind == "zip":
        with zipfile.ZipFile(place, "w") as archive:
            for name in names:
                archive.writestr(name, b"<x/>")
        return place
    with tarfile.open(place, "w:gz" if kind == "tar.gz" else "w") as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 4
            tar.addfile(info, io.BytesIO(b"<x/>"))
    return place


@pytest.mark.parametrize(("form", "names"), MARKS)
@pytest.mark.parametrize("top", ["", "pakke/"])
def test_a_form_is_known_in_every_container(tmp_path: Path, form: str, names: list[str], top: str) -> None:
    whole = [top + name for name in names]
    assert detect_form(folder(tmp_path / "a", whole)).form == form
    for number, kind in enumerate(("zip", "tar", "tar.gz")):
        found = detect_form(packed(tmp_path / f"{number}.pdf", whole, kind))
        assert (found.form, found.packed) == (form, kind)


@pytest.mark.parametrize(("form", "mark", "content", "beside"), BY_CONTENT)
@pytest.mark.parametrize("top", ["", "pakke/"])
def test_a_mark_is_one_by_what_it_holds_or_what_stands_beside_it(
    tmp_path: Path, form: str, mark: str, content: bytes, beside: tuple[str, ...], top: str
) -> None:
    place = folder(tmp_path / "a", [f"{top}{name}" for name in (mark, "notes/other.txt", *beside)])
    (place / top / mark).write_bytes(content)
    assert detect_form(place).form == form
    for last in (True, False):  # in whichever order the files lie
        names = [f"{top}{name}" for name in ("notes/other.txt", *beside)]
        names.insert(len(names) if last else 0, f"{top}{mark}")
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for name in names:
                archive.writestr(name, content if name.endswith(mark) else b"<x/>")
        assert detect_form(tmp_path / "a.zip").form == form


def test_a_siard_file_is_a_zip_with_a_header(tmp_path: Path) -> None:
    names = ["content/schema0/table0/table0.xml", "header/metadata.xml"]
    assert detect_form(packed(tmp_path / "a", names, "zip")).form == "siard"


def test_a_siard_archive_that_is_unpacked_and_the_danish_variant_are_known_by_their_folders(tmp_path: Path) -> None:
    unpacked = folder(tmp_path / "a", ["content/schema0/table0/table0.xml", "header/metadata.xml"])
    danish = folder(tmp_path / "AVID.SA.1.1", ["Indices/tableIndex.xml", "Tables/table1/table1.xml"])
    assert [detect_form(one).form for one in (unpacked, danish)] == ["siard", "siard"]
    for name in ("header/metadata.xml", "Indices/tableIndex.xml"):
        assert detect_form(folder(tmp_path / "alone" / name.partition("/")[0], [name])).form == "plain"


def test_a_folder_with_nothing_but_the_tar_of_a_dias_package_is_one(tmp_path: Path) -> None:
    for name, names, form in (
        ("lone", ["p/dias-mets.xml", "p/content/a.txt"], "dias"),
        ("other", ["p/a.txt"], "plain"),
    ):
        (tmp_path / name).mkdir()
        packed(tmp_path / name / "p.tar", names, "tar")
        assert detect_form(tmp_path / name).form == form
    (tmp_path / "lone" / "b.txt").write_bytes(b"")
    assert detect_form(tmp_path / "lone").form == "plain"


def test_a_tar_that_ends_like_a_zip_is_a_tar(tmp_path: Path) -> None:
    inner = packed(tmp_path / "base.siard", ["header/metadata.xml"], "zip").read_bytes()
    with tarfile.open(tmp_path / "a.zip", "w") as tar:
        for name, content in (("p/METS.xml", b"<x/>"), ("p/representations/r/data/base.siard", inner)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    assert (detect_form(tmp_path / "a.zip").form, detect_form(tmp_path / "a.zip").packed) == ("eark", "tar")


def test_a_tar_beside_its_description_is_a_dias_delivery(tmp_path: Path) -> None:
    packed(tmp_path / "uuid.tar", ["uuid/content/a.txt"], "tar")
    (tmp_path / "uuid.xml").write_text("<x/>")
    assert detect_form(tmp_path).form == "dias"
    assert detect_form(tmp_path / "uuid.xml").form == "dias"


def test_a_plain_file_is_plain_and_a_hostile_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"brev")
    assert detect_form(tmp_path / "a.zip").form == "plain"
    with pytest.raises(HostileInput):
        detect_form(packed(tmp_path / "b", ["a/../../b"], "zip"))
    with pytest.raises(PackageFault):
        (tmp_path / "c").write_bytes(b"PK\x03\x04" + b"x" * 600)
        detect_form(tmp_path / "c")
    with pytest.raises(FileNotFoundError):
        detect_form(tmp_path / "borte")
