"""Twenty thousand records of a CRM and twenty thousand vouchers through the whole road, by the command line alone:
planned, loaded, verified, closed, extracted and validated; the second run is empty, the third takes exactly what
changed, and no step needs more memory for it. The same roads at the size of a suite stand in the journeys beside this.

Run with NOARKIT_DEEP=1; NOARKIT_JOURNEY=N walks with so many records instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.waiting import PATIENCE_S

RECORDS = int(os.environ.get("NOARKIT_JOURNEY", "20000"))
MOST_MIB = 256  # of any process of any step, whatever the number of records
DEALS_OF_RECORDS = 0.8  # of a hundred deals there are twenty cases and five inspections beside


@dataclass(frozen=True, slots=True)
class Road:
    """A stand-in in a process of its own, the archive, and where the runs lie."""

    service: str
    url: str
    home: Path

    def step(self, *words: str, code: int = 0) -> dict[str, object]:
        """A command as a person gives it: what its last line tells. It is held to its code and to its memory."""
        command = [sys.executable, "-m", "noarkit", *words, "--config", str(self.home / "standin.toml"), "--json"]
        began = time.monotonic()
        with (self.home / f"{words[0]}.err").open("wb") as err, (self.home / "out").open("wb") as out:
            process = subprocess.Popen(command, cwd=self.home, stdout=out, stderr=err, env=self.environment)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        lines = (self.home / "out").read_text("utf-8").splitlines()
        peak_mib = used.ru_maxrss // 1024
        last: dict[str, object] = json.loads(lines[-1]) if lines else {}
        print(f"{self.service} {' '.join(words)}: {time.monotonic() - began:.0f} s, {peak_mib} MiB, {last}", flush=True)
        assert process.returncode == code, (self.home / f"{words[0]}.err").read_text("utf-8")[-3_000:]
        assert peak_mib < MOST_MIB
        return last

    def load(self, run: str) -> dict[str, object]:
        """One plan, loaded."""
        self.step("plan", f"{self.service}:standin", "-o", run, "--archive", "embedded:archive")
        return self.step("ingest", run, "--archive", "embedded:archive")

    def ask(self, what: str, **told: object) -> dict[str, object]:
        """Changes something in the stand-in."""
        answer = httpx.post(f"{self.url}/standin/{what}", json=told, timeout=PATIENCE_S, trust_env=False)
        assert answer.status_code == 200, answer.text
        found: dict[str, object] = answer.json()
        return found

    def deliver(self, runs: tuple[str, ...]) -> dict[str, object]:
        """Closed, extracted, and found valid."""
        for run in runs:
            self.step("close", run, "--archive", "embedded:archive")
        made = self.step("extract", "-o", "package", "--as", "noark5", "--archive", "embedded:archive")
        self.step("validate", "package")
        return made

    @property
    def environment(self) -> dict[str, str]:
        """Nothing is configured but the connection."""
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}


@contextmanager
def road(service: str, home: Path, records: int, *more: str) -> Iterator[Road]:
    """A road with a stand-in that holds so many records."""
    command = [sys.executable, "-m", "noarkit", "standin", service, "--records", str(records), "--json", *more]
    command += ["--config-out", str(home / "standin.toml")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Road(service, json.loads(process.stdout.readline())["url"], home)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        if process.stdout is not None:
            process.stdout.close()


if os.environ.get("NOARKIT_DEEP"):

    def test_twenty_thousand_records_of_a_crm_are_archived_once_and_then_exactly_what_changes(tmp_path: Path) -> None:
        with road("crm", tmp_path, int(RECORDS * DEALS_OF_RECORDS)) as crm:
            first = crm.load("first")
            assert (first["set_aside"], first["archived"]) == (0, first["read"])
            assert int(str(first["read"])) > RECORDS
            crm.step("verify", "first", "--archive", "embedded:archive")

            second = crm.load("second")
            assert (second["archived"], second["new_versions"]) == (0, 0)

            deal = 4_150_868_000_000_000_000 + 3 * 10_000_000_000
            changed = [{"id": str(deal + place), "Description": "endret"} for place in range(5)]
            crm.ask("change", module="Deals", put=[*changed, *({"Deal_Name": f"Ny {n}"} for n in range(3))])
            crm.ask("note", deal=str(deal + 7), title="Nytt notat", content="Ringte i dag.")
            crm.ask("change", module="Deals", delete=[str(deal + 8), str(deal + 9)])
            time.sleep(1.1)  # times there are whole seconds: what changes in the second of a plan is the next one's
            third = crm.load("third")
            # three new deals and a note; five snapshots have a new version; two deletions are told and kept
            assert (third["archived"], third["new_versions"], third["skipped"]) == (4, 5, 2)
            crm.deliver(("first", "third"))

    def test_twenty_thousand_vouchers_are_archived_once_and_then_exactly_what_is_new(tmp_path: Path) -> None:
        with road("spend", tmp_path, RECORDS, "--limit", "100000000/60") as spend:
            first = spend.load("first")
            assert (first["set_aside"], first["archived"]) == (0, first["read"])
            assert int(str(first["read"])) > RECORDS * 0.6
            spend.step("verify", "first", "--archive", "embedded:archive")

            second = spend.load("second")
            assert (second["archived"], second["new_versions"]) == (0, 0)

            settled = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 3_600))
            spend.ask("change", entries=[{"id": f"new-{n}", "settledAt": settled} for n in range(4)])
            third = spend.load("third")
            assert (third["archived"], third["new_versions"]) == (4, 0)
            spend.deliver(("first", "third"))
