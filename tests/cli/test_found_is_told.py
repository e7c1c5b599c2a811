"""What a plan finds in a package, it carries or skips by name: nothing stands there untold."""

from __future__ import annotations

import hashlib
import io
import os
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.forms.addml.deliveries import delivery


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with one file."""
    monkeypatch.chdir(tmp_path)
    Path("mapper").mkdir()
    Path("mapper/a.txt").write_bytes(b"a")


def planned(place: str) -> dict[str, str]:
    """What a plan of a place found, by key, and what became of it."""
    assert main(["plan", place, "-o", "run"], {}) == 0
    with closing(sqlite3.connect("run/graph.db")) as db:
        return dict(db.execute("SELECT key, state FROM record"))


def expected(names: list[str], content: str) -> set[str]:
    """The keys of files: those of the content by their names in it, all others by a `/` before theirs."""
    return {name.removeprefix(content) if name.startswith(content) else f"/{name}" for name in names}


def below(root: Path) -> list[str]:
    """Every file below a folder."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize("packed", [False, True])
def test_every_file_of_a_bag_is_carried_or_skipped_by_name(packed: bool) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag"], {}) == 0
    Path("bag/katalog").mkdir()
    Path("bag/katalog/liste.xml").write_bytes(b"<liste/>")
    with Path("bag/tagmanifest-sha512.txt").open("a") as file:
        file.write(f"{hashlib.sha512(b'<liste/>').hexdigest()}  katalog/liste.xml\n")
    if packed:
        with zipfile.ZipFile("bag.zip", "w") as archive:
            for one in sorted(Path("bag").rglob("*")):
                if one.is_file():
                    archive.write(one)
    found = planned("bag.zip" if packed else "bag")
    assert set(found) == expected(below(Path("bag")), "data/")
    carried = {key for key, state in found.items() if state == "mapped"}
    assert carried == {"a.txt", "/katalog/liste.xml", "/bag-info.txt", "/premis.xml"}
    assert set(found.values()) == {"mapped", "skipped"}


def test_every_file_of_a_dias_package_is_carried_or_skipped_by_name() -> None:
    assert main(["convert", "mapper", "--as", "dias-sip", "-o", "pakke"], {}) == 0
    (packed,) = Path("pakke").glob("*.tar")
    with tarfile.open(packed, "a") as archive:
        info = tarfile.TarInfo(f"{packed.stem}/ekstra/notat.txt")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"notat"))
    packed.rename("alene.tar")
    with tarfile.open("alene.tar") as archive:
        names = [member.name.partition("/")[2] for member in archive if member.isfile()]
    found = planned("alene.tar")
    assert set(found) == expected(names, "content/")
    assert found["/ekstra/notat.txt"] == found["a.txt"] == found["/dias-mets.xml"] == "mapped"
    assert {key for key, state in found.items() if state == "skipped"} == {f"/{one}" for one in names if ".xsd" in one}


@pytest.mark.parametrize("tail", ["", ".zip"])
def test_every_file_of_an_eark_package_is_carried_or_skipped_by_name(tail: str) -> None:
    assert main(["convert", "mapper", "--as", "eark-sip", "-o", f"pakke{tail}"], {}) == 0
    names = below(Path("pakke"))
    if tail:
        with zipfile.ZipFile("pakke.zip") as archive:
            names = [name.partition("/")[2] for name in archive.namelist() if not name.endswith("/")]
    found = planned(f"pakke{tail}")
    assert set(found) == set(names)
    assert {key for key, state in found.items() if state == "skipped"} == {one for one in names if ".xsd" in one}


def test_every_file_of_a_delivery_of_flat_files_is_carried_or_skipped_by_name() -> None:
    delivery(Path("uttrekk"))
    found = planned("uttrekk")
    rows = {key for key in found if ":" in key}
    assert rows == {f"SAK:S{number}" for number in (1, 2, 3)} | {f"BREV:{number}" for number in (1, 2, 3)}
    assert set(found) - rows - {"SAK#DATO"} == set(below(Path("uttrekk")))
    files = {key: state for key, state in found.items() if key not in rows}
    assert {key for key, state in files.items() if state == "mapped"} == {"addml.xml", "les meg.txt"}
    assert set(files.values()) == {"mapped", "skipped"}


def test_a_packed_bag_with_a_folder_beside_it_is_refused_and_never_becomes_an_empty_package(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag"], {}) == 0
    Path("annet").mkdir()
    Path("annet/notat.txt").write_bytes(b"notat")
    with tarfile.open("bag.tar", "w") as archive:
        archive.add("bag")
        archive.add("annet")
    assert main(["convert", "bag.tar", "--as", "eark-sip", "-o", "pakke", "--despite-damage"], {}) == 4
    assert "single top folder" in capsys.readouterr().err
    assert not Path("pakke").exists()


def test_a_file_of_a_bag_whose_name_is_no_text_is_set_aside_by_its_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag"], {}) == 0
    Path("bag", "data", os.fsdecode(b"bl\xe5.txt")).write_bytes(b"b")
    assert main(["plan", "bag", "-o", "run"], {}) == 3
    assert "bl%E5.txt" in Path("run/set-aside.csv").read_text("utf-8-sig")
