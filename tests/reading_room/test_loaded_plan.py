"""The pages of a plan know that it was loaded, and what was found wrong with it since."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.embedded import keep_services
from noarkit.loading.journal import CHECKSUM, ArchiveFinding, Journal
from tests.reading_room.conftest import open_room
from tests.reading_room.wire import ask, enter

BEFORE = ("Nothing on this page has been sent", "Before you approve", "Approve this plan")


def pages_of(run: Path) -> tuple[str, str, str]:
    """The plan in the reading room, its start page, and plan.html, as people read them."""
    with open_catalogue(str(run)) as catalogue:
        place = catalogue.place
    with open_room(place, run.parent / "catalogue.db") as room:
        cookie = enter(room)
        live, home = (ask(room.url, path, cookie=cookie).body for path in ("/plan", "/"))
    written = (run / "plan.html").read_text("utf-8")
    live, home, written = (
        " ".join(re.sub(r"(?s)<style.*?</style>|<[^>]+>", " ", page).split()) for page in (live, home, written)
    )
    return live, home, written


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A plan of two files, and an archive that is kept open for it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    for name in ("a", "b"):
        (tmp_path / "src" / f"{name}.txt").write_text(name)
    with keep_services():
        noarkit.plan("src", "run", archive="embedded:archive")
        yield tmp_path / "run"


def test_the_pages_of_a_plan_know_that_it_was_loaded(run: Path) -> None:
    live, _, written = pages_of(run)
    assert all(sentence in live for sentence in BEFORE)
    assert "Everything can be loaded." in written
    assert noarkit.ingest(run, workers=0).state == "done"
    live, _, written = pages_of(run)
    assert not [sentence for sentence in BEFORE if sentence in live]
    for page in (live, written):
        assert "This plan has been loaded, and what it made is closed" in page
        assert re.search(r"2 archived|Archived: 2", page), page
    assert "Everything can be loaded." not in written and "before anything is sent" not in written


def test_the_pages_of_a_plan_say_what_was_found_wrong(run: Path) -> None:
    noarkit.ingest(run, workers=0)
    with closing(Journal(run / "run.db")) as journal:
        journal.keep_findings([ArchiveFinding(CHECKSUM, "a.txt#d1v1", None, {"ours": "a" * 64, "theirs": "b" * 64})])
    noarkit.report(run)
    live, home, written = pages_of(run)
    assert "1 thing in the archive differs from it" in live
    assert "1 thing in the archive differs from what was loaded" in home
    assert "the archive differs from it: 1 difference" in written
