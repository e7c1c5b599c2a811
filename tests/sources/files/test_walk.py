"""The walk: order, policies, what cannot be read, depth and width."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.errors import SourceGone
from noarkit.events import ignore_event
from noarkit.graph.entity import SetAside, Skipped
from noarkit.records import SourceItem, SourceRecord
from noarkit.sources.files.file_filter import Folder, FoundFile
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.records import RecordMaker, timestamp
from noarkit.sources.files.source import FileTree

OUTSIDE = FilePolicy(look_inside=False)


@given(st.integers(-60_000_000_000 * 10**9, 250_000_000_000 * 10**9))
def test_the_time_of_a_file_is_what_the_calendar_says(nanoseconds: int) -> None:
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=nanoseconds // 1_000_000)  # UTC as it stands
    assert timestamp(nanoseconds) == f"{moment.isoformat(timespec='milliseconds')}Z"


def items(root: Path, policy: FilePolicy = OUTSIDE) -> list[SourceItem]:
    """All that a tree yields."""
    return list(FileTree(root, policy).records(ignore_event))


def keys(root: Path, policy: FilePolicy = OUTSIDE) -> list[str]:
    """The keys of the records."""
    return [item.key for item in items(root, policy) if isinstance(item, SourceRecord)]


def left_out(root: Path, policy: FilePolicy = OUTSIDE) -> dict[str, str]:
    """Code or reason by key."""
    told = {item.record_key: item.code for item in items(root, policy) if isinstance(item, SetAside)}
    return told | {item.record_key: item.reason for item in items(root, policy) if isinstance(item, Skipped)}


def record(root: Path, key: str, policy: FilePolicy = OUTSIDE) -> SourceRecord:
    """The record of a key."""
    return next(item for item in items(root, policy) if isinstance(item, SourceRecord) and item.key == key)


def write(root: Path, *names: str) -> None:
    """Small files."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def test_files_come_before_folders_and_both_by_their_bytes(tmp_path: Path) -> None:
    write(tmp_path, "å.txt", "b.txt", "B.txt", "a/2.txt", "a/1.txt", "a.txt", "Z/x.txt", "a/c/0.txt")
    assert keys(tmp_path) == ["B.txt", "a.txt", "b.txt", "å.txt", "Z/x.txt", "a/1.txt", "a/2.txt", "a/c/0.txt"]


def test_an_empty_root_is_an_empty_source(tmp_path: Path) -> None:
    assert items(tmp_path) == []


def test_fields_say_what_the_system_knows(tmp_path: Path) -> None:
    write(tmp_path, "Sak/Del/Brev.Til.PDF")
    path = tmp_path / "Sak/Del/Brev.Til.PDF"
    path.chmod(0o640)
    os.utime(path, ns=(0, 1_704_198_245_678_000_000))
    fields = record(tmp_path, "Sak/Del/Brev.Til.PDF").fields
    assert fields["parts"] == ["Sak", "Del", "Brev.Til.PDF"]
    assert (fields["folder"], fields["folders"], fields["top"]) == ("Sak/Del", ["Sak", "Del"], "Sak")
    assert (fields["name"], fields["stem"], fields["ext"]) == ("Brev.Til.PDF", "Brev.Til", "pdf")
    assert (fields["size"], fields["depth"], fields["mode"]) == (1, 2, "0640")
    assert fields["modified"] == "2024-01-02T12:24:05.678Z"
    assert fields["owner"] == path.owner()
    assert fields["group"] == path.group()
    assert fields["root"] == tmp_path.name


def test_a_file_in_the_root_has_no_top(tmp_path: Path) -> None:
    write(tmp_path, ".profil")
    fields = record(tmp_path, ".profil").fields
    assert (fields["top"], fields["folder"], fields["stem"], fields["ext"]) == ("", "", ".profil", "")


def test_owners_without_a_name_are_told_by_number() -> None:
    status = os.stat_result((0o100644, 1, 1, 1, 54_321, 54_322, 7, 0, 0, 0), {"st_mtime_ns": 0})
    folder = Folder(key="", text="", steps=(), parts=(), handle=-1, names=([b"a"], []))
    fields = RecordMaker("rot", now=0).file(FoundFile(folder, b"a", status, None, False)).fields
    assert (fields["owner"], fields["group"]) == ("54321", "54322")


def test_links_are_skipped_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path, "d/a.txt")
    (tmp_path / "file").symlink_to("d/a.txt")
    (tmp_path / "folder").symlink_to("d")
    (tmp_path / "nowhere").symlink_to("gone")
    assert keys(tmp_path) == ["d/a.txt"]
    assert left_out(tmp_path) == dict.fromkeys(("file", "folder", "nowhere"), "a link")


