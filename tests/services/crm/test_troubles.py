"""Troubles in the middle of a list or a plan: nothing is lost, nothing is doubled, and what is missing is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.events import Event
from noarkit.services.crm.listing import records_by_page
from noarkit.services.crm.service import open_service
from noarkit.services.port import FetchFailure, Item
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, all_of, connected, standing

pytestmark = pytest.mark.usefixtures("one_archive")

REFUSED = {"status": "error", "message": "no", "details": {}}


def planned(held: Standing, folder: Path, name: str, tell: noarkit.Listener = print) -> dict[str, int]:
    """What a plan holds."""
    archive = f"embedded:{folder / 'archive'}"
    done = noarkit.plan("crm:standin", folder / name, archive=archive, settings=held.site(archive), listener=tell)
    return dict(done.records)


def quiet(event: Event, /) -> None:
    """Hears nothing."""


def test_an_expired_page_token_begins_the_list_anew_and_no_record_comes_twice(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(450)) as held, connected(open_service, held, tmp_path) as service:
        fields = service.fields("Cases"), service.fields("Deals")
        body = json.dumps({**REFUSED, "code": "EXPIRED_VALUE"})
        held.control("trouble", path="/crm/v8/Deals", status=400, body=body, after=4)
        ids = [str(row["id"]) for row in records_by_page(service.calls, "Deals", fields[1], "test")]
        assert held.control("counts")["troubles_met"] == 1
        assert len(ids) == len(set(ids)) == 450


def test_a_module_that_is_turned_off_in_the_middle_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(450)) as held, connected(open_service, held, tmp_path) as service:
        body = json.dumps({**REFUSED, "code": "INVALID_MODULE"})
        held.control("trouble", path="/crm/v8/Deals", status=400, body=body, after=12, times=1_000)
        found = all_of(service, "Deals")
        assert isinstance(found[-1], FetchFailure) and found[-1].reason == "INVALID_MODULE"
        assert 0 < sum(isinstance(one, Item) for one in found) < 450
        assert len(all_of(service, "Cases")) == 90


def test_a_module_that_was_turned_off_is_read_whole_once_it_is_on_again(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("crm", tmp_path, StandinSpec(6)) as held:
        body = json.dumps({**REFUSED, "code": "INVALID_MODULE"})
        held.control("trouble", path="/crm/v8/Deals", status=400, body=body, after=1, times=1)
        assert planned(held, tmp_path, "first", quiet)["set_aside"] == 1
        first = noarkit.ingest(tmp_path / "first", archive=archive, workers=1, settings=held.site(archive))
        assert ingest_exit_code(first) == 3
        again = planned(held, tmp_path, "second", quiet)
        second = noarkit.ingest(tmp_path / "second", archive=archive, workers=1, settings=held.site(archive))
        assert (ingest_exit_code(second), again.get("set_aside", 0)) == (0, 0)
        whole = planned(held, tmp_path / "elsewhere", "whole", quiet)
        assert first.numbers.archived + second.numbers.archived == whole["mapped"]


def test_a_storm_of_429_in_a_plan_costs_time_and_nothing_else(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(5)) as held:
        calm = planned(held, tmp_path, "calm", quiet)
        for path, after in (("/crm/v8/Deals", 1), ("/Emails", 2), ("/Attachments", 0), ("/crm/v8/Notes", 0)):
            held.control("trouble", path=path, status=429, times=2, after=after, retry_after="1")
        assert planned(held, tmp_path, "storm", quiet) == calm
        assert held.control("counts")["troubles_met"] == 8


def test_tokens_that_end_in_the_middle_of_a_plan_are_renewed_once_each(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(5)) as held:
        calm = planned(held, tmp_path, "calm", quiet)
        before = held.control("counts")["exchanges"]
        streams: list[str] = []

        def ends_tokens(event: Event, /) -> None:
            if event.name == "stream":
                streams.append(str(event.data["stream"]))
                if len(streams) <= 5:  # ten in ten minutes are all that a refresh token is good for
                    held.control("expire")

        assert planned(held, tmp_path, "ending", ends_tokens) == calm
        renewed = held.control("counts")["exchanges"] - before  # type: ignore[operator]  # numbers
        assert 0 < renewed <= len(streams)
