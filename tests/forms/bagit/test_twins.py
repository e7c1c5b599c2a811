"""Names that only some system takes for one are told alike in every bag, a folder or packed, and both are checked."""

from __future__ import annotations

import contextlib
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import UnsafeMember
from noarkit.forms.validation import validate
from noarkit.safe.unpack import members, unpack_to

PAIRS = [("data/Brev.txt", "data/brev.txt"), ("data/bl\u00e5.txt", "data/bla\u030a.txt"), ("data/Sak/a", "data/sak/b")]
TWIN = "BAGIT-6.1.1-TWIN"


def bag(pair: tuple[str, str], order: int = 1) -> list[tuple[str, bytes]]:
    """The files of a bag with two such names, its payload before its tags where the order is -1."""
    payload = [(name, name.encode()) for name in pair]
    manifest = "".join(f"{hashlib.sha512(content).hexdigest()}  {name}\n" for name, content in payload)
    tags = [
        ("bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"),
        ("manifest-sha512.txt", manifest.encode()),
    ]
    return [*tags, *payload][::order]


def laid(files: list[tuple[str, bytes]], form: str, home: Path) -> Path:
    """The bag as a folder, or packed."""
    place = home / f"bag{form}"
    if not form:
        for name, content in files:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
    elif form == ".zip":
        with zipfile.ZipFile(place, "w") as archive:
            for name, content in files:
                archive.writestr(f"bag/{name}", content)
    else:
        with tarfile.open(place, "w") as tar:
            for name, content in files:
                info = tarfile.TarInfo(f"bag/{name}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return place


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("form", ["", ".zip", ".tar"])
@pytest.mark.parametrize("pair", PAIRS)
def test_a_bag_of_twins_is_valid_with_a_warning(pair: tuple[str, str], form: str, order: int, tmp_path: Path) -> None:
    report = validate(laid(bag(pair, order), form, tmp_path))
    assert report.number("error") == 0
    assert (TWIN in report.codes) == (pair[0].casefold().count("/") == 1)


@pytest.mark.parametrize("form", ["", ".zip", ".tar"])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("which", [0, 1])
def test_both_twins_are_checked(pair: tuple[str, str], form: str, which: int, tmp_path: Path) -> None:
    files = [(name, b"endret" if name == pair[which] else content) for name, content in bag(pair)]
    report = validate(laid(files, form, tmp_path))
    assert "BAGIT-3-CHECKSUM" in report.codes


@pytest.mark.parametrize("form", ["", ".zip", ".tar"])
def test_both_are_planned_and_converted(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = laid(bag(PAIRS[0]), form, tmp_path)
    assert main(["plan", str(place), "-o", "run"], {}) == 0
    assert main(["convert", str(place), "--as", "eark-sip", "-o", "sip"], {}) == 0
    held = {one.read_bytes() for one in Path("sip/representations/files/data").iterdir()}
    assert held == {name.encode() for name in PAIRS[0]}
    assert Path("sip.names.csv").is_file()


@pytest.mark.parametrize("form", [".zip", ".tar"])
def test_the_same_name_twice_is_refused_also_where_twins_are_not(form: str, tmp_path: Path) -> None:
    files = [*bag(PAIRS[0]), (PAIRS[0][1], b"en annen"), ("data/BREV.txt", b"")]
    with pytest.warns(UserWarning, match="Duplicate name") if form == ".zip" else contextlib.nullcontext():
        place = laid(files, form, tmp_path)
    with pytest.raises(UnsafeMember, match="duplicate"):
        validate(place)


@pytest.mark.parametrize("form", [".zip", ".tar"])
def test_nothing_of_it_is_ever_unpacked_to_a_disk(form: str, tmp_path: Path) -> None:
    place = laid(bag(PAIRS[0]), form, tmp_path)
    with pytest.raises(UnsafeMember, match="twin"):
        unpack_to(place, tmp_path / "ut")
    with pytest.raises(UnsafeMember, match="twin"):
        list(members(place))
