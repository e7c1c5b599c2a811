"""A damaged package is one thing to every command: what it was meant to be, refused with what it lacks.

Every damaged kind goes through every command that recognises places, and all must give the same verdict.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.places import recognise
from samples.packages.make import write_good

COMMANDS = (
    ("validate", "PLACE"),
    ("scan", "PLACE"),
    ("plan", "PLACE", "-o", "made"),
    ("ingest", "PLACE", "-o", "made", "--archive", "embedded:other", "--dry-run"),
    ("recipe", "new", "PLACE", "-o", "made"),
    ("convert", "PLACE", "--as", "bagit", "-o", "made"),
    ("derive", "PLACE", "-o", "made"),
    ("ls", "PLACE"),
    ("search", "PLACE", "brev"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole package of each form."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "mapper/sak").mkdir(parents=True)
    (folder / "mapper/sak/brev.txt").write_text("hei")
    for form, name in (("dias-sip", "dias"), ("eark-sip", "eark"), ("bagit", "bag")):
        assert main(["convert", str(folder / "mapper"), "--as", form, "-o", str(folder / name)], {}) == 0
    with closing(sqlite3.connect(folder / "db")) as db:
        db.executescript("CREATE TABLE sak (id INTEGER PRIMARY KEY, tittel TEXT); INSERT INTO sak VALUES (1, 'x')")
    assert main(["convert", str(folder / "db"), "--as", "siard", "-o", str(folder / "db.siard")], {}) == 0
    write_good(folder / "uttrekk", "5.0")
    return folder


def zipped(folder: Path, top: str = "pakke", before: bytes = b"") -> Path:
    """A folder in a zip, in a folder of its own there, with bytes before it."""
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as file:
        for inner in sorted(folder.rglob("*")):
            if inner.is_file():
                file.write(inner, f"{top}/{inner.relative_to(folder).as_posix()}")
    path.write_bytes(before + path.read_bytes())
    return path


def unpacked_dias(folder: Path) -> Path:
    """The tar of a package unpacked beside its description."""
    (tar,) = folder.glob("*.tar")
    with tarfile.open(tar) as file:
        file.extractall(folder, filter="data")
    tar.unlink()
    return folder


def short_tar(folder: Path, size: int) -> Path:
    """The tar of a package, of which so much is left."""
    (tar,) = folder.glob("*.tar")
    tar.write_bytes(tar.read_bytes()[:size])
    return tar


def without(folder: Path, *names: str) -> Path:
    """A folder without some of what is in it."""
    for name in names:
        for path in sorted(folder.glob(name)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


def emptied(folder: Path, *names: str) -> Path:
    """A folder in which some files have nothing in them."""
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


def with_header(path: Path, content: bytes | None) -> Path:
    """A SIARD archive with another header, or none."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist() if not name.startswith("header/")}
    if content is not None:
        members["header/metadata.xml"] = content
    with zipfile.ZipFile(path, "w") as file:
        for name, inner in members.items():
            file.writestr(name, inner)
    return path


def file_of(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def no_count(path: Path) -> Path:
    """A zip whose end refers to a directory of 64 bits that is not there."""
    content = path.read_bytes()
    end = content.rindex(b"PK\5\6")
    path.write_bytes(content[: end + 8] + b"\xff" * 12 + content[end + 20 :])
    return path


Damage = Callable[[Path], Path]
"""Damages what lies in the folder of whole packages, and says where that is."""
MEANT: Mapping[str, tuple[str, str, Damage]] = {
    "dias: tar of 0 bytes": ("dias", ".tar", lambda at: short_tar(at / "dias", 0).parent),
    "dias: tar of 100 bytes": ("dias", ".tar", lambda at: short_tar(at / "dias", 100).parent),
    "dias: that tar": ("dias", ".tar", lambda at: short_tar(at / "dias", 100)),
    "dias: its description": ("dias", ".tar", lambda at: short_tar(at / "dias", 100).with_suffix(".xml")),
    "dias: unpacked, no METS": (
        "dias", "dias-mets.xml", lambda at: without(unpacked_dias(at / "dias"), "*/dias-mets.xml"),
    ),
    "eark: no METS": ("eark", "METS.xml", lambda at: without(at / "eark", "METS.xml")),
    "eark: no METS, zipped": ("eark", "METS.xml", lambda at: zipped(without(at / "eark", "METS.xml"))),
    "eark: representations alone": ("eark", "METS.xml", lambda at: without(at / "eark", "[!r]*")),
    "eark: representations, zipped": ("eark", "METS.xml", lambda at: zipped(without(at / "eark", "[!r]*"))),
    "eark: empty METS": ("eark", "METS.xml", lambda at: emptied(at / "eark", "METS.xml")),
    "eark: empty METS alone": (
        "eark", "METS.xml", lambda at: without(emptied(at / "eark", "METS.xml"), "representations"),
    ),
    "bag: no declaration": ("bagit", "bagit.txt", lambda at: without(at / "bag", "bagit.txt")),
    "bag: no declaration, zipped": ("bagit", "bagit.txt", lambda at: zipped(without(at / "bag", "bagit.txt"))),
    "bag: tag files alone": ("bagit", "manifest", lambda at: without(at / "bag", "data", "manifest-*")),
    "extract: description alone": (
        "noark5", "arkivstruktur.xml", lambda at: without(at / "uttrekk", "arkivstruktur.xml"),
    ),
    "extract: empty documents": (
        "noark5", "arkivstruktur.xml", lambda at: emptied(at / "uttrekk", "arkivstruktur.xml", "arkivuttrekk.xml"),
    ),
    "siard: no header": ("siard", "header/metadata.xml", lambda at: with_header(at / "db.siard", None)),
    "siard: empty header": ("siard", "header/metadata.xml", lambda at: with_header(at / "db.siard", b"")),
    "siard: another header": ("siard", "header/metadata.xml", lambda at: with_header(at / "db.siard", b"<a/>")),
    "zip: bytes before it": ("", "other bytes", lambda at: zipped(at / "mapper", before=b"HTTP/1.1 200\n\n")),
    "zip: bytes before it, other name": (
        "", "other bytes", lambda at: zipped(at / "mapper", before=b"HTTP/1.1 200\n\n").rename(at / "levering.bin"),
    ),
    "zip: 64 bits that are not there": ("", "its list", lambda at: no_count(zipped(at / "mapper"))),
    "zip: half of it": ("", "its list", lambda at: file_of(at / "h.zip", zipped(at / "mapper").read_bytes()[:60])),
    "zip: empty": ("", "is empty", lambda at: file_of(at / "e.zip", b"PK\5\6" + bytes(18))),
    "zip: 0 bytes": ("", "is empty", lambda at: file_of(at / "0.zip", b"")),
    "zip: something else": ("", "does not begin", lambda at: file_of(at / "x.zip", b"<html>404</html>")),
    "tar: empty": ("", "is empty", lambda at: file_of(at / "e.tar", bytes(10240))),
    "tar: 0 bytes": ("", "is empty", lambda at: file_of(at / "0.tar", b"")),
}  # fmt: skip


@pytest.fixture
def damaged(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Damage], Path]:
    """Damages a copy of the whole packages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def damage(harm: Damage) -> Path:
        return harm(Path(shutil.copytree(whole, tmp_path / "here")))

    return damage


@pytest.mark.parametrize("kind", MEANT)
def test_every_command_says_what_a_damaged_place_was_meant_to_be(
    kind: str, damaged: Callable[[Damage], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    form, missing, harm = MEANT[kind]
    place = damaged(harm)
    for line in COMMANDS:
        capsys.readouterr()
        code = main([str(place) if word == "PLACE" else word for word in line], {})
        shown = capsys.readouterr()
        assert code == 4, (line, shown)
        if line[0] == "validate" and "F500" not in shown.err:
            assert f"form: {form}" in verdict_of_validate(place, capsys), line
        else:
            assert "F500" in shown.err and missing in shown.err, (line, shown.err)
        assert not Path("made").exists(), line
    assert not list(Path().glob("made*"))


def verdict_of_validate(place: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Which form the rules are of that a place breaks."""
    capsys.readouterr()
    assert main(["validate", str(place), "--report", "json", "-o", "report.json"], {}) == 4
    return f"form: {json.loads(Path('report.json').read_text('utf-8'))['form']}"


