"""Hints that wait in the inbox are covered and taken; fields that change between runs are kept and told."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import noarkit
from noarkit.api.origins import source_at
from noarkit.errors import JournalFault
from noarkit.events import Event
from noarkit.records import PROPOSED_MARKS
from noarkit.services.drift import Change, drift
from noarkit.services.inbox.store import Inbox, inbox_place
from noarkit.services.source import ConnectorSource, run_watermarks
from noarkit.services.source.source import Span
from noarkit.services.standins.server import StandinSpec
from noarkit.services.watermarks import Watermark, Watermarks, read_watermarks, write_watermarks
from tests.services.standing import Standing
from tests.services.standing import standing as answering

pytestmark = pytest.mark.usefixtures("one_archive")


def put(held: Standing, number: int, at_s: float, event: str = "Deals.edit") -> None:
    """A message came in."""
    with closing(Inbox(inbox_place(held.environment))) as inbox:
        assert inbox.add("crm:standin", f"m-{number}", event, ("1",), at_s)


def waiting(held: Standing) -> int:
    """How many messages wait."""
    with closing(Inbox(inbox_place(held.environment))) as inbox:
        return inbox.counts().get("crm:standin", 0)


def test_hints_are_noted_by_the_plan_and_taken_once_it_is_archived(tmp_path: Path) -> None:
    archive, told = f"embedded:{tmp_path / 'archive'}", list[Event]()
    with answering("crm", tmp_path, StandinSpec(4)) as held:
        site = held.site(archive)
        put(held, 1, time.time())
        put(held, 2, time.time(), "Deals.delete")
        noarkit.plan("crm:standin", tmp_path / "run", archive=archive, settings=site, listener=told.append)
        (hints,) = [event for event in told if event.name == "hints"]
        assert hints.data == {"connection": "crm:standin", "count": 2, "events": {"Deals.edit": 1, "Deals.delete": 1}}
        put(held, 3, time.time())
        noarkit.ingest(tmp_path / "run", archive=archive, workers=1, dry_run=True, settings=site)
        assert waiting(held) == 3, "a rehearsal archives nothing"
        noarkit.ingest(tmp_path / "run", archive=archive, workers=1, settings=site)
        assert waiting(held) == 1, "what came after the plan waits for the next"
        context = json.loads((tmp_path / "run" / "plan-report.json").read_text())["context"]
        assert context["hints"] == 2
        assert "2" in (tmp_path / "run" / "plan.html").read_text().split("Webhook notifications")[1][:80]


def test_a_plan_reads_at_least_from_the_first_hint_on(tmp_path: Path) -> None:
    with answering("crm", tmp_path, StandinSpec(4)) as held:
        source = source_at("crm:standin", held.site())
        assert isinstance(source, ConnectorSource)
        now = datetime(2026, 5, 2, tzinfo=UTC)
        run_watermarks.commit_watermarks(
            source, tmp_path, "here", "id", run_watermarks.LeftOut(), now_s=0
        )  # nothing was proposed: nothing is kept
        assert run_watermarks.load_watermarks(source.to, "here") is None
        write_watermarks(
            tmp_path / "marks.json",
            Watermarks("t", "", {"Deals": Watermark(now), "Old": Watermark(datetime(2020, 1, 1, tzinfo=UTC))}),
        )
        run_watermarks.commit_watermarks(source, tmp_path, "here", "id", run_watermarks.LeftOut(), now_s=0)
        put(held, 1, now.timestamp() - 3_600)
        put(held, 2, now.timestamp() - 60)
        read = run_watermarks.resume_source(source, "here")
        assert read.span.watermarks is not None
        assert read.span.watermarks.streams["Deals"].until == datetime(2026, 5, 1, 23, tzinfo=UTC)
        assert read.span.watermarks.streams["Old"].until == datetime(2020, 1, 1, tzinfo=UTC)
        assert run_watermarks.resume_source(source, "elsewhere").span.watermarks is None, "all is read there anyway"
        since = read.identity.settings["since"]
        assert isinstance(since, dict) and since["Deals"].startswith("2026-05-01T23")
        source.release()


def test_a_run_that_is_loaded_after_a_later_one_sets_no_mark_back(tmp_path: Path) -> None:
    with answering("crm", tmp_path, StandinSpec(2)) as held:
        source = source_at("crm:standin", held.site())
        assert isinstance(source, ConnectorSource)
        later, earlier = datetime(2026, 5, 2, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
        for until in (later, earlier):
            write_watermarks(tmp_path / PROPOSED_MARKS, Watermarks("t", "", {"Deals": Watermark(until)}))
            run_watermarks.commit_watermarks(source, tmp_path, "here", "id", run_watermarks.LeftOut(), now_s=0)
        kept = run_watermarks.load_watermarks(source.to, "here")
        assert kept is not None and kept.streams["Deals"].until == later


def test_what_hangs_on_records_that_were_not_read_is_read_from_their_mark_on(tmp_path: Path) -> None:
    with answering("crm", tmp_path, StandinSpec(2)) as held:
        source = source_at("crm:standin", held.site())
        assert isinstance(source, ConnectorSource)
        old, new = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 2, tzinfo=UTC)
        streams = {stream.name: stream for stream in source.service.streams()}
        marks = dict.fromkeys(streams, Watermark(new)) | {"Deals": Watermark(old)}
        resumed = replace(source, span=Span(new, Watermarks("", "", marks)))
        since = {name: resumed._window(stream).since for name, stream in streams.items()}
        assert since["Notes"] == since["Deals"] == old - source.service.look_back
        assert since["Cases"] == new - source.service.look_back, "the others are not"
        for one in (source, resumed):
            one.release()


def test_a_broken_inbox_is_told_and_no_plan_goes_by_it(tmp_path: Path) -> None:
    with answering("crm", tmp_path, StandinSpec(2)) as held:
        place = inbox_place(held.environment)
        place.parent.mkdir(parents=True)
        place.write_bytes(b"no database at all, but longer than its head" * 20)
        with pytest.raises(JournalFault):
            source_at("crm:standin", held.site(), "archive")


def test_fields_that_change_between_runs_are_kept_and_told(tmp_path: Path) -> None:
    archive, told = f"embedded:{tmp_path / 'archive'}", list[Event]()
    with answering("crm", tmp_path, StandinSpec(4)) as held:
        site = held.site(archive)
        noarkit.plan("crm:standin", tmp_path / "first", archive=archive, settings=site, listener=told.append)
        noarkit.ingest(tmp_path / "first", archive=archive, workers=1, settings=site)
        assert [event for event in told if event.name == "field_changed"] == []
        held.control("fields", module="Deals", fields={"Region": "text", "Amount": "text", "Extra_50": None})
        held.control("change", module="Deals", put=[{"Deal_Name": "Ny", "Region": "Nord"}])
        noarkit.plan("crm:standin", tmp_path / "second", archive=archive, settings=site, listener=told.append)
        found = [(event.data["field"], event.data["how"]) for event in told if event.name == "field_changed"]
        assert found == [("Amount", "retyped"), ("Extra_50", "removed"), ("Region", "added")]
        drifted = json.loads((tmp_path / "second" / "plan-report.json").read_text())["context"]["drift"]
        assert ["Deals", "Region", "added"] in drifted
        assert "Region" in (tmp_path / "second" / "plan.html").read_text()
        noarkit.ingest(tmp_path / "second", archive=archive, workers=1, settings=site)
        told.clear()
        time.sleep(1.1)  # the service tells whole seconds: what changes in the second of a plan is the next one's
        noarkit.plan("crm:standin", tmp_path / "third", archive=archive, settings=site, listener=told.append)
        assert [event for event in told if event.name == "field_changed"] == [], "told once"
    kept = [(tmp_path / run / "fetched.db").read_bytes() for run in ("second", "third")]
    assert any(b'"Region":"Nord"' in data for data in kept), "the new field is in the snapshot"


def test_a_stream_that_was_not_read_keeps_the_fields_it_had() -> None:
    assert list(drift({"Deals": {"a": "text"}}, {"Cases": {"b": "text"}})) == []
    assert list(drift({"Deals": {"old": "text"}}, {"Deals": {"new": "text"}})) == [
        Change("Deals", "new", "added"),
        Change("Deals", "old", "removed"),
    ]


def test_marks_of_before_fields_were_kept_are_read(tmp_path: Path) -> None:
    place = tmp_path / "marks.json"
    place.write_text('{"version": 1, "tenant": "t", "archive": "a", "streams": {}}')
    assert read_watermarks(place) == Watermarks("t", "a", {})
