"""A scan that is ordered of the stand-in lives its own life, so that create, wait and results can be rehearsed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from noarkit.services.appsec.commands import COMMANDS
from noarkit.services.appsec.standin.calls import Calls
from noarkit.services.appsec.standin.data import Store
from noarkit.services.settings import Connection
from noarkit.services.standins.call import Call
from noarkit.services.standins.server import StandinSpec
from tests.services.appsec.there import newest
from tests.services.standing import standing


def answers_of(to: Connection, line: str, **values: object) -> list[dict[str, object]]:
    """What a command answers."""
    return [dict(row) for row in COMMANDS.run(to, line.split(), values)]


def test_an_ordered_scan_waits_runs_and_ends_by_the_clock_of_the_stand_in() -> None:
    now, heard = [datetime(2026, 1, 5, tzinfo=UTC)], list[tuple[str, object]]()
    store = Store(60, 1, {"queue-s": "10", "scan-s": "20"}, lambda: now[0])
    calls = Calls(store, {}, lambda kind, one: "", lambda event, body: heard.append((event, body["scanId"])))
    project, at_rest = next(iter(store.tables["projects"])), store.scans()
    before = {scan["id"]: scan["status"] for scan in at_rest}
    order = {"type": "git", "handler": {"branch": "main"}, "project": {"id": project}, "config": []}
    made = calls.answer(Call("POST", "/api/scans", {}, {}, json.dumps(order).encode()))
    scan = json.loads(bytes(made.body))["id"]
    stages = list[str]()
    for seconds in (0, 9, 10, 29, 30, 300):
        now[0] = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(seconds=seconds)
        stages.append(json.loads(bytes(calls.answer(Call("GET", f"/api/scans/{scan}", {}, {}, b"")).body))["status"])
        assert bool(store.results(scan)) is (seconds >= 30)
    assert stages == ["Queued", "Queued", "Running", "Running", "Completed", "Completed"]
    assert heard == [("scan_completed_successfully", scan)], "it is told once"
    assert {entry["id"]: entry["status"] for entry in store.scans() if entry["id"] != scan} == before, "others stay"


def test_create_wait_and_results_are_rehearsed_without_a_word_to_the_stand_in(tmp_path: Path) -> None:
    quickly = StandinSpec(60, options={"queue-s": "0.05", "scan-s": "0.05"})
    with standing("appsec", tmp_path / "standin", quickly) as held:
        to = held.connection({"scan_timeout_s": 20})
        project = newest(held)["projectId"]
        scan = str(answers_of(to, f"scan create {project}", repoUrl="https://kode.example/a.git")[0]["id"])
        assert answers_of(to, f"scan wait {scan}")[0]["status"] == "Completed"
        assert answers_of(to, f"results show {scan}")[0]["results"]
