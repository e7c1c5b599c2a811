"""A spend service through the whole road: vouchers by month, archived once, then exactly what is new."""

from __future__ import annotations

from pathlib import Path

import noarkit
from noarkit.standins.serving import Wish
from tests.connectors.standing import Standing, standing

FREE = ((1_000_000, 60.0),)


def load(held: Standing, folder: Path, name: str, archive: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    noarkit.plan("spend:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def test_all_vouchers_are_archived_once_and_then_only_what_is_new(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("spend", tmp_path, Wish(30, limits=FREE)) as held:
        first = load(held, tmp_path, "first", archive)
        assert (first.exit_code, first.numbers.read) == (0, first.numbers.archived)
        assert noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive)).good

        second = load(held, tmp_path, "second", archive)
        assert (second.numbers.archived, second.numbers.new_versions) == (0, 0)

        held.control("change", entries=[{"id": "new-entry-1", "settledAt": "2026-11-20T10:00:00.000Z"}])
        third = load(held, tmp_path, "third", archive)
        assert (third.exit_code, third.numbers.archived) == (0, 1)
        assert third.numbers.add_up

    for run in ("first", "third"):
        noarkit.close(tmp_path / run, archive=archive)
    made = noarkit.extract(tmp_path / "package", archive=archive)
    assert made.files > 30
    report = noarkit.validate(tmp_path / "package")
    assert [outcome.rule.code for outcome in report.outcomes if outcome.rule.level == "error"] == []
