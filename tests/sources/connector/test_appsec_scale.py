"""A large security service from one end to the other: 200 scans with 50,000 results, decisions and an audit trail, in
memory that does not grow with them. Only where NOARKIT_DEEP=1 asks for it."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from noarkit.services.appsec.standin.data import Store
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import standing
from tests.sources.connector.test_features_scale import Road

RESULTS, SCANS = 50_000, 200
OPTIONS = {"most-results": "100", "decided": "2", "audit-days": "60"}
MORE_MIB = 40
WINDOW = 35  # scans that began in the last seven days: one each 4.8 hours


def load(road: Road, run: str) -> Mapping[str, int]:
    """A plan, loaded; what it came to."""
    road.go(f"plan {run}", "plan", "appsec:standin", "-o", str(road.folder / run))
    road.go(f"ingest {run}", "ingest", str(road.folder / run))
    numbers: Mapping[str, int] = json.loads((road.folder / run / "report.json").read_text("utf-8"))["numbers"]
    return numbers


def kinds_of(run: Path) -> Counter[str]:
    """What a run archived, by the kind that each key tells."""
    with (run / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        return Counter(row["key"].split(":")[1] for row in csv.DictReader(file, delimiter=";"))


if os.environ.get("NOARKIT_DEEP"):

    def test_two_hundred_scans_with_fifty_thousand_results_and_then_only_what_changed(tmp_path: Path) -> None:
        took = {}
        for name, results in (("small", RESULTS // 10), ("large", RESULTS)):
            folder = tmp_path / name
            folder.mkdir()
            with standing(
                "appsec", tmp_path / f"standin-{name}", StandinSpec(results, limits=(), options=OPTIONS)
            ) as held:
                road = Road(held, folder)
                first = load(road, "first")
                took[name] = road.took
                if name == "small":
                    continue
                store = Store(results, 1, OPTIONS)
                decided = {
                    (project, similarity)
                    for project, similarity in found_in(store)
                    if store.trail.history(project, similarity)
                }
                decisions = sum(len(store.trail.history(*one)) for one in decided)
                kinds = kinds_of(folder / "first")
                # of 200 scans one runs, and of another one scanner still does; the last of the trail's days is not over
                assert kinds.pop("audit") in (59, 60)
                assert kinds == {"project": SCANS // 3, "scan": SCANS - 2, "triage": decisions}
                assert first["archived"] == first["read"]
                road.go("verify", "verify", str(folder / "first"), "--depth", "bytes")

                second = load(road, "second")
                assert (second["archived"], second["new_versions"], second["set_aside"]) == (0, 0, 0)

                scans = held.control("counts")["scans"]
                assert isinstance(scans, list)
                running, partial, newest = scans[0], scans[3], scans[1]
                similarity = next(
                    str(one["similarityId"])
                    for one in store.results(newest["id"])
                    if one["type"] == "sast" and not store.trail.history(newest["projectId"], str(one["similarityId"]))
                )
                held.control("finish", scan=running["id"])
                held.control("finish", scan=partial["id"], status="Partial")
                held.control("scan", project=running["projectId"])
                held.control("triage", project=newest["projectId"], similarity=similarity, state="URGENT")
                late = datetime.now(UTC) - timedelta(days=3)
                held.control("act", day=late.date().isoformat(), deed="late")
                third = load(road, "third")
                changed = [one for one in scans[1:WINDOW] if one["projectId"] == newest["projectId"]]
                ended = [one for one in changed if one["status"] in ("Completed", "Partial") and one != partial]
                assert (third["archived"], third["set_aside"]) == (3 + 1, 0)
                assert third["new_versions"] == len(ended) + 1  # and the day of the trail
                assert third["already_there"] == third["read"] - 4  # new versions are of records that were there
                road.finish("first", "third")
        for step, (_, most) in took["small"].items():
            assert took["large"][step][1] < most + MORE_MIB, (step, most, took["large"][step])


def found_in(store: Store) -> set[tuple[str, str]]:
    """What was found in scans that ended, and can be decided about."""
    ended = [scan for scan in store.scans() if scan["status"] in ("Completed", "Partial")]
    running = {scan["id"] for scan in ended if any(one["status"] == "Running" for one in scan["statusDetails"])}
    return {
        (str(scan["projectId"]), str(one["similarityId"]))
        for scan in ended
        if scan["id"] not in running
        for one in store.results(scan["id"])
        if one["type"] in ("sast", "kics")
    }
