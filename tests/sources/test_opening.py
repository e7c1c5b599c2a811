"""Finding the source behind a path."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

import pytest

from noarkit.errors import SourceGone, UsageFault
from noarkit.events import ignore_event
from noarkit.extraction.convert import ConvertOptions, convert
from noarkit.forms.finders import file_finder, open_source, opener
from noarkit.records import Source, SourceRecord
from noarkit.safe.zipped import count_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

MAIL = b"From: a@b.no\nTo: c@d.no\nSubject: Hei\nMessage-ID: <1@b.no>\n\nHei\n"
MAILBOX = b"From a@b.no Mon Jan  6 12:00:00 2020\n" + MAIL


def kinds_and_keys(source: Source) -> list[tuple[str, str]]:
    """Kind and key of each record."""
    return [(item.kind, item.key) for item in source.records(ignore_event) if isinstance(item, SourceRecord)]


def test_a_folder_is_a_file_tree(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "inn.mbox").write_bytes(MAILBOX)
    source = open_source(str(tmp_path))
    assert (source.identity.kind, source.identity.where) == ("files", str(tmp_path))
    assert kinds_and_keys(source) == [("file", "a.txt"), ("file", "inn.mbox")]


def test_a_single_file_is_a_source_of_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.txt").write_text("x")
    assert kinds_and_keys(open_source(str(tmp_path / "a.txt"))) == [("file", "a.txt")]


@pytest.mark.parametrize(("name", "content"), [("inn.mbox", MAILBOX), ("inn", MAILBOX)])
def test_a_mailbox_is_read_as_mail(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert kinds_and_keys(open_source(str(tmp_path / name))) == [("mail", f"{name}//<1@b.no>")]


def test_a_mail_is_read_as_mail(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(MAIL)
    assert kinds_and_keys(open_source(str(tmp_path / "a.eml"))) == [("mail", "a.eml")]


def test_a_link_that_is_named_itself_is_followed(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.txt").write_text("x")
    (tmp_path / "link").symlink_to("tree")
    assert kinds_and_keys(open_source(str(tmp_path / "link"))) == [("file", "a.txt")]
    (tmp_path / "file").symlink_to("tree/a.txt")
    assert kinds_and_keys(open_source(str(tmp_path / "file"))) == [("file", "a.txt")]


def test_what_is_not_there_is_told_as_gone(tmp_path: Path) -> None:
    with pytest.raises(SourceGone):
        open_source(str(tmp_path / "borte"))


def test_a_url_that_nobody_knows_is_a_fault_of_use() -> None:
    with pytest.raises(UsageFault):
        open_source("gopher://example.no/1")


def test_a_device_is_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageFault):
        open_source(str(tmp_path / "fifo"))


def test_the_first_finder_that_knows_a_place_answers(tmp_path: Path) -> None:
    (tmp_path / "pakke.xml").write_text("<x/>")
    special = FileTree(tmp_path, FilePolicy(media_types=False))

    def packages(where: str) -> Source | None:
        return special if (Path(where) / "pakke.xml").exists() else None

    opened = opener([packages, file_finder()])
    assert opened(str(tmp_path)) is special
    (tmp_path / "pakke.xml").rename(tmp_path / "annet.xml")
    assert opened(str(tmp_path)) is not special


def test_policies_reach_the_source(tmp_path: Path) -> None:
    source = opener([file_finder(FilePolicy(hidden="skip"))])(str(tmp_path))
    assert source.identity.settings == {"hidden": "skip"}


def test_a_packed_package_is_looked_at_once_and_opened_once(tmp_path: Path) -> None:
    (tmp_path / "mappe").mkdir()
    (tmp_path / "mappe" / "brev.txt").write_bytes(b"hei")
    convert(tmp_path / "mappe", tmp_path / "sip.zip", ConvertOptions("eark-sip"))
    directories = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal directories
        directories += event == "call" and frame.f_code is count_of.__code__

    sys.setprofile(note)
    try:
        source = open_source(str(tmp_path / "sip.zip"))
    finally:
        sys.setprofile(None)
    assert (source.identity.kind, directories) == ("eark", 2)