def test_links_are_followed_to_files_alone_when_asked(tmp_path: Path) -> None:
    write(tmp_path, "d/a.txt")
    (tmp_path / "d/loop").symlink_to("../d")
    (tmp_path / "d/self").symlink_to("self")
    (tmp_path / "file").symlink_to("d/a.txt")
    (tmp_path / "nowhere").symlink_to("gone")
    policy = FilePolicy(links="follow")
    assert keys(tmp_path, policy) == ["file", "d/a.txt"]
    assert left_out(tmp_path, policy) == {"d/loop": "a link to a folder", "d/self": "F202", "nowhere": "F202"}
    assert [note.code for note in record(tmp_path, "file", policy).notes] == ["W210"]
    content = record(tmp_path, "file", policy).contents[0]
    with FileTree(tmp_path, policy).open(content) as stream:
        assert stream.read() == b"x"
        assert stream.still_the_same()


@pytest.mark.parametrize("policy", [OUTSIDE, FilePolicy(), FilePolicy(links="follow")])
def test_devices_fifos_and_sockets_are_set_aside_and_never_opened(tmp_path: Path, policy: FilePolicy) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert left_out(tmp_path, policy) == {"fifo": "F204", "socket": "F204"}


def test_hidden_and_system_files_are_taken_unless_told_otherwise(tmp_path: Path) -> None:
    write(tmp_path, ".hidden", "Thumbs.db", ".DS_Store", ".git/config", "desktop.ini", "a.txt")
    assert len(keys(tmp_path)) == 6
    policy = FilePolicy(hidden="skip", system="skip", look_inside=False)
    assert keys(tmp_path, policy) == ["a.txt"]
    system, hidden = "made by a desktop system", "a hidden name"
    told = {"Thumbs.db": system, ".DS_Store": system, "desktop.ini": system, ".hidden": hidden, ".git/": hidden}
    assert left_out(tmp_path, policy) == told


def test_empty_folders_become_records_when_asked(tmp_path: Path) -> None:
    write(tmp_path, "full/a.txt")
    (tmp_path / "full/tom mappe").mkdir()
    (tmp_path / "deep/er").mkdir(parents=True)
    assert keys(tmp_path) == ["full/a.txt"]
    policy = FilePolicy(empty_folders="record", look_inside=False)
    assert keys(tmp_path, policy) == ["deep/er/", "full/a.txt", "full/tom mappe/"]
    found = record(tmp_path, "full/tom mappe/", policy)
    assert (found.kind, found.contents) == ("folder", ())
    assert (found.fields["name"], found.fields["folder"], found.fields["top"]) == ("tom mappe", "full", "full")


def test_files_changed_just_now_are_set_aside_when_asked(tmp_path: Path) -> None:
    write(tmp_path, "old", "new", "future")
    for name, age in (("old", -120), ("new", -10), ("future", 10_000)):
        os.utime(tmp_path / name, (1_000_000_000 + age, 1_000_000_000 + age))
    tree = FileTree(tmp_path, FilePolicy(settle_s=60, look_inside=False), clock=lambda: 1_000_000_000.0)
    told = list(tree.records(ignore_event))
    assert [item.record_key for item in told if isinstance(item, SetAside) and item.code == "F205"] == ["new"]
    assert [item.key for item in told if isinstance(item, SourceRecord)] == ["future", "old"]


def test_another_file_system_is_crossed_with_a_note_or_left_out() -> None:
    devices, memory = Path("/dev"), Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == devices.stat().st_dev:
        pytest.skip("no file system stands in another where all systems have it")
    with tempfile.NamedTemporaryFile(dir=memory) as file:
        key = f"shm/{Path(file.name).name}"
        assert "W208" in [note.code for note in record(devices, key).notes]
        staying = FilePolicy(file_systems="stay", look_inside=False)
        assert key not in keys(devices, staying)
        assert left_out(devices, staying)["shm/"] == "on another file system"


def test_size_and_time_that_are_odd_are_noted(tmp_path: Path) -> None:
    write(tmp_path, "a", "b", "c")
    (tmp_path / "a").write_bytes(b"")
    os.utime(tmp_path / "b", (0, 0))
    os.utime(tmp_path / "c", (4e9, 4e9))
    assert [note.code for note in record(tmp_path, "a").notes] == ["W207"]
    assert [note.code for note in record(tmp_path, "b").notes] == ["W209"]
    assert [note.code for note in record(tmp_path, "c").notes] == ["W209"]


