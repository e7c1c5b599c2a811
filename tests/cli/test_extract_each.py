"""An archive with several arkiv: one is chosen by a command that is told in full, or each becomes a package."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

import pytest

from noarkit.archive.http import connect
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Action, Link, Save
from noarkit.cli.main import main
from noarkit.embedded import open_embedded
from noarkit.forms.validation import validate
from tests.extraction.world import uuid

pytestmark = pytest.mark.usefixtures("one_archive")

TITLES = ("Arkiv for bygg/plan", "Arkiv æøå")


def fonds(number: int, title: str) -> list[Action]:
    name = f"fonds{number}"
    return [
        Save("Arkivskaper", f"creator{number}", {"arkivskaperIdent": str(number), "arkivskaperNavn": "Vik"}),
        Save("Arkiv", name, {"tittel": title, "uuid": uuid(10 * number)}),
        Link("Arkiv", name, "refArkivskaper", (f"creator{number}",)),
        Save("Arkivdel", f"series{number}", {"tittel": f"Del {number}", "uuid": uuid(10 * number + 1)}),
        Link("Arkivdel", f"series{number}", "refArkiv", (name,)),
    ]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with open_embedded(tmp_path / "arkiv", "admin") as embedded:
        credentials = Credentials(embedded.client_id, embedded.client_secret)
        with connect(ArchiveSettings(embedded.url, credentials, token_url=embedded.token_url)) as archive:
            archive.transaction([action for number, title in enumerate(TITLES, 1) for action in fonds(number, title)])
    return tmp_path


def run(*arguments: str) -> int:
    return main(
        [*arguments, "--include-open", "--allow-empty", "--archive", "embedded:arkiv"], {"HOME": os.environ["HOME"]}
    )


def test_each_arkiv_becomes_a_package_and_one_list_tells_of_all(place: Path) -> None:
    assert run("extract", "-o", "ut", "--each") == 3  # open units, on request: none can be deposited
    with (place / "ut" / "extracts.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert {row["tittel"] for row in rows} == set(TITLES)
    for row in rows:
        number = TITLES.index(row["tittel"]) + 1
        assert row["state"] == "made" and "open-units" in row["flaws"]
        report = validate(place / "ut" / row["package"])
        assert report.form == "noark5"
        text = (place / "ut" / row["package"] / "arkivstruktur.xml").read_text("utf-8")
        assert f"Del {number}" in text and f"Del {3 - number}" not in text
    assert run("extract", "-o", "ut", "--each") == 0  # what is there is left as it is
    assert "already-there" in (place / "ut" / "extracts.csv").read_text("utf-8-sig")


def test_each_arkiv_may_be_packed(place: Path) -> None:
    assert run("extract", "-o", "ut.zip", "--as", "bagit", "--each") == 3
    assert sorted(one.suffix for one in (place / "ut").glob("*-Arkiv-*.zip")) == [".zip", ".zip"]


def test_without_a_choice_the_names_and_the_whole_commands_are_told(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("extract", "-o", "ut") == 4
    told = capsys.readouterr().err
    assert all(title in told for title in TITLES) and "--each" in told
    lines = re.findall(r"noarkit (extract -o PKG --arkiv \S+)", told)
    assert len(lines) == 2
    for number, line in enumerate(lines):
        words = line.split()
        assert run(*[f"ut{number}" if word == "PKG" else word for word in words]) == 3
        assert (place / f"ut{number}" / "arkivstruktur.xml").exists()
