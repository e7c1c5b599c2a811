"""Files whose names some system cannot bear: carried under others, with the original names kept, and none refused."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path
from urllib.parse import unquote

import bagit
import pytest
from lxml import etree

from noarkit.cli.main import main
from noarkit.safe.keys import key_of

ODD = {
    b"bl\xe5.txt": "bl=E5.txt",
    b"a:b.txt": "a=3Ab.txt",
    b"CON.txt": "=43ON.txt",
    b"dot.": "dot=2E",
    b"space ": "space=20",
    b"x?y": "x=3Fy",
    b"ctl\x01.txt": "ctl=01.txt",
    b"M\xe5ned/inni.txt": "M=E5ned/inni.txt",
    b"M\xe5ned/aux": "M=E5ned/=61ux",
}
PLAIN = [b"Sak.txt", b"n" * 246 + b".txt", "æ ø (1).txt".encode(), b"Vik%20kommune.pdf", b"50% =20.txt"]
TWIN = b"sak.txt"
ALL = sorted([*ODD, *PLAIN, TWIN])
METS = {"m": "http://www.loc.gov/METS/", "d": "http://arkivverket.no/standarder/METS"}
HREF = "{http://www.w3.org/1999/xlink}href"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of files with odd names; each holds its own name."""
    monkeypatch.chdir(tmp_path)
    fill(b"mapper", ALL)


def fill(root: bytes, names: list[bytes]) -> None:
    for name in names:
        path = Path(os.fsdecode(root), os.fsdecode(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name)


def attribute(element: etree._Element, path: str, name: str) -> str:
    """An attribute of the first element at a path."""
    found = element.find(path, METS)
    assert found is not None
    return unquote(str(found.get(name)))


def called(package: str) -> dict[str, str]:
    """The list beside a package: the name in it, and the key of the original one."""
    with Path(f"{package}.names.csv").open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file, delimiter=";")
    assert head == ["name", "original"]
    return {name: original for name, original in rows}


def expected(above: str) -> dict[str, str]:
    twin = f"sak~{hashlib.blake2b(TWIN, digest_size=16).hexdigest()}.txt"
    return {f"{above}{told}": key_of(name) for name, told in {**ODD, TWIN: twin}.items()}


def contents(files: dict[str, bytes], above: str) -> None:
    """Every file holds its own name: under the name it was given, or its own."""
    originals = {told: name for told, name in expected(above).items()}
    held = {name: content for name, content in files.items() if name.startswith(above)}
    assert sorted(held.values()) == ALL
    for name, content in held.items():
        assert key_of(content) == originals.get(name, key_of(name.removeprefix(above).encode()))


