"""Twenty thousand records of a CRM and twenty thousand vouchers through the whole road, by the command line alone:
planned, loaded, verified, closed, extracted and validated; the second run is empty, the third takes exactly what
changed, and no step needs more memory for it.

Run with NOARKIT_DEEP=1; the suite walks the same roads with few records, and with NOARKIT_JOURNEY=N there are so many.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.sources.connector.road import DEEP, Road
from tests.waiting import PATIENCE_S

RECORDS = int(os.environ.get("NOARKIT_JOURNEY", "20000" if DEEP else "30"))
MOST_MIB = 256  # of any process of any step, whatever the number of records
DEALS_OF_RECORDS = 0.8  # of a hundred deals there are twenty cases and five inspections beside
GO_WITH_A_DEAL = ("snapshot", "note:", "att:")
STOPPED_BY = {"schemas", "formats"}
"""Why the packages are not ready for deposit: people attach files of all formats."""


@dataclass(frozen=True, slots=True)
class Standin:
    """A stand-in in a process of its own."""

    url: str

    def ask(self, what: str, **told: object) -> None:
        """Changes something in it."""
        answer = httpx.post(f"{self.url}/standin/{what}", json=told, timeout=PATIENCE_S, trust_env=False)
        assert answer.status_code == 200, answer.text


@contextmanager
def journey(service: str, folder: Path, records: int, *more: str) -> Iterator[tuple[Road, Standin]]:
    """A road, and the stand-in with so many records where it begins. No step of it needs much memory."""
    config = folder / "standin.toml"
    command = [sys.executable, "-m", "noarkit", "standin", service, "--records", str(records), "--json", *more]
    process = subprocess.Popen([*command, "--config-out", str(config)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        road = Road(service, config, folder)
        yield road, Standin(json.loads(process.stdout.readline())["url"])
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        if process.stdout is not None:
            process.stdout.close()
    assert {step: most for step, (_, most) in road.took.items() if most >= MOST_MIB} == {}


def archived_of(run: Path, ids: Sequence[str]) -> int:
    """How many records a run archived of cases: their own, and those that go with them. A quote stays."""
    with (run / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        keys = [row["key"] for row in csv.DictReader(file, delimiter=";")]
    return sum(f":Deals:{one}:{part}" in key for key in keys for one in ids for part in GO_WITH_A_DEAL)


def test_a_crm_of_any_size_is_archived_once_and_then_exactly_what_changes(tmp_path: Path) -> None:
    with journey("crm", tmp_path, int(RECORDS * DEALS_OF_RECORDS)) as (road, crm):
        first = road.load("first")
        assert (first["set_aside"], first["archived"]) == (0, first["read"])
        assert first["read"] > RECORDS
        road.verify("first")

        second = road.load("second")
        assert (second["archived"], second["new_versions"]) == (0, 0)
        road.verify("second")

        changed, noted, deleted, new = range(5), 7, (8, 9), 3
        ids = [str(4_150_868_000_000_000_000 + 3 * 10_000_000_000 + place) for place in range(10)]
        put = [{"id": ids[place], "Description": "endret"} for place in changed]
        crm.ask("change", module="Deals", put=[*put, *({"Deal_Name": f"Ny {number}"} for number in range(new))])
        crm.ask("note", deal=ids[noted], title="Nytt notat", content="Ringte i dag.")
        crm.ask("change", module="Deals", delete=[ids[place] for place in deleted])
        time.sleep(1.1)  # times there are whole seconds: what changes in the second of a plan is the next one's
        third = road.load("third")
        # new deals and a note; snapshots have a new version; deletions are told and kept, and so is what went with them
        gone = archived_of(tmp_path / "first", [ids[place] for place in deleted])
        assert gone > len(deleted)
        assert (third["archived"], third["new_versions"], third["skipped"]) == (new + 1, len(changed), gone)
        road.verify("third")
        road.finish("first", "third", stopped_by=STOPPED_BY)


def test_vouchers_of_any_number_are_archived_once_and_then_exactly_what_is_new(tmp_path: Path) -> None:
    with journey("spend", tmp_path, RECORDS, "--limit", "100000000/60") as (road, spend):
        first = road.load("first")
        # what moves within the service's own accounts is no voucher: it is counted, and left where it is
        assert (first["set_aside"], first["archived"] + first["skipped"]) == (0, first["read"])
        assert RECORDS * 0.6 < first["archived"] < first["read"]
        report = json.loads((tmp_path / "first" / "plan-report.json").read_text("utf-8"))
        assert {str(one["reason"]) for one in report["skipped"]} <= {"wallet", "cashback"}
        road.verify("first")

        second = road.load("second")
        assert (second["archived"], second["new_versions"]) == (0, 0)
        road.verify("second")

        settled = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 3_600))
        new = [{"id": f"new-{number}", "settledAt": settled} for number in range(4)]
        spend.ask("change", entries=new)
        third = road.load("third")
        assert (third["archived"], third["new_versions"]) == (len(new), 0)
        road.verify("third")
        road.finish("first", "third", stopped_by=STOPPED_BY)
