"""The walk-through of samples/files is run as its README has it, command by command."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

from tests.walks import SAMPLES, follow


def test_every_command_of_the_walk_through_ends_well(tmp_path: Path) -> None:
    for name in ("make.py", "recipe.toml"):
        shutil.copy(SAMPLES / "files" / name, tmp_path / name)
    follow("files", tmp_path)
    report = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    numbers = report["numbers"]
    assert (report["verdict"], numbers["read"], numbers["archived"], numbers["skipped"]) == ("whole", 12, 8, 4)
    assert {one["type"]: one["archived"] for one in report["types"]} == {
        "Arkiv": 1,
        "Arkivskaper": 1,
        "Arkivdel": 1,
        "Klassifikasjonssystem": 1,
        "Klasse": 1,
        "Saksmappe": 3,
        "Journalpost": 8,
        "Korrespondansepart": 8,
        "Dokument": 8,
        "Dokumentversjon": 8,
        "EksternId": 11,
    }
    plan = json.loads((tmp_path / "run" / "plan-report.json").read_text("utf-8"))
    assert plan["context"]["asked"] and plan["context"]["hashed"]
    with (tmp_path / "run" / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        assert {row["type"] for row in csv.DictReader(file, delimiter=";")} == {"Journalpost"}
    certificates = list((tmp_path / "run").glob("verify-*.json"))
    assert [json.loads(one.read_text("utf-8"))["good"] for one in certificates] == [True]