def below(root: Path) -> dict[str, bytes]:
    return {str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*") if one.is_file()}


def proven(bag: Path) -> None:
    """Each line of the manifest holds, read by the rules of BagIt 1.0; the library takes `%25` for letters."""
    lines = [line.split("  ", 1) for line in (bag / "manifest-sha512.txt").read_text("utf-8").splitlines()]
    assert len(lines) == len(ALL)
    for digest, name in lines:
        assert hashlib.sha512((bag / name.replace("%25", "%")).read_bytes()).hexdigest() == digest


def test_the_names_that_we_give_are_read_by_the_library_of_bags() -> None:
    fill(b"uten", [name for name in ALL if b"%" not in name])
    assert main(["convert", "uten", "--as", "bagit", "-o", "bag"], {}) == 0
    assert bagit.Bag("bag").validate()


def test_a_bag_keeps_them_in_a_tag_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag", "--json"], {}) == 0
    (made,) = [
        one for line in capsys.readouterr().out.splitlines() if (one := json.loads(line))["event"] == "converted"
    ]
    assert (made["files"], made["renamed"], made["set_aside"]) == (len(ALL), len(ODD) + 1, 0)
    assert called("bag") == expected("data/")
    contents(below(Path("bag")), "data/")
    proven(Path("bag"))
    told = dict(line.split("\t") for line in Path("bag/original-names.txt").read_text("utf-8").splitlines())
    assert told == expected("")
    assert f"Original-Names: original-names.txt ({len(told)})" in Path("bag/bag-info.txt").read_text("utf-8")
    assert "original-names.txt" in Path("bag/tagmanifest-sha512.txt").read_text("utf-8")
    assert main(["validate", "bag"], {}) == 0


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tar.gz"])
def test_a_packed_bag_is_read_by_others(ending: str) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", f"bag{ending}"], {}) == 0
    Path("out").mkdir()
    unpack = ["unzip", "-q", f"../bag{ending}"] if ending == ".zip" else ["tar", "-xf", f"../bag{ending}"]
    subprocess.run(unpack, cwd="out", check=True)
    contents(below(Path("out/bag")), "data/")
    proven(Path("out/bag"))
    assert main(["validate", f"bag{ending}"], {}) == 0


@pytest.mark.parametrize("form", ["eark-sip", "eark-aip", "eark-dip"])
@pytest.mark.parametrize("ending", ["", ".zip"])
def test_an_eark_package_keeps_them_in_mets_and_premis(form: str, ending: str) -> None:
    assert main(["convert", "mapper", "--as", form, "-o", f"pakke{ending}"], {}) == 0
    assert main(["validate", f"pakke{ending}"], {}) == 0
    above = "representations/files/data/"
    assert called(f"pakke{ending}") == expected(above)
    home = Path("pakke")
    if ending:
        with zipfile.ZipFile("pakke.zip") as packed:
            packed.extractall("ut")  # noqa: S202  # a package of our own
        (home,) = Path("ut").iterdir()  # a package of ours bears its own identifier
    contents(below(home), above)
    mets = etree.parse(str(home / "representations/files/METS.xml"))
    owned = {attribute(one, "m:FLocat", HREF): one.get("OWNERID") for one in mets.iterfind(".//m:file[@OWNERID]", METS)}
    originals = expected("data/")
    assert owned == originals
    premis = etree.parse(str(home / "representations/files/metadata/preservation/premis.xml"))
    space = {"p": "http://www.loc.gov/premis/v3"}
    names = {
        unquote(str(one.findtext(".//p:contentLocationValue", namespaces=space))): one.findtext(
            "p:originalName", namespaces=space
        )
        for one in premis.iterfind("p:object", space)
        if one.find("p:originalName", space) is not None
    }
    assert {name: told for name, told in names.items() if name in originals} == originals


def test_a_dias_package_keeps_them_in_mets_and_premis() -> None:
    assert main(["convert", "mapper", "--as", "dias-sip", "-o", "pakke"], {}) == 0
    assert main(["validate", "pakke"], {}) == 0
    assert called("pakke") == expected("content/")
    (packed,) = Path("pakke").glob("*.tar")
    with tarfile.open(packed) as archive:
        archive.extractall("ut")  # noqa: S202  # a package of our own
    (home,) = Path("ut").iterdir()
    contents(below(home), "content/")
    mets = etree.parse(str(home / "dias-mets.xml"))
    owned = {
        attribute(one, "d:FLocat", HREF).removeprefix("file:content/"): one.get("OWNERID")
        for one in mets.iterfind(".//d:file[@OWNERID]", METS)
    }
    originals = expected("")
    assert owned == originals
    space = {"p": "http://arkivverket.no/standarder/PREMIS"}
    premis = etree.parse(str(home / "administrative_metadata/dias-premis.xml"))
    names = {one.text for one in premis.iterfind(".//p:originalName", space)}
    assert {f"content/{key}" for key in originals.values()} <= names


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_they_are_told_at_once_in_words(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag", "--lang", lang], {}) == 0
    out = capsys.readouterr().out
    assert f"{len(ODD) + 1} fil" in out and "bag.names.csv" in out


def test_a_strict_convert_names_all_of_them_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "eark-sip", "-o", "pakke", "--strict"], {}) == 4
    told = capsys.readouterr().err
    originals = expected("representations/files/data/")
    assert all(key in told for key in originals.values())
    assert called("pakke") == originals and not Path("pakke").exists()


def test_the_same_folder_gives_the_same_package_again() -> None:
    for name in ("en.tar", "to.tar"):
        assert main(["convert", "mapper", "--as", "bagit", "-o", name], {}) == 0
    held = []
    for name in ("en", "to"):
        with tarfile.open(f"{name}.tar") as archive:
            held.append([one.name.removeprefix(f"{name}/") for one in archive])
    assert held[0] == held[1]


@pytest.mark.parametrize("form", ["bagit", "eark-sip", "dias-sip"])
def test_a_path_that_no_package_can_bear_is_set_aside(form: str) -> None:
    here = os.open("mapper", os.O_RDONLY)
    for _ in range(17):
        os.mkdir("d" * 250, dir_fd=here)
        deeper = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("langt.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    assert main(["convert", "mapper", "--as", form, "-o", "pakke"], {}) == 3
    told = Path("pakke.set-aside.csv").read_text("utf-8-sig")
    assert "langt.txt" in told and "F601" in told
    assert main(["validate", "pakke"], {}) == 0
