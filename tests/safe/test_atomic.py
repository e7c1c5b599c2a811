"""Files and folders appear whole or not at all."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from noarkit.errors import DiskFull, UsageFault
from noarkit.safe.atomic import (
    atomic_folder,
    is_temporary,
    open_atomic,
    place_new,
    sweep,
    sync_tree,
    temporary_name,
    write_bytes,
    write_text,
)


def names(folder: Path) -> list[str]:
    """What stands in a folder."""
    return [entry.name for entry in folder.iterdir()]


class Broken(Exception):
    """A fault of the writer."""


def test_a_file_stands_there_only_when_the_block_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with open_atomic(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert names(tmp_path) == ["a.txt"]


def test_a_fault_while_writing_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(Broken), open_atomic(path) as file:
        file.write(b"new and half")
        raise Broken
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_file_replaces_the_old_one_unless_told_not_to(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "one")
    write_text(path, "two")
    with pytest.raises(UsageFault) as fault:
        write_text(path, "three", replace=False)
    assert path.read_text() == "two"
    assert fault.value.data == {"what": "exists", "where": str(path)}
    assert names(tmp_path) == ["a.txt"]


def test_a_new_file_is_made_where_none_may_be_replaced(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "æøå\n", replace=False)
    assert (tmp_path / "a.txt").read_bytes() == "æøå\n".encode()


def test_a_private_file_is_private_from_the_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    with open_atomic(path, mode=0o600) as file:
        (part,) = tmp_path.iterdir()
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        file.write(b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_no_room_is_told_as_disk_full(tmp_path: Path, number: int) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(DiskFull) as fault, open_atomic(path):
        raise OSError(number, "no room")
    assert fault.value.data == {"where": str(path)}
    assert list(tmp_path.iterdir()) == []


def test_other_faults_of_the_disk_pass_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_bytes(tmp_path / "no such folder" / "a.txt", b"")


def test_the_longest_name_the_disk_takes_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("å" * 127)
    write_text(path, "x", sync=False)
    assert path.read_text() == "x"


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "package"
    with atomic_folder(target) as folder:
        write_text(folder / "a.xml", "<a/>", sync=False)
        assert not target.exists()
    assert (target / "a.xml").read_text() == "<a/>"
    assert names(tmp_path) == ["package"]


def test_a_fault_in_a_folder_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Broken), atomic_folder(tmp_path / "package") as folder:
        write_text(folder / "a.xml", "<a/>", sync=False)
        raise Broken
    assert list(tmp_path.iterdir()) == []


def test_a_folder_never_replaces_what_exists_not_even_a_dead_link(tmp_path: Path) -> None:
    target = tmp_path / "package"
    target.symlink_to(tmp_path / "gone")
    with pytest.raises(UsageFault), atomic_folder(target):
        pytest.fail("the block must not run")
    assert target.is_symlink()


def test_a_folder_does_not_replace_what_came_while_it_was_built(tmp_path: Path) -> None:
    target = tmp_path / "package"
    with pytest.raises(UsageFault), atomic_folder(target):
        target.mkdir()
    assert names(tmp_path) == ["package"]


def test_sweep_removes_what_a_power_cut_left_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / temporary_name()).write_text("half")
    (tmp_path / temporary_name()).mkdir()
    (tmp_path / "kept.part").write_text("x")
    assert sweep(tmp_path) == 2
    assert names(tmp_path) == ["kept.part"]
    assert is_temporary(temporary_name())


def no_links(number: int) -> Callable[[Path, Path], None]:
    """A disk that makes no second name for a file, and says so."""

    def link(old: Path, new: Path) -> None:
        raise OSError(number, "no links here")

    return link


def test_a_disk_without_links_still_replaces_nothing(tmp_path: Path) -> None:
    part, path = tmp_path / "part", tmp_path / "a.txt"
    part.write_text("new")
    place_new(part, path, no_links(errno.EPERM))
    assert path.read_text() == "new"
    part.write_text("newer")
    with pytest.raises(UsageFault):
        place_new(part, path, no_links(errno.EPERM))
    with pytest.raises(OSError, match="no links here"):
        place_new(part, path, no_links(errno.EIO))
    assert path.read_text() == "new"


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_whole_tree_is_made_durable_on_every_system(tmp_path: Path, platform: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("b")
    sync_tree(tmp_path, platform)
    assert (tmp_path / "a" / "b.txt").read_text() == "b"
