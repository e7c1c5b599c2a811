"""What a source is read as can be said, whatever it looks like, by every command that reads one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noarkit.cli.main import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bag of two files."""
    monkeypatch.chdir(tmp_path)
    Path("mapper").mkdir()
    Path("mapper/a.txt").write_bytes(b"a")
    Path("mapper/b.txt").write_bytes(b"b")
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag"], {}) == 0


def counted(capsys: pytest.CaptureFixture[str], event: str) -> dict[str, object]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (found,) = [line for line in lines if line["event"] == event]
    return dict(found)


def test_a_bag_read_as_files_goes_over_whole_with_its_manifests(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["convert", "bag", "--as", "eark-sip", "-o", "sip", "--source-kind", "files", "--json"], {}) == 0
    made = counted(capsys, "converted")
    there = sorted(one.name for one in Path("bag").rglob("*") if one.is_file())
    assert (made["source_form"], made["files"]) == ("plain", len(there))
    assert sorted(one.name for one in Path("sip/representations/files/data").rglob("*") if one.is_file()) == there


def test_the_kind_it_has_is_what_looking_finds(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["convert", "bag", "--as", "eark-sip", "-o", "sip", "--source-kind", "bagit", "--json"], {}) == 0
    made = counted(capsys, "converted")
    assert (made["source_form"], made["files"]) == ("bagit", 2)


@pytest.mark.parametrize("kind", ["eark", "dias", "noark5", "siard"])
def test_what_it_cannot_be_read_as_is_a_wrong_use(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "bag", "--as", "eark-sip", "-o", "sip", "--source-kind", kind], {}) == 2
    assert kind in capsys.readouterr().err and not Path("sip").exists()


def test_a_package_within_a_package_is_found_by_its_kind_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "eark-sip", "-o", "sip"], {}) == 0
    Path("sip/bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    Path("sip/data").mkdir()
    capsys.readouterr()
    told = main(["convert", "sip", "--as", "bagit", "-o", "again", "--source-kind", "eark", "--despite-damage"], {})
    assert told == 0 and Path("again/data/sip/METS.xml").is_file()


def test_ingest_takes_the_kind_and_goes_on_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["ingest", "bag", "-o", "run", "--source-kind", "files", "--archive", "embedded:arkiv", "--json"]
    capsys.readouterr()
    assert main(line, {}) == 0
    assert counted(capsys, "plan")["records"] == {"mapped": len([p for p in Path("bag").rglob("*") if p.is_file()])}
    assert main(line, {}) == 0


def test_a_bag_with_a_wrong_tag_file_is_counted_only_where_that_is_wished(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("bag/bag-info.txt").open("a") as file:
        file.write("Contact-Name: X\n")
    assert main(["scan", "bag"], {}) == 4
    assert main(["recipe", "new", "bag", "-o", "r.toml"], {}) == 4
    assert not Path("r.toml").exists()
    capsys.readouterr()
    assert main(["scan", "bag", "--despite-damage", "--json"], {}) == 0
    documents = [path for path in Path("bag").iterdir() if path.name in ("bag-info.txt", "premis.xml")]
    assert counted(capsys, "scan")["records"] == 2 + len(documents) == 4
    assert main(["recipe", "new", "bag", "-o", "r.toml", "--despite-damage"], {}) == 0
    assert "record" in Path("r.toml").read_text("utf-8")