def as_nobody(root: Path, policy: str = "FilePolicy(look_inside=False)") -> list[str]:
    """What a user without rights sees: a child process that gives up being root before it walks."""
    code = f"""
import os, sys
from pathlib import Path
from noarkit.events import ignore_event
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from noarkit.errors import SourceFault
source = FileTree(Path(sys.argv[1]), {policy})
source.default_recipe()
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    for item in source.records(ignore_event):
        print(getattr(item, "code", "taken"), getattr(item, "record_key", getattr(item, "key", "")))
except SourceFault as fault:
    print(fault.code, "gone")
"""
    env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code, root], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def open_to_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that others may reach, with some things in it that they may not."""
    root = tmp_path_factory.mktemp("tree")
    above = [folder for folder in root.parents if folder.stat().st_uid == os.geteuid() and folder != Path("/")]
    modes = {folder: folder.stat().st_mode for folder in above}
    for folder in above:
        folder.chmod(modes[folder] | 0o011)
    root.chmod(0o755)
    write(root, "a.txt", "closed.txt", "shut/b.txt", "z/listed/c.txt", "z/d.txt")
    (root / "closed.txt").chmod(0)
    (root / "shut").chmod(0)
    (root / "z/listed").chmod(0o444)
    yield root
    (root / "shut").chmod(0o755)
    (root / "z/listed").chmod(0o755)
    for folder, mode in modes.items():
        folder.chmod(mode)


@pytest.mark.parametrize("policy", ["FilePolicy(look_inside=False)", "FilePolicy(mail='parts', media_types=False)"])
def test_what_may_not_be_read_is_set_aside_and_the_rest_goes_on(open_to_all: Path, policy: str) -> None:
    told = as_nobody(open_to_all, policy)
    assert told == ["taken a.txt", "F201 closed.txt", "F201 shut/", "taken z/d.txt", "F201 z/listed/c.txt"]


def test_a_root_that_may_not_be_read_is_no_empty_source(open_to_all: Path) -> None:
    assert as_nobody(open_to_all / "shut") == ["F290 gone"]


def test_a_file_that_vanishes_under_the_walk_is_set_aside(tmp_path: Path) -> None:
    write(tmp_path, "a", "b", "c", "d/e")
    told = FileTree(tmp_path, OUTSIDE).records(ignore_event)
    next(told)
    (tmp_path / "b").unlink()
    (tmp_path / "d/e").unlink()
    (tmp_path / "d").rmdir()
    rest = [(getattr(item, "code", ""), getattr(item, "record_key", getattr(item, "key", ""))) for item in told]
    assert rest == [("F202", "b"), ("", "c"), ("F202", "d/")]


def test_a_root_that_vanishes_under_the_walk_stops_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "a", "b", "c/d", "e/f")
    told = FileTree(root, OUTSIDE).records(ignore_event)
    next(told)
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(SourceGone):
        list(told)


def test_a_folder_swapped_for_a_link_is_not_entered(tmp_path: Path) -> None:
    write(tmp_path, "tree/a", "tree/b/c", "secret/s")
    told = FileTree(tmp_path / "tree", OUTSIDE).records(ignore_event)
    next(told)
    (tmp_path / "tree/b/c").unlink()
    (tmp_path / "tree/b").rmdir()
    (tmp_path / "tree/b").symlink_to(tmp_path / "secret")
    assert [item.record_key for item in told if isinstance(item, SetAside)] == ["b/"]


def test_paths_longer_than_the_system_takes_are_walked_and_opened(tmp_path: Path) -> None:
    name, depth = "mappe-" + "x" * 194, 60
    handle = os.open(tmp_path, os.O_RDONLY)
    for level in range(depth):
        os.mkdir(name, dir_fd=handle)
        below = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
        if level % 20 == 0:
            os.mkdir("æ", dir_fd=handle)
            os.mkdir("a", dir_fd=handle)
    os.close(os.open("dypt.txt", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)
    found = [item for item in items(tmp_path) if isinstance(item, SourceRecord)]
    assert [record.key for record in found] == [(name + "/") * depth + "dypt.txt"]
    assert len(found[0].key) > 12_000
    assert "W206" in [note.code for note in found[0].notes]
    with FileTree(tmp_path).open(found[0].contents[0]) as stream:
        assert stream.read() == b""
        assert stream.still_the_same()


def test_a_chain_deeper_than_there_are_descriptors_is_walked(tmp_path: Path) -> None:
    depth = 400
    handle = os.open(tmp_path, os.O_RDONLY)
    for level in range(depth):
        for name in ("d", "e"):
            os.mkdir(name, dir_fd=handle)
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
        side = os.open("e", os.O_RDONLY, dir_fd=handle)
        os.close(os.open(f"{level}", os.O_CREAT | os.O_WRONLY, dir_fd=side))
        os.close(side)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    # in a process of its own: which numbers are free in this one depends on what ran before
    code = """
import resource, sys
from pathlib import Path
from noarkit.events import ignore_event
from noarkit.sources.files.source import FileTree
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (120, hard))
print(sum(1 for _ in FileTree(Path(sys.argv[1])).records(ignore_event)))
"""
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert int(told.stdout) == 2 * depth


def test_a_folder_of_many_files_costs_little_memory(tmp_path: Path) -> None:
    for number in range(30_000):
        os.close(os.open(tmp_path / f"fil-{number:06}.txt", os.O_CREAT | os.O_WRONLY))
    code = """
import resource, sys
from pathlib import Path
from noarkit.events import ignore_event
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
source = FileTree(Path(sys.argv[1]), FilePolicy(look_inside=False))
told = source.records(ignore_event)
next(told)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = 1 + sum(1 for _ in told)
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, before)
"""
    env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code, tmp_path], env=env, capture_output=True, text=True, check=True)
    count, grown_kb, _ = map(int, done.stdout.split())
    assert count == 30_000
    assert grown_kb < 4_000
