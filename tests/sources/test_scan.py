"""Counting what a source holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.main import main
from noarkit.errors import SourceGone
from noarkit.events import Event, Listener, ignore_event
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.recipes import read_recipe
from noarkit.records import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from noarkit.sources.scan import OTHER, Copied, scan
from tests.journeys.old_share import YEARS, make_share


class Listed:
    """A source that yields what it is given."""

    def __init__(self, *items: SourceItem) -> None:
        self._items = items

    @property
    def identity(self) -> SourceIdentity:
        """A place."""
        return SourceIdentity("listed", "here")

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        """The items."""
        return iter(self._items)

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Never asked for."""
        raise AssertionError(content)

    def default_recipe(self) -> str:
        """Never asked for."""
        raise AssertionError

    def proposal(self, tell: Listener, *, lang: str = "en") -> str:
        """Never asked for."""
        raise AssertionError


def tree(root: Path) -> Path:
    """Some of everything."""
    held = {"a.PDF": 10, "b.pdf": 5, "c": 0, "d/.skjult": 1, "d/Sak.txt": 2, "d/sak.txt": 3}
    for number, (name, size) in enumerate(held.items()):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"x" * size)
        os.utime(root / name, (1_000_000_000 + number * 31_556_952,) * 2)
    os.mkfifo(root / "fifo")
    (root / "link").symlink_to("c")
    return root


def test_a_scan_counts_sizes_formats_years_and_troubles(tmp_path: Path) -> None:
    report = scan(FileTree(tree(tmp_path), FilePolicy(look_inside=False)), ignore_event)
    assert (report.read, report.records, report.contents, report.bytes, report.largest_bytes) == (8, 6, 6, 21, 10)
    assert report.formats == {"pdf": 2, "txt": 2, "unknown": 2}
    assert report.format_bytes == {"pdf": 15, "txt": 5, "unknown": 1}
    assert report.years == {str(year): 1 for year in range(2001, 2007)}
    assert report.set_aside == {"F204": 1}
    assert report.skipped == {"a link": 1}
    assert report.notes == {"W204": 2, "W207": 1}
    assert report.kinds == {"file": 6}


@pytest.mark.parametrize("policy", [{}, {"hidden": "skip"}, {"empty_folders": "record"}, {"links": "follow"}])
def test_a_look_from_outside_counts_what_records_tell(tmp_path: Path, policy: dict[str, str]) -> None:
    (tree(tmp_path) / "tom").mkdir()
    wanted = FilePolicy(look_inside=False, **policy)  # type: ignore[arg-type]  # words of the policy
    source = FileTree(tmp_path, wanted)
    told = scan(source, ignore_event)
    by_records = scan(Listed(*source.records(ignore_event)), ignore_event)
    assert {**told.to_dict(), "where": "", "source_kind": ""} == {
        **by_records.to_dict(),
        "where": "",
        "source_kind": "",
    }


def test_formats_are_media_types_where_files_are_looked_into(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"%PDF-1.7\n")
    assert scan(FileTree(tmp_path), ignore_event).formats == {"application/pdf": 1}


def test_the_report_is_plain_json_with_numbers_that_add_up(tmp_path: Path) -> None:
    told = json.loads(json.dumps(scan(FileTree(tree(tmp_path)), ignore_event).to_dict()))
    left_out = sum(told["set_aside"].values()) + sum(told["skipped"].values())
    assert told["read"] == told["records"] + left_out
    assert sum(one["count"] for one in told["formats"].values()) == told["contents"]
    assert sum(one["bytes"] for one in told["formats"].values()) == told["bytes"]
    assert sum(told["years"].values()) == told["records"]


def test_what_is_left_out_is_handed_on_for_lists(tmp_path: Path) -> None:
    listed: list[SetAside | Skipped] = []
    scan(FileTree(tree(tmp_path)), ignore_event, on_left_out=listed.append)
    assert [item.record_key for item in listed] == ["fifo", "link"]


