"""Bulk reads that fail while a history is played: the run says so and counts nothing, the next one takes all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.embedded import keep_services
from noarkit.errors import NoarkitError, ServiceBroken, UnsafePath
from noarkit.services.standins.histories.script import Change, History
from tests.services.histories.crm import ORACLE
from tests.services.histories.oracle import differences
from tests.services.histories.world import Schedule, play

SMALL = replace(ORACLE, records=6, options={"bulk-polls": "0"})


@pytest.mark.parametrize(("fate", "expected"), [("fails", ServiceBroken), ("climbs", UnsafePath)])
def test_a_run_whose_bulk_read_fails_says_so_and_the_next_one_takes_all(
    fate: str, expected: type[NoarkitError], tmp_path: Path
) -> None:
    history = History(
        (
            Change("bulk", values={"fate": fate}, at_s=0),
            Change("edit", "Deals/1", {"Description": "mens den feilet"}, 50),
            Change("bulk", at_s=100),
            Change("edit", "Deals/2", {"Description": "etterpå"}, 300),
            Change("bulk", values={"fate": fate}, at_s=350),
            Change("delete", "Deals/3", {}, 400),
            Change("create", "Deals", {}, 450),
            Change("bulk", at_s=600),
        )
    )
    moments = (10.0, 200.0, 500.0, 700.0, SMALL.sweep_s)
    schedule = Schedule(moments, settings={"bulk_from": 1}, faults=(NoarkitError,))
    with keep_services():
        played = play("crm", SMALL, history, schedule, tmp_path, f"embedded:{tmp_path / 'archive'}")
    faults = [type(run.fault) for run in played.runs]
    assert faults == [expected, type(None), expected, type(None), type(None)]
    assert differences("crm", SMALL, played, tmp_path / "archive") == []
