"""The walk of samples/spend is run as it stands, with a few vouchers; its README tells the same commands."""

from __future__ import annotations

import json
from pathlib import Path

from tests.walks import numbers, told, walk, walked


def test_the_walk_ends_well_and_each_run_takes_what_it_should(tmp_path: Path) -> None:
    walk("spend", tmp_path, 10)
    first, second, third = (numbers(tmp_path / name) for name in ("first", "second", "third"))
    assert first["archived"] + first["skipped"] == first["read"]
    assert first["archived"] > 10
    assert (second["archived"], second["new_versions"]) == (0, 0)
    assert (third["archived"], third["new_versions"], third["skipped"]) == (1, 0, 0)
    assert "spend:standin v1.export-job.created" in (tmp_path / "listen.log").read_text()
    tools = (tmp_path / "tools.txt").read_text()
    assert "search_expenses  (may be called)" in tools and "complete_expense  (refused" in tools
    assert len(json.loads((tmp_path / "expenses.json").read_text())["expenses"]) == 2
    assert (tmp_path / "package" / "arkivuttrekk.xml").is_file()


def test_the_readme_tells_the_commands_of_the_walk_in_their_order() -> None:
    assert told("spend") == walked("spend", {'"$here/change.py"': "change.py"})
