"""A folder, and what is packed, shows what the system itself lists; nothing is followed that leads out."""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

import noarkit
from noarkit.api.browsing import home_of, open_catalogue
from noarkit.catalogue.places.files import FilesPlace
from noarkit.errors import ItemVanished, SourceGone, UnsafePath, UsageFault
from noarkit.settings import read_settings
from tests.catalogue.looking import every_entry

TREE = {
    "a.txt": b"a",
    "Sak 1/brev.pdf": b"%PDF-1.4",
    "Sak 1/Vedlegg æøå/kart.png": b"\x89PNG",
    "Sak 1/Vedlegg æøå/.skjult": b"x",
    "Sak 2/tom.txt": b"",
}


def lay_out(folder: Path) -> None:
    """The files, an empty folder, a link that leads out, a pipe, and a name that is no text."""
    for name, content in TREE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "Tom mappe").mkdir()
    (folder / "ut").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    with open(os.fsencode(folder) + b"/latin-\xe6.txt", "wb") as file:  # noqa: PTH123  # a path has no bytes
        file.write(b"latin")


def test_each_folder_and_file_is_an_item_in_its_place(tmp_path: Path) -> None:
    lay_out(tmp_path / "tree")
    with open_catalogue(tmp_path / "tree") as opened:
        entries = {entry.ref: entry for entry in every_entry(opened)}
        folders = {os.path.relpath(place, tmp_path / "tree") + "/" for place, _, _ in os.walk(tmp_path / "tree")} - {
            "./"
        }
        assert {ref for ref, entry in entries.items() if entry.type == "folder"} == folders
        files = {ref for ref, entry in entries.items() if entry.type == "file"}
        assert files == {*TREE, "ut", "pipe", "latin-%E6.txt"}
        assert (entries["pipe"].fault, entries["ut"].state) == ("F204", "skipped")
        assert [entry.title for entry in opened.ancestors("Sak 1/Vedlegg æøå/kart.png")] == ["Sak 1", "Vedlegg æøå"]


def test_every_file_comes_out_as_it_is(tmp_path: Path) -> None:
    lay_out(tmp_path / "tree")
    with open_catalogue(tmp_path / "tree") as opened:
        for at, (name, content) in enumerate([*TREE.items(), ("latin-%E6.txt", b"latin")]):
            fetched = noarkit.get(opened, name, tmp_path / str(at))
            assert (tmp_path / str(at)).read_bytes() == content
            assert stat.S_IMODE((tmp_path / str(at)).stat().st_mode) == 0o600
            assert not fetched.is_checked
        with pytest.raises(UsageFault):
            noarkit.get(opened, "ut", tmp_path / "out")
        with pytest.raises(UsageFault):
            noarkit.get(opened, "a.txt", tmp_path / "0")


def test_no_ref_leads_out_of_the_folder(tmp_path: Path) -> None:
    lay_out(tmp_path / "tree")
    (tmp_path / "secret").write_text("secret", "utf-8")
    place = FilesPlace(tmp_path / "tree")
    for locator in ("../secret", "/etc/passwd", "ut/passwd", "Sak 1/../../secret"):
        with pytest.raises(Exception) as told, place.open(locator) as stream:  # which fault differs
            stream.read()
        assert type(told.value).__module__.startswith("noarkit.errors"), locator


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    lay_out(tmp_path / "tree")
    with open_catalogue(tmp_path / "tree") as opened:
        (tmp_path / "tree" / "a.txt").unlink()
        with pytest.raises(ItemVanished):
            noarkit.get(opened, "a.txt", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_change_anywhere_makes_the_catalogue_old(tmp_path: Path) -> None:
    lay_out(tmp_path / "tree")
    before = FilesPlace(tmp_path / "tree").identity.fingerprint
    assert FilesPlace(tmp_path / "tree").identity.fingerprint == before
    (tmp_path / "tree" / "Sak 1" / "Vedlegg æøå" / "kart.png").write_bytes(b"\x89PNH2")
    changed = FilesPlace(tmp_path / "tree").identity.fingerprint
    (tmp_path / "tree" / "Sak 2" / "ny.txt").write_bytes(b"")
    assert len({before, changed, FilesPlace(tmp_path / "tree").identity.fingerprint}) == 3


@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz"])
def test_what_is_packed_is_one_document_that_shows_the_same_tree(form: str, tmp_path: Path) -> None:
    packed = tmp_path / f"tree.{form}"
    for name, content in TREE.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_bytes(content)
    if form == "zip":
        with zipfile.ZipFile(packed, "w") as file:
            for name in TREE:
                file.write(tmp_path / "tree" / name, name)
    else:
        with tarfile.open(packed, "w:gz" if form == "tar.gz" else "w") as archive:
            for name in TREE:
                archive.add(tmp_path / "tree" / name, name)
    with open_catalogue(packed) as opened:
        assert {entry.ref for entry in every_entry(opened) if entry.type == "file"} == {"/", *TREE}
        assert [entry.ref for entry in opened.children(None)] == ["/"]
        noarkit.get(opened, "/", tmp_path / "whole")
        assert (tmp_path / "whole").read_bytes() == packed.read_bytes()
        for at, (name, content) in enumerate(TREE.items()):
            noarkit.get(opened, name, tmp_path / f"{at}")
            assert (tmp_path / f"{at}").read_bytes() == content


def test_a_packed_name_that_leads_out_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as file:
        file.writestr("../out.txt", "x")
    with pytest.raises(UnsafePath):
        open_catalogue(tmp_path / "bad.zip")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.zip"]


def test_what_is_not_there_and_what_is_no_place_are_told(tmp_path: Path) -> None:
    with pytest.raises((SourceGone, UsageFault)):
        open_catalogue(tmp_path / "nothing")
    with pytest.raises(UsageFault) as told:
        open_catalogue("gopher://example.org/")
    assert told.value.data["what"] == "not-a-place"


@pytest.mark.skipif(
    os.getuid() == 0 and not Path("/proc/self/ns").exists(), reason="needs a folder nobody may write to"
)
def test_a_catalogue_that_may_not_lie_beside_its_place_lies_in_the_cache(tmp_path: Path) -> None:
    settings = read_settings(environment={"HOME": str(tmp_path / "home")})
    place = FilesPlace(Path("/proc/self/net"))
    path = home_of(place, settings)
    assert path.is_relative_to(tmp_path / "home" / ".cache" / "noarkit" / "catalogues")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
