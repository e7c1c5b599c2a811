"""Application security through the whole road: scans that ended are archived once, those that run are waited for."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.errors import ServiceDenied
from noarkit.services.appsec.standin.data import Store, canary
from noarkit.services.standins.server import StandinSpec
from tests.services.histories.appsec import has_ended
from tests.services.standing import Standing, standing

pytestmark = pytest.mark.usefixtures("one_archive")

DECIDED = {"decided": "30"}
UNTOLD = ("containers",)
"""Scanners about whose findings no call of the service tells who decided what."""
QUIET = {"decided": "0", "audit-days": "0"}


def load(held: Standing, folder: Path, name: str, archive: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    noarkit.plan("appsec:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def kinds_of(run: Path) -> Counter[str]:
    """What a run archived, by the kind that each key tells."""
    with (run / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        return Counter(row["key"].split(":")[1] for row in csv.DictReader(file, delimiter=";"))


def decisions_in(store: Store) -> int:
    """How many decisions a service tells: about what was found in scans that ended. A weakness is decided about in each
    package that has it."""
    subjects = {
        (str(scan["projectId"]), str(one["similarityId"]), one["type"], str(one["data"].get("packageIdentifier")))
        for scan in store.scans()
        if has_ended(scan)
        for one in store.results(scan["id"])
        if one["type"] not in UNTOLD
    }
    return sum(len(store.trail.history(project, similarity)) for project, similarity, *_ in subjects)


def decide(held: Standing, scan: dict[str, str], state: str) -> None:
    """Somebody decides about the first finding of a scan that has decisions."""
    store = Store(60, 1, DECIDED)
    similarity = next(str(one["similarityId"]) for one in store.results(scan["id"]) if one["type"] == "kics")
    held.control("triage", project=scan["projectId"], similarity=similarity, state=state)


def test_scans_are_archived_once_they_have_ended_and_then_only_what_changes(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("appsec", tmp_path / "standin", StandinSpec(60, options=DECIDED)) as held:
        secrets = [path.read_text().strip() for path in (tmp_path / "standin").glob("*.secret")]
        first = load(held, tmp_path, "first", archive)
        kinds = kinds_of(tmp_path / "first")
        # of six scans one runs, and of another one scanner still does; of the trail's days the last is not over
        assert kinds.pop("audit") in (4, 5)
        assert kinds == {"project": 2, "scan": 4, "triage": decisions_in(Store(60, 1, DECIDED))}
        assert (ingest_exit_code(first), first.numbers.set_aside) == (0, 0)
        assert noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive)).good

        second = load(held, tmp_path, "second", archive)
        assert (ingest_exit_code(second), second.numbers.archived, second.numbers.new_versions) == (0, 0, 0)

        scans = held.control("counts")["scans"]
        assert isinstance(scans, list)
        partial, running = scans[3], scans[0]  # newest first; the partial one began before the days looked back on
        held.control("finish", scan=partial["id"], status="Partial")
        held.control("finish", scan=running["id"])
        held.control("scan", project=running["projectId"])
        decide(held, scans[1], "AKSEPTERT_RISIKO")
        held.control("act", day=(datetime.now(UTC) - timedelta(days=2)).date().isoformat(), deed="late")
        third = load(held, tmp_path, "third", archive)
        # three scans and a decision; the scan that was decided about and a day of the trail got new versions
        assert (ingest_exit_code(third), third.numbers.archived, third.numbers.new_versions) == (0, 3 + 1, 2)
        assert third.numbers.add_up
        proof = noarkit.verify(tmp_path / "third", depth="bytes", settings=held.site(archive))
        # that day had fewer events when it was archived, and says so
        assert (proof.differences, proof.missing) == (0, {"source_changed": 1}), proof.notices

    for run in ("first", "third"):
        noarkit.close(tmp_path / run, archive=archive)
    made = noarkit.extract(tmp_path / "package", archive=archive)
    assert made.units["registrering"] == first.numbers.archived - 2 + 4
    report = noarkit.validate(tmp_path / "package")
    assert [outcome.rule.code for outcome in report.outcomes if outcome.rule.level == "error"] == []
    found = [path.read_bytes() for path in tmp_path.glob("[!s]*/**/*") if path.is_file()]
    for secret in (*secrets, canary("credential"), canary("upload"), canary("snippet"), canary("audit")):
        assert not [one for one in found if secret.encode() in one]


def test_a_plan_that_the_service_broke_off_is_made_again_and_nothing_is_lost(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("appsec", tmp_path, StandinSpec(30, options=QUIET)) as held:
        held.control("trouble", path="/api/results", status=403, after=2)
        with pytest.raises(ServiceDenied):
            load(held, tmp_path, "broken", archive)
        again = load(held, tmp_path, "again", archive)
        assert (ingest_exit_code(again), again.numbers.set_aside, again.numbers.archived) == (0, 0, 2 + 4)


def test_findings_that_are_decided_about_become_new_versions_and_what_is_not_whole_is_set_aside(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("appsec", tmp_path, StandinSpec(30, options=QUIET)) as held:
        held.control("set", failing=1)
        first = load(held, tmp_path, "first", archive)
        assert (ingest_exit_code(first), first.numbers.set_aside, first.numbers.archived) == (3, 1, 2 + 3)
        scans = held.control("counts")["scans"]
        assert isinstance(scans, list)
        store = Store(30, 1, {})
        similarity = next(str(one["similarityId"]) for one in store.results(scans[1]["id"]) if one["type"] == "kics")
        held.control("triage", project=scans[1]["projectId"], similarity=similarity, state="DECIDED")
        second = load(held, tmp_path, "second", archive)
        # the scan that was set aside, and the decision; scans where that finding stands have three documents changed
        assert (ingest_exit_code(second), second.numbers.archived) == (0, 1 + 1)
        assert second.numbers.new_versions >= 1
