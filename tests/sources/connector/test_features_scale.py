"""A large feature-management service from one end to the other: 2,000 definitions with their versions, reviews and
20,000 entries of the audit log, in memory that does not grow with them. Only where NOARKIT_DEEP=1 asks for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from noarkit.services.standins.server import StandinSpec
from tests.processes import all_processes
from tests.services.standing import Standing, standing

DEFINITIONS, ENTRIES = 2_000, 20_000
# what more may be needed of memory for ten times as much: tables of SQLite are cached up to a bound, which for an
# extraction is 64 and 16 MiB
MORE_MIB, MORE_FOR_EXTRACT_MIB = 40, 90
OPEN = ("pending", "accepted", "changes_requested")


@dataclass
class Road:
    """Commands, one after another, and what each of them took."""

    held: Standing
    folder: Path
    took: dict[str, tuple[float, float]] = field(default_factory=dict)

    def go(self, name: str, *words: str) -> None:
        """One command, to a good end; its seconds and its MiB are noted under a name."""
        line = [sys.executable, "-m", "noarkit", *words, "--config", str(self.held.config), "--progress", "none"]
        line += ["--archive", f"embedded:{self.folder / 'archive'}"] if words[0] != "validate" else []
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
        began, most = time.monotonic(), 0.0
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(line, env=environment, stdout=log, stderr=log, start_new_session=True)
            while process.poll() is None:
                session = [each.pid for each in all_processes() if each.session == process.pid]
                most = max(most, *map(mebibytes, session), 0.0)
                time.sleep(0.1)
        assert process.returncode == 0, (self.folder / f"{name}.log").read_text()[-3_000:]
        self.took[name] = (time.monotonic() - began, most)
        print(f"{name}: {self.took[name][0]:.0f} s, {self.took[name][1]:.0f} MiB", flush=True)

    def load(self, run: str) -> Mapping[str, int]:
        """A plan, loaded; what it came to."""
        self.go(f"plan {run}", "plan", "features:standin", "-o", str(self.folder / run))
        self.go(f"ingest {run}", "ingest", str(self.folder / run))
        numbers: Mapping[str, int] = json.loads((self.folder / run / "report.json").read_text("utf-8"))["numbers"]
        return numbers

    def finish(self, *runs: str) -> None:
        """Closed, extracted and found valid."""
        for run in runs:
            self.go(f"close {run}", "close", str(self.folder / run))
        self.go("extract", "extract", "-o", str(self.folder / "package"))
        self.go("validate", "validate", str(self.folder / "package"))


def mebibytes(pid: int) -> float:
    """The most that a process ever had in memory."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1_024
    return 0.0


def listed(held: Standing, path: str) -> list[dict[str, object]]:
    """All of a list of the console."""
    key = next(place.read_text().strip() for place in held.home.glob("*-api_key.secret"))
    found: list[dict[str, object]] = []
    for page in range(1, 1_000):
        told = httpx.get(
            f"{held.url}/console/v1{path}", params={"page": page}, headers={"SERVICE-API-KEY": key}, trust_env=False
        ).json()
        found += told["data"]
        if not (told.get("pagination") or {}).get("nextPage"):
            break
    return found


def change(held: Standing) -> None:
    """Ten gates are made and twenty changed, ten experiments and five parameter stores too; three segments are deleted,
    two layers archived and shown no more, four reviews concluded."""

    def ids(kind: str, count: int) -> list[str]:
        return [str(one["id"]) for one in listed(held, f"/{kind}")[:count]]

    told = [{"kind": "gates", "id": f"ny_{number}", "members": {"isEnabled": True}} for number in range(10)]
    for kind, count in (("gates", 20), ("experiments", 10), ("param_stores", 5)):
        told += [{"kind": kind, "id": one, "members": {"description": "Endret"}} for one in ids(kind, count)]
    layers = ids("layers", 2)
    told += [{"kind": "layers", "id": one, "members": {"status": "Archived"}} for one in layers]
    segments = [{"kind": "segments", "id": one} for one in ids("segments", 3)]
    concluded: list[dict[str, object]] = []
    for config in listed(held, "/dynamic_configs"):
        reviews = listed(held, f"/dynamic_configs/{config['id']}/reviews")
        if reviews and reviews[0]["status"] in OPEN and len(concluded) < 4:
            reviews[0]["status"] = "committed"
            concluded.append({"kind": "dynamic_configs", "id": config["id"], "reviews": reviews})
    assert len(concluded) == 4
    unlisted = [{"kind": "layers", "id": one} for one in layers]
    held.control("change", definitions=told, gone=segments, unlisted=unlisted, reviews=concluded)


def reads(held: Standing) -> int:
    """Of how many definitions the reviews were asked for."""
    return int(str(held.control("counts")["reviews_read"]))


if os.environ.get("NOARKIT_DEEP") == "1":

    def test_two_thousand_definitions_and_twenty_thousand_entries_go_all_the_way(tmp_path: Path) -> None:
        took = {}
        for name, definitions, entries in (("small", 200, 2_000), ("large", DEFINITIONS, ENTRIES)):
            folder = tmp_path / name
            folder.mkdir()
            with standing(
                "features", folder, StandinSpec(definitions, limits=(), options={"audit": str(entries)})
            ) as held:
                road = Road(held, folder)
                first = road.load("first")
                assert first["archived"] == first["read"] > definitions + entries
                road.go("verify first", "verify", str(folder / "first"), "--depth", "bytes")
                asked = reads(held)
                second = road.load("second")
                assert (second["archived"], second["new_versions"]) == (0, 0)
                # what was under review is asked about again, and no other
                assert reads(held) - asked < asked
                change(held)
                third = road.load("third")
                # a state and an entry of the log for each that was made or changed, an entry for each deleted one
                made = 2 * (10 + 20 + 10 + 5 + 2) + 3
                assert (third["archived"], third["new_versions"], third["skipped"]) == (made, 4, 3)
                road.go("verify third", "verify", str(folder / "third"), "--depth", "bytes")
                road.finish("first", "third")
                counts = held.control("counts")
                assert [counts[one] for one in ("checks", "exposures", "keys_read", "people_read")] == [0, 0, 0, 0]
            took[name] = road.took
        grown = {name: took["large"][name][1] - took["small"][name][1] for name in took["small"]}
        most = dict.fromkeys(grown, MORE_MIB) | {"extract": MORE_FOR_EXTRACT_MIB}
        assert {name: more for name, more in grown.items() if more > most[name]} == {}
