"""A large security service from one end to the other: 200 scans with 50,000 results, decisions and an audit trail, in
memory that does not grow with them. NOARKIT_DEEP=1 asks for it; the suite walks the same road with six scans."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from noarkit.services.appsec.standin.data import Store
from noarkit.services.standins.server import StandinSpec
from tests.services.histories.appsec import LOOK_BACK, has_ended
from tests.services.standing import Standing, standing
from tests.sources.connector.road import DEEP, Road
from tests.sources.connector.test_appsec_journey import decisions_in, kinds_of

SIZES = (5_000, 50_000) if DEEP else (1_000,)
"""How many results there are, the fewest first."""
AUDIT_DAYS = 60
OPTIONS = {"most-results": "100", "decided": "2", "audit-days": str(AUDIT_DAYS)}
MORE_MIB = 40


def walk(road: Road, held: Standing, results: int) -> None:
    """Everything is archived, then nothing, then what changed; the package is valid."""
    store = Store(results, 1, OPTIONS)
    scans = store.scans()
    ended, decisions = [scan for scan in scans if has_ended(scan)], decisions_in(store)
    first = road.load("first")
    kinds = kinds_of(road.folder / "first")
    assert kinds.pop("audit") in (AUDIT_DAYS - 1, AUDIT_DAYS)  # the last of the trail's days is not over
    assert kinds == {"project": len(store.tables["projects"]), "scan": len(ended), "triage": decisions}
    assert len(ended) == len(scans) - 2  # one runs, and of another one scanner still does
    assert decisions > 10
    assert first["archived"] == first["read"]
    road.verify("first")

    second = road.load("second")
    assert (second["archived"], second["new_versions"], second["set_aside"]) == (0, 0, 0)
    road.verify("second")

    decided_scans = change(held, store)
    third = road.load("third")
    assert (third["archived"], third["set_aside"]) == (3 + 1, 0)  # three scans and a decision
    assert third["new_versions"] == decided_scans + 1  # and the day of the trail
    assert third["already_there"] == third["read"] - third["archived"]  # new versions are of records that were there
    road.verify("third", changed=1)  # that day had fewer events when it was archived, and says so
    road.finish("first", "third", stopped_by={"schemas", "formats"})  # reports of the service are no PDF/A


def change(held: Standing, store: Store) -> int:
    """Two scans end, one is made, a finding is decided about, and something is added to a day of the trail. Returns in
    how many scans that are looked at again that finding stands."""
    scans = store.scans()  # newest first
    running, newest, partial = scans[0], scans[1], scans[3]
    project = newest["projectId"]
    similarity = next(
        str(one["similarityId"])
        for one in store.results(newest["id"])
        if one["type"] == "sast" and not store.trail.history(project, str(one["similarityId"]))
    )
    held.control("finish", scan=running["id"])
    held.control("finish", scan=partial["id"], status="Partial")
    held.control("scan", project=running["projectId"])
    held.control("triage", project=project, similarity=similarity, state="URGENT")
    now = datetime.now(UTC)
    held.control("act", day=(now - timedelta(days=3)).date().isoformat(), deed="late")
    looked_at = [
        scan
        for scan in scans
        if datetime.fromisoformat(scan["createdAt"]) >= now - LOOK_BACK
        and scan["id"] not in (running["id"], partial["id"])
    ]
    return sum(similarity in {str(one["similarityId"]) for one in store.results(scan["id"])} for scan in looked_at)


def test_a_service_of_any_size_is_archived_once_and_then_only_what_changed(tmp_path: Path) -> None:
    took: list[Mapping[str, tuple[float, float]]] = []
    for results in SIZES:
        folder = tmp_path / str(results)
        folder.mkdir()
        spec = StandinSpec(results, limits=(), options=OPTIONS)
        with standing("appsec", tmp_path / f"standin-{results}", spec) as held:
            road = Road("appsec", held.config, folder)
            walk(road, held, results)
        took.append(road.took)
    for step, (_, most) in took[0].items():
        assert took[-1][step][1] < most + MORE_MIB, (step, most, took[-1][step])
