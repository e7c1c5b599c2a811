"""Files looked into by workers: the same items in the same order, few files without any, deaths and changes told."""

from __future__ import annotations

import mailbox
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noarkit.errors import RunFault, SourceGone
from noarkit.events import ignore_event
from noarkit.graph.entity import SetAside
from noarkit.records import SourceItem, SourceRecord
from noarkit.safe import children, folder_handles
from noarkit.safe.worker_pool import can_use_workers
from noarkit.sources.files import folders
from noarkit.sources.files.inspection import FEW_FILES, OpenRoot, inspected
from noarkit.sources.files.inspector import Inspector
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.records import RecordMaker
from noarkit.sources.files.source import FileTree
from noarkit.sources.files.walk import Walk, WalkItem

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers are forked on Linux")

_MAIL = (
    b"From: a@example.no\r\nTo: b@example.no\r\nSubject: Hei %d\r\nDate: Mon, 6 Jan 2020 12:00:00 +0100\r\n\r\nHei\r\n"
)


@pytest.fixture(autouse=True)
def _threads_of_earlier_tests_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some library's thread lives on in a process of tests; beside it nothing would be forked."""
    before = set(threading.enumerate())
    monkeypatch.setattr(children, "is_single_threaded", lambda: before.issuperset(threading.enumerate()))


@contextmanager
def _thread_of_others() -> Iterator[None]:
    """No worker is forked beside it."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait, name="of others")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _plain_files(root: Path, count: int) -> Path:
    root.mkdir()
    for number in range(count):
        (root / f"{number:05}.txt").write_bytes(b"a text %d" % number)
    return root


def _many_kinds(root: Path) -> Path:
    for number in range(60):
        folder = root / f"sak {number:03}" / ("under" if number % 5 == 0 else "")
        folder.mkdir(parents=True)
        (folder / "brev.eml").write_bytes(_MAIL % number)
        (folder / "skadet.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(200))
        (folder / "tom.txt").touch()
        (folder / "røyk.html").write_text("<!doctype html><html><body>å</body></html>")
        (folder / "TOM.txt").write_bytes(b"twin")
        with zipfile.ZipFile(folder / "ark.xlsx", "w") as packed:
            packed.writestr("[Content_Types].xml", "<Types/>")
            packed.writestr("xl/workbook.xml", "<workbook/>")
        Path(os.fsdecode(os.fsencode(folder) + b"/odd\xff.bin")).write_bytes(os.urandom(64))
        (folder / "lenke").symlink_to("tom.txt")
        if number % 10 == 0:
            (folder / "metadata.csv").write_text(f"fil;tittel\nbrev.eml;Brev {number}\n", "utf-8")
            box = mailbox.mbox(folder / "inn.mbox")
            for _ in range(3):
                box.add(_MAIL % number)
            box.close()
    deep = root / "dyp"
    deep.mkdir()
    handle = os.open(deep, os.O_RDONLY)
    for _ in range(60):  # longer than a path may be, and than an order is
        os.mkdir("x" * 250, dir_fd=handle)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(os.open("dypt.txt", os.O_WRONLY | os.O_CREAT, dir_fd=handle))
    os.close(handle)
    (root / "øde").mkdir()
    return root


@pytest.mark.parametrize(
    "policy",
    [
        FilePolicy(),
        FilePolicy(mail="parts", empty_folders="record", links="follow"),
        FilePolicy(mail="letters", own_domains=("example.no",), hidden="skip"),
        FilePolicy(media_types=False, registers=False),
    ],
    ids=["default", "parts", "letters", "mails alone"],
)
def test_workers_give_the_same_items_in_the_same_order(policy: FilePolicy, tmp_path: Path) -> None:
    tree = FileTree(_many_kinds(tmp_path / "root"), policy, clock=lambda: 2e9)
    with _thread_of_others():
        assert not can_use_workers()
        alone = list(tree.records(ignore_event))
    assert list(tree.records(ignore_event)) == alone
    assert len(alone) > 2 * FEW_FILES


def _with_workers(items: Iterator[SourceItem]) -> int:
    """Reads on until workers are at work; returns how many items were read."""
    for count, _ in enumerate(items, 1):
        if multiprocessing.active_children():
            return count
    return 0


@pytest.mark.skipif(not can_use_workers(), reason="one processor")
def test_workers_are_started_for_many_files_and_gone_at_the_end(tmp_path: Path) -> None:
    few = FileTree(_plain_files(tmp_path / "few", FEW_FILES)).records(ignore_event)
    assert not _with_workers(few)
    many = FileTree(_plain_files(tmp_path / "many", 3 * FEW_FILES)).records(ignore_event)
    assert _with_workers(many) == FEW_FILES + 1
    assert sum(1 for _ in many) == 2 * FEW_FILES - 1
    assert not multiprocessing.active_children()


@pytest.mark.skipif(not can_use_workers(), reason="one processor")
def test_a_worker_that_is_killed_is_told_with_the_file_it_was_at(tmp_path: Path) -> None:
    items = FileTree(_plain_files(tmp_path / "root", 5_000)).records(ignore_event)
    read = _with_workers(items)
    for child in multiprocessing.active_children():
        os.kill(child.pid or 0, signal.SIGKILL)
    with pytest.raises(RunFault) as lost:
        read += sum(1 for _ in items)
    assert lost.value.data["why"] == "lost-worker"
    assert str(lost.value.data["where"]).endswith(".txt")
    assert read < 5_000
    assert not multiprocessing.active_children()


@pytest.mark.skipif(not can_use_workers(), reason="one processor")
def test_workers_read_no_other_folder_that_was_put_in_the_place_of_the_root(tmp_path: Path) -> None:
    items = FileTree(_plain_files(tmp_path / "root", 3 * FEW_FILES)).records(ignore_event)
    next(items)
    (tmp_path / "root").rename(tmp_path / "old")
    _plain_files(tmp_path / "root", 3 * FEW_FILES)
    with pytest.raises(SourceGone):
        list(items)


@pytest.mark.skipif(not can_use_workers(), reason="one processor")
def test_the_files_of_a_folder_that_vanishes_before_a_worker_comes_are_set_aside(tmp_path: Path) -> None:
    root = _plain_files(tmp_path / "root", FEW_FILES)
    _plain_files(root / "a", 3)
    _plain_files(root / "b", 3)
    policy, handle = FilePolicy(), folders.open_root(root)

    def walk() -> Iterator[WalkItem]:
        yield from Walk(handle, policy, now=2e9, check_root=lambda: None).items()
        shutil.rmtree(root / "a")  # its files are known, and no worker was told of them

    with Inspector(RecordMaker("root", now=2e9), policy) as inspector:
        items = [item for _, item in inspected(walk(), inspector, OpenRoot(root, handle))]
    folder_handles.close(handle)
    gone = [(item.record_key, item.code) for item in items if isinstance(item, SetAside)]
    assert gone == [(f"a/0000{number}.txt", "F202") for number in range(3)]
    assert [item.key for item in items[-3:] if isinstance(item, SourceRecord)] == [f"b/0000{n}.txt" for n in range(3)]
