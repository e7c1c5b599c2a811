"""What is screened is counted alike in the plan and in the package that is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree

from noarkit.cli.main import main

FOLDERS, RECORDS, DOCUMENTS = "mappe", "registrering", "dokumentbeskrivelse"


@pytest.mark.usefixtures("one_archive")
def test_plan_and_package_count_the_same_screened_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for case in ("Barnevern", "Vei"):
        (tmp_path / "share" / case).mkdir(parents=True)
        for name in ("a", "b", "c"):
            (tmp_path / "share" / case / f"{name}.txt").write_text(f"{case} {name}")
    assert main(["recipe", "new", "share", "-o", "ours.toml"], {}) == 0
    recipe = Path("ours.toml").read_text("utf-8")
    plain = 'fields = { tittel = "= item" }'
    screened = """fields = { tittel = "= item", skjerming = "= 'UO13' if 'Barnevern' in item else none" }"""
    assert plain in recipe
    Path("ours.toml").write_text(recipe.replace(plain, screened), "utf-8")
    assert main(["plan", "share", "-o", "run", "--recipe", "ours.toml", "--archive", "embedded:a"], {}) == 0
    assert "Screened          1 folder, 3 records and 3 documents" in capsys.readouterr().out
    units = json.loads(Path("run/plan-report.json").read_text("utf-8"))["screening"]["units"]
    assert main(["ingest", "run", "--workers", "0"], {}) == 0
    assert main(["extract", "-o", "pkg", "--archive", "embedded:a"], {}) == 3
    structure = etree.parse("pkg/arkivstruktur.xml")  # a judge that is not ours
    counts = {kind: len(structure.findall(f".//{{*}}{kind}/{{*}}skjerming")) for kind in (FOLDERS, RECORDS, DOCUMENTS)}
    assert units == dict(zip(("folders", "records", "documents"), counts.values(), strict=True))
