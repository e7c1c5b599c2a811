"""noarkit convert, and validate of what it makes, on the command line."""

from __future__ import annotations

import csv
import json
import os
import socket
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.cli.contract import schema
from noarkit.cli.main import main
from noarkit.forms.registry import known_forms
from noarkit.forms.validation import validate
from tests.rights import held_to_file_rights

PACKED_EXTRACTS = known_forms().product_names("package")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder with some case files in it."""
    monkeypatch.chdir(tmp_path)
    for name, content in {"mapper/sak 1/brev.txt": b"hei", "mapper/tom.txt": b"", "mapper/æ%.bin": b"\0\1"}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    jsonschema = pytest.importorskip("jsonschema")
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line in told:
        jsonschema.validate(line, schema())
    return told


@pytest.mark.parametrize("form", PACKED_EXTRACTS)
def test_a_bare_folder_becomes_a_package_that_validates(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", form, "-o", "pakke", "--json"], {}) == 0
    (made,) = [line for line in lines_of(capsys) if line["event"] == "converted"]
    assert (made["form"], made["source_form"], made["files"], made["bytes"]) == (form, "plain", 3, 5)
    assert main(["validate", "pakke"], {}) == 0
    assert "not stated" not in capsys.readouterr().out


@pytest.mark.parametrize("form", PACKED_EXTRACTS)
def test_pipes_sockets_and_devices_are_set_aside_and_listed(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("mapper/sak 1/rør")
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind("mapper/=plugg")
    assert main(["convert", "mapper", "--as", form, "-o", "pakke", "--json"], {}) == 3
    (made,) = [line for line in lines_of(capsys) if line["event"] == "converted"]
    assert (made["files"], made["set_aside"]) == (3, 2)
    assert main(["validate", "pakke"], {}) == 0
    with Path("pakke.set-aside.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert rows == [["key", "code", "kind"], ["'=plugg", "F204", "socket"], ["sak 1/rør", "F204", "fifo"]]


def test_what_was_set_aside_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("mapper/rør")
    assert main(["convert", "mapper", "--as", "bagit", "-o", "pakke.zip"], {}) == 3
    assert "pakke.zip.set-aside.csv lists it" in capsys.readouterr().out


@pytest.mark.parametrize("form", [*PACKED_EXTRACTS, "noark5", "siard", "sqlite"])
@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_what_is_neither_a_file_nor_a_folder_is_no_source(
    form: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Path("/dev/null") if kind == "device" else Path(kind)
    if kind == "fifo":
        os.mkfifo(source)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as plug:
            plug.bind(str(source))
    assert main(["convert", str(source), "--as", form, "-o", "pakke"], {}) == 2
    assert str(source) in capsys.readouterr().err
    assert not [entry for entry in Path().iterdir() if entry.name.startswith(("pakke", ".noarkit"))]


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_what_was_made_is_told_in_words(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", "pakke.zip", "--lang", lang], {}) == 0
    out = capsys.readouterr().out
    assert "pakke.zip" in out and "noarkit init" in out and "noarkit validate pakke.zip" in out
    assert zipfile.is_zipfile("pakke.zip")


def test_the_facts_of_a_delivery_are_read_from_package_toml(capsys: pytest.CaptureFixture[str]) -> None:
    Path("package.toml").write_text('[submitter]\nname = "Vik"\n[agreement]\nnumber = "2026/7"\n')
    assert main(["convert", "mapper", "--as", "eark-sip", "-o", "sip"], {}) == 0
    assert "noarkit init" not in capsys.readouterr().out
    mets = Path("sip", "METS.xml").read_text("utf-8")
    assert "Vik" in mets and "2026/7" in mets
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag", "--package", "package.toml"], {}) == 0
    assert "Source-Organization: Vik" in Path("bag", "bag-info.txt").read_text("utf-8")


@pytest.mark.parametrize("form", ["bagit", "eark-sip", "eark-aip", "eark-dip", "dias-sip", "dias-aip"])
def test_a_name_as_long_as_a_disk_takes_is_valid_in_every_form(form: str) -> None:
    name = "ø" * 120 + ".txt"  # 244 bytes, and 724 characters where each byte is written by its number
    Path("lange").mkdir()
    Path("lange", name).write_text("hei", "utf-8")
    assert main(["convert", "lange", "--as", form, "-o", "ut"], {}) == 0
    assert [one.rule.code for one in validate("ut").outcomes if one.rule.level == "error"] == []
    assert main(["plan", "ut", "-o", "run"], {}) == 0


def test_a_damaged_package_is_not_converted(capsys: pytest.CaptureFixture[str]) -> None:
    for form, file in (("bagit", "data/sak 1/brev.txt"), ("eark-sip", "representations/files/data/sak 1/brev.txt")):
        assert main(["convert", "mapper", "--as", form, "-o", form], {}) == 0
        Path(form, file).write_bytes(b"hoi")
        assert main(["convert", form, "--as", "dias-sip", "-o", "ut"], {}) == 4
        assert "missing or changed" in capsys.readouterr().err
        assert main(["convert", form, "--as", "dias-sip", "-o", f"{form}-ut", "--despite-damage"], {}) == 0
    assert not Path("ut").exists()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["borte", "--as", "bagit", "-o", "ut"], 8),
        (["mapper", "--as", "bagit", "-o", "mapper/ut"], 2),
        (["mapper", "--as", "noark5", "-o", "ut"], 4),
        (["mapper", "--as", "sqlite", "-o", "ut"], 2),
        (["mapper/tom.txt", "--as", "siard", "-o", "ut"], 2),
        (["mapper", "--as", "bagit", "-o", "package.toml"], 2),
    ],
)
def test_what_cannot_be_done_is_told_and_leaves_nothing(
    line: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("package.toml").write_text("")
    before = sorted(Path().rglob("*"))
    assert main(["convert", *line], {}) == code
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize("form", PACKED_EXTRACTS)
def test_links_and_what_cannot_be_read_are_set_aside_and_the_rest_is_carried(form: str) -> None:
    Path("mapper", "lenke").symlink_to("tom.txt")
    Path("mapper", "stengt.txt").write_bytes(b"stengt")
    Path("mapper", "stengt.txt").chmod(0)
    with held_to_file_rights():
        assert main(["convert", "mapper", "--as", form, "-o", "ut", "--json"], {}) == 3
    assert main(["validate", "ut"], {}) == 0
    with Path("ut.set-aside.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert rows == [["key", "code", "kind"], ["lenke", "F204", "link"], ["stengt.txt", "F201", "unreadable"]]


@pytest.mark.parametrize("ending", ["", ".zip", ".tar"])
def test_what_was_carried_is_counted_without_what_cannot_be_read(
    ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mapper", "stengt.txt").write_bytes(b"stengt")
    Path("mapper", "stengt.txt").chmod(0)
    Path("mapper", "lukket").mkdir()
    Path("mapper", "lukket", "a.txt").write_bytes(b"a")
    Path("mapper", "lukket").chmod(0)
    with held_to_file_rights():
        assert main(["convert", "mapper", "--as", "bagit", "-o", f"ut{ending}", "--json"], {}) == 3
    Path("mapper", "lukket").chmod(0o700)
    (made,) = [line for line in lines_of(capsys) if line["event"] == "converted"]
    assert (made["files"], made["bytes"], made["set_aside"]) == (3, 5, 2)
    told = Path(f"ut{ending}.set-aside.csv").read_text("utf-8-sig")
    assert '"lukket";"F201";"folder"' in told and '"stengt.txt";"F201";"unreadable"' in told


def test_a_strict_convert_makes_nothing_of_what_cannot_all_be_carried(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mapper", "lenke").symlink_to("tom.txt")
    assert main(["convert", "mapper", "--as", "eark-sip", "-o", "ut", "--strict"], {}) == 4
    assert "lenke" in capsys.readouterr().err and not Path("ut").exists()
    Path("mapper", "lenke").unlink()
    Path("mapper", "tom.txt").chmod(0)
    with held_to_file_rights():
        assert main(["convert", "mapper", "--as", "eark-sip", "-o", "ut", "--strict"], {}) == 4
    Path("mapper", "tom.txt").chmod(0o644)
    assert not Path("ut").exists()
    assert main(["convert", "mapper", "--as", "eark-sip", "-o", "ut", "--strict"], {}) == 0


def test_a_database_becomes_a_siard_archive_and_that_a_database(capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect("saker.db")) as db, db:
        db.execute("CREATE TABLE sak (nummer INTEGER PRIMARY KEY, tittel TEXT)")
        db.executemany("INSERT INTO sak VALUES (?, ?)", [(1, "Bro"), (2, None)])
    db.close()
    assert main(["convert", "saker.db", "--as", "siard", "-o", "saker.siard"], {}) == 0
    assert main(["validate", "saker.siard"], {}) == 0
    assert main(["convert", "saker.siard", "--as", "sqlite", "-o", "igjen.db"], {}) == 0
    with closing(sqlite3.connect("igjen.db")) as again, again:
        assert again.execute("SELECT * FROM sak ORDER BY 1").fetchall() == [(1, "Bro"), (2, None)]
    again.close()


def test_a_second_opinion_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper/sak 1", "--as", "bagit", "-o", "bag"], {}) == 0
    capsys.readouterr()
    assert main(["validate", "bag", "--second-opinion", "--json"], {}) == 0
    (told,) = [line for line in lines_of(capsys) if line["event"] == "second_opinion"]
    assert (told["tool"], told["agrees"], told["valid"]) == ("bagit-python", True, True)
    assert main(["validate", "bag", "--second-opinion-command", "/nonexistent/validator"], {}) == 2