@pytest.mark.parametrize("kind", [kind for kind, (form, *_) in MEANT.items() if form])
def test_recognition_names_the_form_and_what_is_missing(kind: str, damaged: Callable[[Damage], Path]) -> None:
    form, missing, harm = MEANT[kind]
    place = recognise(damaged(harm))
    assert (place.kind, place.form) == ("package", form)
    assert missing in place.missing


@pytest.mark.parametrize("kind", MEANT)
def test_read_as_files_it_is_files(kind: str, damaged: Callable[[Damage], Path]) -> None:
    place = damaged(MEANT[kind][2])
    assert main(["plan", str(place), "-o", "run", "--source-kind", "files"], {}) in (0, 3)


def in_utf16(folder: Path) -> Path:
    """A package whose METS is in UTF-16."""
    mets = folder / "METS.xml"
    mets.write_bytes(mets.read_text("utf-8").replace("UTF-8", "UTF-16", 1).encode("utf-16"))
    return folder


WHOLE: Mapping[str, tuple[str, Damage]] = {
    "dias": ("dias", lambda at: at / "dias"),
    "dias: unpacked beside its description": ("dias", lambda at: unpacked_dias(at / "dias")),
    "eark": ("eark", lambda at: at / "eark"),
    "eark: METS in UTF-16": ("eark", lambda at: in_utf16(at / "eark")),
    "eark: METS in UTF-16 alone": ("eark", lambda at: without(in_utf16(at / "eark"), "representations")),
    "bag": ("bagit", lambda at: at / "bag"),
    "extract": ("noark5", lambda at: at / "uttrekk"),
    "extract: structure alone": ("noark5", lambda at: without(at / "uttrekk", "arkivuttrekk.xml")),
    "siard": ("siard", lambda at: at / "db.siard"),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_what_is_a_package_is_one_to_every_command(
    kind: str, damaged: Callable[[Damage], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    form, harm = WHOLE[kind]
    place = damaged(harm)
    assert (recognise(place).form, recognise(place).missing) == (form, "")
    assert main(["scan", str(place)], {}) in (0, 3)
    assert main(["ls", str(place)], {}) == 0
    assert "METS.xml" not in capsys.readouterr().out
    assert main(["validate", str(place), "--report", "json", "-o", "report.json"], {}) in (0, 3, 4)
    assert json.loads(Path("report.json").read_text("utf-8"))["form"] == form


@pytest.mark.parametrize(
    "names",
    [
        ("METS.xml", "kapittel.xml"),
        ("data/tall.csv", "les meg.txt"),
        ("representations/tegning.dwg",),
        ("content/side.html", "header/logo.png"),
        ("metadata/om.txt", "schemas/a.xsd"),
        ("bagit.txt", "notat.txt"),
    ],
)
def test_what_only_looks_a_little_like_a_package_is_files(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in names:
        path = Path("mapper", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<mets/>" if name == "METS.xml" else "x")
    assert recognise("mapper").kind == "folder"
    assert main(["plan", "mapper", "-o", "run"], {}) == 0
