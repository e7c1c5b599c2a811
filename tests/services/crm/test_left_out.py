"""What a run left out of a CRM is asked for again by itself, also where the archive knows it from before."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import noarkit
from noarkit.errors import ItemGone
from noarkit.events import ignore_event
from noarkit.loading.numbers import outcomes
from noarkit.services.crm.service import open_service
from noarkit.services.known_keys import KnownKeys, add_known_keys
from noarkit.services.port import Item, Window
from noarkit.services.registry import find_kind
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import connected, standing

STREAMS = ("Deals", "Notes", "Quotes", "Attachments")


@pytest.mark.usefixtures("one_archive")
def test_one_attachment_that_is_gone_makes_no_later_run_read_the_whole_company(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("crm", tmp_path, StandinSpec(12)) as held:
        site = held.site(archive)

        def load(run: str) -> noarkit.IngestResult:
            noarkit.plan("crm:standin", tmp_path / run, archive=archive, settings=site)
            return noarkit.ingest(tmp_path / run, archive=archive, workers=0, settings=site)

        noarkit.plan("crm:standin", tmp_path / "first", archive=archive, settings=site)
        held.control("trouble", path="/Attachments/", status=404, times=1)
        first = noarkit.ingest(tmp_path / "first", archive=archive, workers=0, settings=site)
        (left_out,) = outcomes(first.folder, "set_aside")
        assert left_out.code == ItemGone.code
        second = load("second")
        taken = [outcome.key for outcome in outcomes(second.folder, "archived")]
        assert taken == [left_out.key]
        assert second.numbers.read < first.numbers.read / 2
        assert load("third").numbers.archived == 0


def test_a_record_that_is_known_and_was_left_out_as_it_is_now_is_read_again(tmp_path: Path) -> None:
    again_id = find_kind("crm").again_id
    with standing("crm", tmp_path, StandinSpec(12)) as held, connected(open_service, held, tmp_path) as service:
        until = datetime.now(UTC) + timedelta(days=1)

        def read(window: Window) -> dict[str, list[str]]:
            found: dict[str, list[str]] = {}
            for stream in service.streams():
                again = asked.get(stream.name, ())
                items = service.items(stream, replace(window, again=tuple(again)), ignore_event)
                found[stream.name] = [item.key for item in items if isinstance(item, Item)]
            return found

        asked: dict[str, list[str]] = {}
        everything = read(Window(None, until, sweep=True))
        add_known_keys(tmp_path / "known.db", "a", [key for keys in everything.values() for key in keys], ())
        with closing(KnownKeys(tmp_path / "known.db")) as known_keys:
            later = Window(until - timedelta(hours=1), until, known_keys=known_keys)
            quiet = read(later)
            for name in STREAMS:
                key = next(key for key in everything[name] if key not in quiet[name])
                place = again_id(key)
                assert place is not None and place[0] == name
                asked = {name: [place[1]]}
                assert key in read(later)[name], name


def test_an_email_that_was_left_out_has_its_whole_stream_read_again() -> None:
    assert find_kind("crm").again_id("7:email:a") == ("Emails", ""), "nobody knows which case it belongs to"
