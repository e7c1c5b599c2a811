"""A bag is made whole or not at all, goes on after a kill, and never takes what it should not."""

from __future__ import annotations

import io
import os
import signal
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from noarkit import __version__
from noarkit.errors import (
    ItemChanged,
    ItemNotAFile,
    ItemVanished,
    RunLocked,
    UnsafeMember,
    UnsafePath,
    UsageFault,
)
from noarkit.events import Event
from noarkit.forms.bagit.read import open_bag
from noarkit.forms.bagit.rules.run import validate_bag
from noarkit.forms.bagit.write import BagFile, BagOrder, files_below, make_bag
from noarkit.forms.container.progress import Progress
from tests.forked import run_forked

TAILS = ("", ".zip", ".tar", ".tar.gz")
FILES = 1_500


def tree(root: Path, count: int = 3) -> Path:
    root.mkdir()
    for number in range(count):
        (root / f"{number:05}.txt").write_bytes(f"content {number}".encode())
    return root


def ordered(source: Path) -> list[BagFile]:
    return [BagFile(path.name, path) for path in sorted(source.iterdir())]


KILLED = """
import os, signal, sys
from pathlib import Path
from noarkit.forms.container import building
from noarkit.forms.bagit.write import BagFile, make_bag
source, target, where, at = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def files():
    for number, path in enumerate(sorted(source.iterdir())):
        if where == "file" and number == at:
            die()
        yield BagFile(path.name, path)
heard = []
def tell(event):
    heard.append(event.name)
    if where == event.name and heard.count(event.name) == at:
        die()
make_bag(files(), target, emit=tell)
"""


def killed(source: Path, target: Path, where: str, at: int) -> None:
    done = run_forked(["-c", KILLED, source, target, where, at], cwd=source.parent)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("tail", "where", "at"),
    [
        ("", "file", 5),
        ("", "file", 1_450),
        ("", "package_made", 1),
        (".zip", "file", 1_450),
        (".zip", "package_made", 1),
        (".tar", "file", 1_450),
        (".tar.gz", "file", 1_450),
        (".tar.gz", "package_files", 1),
    ],
)
def test_a_killed_build_goes_on_and_leaves_no_half_bag(tmp_path: Path, tail: str, where: str, at: int) -> None:
    source = tree(tmp_path / "source", FILES)
    target = tmp_path / f"bag{tail}"
    killed(source, target, where, at)
    assert target.exists() is (where == "package_made")
    events: list[Event] = []
    made = make_bag(ordered(source), target, emit=events.append)
    copied = sum(int(str(event.data["files"])) for event in events if event.name == "package_files")
    assert made.files == FILES
    if where == "package_made":
        assert events == []
    elif (where, at) != ("file", 5) and not (tail and where == "package_files"):
        assert made.resumed
        assert copied < FILES
    assert validate_bag(target).codes == set()
    assert sorted(path.name for path in tmp_path.iterdir()) == [target.name, "source"]


@pytest.mark.parametrize("tail", ["", ".tar.gz"])
def test_what_changed_between_two_tries_is_taken_anew(tmp_path: Path, tail: str) -> None:
    source = tree(tmp_path / "source", FILES)
    target = tmp_path / f"bag{tail}"
    killed(source, target, "file", 1_450)
    (source / "00003.txt").write_bytes(b"another content")
    (source / "00700.txt").unlink()
    (source / "01499.txt").write_bytes(b"late")
    (source / "zz.txt").write_bytes(b"new")
    assert make_bag(ordered(source), target).files == FILES
    with open_bag(target) as bag, bag.open("00003.txt") as file:
        assert file.read(100) == b"another content"
    assert validate_bag(target).codes == set()


def test_after_the_machine_went_down_every_file_is_proven_again(tmp_path: Path) -> None:
    source = tree(tmp_path / "source", FILES)
    target = tmp_path / "bag"
    killed(source, target, "file", 1_450)
    (work,) = tmp_path.glob(".noarkit-*.part")
    (work / "package" / "data" / "00001.txt").write_bytes(b"")
    with closing(Progress(target, "1 sha512 folder sha512")) as progress:
        assert progress.resumed
        progress.put_fact("boot", "another")
    made = make_bag(ordered(source), target)
    assert made.resumed
    assert validate_bag(target).codes == set()


def test_an_order_of_another_kind_begins_anew(tmp_path: Path) -> None:
    source = tree(tmp_path / "source", FILES)
    target = tmp_path / "bag"
    killed(source, target, "file", 1_450)
    made = make_bag(ordered(source), target, BagOrder(algorithms=("sha256",)))
    assert not made.resumed
    assert validate_bag(target).codes == set()


@pytest.mark.parametrize("tail", TAILS)
def test_nothing_that_is_there_is_written_over(tmp_path: Path, tail: str) -> None:
    source = tree(tmp_path / "source")
    target = tmp_path / f"bag{tail}"
    target.write_bytes(b"mine")
    with pytest.raises(UsageFault):
        make_bag(files_below(source), target)
    assert target.read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == [target.name, "source"]


def test_two_builds_of_one_bag_do_not_meet(tmp_path: Path) -> None:
    with closing(Progress(tmp_path / "bag", "1 sha512 folder sha512")), pytest.raises(RunLocked):
        make_bag([], tmp_path / "bag")


