"""Files below a folder are opened and made there, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noarkit.errors import UnsafePath
from noarkit.safe.beneath import ConfinedFolder


def written(home: ConfinedFolder, name: str, content: bytes) -> None:
    with os.fdopen(home.create(name), "wb") as file:
        file.write(content)


def read(home: ConfinedFolder, name: str) -> bytes:
    with os.fdopen(home.open(name), "rb") as file:
        return file.read()


def test_what_is_made_is_read_again_in_any_order(tmp_path: Path) -> None:
    with ConfinedFolder(tmp_path) as home:
        for name in ("a", "b/c", "b/d/e", "f", "b/c2"):
            written(home, name, name.encode())
        for name in ("b/c2", "a", "b/d/e", "b/c", "f"):
            assert read(home, name) == name.encode()
        written(home, "a", b"anew")
        assert read(home, "a") == b"anew"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "", "con"])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    with ConfinedFolder(tmp_path) as home:
        for act in (home.open, home.create):
            with pytest.raises(UnsafePath):
                act(name)


def test_no_link_is_followed_on_the_way_or_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").write_bytes(b"secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "folder").symlink_to(tmp_path / "out")
    (root / "file").symlink_to(tmp_path / "out" / "file")
    with ConfinedFolder(root) as home:
        for act in (home.open, home.create):
            with pytest.raises(UnsafePath):
                act("folder/file")
            with pytest.raises(OSError, match="symbolic links"):
                act("file")
        (root / "deep" / "er").mkdir(parents=True)
        (root / "deep" / "er" / "link").symlink_to(tmp_path / "out")
        with pytest.raises(UnsafePath):
            home.open("deep/er/link/file")
        with pytest.raises(FileNotFoundError):
            home.open("deep/er/nothing/file")
    assert (tmp_path / "out" / "file").read_bytes() == b"secret"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["file"]
