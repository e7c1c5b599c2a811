"""A bag whose bag-info.txt counts other bytes or files than there are is not planned without a word."""

from __future__ import annotations

import csv
from pathlib import Path

from noarkit.cli.main import main
from tests.contract.forged import FORMS


def test_a_wrong_oxum_is_set_aside_by_name(tmp_path: Path) -> None:
    bag = FORMS["bag with MD5"](tmp_path)
    (bag / "bag-info.txt").write_text("Payload-Oxum: 7.1\n")
    assert main(["plan", str(bag), "-o", str(tmp_path / "run")], {}) == 3
    with (tmp_path / "run/set-aside.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert any("/bag-info.txt#Payload-Oxum" in row for row in rows), rows


def test_a_right_oxum_is_no_finding(tmp_path: Path) -> None:
    bag = FORMS["bag with MD5"](tmp_path)
    size = (bag / "data/brev.txt").stat().st_size
    (bag / "bag-info.txt").write_text(f"Payload-Oxum: {size}.1\n")
    assert main(["plan", str(bag), "-o", str(tmp_path / "run")], {}) == 0
