"""The walk of samples/crm is run as it stands, with a few deals; its README tells the same commands."""

from __future__ import annotations

import json
from pathlib import Path

from tests.walks import numbers, told, walk, walked


def test_the_walk_ends_well_and_each_run_takes_what_it_should(tmp_path: Path) -> None:
    walk("crm", tmp_path, 6)
    first, second, third = (numbers(tmp_path / name) for name in ("first", "second", "third"))
    assert first["archived"] == first["read"] > 20
    assert (second["archived"], second["new_versions"]) == (0, 0)
    # a new deal, a changed one, and a deleted one with its notes and attachments
    assert (third["archived"], third["new_versions"], third["skipped"]) == (1, 1, 4)
    assert "crm:standin Deals.delete" in (tmp_path / "listen.log").read_text()
    tools = (tmp_path / "tools.txt").read_text()
    assert "Crm_getRecords  (may be called)" in tools and "Crm_deleteRecords  (refused" in tools
    assert len(json.loads((tmp_path / "deals.json").read_text())["data"]) == 2
    assert (tmp_path / "package" / "arkivuttrekk.xml").is_file()


def test_the_readme_tells_the_commands_of_the_walk_in_their_order() -> None:
    assert told("crm") == walked("crm", {'"$here/change.py"': "change.py"})
