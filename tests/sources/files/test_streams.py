"""Opening contents again: nothing swapped in between is followed, and faults are told as what they are."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from noarkit.errors import ItemChanged, ItemNotAFile, ItemUnreadable, ItemVanished, SourceGone, UnsafePath
from noarkit.events import ignore_event
from noarkit.graph.entity import Content
from noarkit.records import SourceRecord
from noarkit.sources.files import folders
from noarkit.sources.files.source import FileTree


@pytest.fixture
def tree(tmp_path: Path) -> FileTree:
    """One file in a folder, and a secret beside the tree."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/a.txt").write_text("abc")
    (tmp_path / "root/d").mkdir(parents=True)
    (tmp_path / "root/d/a.txt").write_text("abc")
    same = (tmp_path / "root/d/a.txt").stat()
    os.utime(tmp_path / "secret/a.txt", ns=(same.st_atime_ns, same.st_mtime_ns))
    return FileTree(tmp_path / "root")


def planned(tree: FileTree) -> Content:
    """The content of its one file."""
    (record,) = tree.records(ignore_event)
    assert isinstance(record, SourceRecord)
    return record.contents[0]


def test_a_file_swapped_for_a_link_to_its_like_is_not_read(tree: FileTree, tmp_path: Path) -> None:
    content = planned(tree)
    (tmp_path / "root/d/a.txt").unlink()
    (tmp_path / "root/d/a.txt").symlink_to(tmp_path / "secret/a.txt")
    with pytest.raises(ItemChanged), tree.open(content):
        pass


def test_a_folder_swapped_for_a_link_is_not_gone_through(tree: FileTree, tmp_path: Path) -> None:
    content = planned(tree)
    (tmp_path / "root/d").rename(tmp_path / "elsewhere")
    (tmp_path / "root/d").symlink_to(tmp_path / "secret")
    with pytest.raises((ItemChanged, ItemVanished)), tree.open(content):
        pass


def test_a_fifo_in_the_place_of_a_file_does_not_hold_anyone_up(tree: FileTree, tmp_path: Path) -> None:
    content = planned(tree)
    (tmp_path / "root/d/a.txt").unlink()
    os.mkfifo(tmp_path / "root/d/a.txt")
    with pytest.raises(ItemNotAFile) as told, tree.open(content):
        pass
    assert told.value.data == {"key": "d/a.txt", "why": "fifo"}


def test_a_socket_in_the_place_of_a_file_is_looked_at_and_never_opened(tree: FileTree, tmp_path: Path) -> None:
    content = planned(tree)
    (tmp_path / "root/d/a.txt").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "root/d/a.txt"))
        with pytest.raises(ItemNotAFile) as told, tree.open(content):
            pass
    assert told.value.data["why"] == "socket"


def test_other_bytes_of_the_same_size_and_time_while_it_is_read_are_noticed(tree: FileTree, tmp_path: Path) -> None:
    path = tmp_path / "root/d/a.txt"
    before = path.stat()
    with tree.open(planned(tree)) as stream:
        stream.read()
        while path.stat().st_ctime_ns == before.st_ctime_ns:  # clocks of file systems tick in steps
            path.write_bytes(b"xyz")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert not stream.still_the_same()


def test_a_folder_in_the_place_of_a_file_is_told(tree: FileTree, tmp_path: Path) -> None:
    content = planned(tree)
    (tmp_path / "root/d/a.txt").unlink()
    (tmp_path / "root/d/a.txt").mkdir()
    with pytest.raises(ItemNotAFile), tree.open(content):
        pass


def test_a_root_that_is_gone_is_told_as_such(tree: FileTree, tmp_path: Path) -> None:
    content = planned(tree)
    (tmp_path / "root").rename(tmp_path / "elsewhere")
    with pytest.raises(SourceGone), tree.open(content):
        pass


@pytest.mark.parametrize("locator", ["../secret/a.txt", "/etc/passwd", "d/../../secret/a.txt", "d/%00", "%2E%2E"])
def test_a_locator_never_leads_out_of_the_tree(tree: FileTree, locator: str) -> None:
    with pytest.raises((UnsafePath, ItemVanished)), tree.open(Content(locator, "a", None)):
        pass


def test_a_part_that_is_not_there_is_told_as_changed(tree: FileTree) -> None:
    with pytest.raises(ItemChanged), tree.open(Content("d/a.txt//part/1", "a", None)):
        pass


def test_faults_of_who_reads_are_not_taken_for_faults_of_the_source(tree: FileTree) -> None:
    with pytest.raises(OSError, match="No space"), tree.open(planned(tree)):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_that_is_gone_after_the_last_byte_is_not_the_same(tree: FileTree, tmp_path: Path) -> None:
    with tree.open(planned(tree)) as stream:
        assert stream.read() == b"abc"
        (tmp_path / "root/d/a.txt").unlink()
        assert not stream.still_the_same()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, ItemVanished),
        (errno.ESTALE, ItemVanished),
        (errno.EACCES, ItemUnreadable),
        (errno.EIO, ItemUnreadable),
        (errno.ELOOP, ItemChanged),
    ],
)
def test_each_fault_of_the_system_means_one_fault_of_the_source(number: int, kind: type[Exception]) -> None:
    assert type(folders.fault("k", OSError(number, os.strerror(number)))) is kind


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_what_we_lack_ourselves_is_no_fault_of_the_source(number: int) -> None:
    with pytest.raises(OSError, match="ours"):
        folders.fault("k", OSError(number, "ours"))


def test_a_file_that_may_not_be_read_is_told() -> None:
    # not below pytest's own folder: another run of it takes the rights of others away from that
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        (Path(place) / "root/d").mkdir(parents=True)
        (Path(place) / "root/d/a.txt").write_bytes(b"a")
        (Path(place) / "root/d/a.txt").chmod(0)
        _told_unreadable(Path(place) / "root")


def _told_unreadable(root: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from noarkit.errors import ItemUnreadable
from noarkit.graph.entity import Content
from noarkit.sources.files.source import FileTree
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    with FileTree(Path(sys.argv[1])).open(Content("d/a.txt", "a", None)):
        print("opened")
except ItemUnreadable as fault:
    print(fault.data)
"""
    env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code, root], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "{'key': 'd/a.txt', 'why': 'EACCES'}", done.stderr