@pytest.mark.parametrize("tail", TAILS)
def test_a_bag_of_nothing_is_a_bag(tmp_path: Path, tail: str) -> None:
    made = make_bag([], tmp_path / f"bag{tail}", BagOrder(info=(("Contact-Name", "Kari\nNordmann"),)))
    assert validate_bag(made.path).codes == set()
    with open_bag(made.path) as bag:
        assert (bag.info[0], bag.info[-1]) == (("Contact-Name", "Kari Nordmann"), ("Payload-Oxum", "0.0"))
        assert [label for label, _ in bag.info[1:-1]] == ["Bagging-Date", "Bag-Software-Agent"]
        assert date.fromisoformat(bag.value("Bagging-Date") or "") <= datetime.now(UTC).date()
        assert bag.value("Bag-Software-Agent") == f"noarkit {__version__}"
        assert list(bag.entries()) == []


@pytest.mark.parametrize("tail", TAILS)
def test_bytes_may_come_from_anything_that_can_be_read(tmp_path: Path, tail: str) -> None:
    whole = b"streamed" * 400_000
    files = [BagFile("s.bin", lambda: closing(io.BytesIO(whole))), BagFile("t", lambda: closing(io.BytesIO(b"")), 0)]
    order = BagOrder(tags=(("metadata/dc.xml", b"<dc/>"),))
    made = make_bag(files, tmp_path / f"bag{tail}", order)
    assert (made.files, made.size_bytes) == (2, len(whole))
    assert validate_bag(made.path).codes == set()
    with open_bag(made.path) as bag, bag.open_tag("metadata/dc.xml") as file:
        assert file.read(100) == b"<dc/>"


@pytest.mark.parametrize("tail", TAILS)
def test_a_file_twice_is_refused(tmp_path: Path, tail: str) -> None:
    source = tree(tmp_path / "source")
    with pytest.raises(UnsafeMember):
        make_bag([*ordered(source), *ordered(source)], tmp_path / f"bag{tail}")
    assert not (tmp_path / f"bag{tail}").exists()


def test_twins_are_told_in_a_folder_and_refused_in_an_archive_file(tmp_path: Path) -> None:
    source = tree(tmp_path / "source", 1)
    files = [BagFile("Å.txt", source / "00000.txt"), BagFile("A\u030a.txt", source / "00000.txt")]
    made = make_bag(files, tmp_path / "bag")
    assert made.twins == (("data/A\u030a.txt", "data/Å.txt"),)
    report = validate_bag(made.path)
    assert report.valid
    assert "BAGIT-6.1.1-TWIN" in report.codes
    with pytest.raises(UnsafeMember):
        make_bag(files, tmp_path / "bag.zip")


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../out", "C:/x", "\udcff", "con", "a//b", ""])
def test_names_no_bag_can_hold_are_refused(tmp_path: Path, tail: str, name: str) -> None:
    source = tree(tmp_path / "source", 1)
    with pytest.raises(UnsafePath):
        make_bag([BagFile(name, source / "00000.txt")], tmp_path / f"b{tail}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("tail", TAILS)
def test_a_source_that_is_gone_or_no_file_is_told(tmp_path: Path, tail: str) -> None:
    with pytest.raises(ItemVanished):
        make_bag([BagFile("a", tmp_path / "nothing")], tmp_path / f"bag{tail}")
    os.mkfifo(tmp_path / "fifo")
    if not tail:
        with pytest.raises(ItemNotAFile):
            make_bag([BagFile("a", tmp_path / "fifo")], tmp_path / "bag")


@pytest.mark.parametrize("tail", (".tar", ".tar.gz"))
def test_bytes_of_another_length_than_said_are_told(tmp_path: Path, tail: str) -> None:
    for said in (3, 300):
        with pytest.raises(ItemChanged):
            make_bag([BagFile("g", lambda: closing(io.BytesIO(b"longer")), said)], tmp_path / f"bag{tail}")
        assert not (tmp_path / f"bag{tail}").exists()


def test_links_and_devices_of_a_folder_are_no_files_of_a_bag(tmp_path: Path) -> None:
    source = tree(tmp_path / "source")
    (source / "link").symlink_to("/etc/passwd")
    with pytest.raises(UnsafeMember):
        make_bag(files_below(source), tmp_path / "bag")


@pytest.mark.parametrize(
    "order",
    [
        BagOrder(algorithms=()),
        BagOrder(algorithms=("crc32",)),
        BagOrder(algorithms=("md5", "md5")),
        BagOrder(info=(("a:b", "c"),)),
        BagOrder(info=(("", "c"),)),
    ],
)
def test_an_order_that_makes_no_bag_is_refused(tmp_path: Path, order: BagOrder) -> None:
    with pytest.raises(UsageFault):
        make_bag([], tmp_path / "bag", order)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["data/x", "bagit.txt", "manifest-md5.txt", "../x", "fetch.txt"])
def test_a_tag_file_takes_no_name_that_means_something_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsafePath):
        make_bag([], tmp_path / "bag", BagOrder(tags=((name, b""),)))
