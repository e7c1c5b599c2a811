"""The walk of samples/features is run as it stands, with a few definitions; its README tells the same commands."""

from __future__ import annotations

from pathlib import Path

from tests.walks import numbers, told, walk, walked


def test_the_walk_ends_well_and_each_run_takes_what_it_should(tmp_path: Path) -> None:
    said = walk("features", tmp_path, 10)
    first, second, third = (numbers(tmp_path / name) for name in ("first", "second", "third"))
    assert first["archived"] == first["read"] > 50
    assert (second["archived"], second["new_versions"]) == (0, 0)
    assert (third["archived"], third["new_versions"], third["skipped"]) == (4, 0, 0)
    assert "features:standin service::config_change" in (tmp_path / "listen.log").read_text()
    assert (tmp_path / "package" / "arkivuttrekk.xml").is_file()
    assert "Get_Gate_Details_by_ID  (may be called)" in said
    assert "Create_Gate  (refused: it may change something)" in said
    assert '"value": false' in said  # the gate was disabled before it was checked


def test_the_readme_tells_the_commands_of_the_walk_in_their_order() -> None:
    assert told("features") == walked("features", {'"$here/watch.py"': "watch.py", "$port": "8084"})