def test_the_year_of_a_mail_is_that_of_its_date() -> None:
    content = Content("a", "a.eml", 1, modified_ns=1_700_000_000_000_000_000)
    dated = SourceRecord(
        "mail", "a", {"mail": {"date": "1999-01-02T00:00:00.000Z"}, "modified": "2023-01-01"}, (content,)
    )
    changed = SourceRecord("file", "b", {"modified": "2021-01-01T00:00:00.000Z"}, (content,))
    content_only = SourceRecord("file", "c", {}, (content,))
    unknown = SourceRecord("row", "d", {})
    report = scan(Listed(dated, changed, content_only, unknown), ignore_event)
    assert report.years == {"1999": 1, "2021": 1, "2023": 1, "unknown": 1}


def test_endless_kinds_of_formats_are_counted_together() -> None:
    contents = (Content(str(number), f"a.x{number}", 1) for number in range(3_000))
    report = scan(Listed(*(SourceRecord("file", one.locator, {}, (one,)) for one in contents)), ignore_event)
    assert len(report.formats) == 1_001
    assert report.formats[OTHER] == 2_000


def test_notes_are_counted_by_code() -> None:
    report = scan(Listed(SourceRecord("row", "a", {}, (), (Note("W1"), Note("W2")))), ignore_event)
    assert report.notes == {"W1": 1, "W2": 1}


def test_a_scan_says_when_it_is_done(tmp_path: Path) -> None:
    heard: list[Event] = []
    scan(FileTree(tree(tmp_path)), heard.append)
    assert heard[-1] == Event("source_scanned", {"read": 8, "records": 6, "bytes": 21})


def test_a_root_that_is_gone_is_no_empty_report(tmp_path: Path) -> None:
    with pytest.raises(SourceGone):
        scan(FileTree(tmp_path / "borte", FilePolicy(look_inside=False)), ignore_event)


def test_files_are_counted_by_the_names_that_a_plan_has_for_their_formats(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for name, data in (
        ("a.pdf", b"%PDF-1.4 %%EOF"),
        ("b.PDF", b"%PDF-1.4 %%EOF"),
        ("c.docx", b"PK\x03\x04"),
        ("d", b"x"),
    ):
        (tmp_path / "files" / name).write_bytes(data)
    found = scan(FileTree(tmp_path / "files"), ignore_event)
    noarkit.plan(tmp_path / "files", tmp_path / "run")
    planned = json.loads((tmp_path / "run" / "plan-report.json").read_text("utf-8"))["formats"]
    assert dict(found.format_names) == {one["format"]: one["count"] for one in planned}
    assert found.copied == Copied(contents=1, files=1, bytes=14)


def test_identity_numbers_in_names_are_told_a_folder_of_many_once(tmp_path: Path) -> None:
    for name in ("15076500565/a.txt", "15076500565/b.txt", "søknad 150765 00565.txt", "15076500566.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    assert scan(FileTree(tmp_path), ignore_event).notes["W223"] == 2


def test_years_stand_in_order_and_the_rarest_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for year in range(1990, 2004):
        for number in range(1 + (year not in (1995, 1999))):
            path = tmp_path / f"{year}-{number}.txt"
            path.write_bytes(path.name.encode())
            os.utime(path, (datetime(year, 6, 1, tzinfo=UTC).timestamp(),) * 2)
    assert main(["scan", str(tmp_path), "--lang", "en"], {}) == 0
    said = capsys.readouterr().out
    years = [
        int(line.split()[0]) for line in said.partition("Years\n")[2].splitlines() if line.strip()[:2] in ("19", "20")
    ]
    assert years == [year for year in range(1990, 2004) if year not in (1995, 1999)]
    assert "(+ 2)" in said


def test_the_years_of_a_share_are_those_that_a_plan_goes_by(tmp_path: Path) -> None:
    make_share(tmp_path / "share", cases_a_year=2)
    source = FileTree(tmp_path / "share")
    fitted = source.fitted(read_recipe(source.default_recipe()).source_settings("files"))
    assert scan(fitted, ignore_event).years == {**{str(year): 2 * 5 for year in YEARS}, "unknown": 2 * 2 * len(YEARS)}
