"""Application security through the whole road: scans that ended are archived once, those that run are waited for."""

from __future__ import annotations

from pathlib import Path

import noarkit
from noarkit.standins.appsec.data import canary
from noarkit.standins.serving import Wish
from tests.connectors.standing import Standing, standing


def load(held: Standing, folder: Path, name: str, archive: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    noarkit.plan("appsec:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def test_scans_are_archived_once_they_have_ended_and_then_only_what_changes(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("appsec", tmp_path / "standin", Wish(60)) as held:
        secrets = [path.read_text().strip() for path in (tmp_path / "standin").glob("*.secret")]
        first = load(held, tmp_path, "first", archive)
        # two projects; of six scans one runs, and of another one scanner still does
        assert (first.exit_code, first.numbers.set_aside, first.numbers.archived) == (0, 0, 2 + 4)
        assert noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive)).good

        second = load(held, tmp_path, "second", archive)
        assert (second.exit_code, second.numbers.archived, second.numbers.new_versions) == (0, 0, 0)

        scans = held.control("counts")["scans"]
        assert isinstance(scans, list)
        partial, running = scans[3], scans[0]  # newest first; the partial one began before the days looked back on
        held.control("finish", scan=partial["id"], status="Partial")
        held.control("finish", scan=running["id"])
        held.control("scan", project=running["projectId"])
        third = load(held, tmp_path, "third", archive)
        assert (third.exit_code, third.numbers.archived, third.numbers.new_versions) == (0, 3, 0)
        assert third.numbers.add_up

    for run in ("first", "third"):
        noarkit.close(tmp_path / run, archive=archive)
    made = noarkit.extract(tmp_path / "package", archive=archive)
    assert made.units["registrering"] == 7
    report = noarkit.validate(tmp_path / "package")
    assert [outcome.rule.code for outcome in report.outcomes if outcome.rule.level == "error"] == []
    found = [path.read_bytes() for path in tmp_path.glob("[!s]*/**/*") if path.is_file()]
    for secret in (*secrets, canary("credential"), canary("upload"), canary("snippet")):
        assert not [one for one in found if secret.encode() in one]
