"""`noarkit standin SERVICE --history`: a seed is drawn and written out, a file is played, and mistakes are named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import httpx
import pytest

from noarkit.cli.main import main
from noarkit.services.standins.histories.chance import draw_history
from noarkit.services.standins.histories.script import Change, History, read_history, write_history
from tests.services.histories.sweep import SERVICES
from tests.waiting import PATIENCE_S


@pytest.mark.parametrize("line", ['{"at": "0:00:01", "what": "burn"}', "no history"])
def test_a_file_that_cannot_be_played_is_refused(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text(line + "\n")
    assert main(["standin", "crm", "--history", str(path)], {"HOME": str(tmp_path)}) == 2
    told = capsys.readouterr().err
    assert "F110" in told and ("restore" in told if "burn" in line else f"{path}:1" in told)


def test_a_history_is_written_out_and_played(tmp_path: Path) -> None:
    write_history(tmp_path / "in.jsonl", History((Change("create", "Deals", {"Deal_Name": "Ny"}),)))
    deals: list[int] = []
    words = ["standin", "crm", "--records", "5", "--json", "--history"]
    for source, written in (("7", "out.jsonl"), (str(tmp_path / "in.jsonl"), "copy.jsonl")):
        command = [sys.executable, "-m", "noarkit", *words, source, "--history-out", str(tmp_path / written)]
        environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            try:
                assert process.stdout is not None
                url = json.loads(process.stdout.readline())["url"]
                httpx.post(
                    f"{url}/oauth/v2/token", trust_env=False, timeout=PATIENCE_S
                )  # any call lets what is due happen
                counted = httpx.get(f"{url}/standin/counts", trust_env=False, timeout=PATIENCE_S).json()
                deals.append(counted["held"]["Deals"])
            finally:
                process.terminate()
    assert deals == [5, 6], "the first change of the seed comes later, that of the file at once"
    chances = import_module("noarkit.services.crm.standin.history").CHANCES
    assert read_history(tmp_path / "out.jsonl") == draw_history(chances, 7)
    assert (tmp_path / "copy.jsonl").read_text() == (tmp_path / "in.jsonl").read_text()


@pytest.mark.parametrize("service", SERVICES)
def test_what_is_drawn_for_a_service_is_what_its_stand_in_knows(service: str) -> None:
    from noarkit.cli.standin import find_standin
    from noarkit.services.standins.server import StandinSpec

    chances = import_module(f"noarkit.services.{service}.standin.history").CHANCES
    changes = tuple(Change(candidate.what) for candidate in chances.changes)
    assert changes
    find_standin(service)("http://127.0.0.1:1", StandinSpec(3, history=History(changes))).close()  # refuses others
