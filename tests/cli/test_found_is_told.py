"""What a plan finds in a package, it carries or skips by name: nothing stands there untold."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from noarkit.cli.main import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with one file."""
    monkeypatch.chdir(tmp_path)
    Path("mapper").mkdir()
    Path("mapper/a.txt").write_bytes(b"a")


def skipped(capsys: pytest.CaptureFixture[str], place: str) -> str:
    """What a plan of a place lists as skipped."""
    capsys.readouterr()
    assert main(["plan", place, "-o", "run", "--json"], {}) == 0
    (told,) = [one for line in capsys.readouterr().out.splitlines() if (one := json.loads(line))["event"] == "plan"]
    assert told["records"]["mapped"] == 1
    return Path("run/skipped.csv").read_text("utf-8-sig") if told["records"].get("skipped") else ""


@pytest.mark.parametrize("packed", [False, True])
def test_a_tag_file_that_no_rule_of_bags_knows_is_skipped_by_name(
    packed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
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
    told = skipped(capsys, "bag.zip" if packed else "bag")
    assert "/katalog/liste.xml" in told and "beside what the package holds" in told
    assert "manifest" not in told and "bag-info" not in told


def test_a_file_beside_the_content_of_a_dias_package_is_skipped_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "dias-sip", "-o", "pakke"], {}) == 0
    (packed,) = Path("pakke").glob("*.tar")
    with tarfile.open(packed, "a") as archive:
        info = tarfile.TarInfo(f"{packed.stem}/ekstra/notat.txt")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"notat"))
    packed.rename("alene.tar")
    told = skipped(capsys, "alene.tar")
    assert "/ekstra/notat.txt" in told and "log.xml" not in told


def test_a_whole_package_has_nothing_to_tell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag"], {}) == 0
    assert skipped(capsys, "bag") == ""


def test_a_file_of_a_bag_whose_name_is_no_text_is_set_aside_by_its_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", "bag"], {}) == 0
    Path("bag", "data", os.fsdecode(b"bl\xe5.txt")).write_bytes(b"b")
    assert main(["plan", "bag", "-o", "run"], {}) == 3
    assert "bl%E5.txt" in Path("run/set-aside.csv").read_text("utf-8-sig")
