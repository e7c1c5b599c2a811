"""A feature-management service on the command line, in its own words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, standing


def asking(held: Standing, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[dict[str, object]]]]:
    """`noarkit connect features:standin …`: how it ended, and what was told of each definition."""

    def ask(*words: str) -> tuple[int, list[dict[str, object]]]:
        line = ["connect", "features:standin", *words, "--json", "--config", str(held.config)]
        ended = main(line, held.environment)
        told = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
        return ended, [one["result"] for one in told if one["event"] == "tool_result"]

    return ask


def test_gates_are_listed_made_changed_checked_and_deleted_by_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with standing("features", tmp_path, StandinSpec(15, limits=(), options={"audit": "0"})) as held:
        ask = asking(held, capsys)
        ended, gates = ask("gates", "list")
        assert (ended, len(gates)) == (0, 9)
        assert ask("gates", "create", "fra_linja", "--arguments", '{"description": "Ny"}')[0] == 0
        ended, (changed,) = ask("gates", "update", "fra_linja", "--arguments", '{"isEnabled": true}')
        assert (ended, changed["isEnabled"], changed["description"]) == (0, True, "Ny")
        ended, (checked,) = ask("gates", "check", "fra_linja", "--arguments", '{"userID": "u1"}')
        assert (ended, checked["value"]) == (0, True)
        assert held.control("counts")["exposures"] == 0
        assert ask("gates", "delete", "fra_linja") == (0, [{"deleted": "fra_linja"}])
        assert ask("gates", "get", "fra_linja")[0] != 0
        for wrong in (("keys", "list"), ("gates",), ("gates", "list", "a", "b"), ("layers", "check", "x")):
            assert ask(*wrong)[0] == 2
        for group in ("dynamic_configs", "segments", "experiments"):
            assert ask(group, "list")[0] == 0
