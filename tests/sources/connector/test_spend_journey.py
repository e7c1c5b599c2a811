"""A spend service through the whole road: vouchers by month, archived once, then exactly what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, standing

pytestmark = pytest.mark.usefixtures("one_archive")

FREE = ((1_000_000, 60.0),)
NEW, LATE = "00000000-0000-4000-9000-000000000001", "00000000-0000-4000-9000-000000000002"
SETTLED = {"status": "COMPLETED", "exportStatus": "EXPORTED"}


def load(held: Standing, folder: Path, name: str, archive: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    noarkit.plan("spend:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def test_all_vouchers_are_archived_once_and_then_only_what_is_new(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("spend", tmp_path, StandinSpec(30, limits=FREE)) as held:
        first = load(held, tmp_path, "first", archive)
        assert (ingest_exit_code(first), first.numbers.read) == (0, first.numbers.archived + first.numbers.skipped)
        assert noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive)).good

        second = load(held, tmp_path, "second", archive)
        assert (second.numbers.archived, second.numbers.new_versions) == (0, 0)

        held.control("change", entries=[{**SETTLED, "id": NEW, "settledAt": "2026-11-20T10:00:00.000Z"}])
        third = load(held, tmp_path, "third", archive)
        assert (ingest_exit_code(third), third.numbers.archived) == (0, 1)
        assert third.numbers.add_up

    for run in ("first", "third"):
        noarkit.close(tmp_path / run, archive=archive)
    made = noarkit.extract(tmp_path / "package", archive=archive)
    assert made.files > 30
    report = noarkit.validate(tmp_path / "package")
    assert [outcome.rule.code for outcome in report.outcomes if outcome.rule.level == "error"] == []


def test_an_entry_settled_long_ago_and_exported_later_is_archived_and_what_is_left_out_is_listed(
    tmp_path: Path,
) -> None:
    archive, old = f"embedded:{tmp_path / 'archive'}", "2024-02-01T10:00:00.000Z"
    with standing("spend", tmp_path, StandinSpec(12, limits=FREE)) as held:
        late = {"id": LATE, "status": "COMPLETED", "exportStatus": "NOT_EXPORTED", "settledAt": old}
        held.control("change", entries=[late])
        first = load(held, tmp_path, "first", archive)
        assert first.numbers.add_up
        report = json.loads((tmp_path / "first" / "plan-report.json").read_text())
        reasons = {one["reason"]: one["count"] for one in report["skipped"]}
        assert reasons.pop("not-final") == 1
        assert set(reasons) == {"wallet", "cashback"}
        assert sum(reasons.values()) + 1 == first.numbers.skipped
        assert "not final yet" in (tmp_path / "first" / "plan.html").read_text()
        assert noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive)).good
        held.control("export", entries=[LATE])
        second = load(held, tmp_path, "second", archive)
        assert second.numbers.archived == 2, "the entry, and the job that took it"
        assert noarkit.verify(tmp_path / "second", depth="bytes", settings=held.site(archive)).good
        third = load(held, tmp_path, "third", archive)
        assert third.numbers.archived == 0
