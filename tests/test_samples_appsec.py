"""The walk of samples/appsec is run as it stands, with a few findings; its README tells the same commands."""

from __future__ import annotations

from pathlib import Path

from tests.walks import numbers, told, walk, walked


def test_the_walk_ends_well_and_each_run_takes_what_it_should(tmp_path: Path) -> None:
    said = walk("appsec", tmp_path, 30)
    first, second, third = (numbers(tmp_path / name) for name in ("first", "second", "third"))
    # two projects, the scans that had ended, and days of the audit trail
    assert first["archived"] == first["read"] >= 2 + 4 + 4
    assert (second["archived"], second["new_versions"]) == (0, 0)
    # a scan and a decision; the scan whose finding was decided about got new versions of what tells of it
    assert (third["archived"], third["new_versions"], third["skipped"]) == (2, 1, 0)
    assert "appsec:standin scan_completed_successfully" in (tmp_path / "listen.log").read_text()
    assert (tmp_path / "results.sarif").read_bytes().startswith(b'{"$schema":')
    assert (tmp_path / "package" / "arkivuttrekk.xml").is_file()
    assert "listProjects  (may be called)" in said
    assert "changeFindingState  (refused: it may change something)" in said


def test_the_readme_tells_the_commands_of_the_walk_in_their_order() -> None:
    assert told("appsec") == walked("appsec", {'"$here/change.py"': "change.py"})
