"""One verdict on a delivery: the same in extract, validate, convert and JSON.

Each journey runs at the command line, against an embedded archive.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from lxml import etree

from noarkit.cli.main import main

pytestmark = pytest.mark.usefixtures("one_archive")

DELIVERY = '[creator]\nname = "Fjellvik kommune"\nidentification = "987"\n[system]\nname = "Sakssystemet"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an archive that was loaded from two files, one of them in no archive format."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "src" / "Sak"
    folder.mkdir(parents=True)
    (folder / "brev.txt").write_text("brev")
    (folder / "film.xyz").write_bytes(b"\x00\x01\x02" * 9)
    (tmp_path / "package.toml").write_text(DELIVERY)
    assert run("ingest", "src", "-o", "run", "--archive", "embedded:arc") == 0
    return tmp_path


def run(*words: str) -> int:
    return main([*words, "--progress", "none"], {"HOME": str(Path.cwd())})


def line(capsys: pytest.CaptureFixture[str], event: str, *words: str) -> dict[str, object]:
    """The line of an event of a command, with its exit code as `code`."""
    capsys.readouterr()
    code = run(*words, "--json")
    lines = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    return {**next(entry for entry in lines if entry["event"] == event), "code": code}


def test_it_is_the_same_in_extract_validate_convert_and_beside_the_package(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--archive", "embedded:arc", "--package", "package.toml")
    extracted = line(capsys, "extracted", "extract", "-o", "pkg", *where)
    validated = line(capsys, "verdict", "validate", "pkg")
    beside = json.loads((place / "pkg.not-in-form.json").read_text())
    told = [extracted, validated, beside]
    assert run("validate", "pkg", "--report", "html", "-o", "page.html") == 3
    assert run("browse", "pkg", "--static", "copy") == 0
    for page in ("page.html", "copy/index.html"):
        text = (place / page).read_text("utf-8")
        assert "Not ready for deposit." in text and "noarkit derive" in text, page
    for form in ("eark-sip", "bagit", "dias-sip"):
        told.append(line(capsys, "converted", "convert", "pkg", "--as", form, "-o", form, "--package", "package.toml"))
        told.append(line(capsys, "verdict", "validate", form))
        assert run("browse", form, "--static", f"{form}-copy") == 0
        assert "Not ready for deposit." in (place / f"{form}-copy" / "index.html").read_text("utf-8"), form
    assert {str(entry["verdict"]) for entry in told} == {"not-ready"}
    assert {int(str(entry["code"])) for entry in told if "code" in entry} == {3}
    assert extracted["depositable"] is beside["depositable"] is False
    stopping = [{entry["code"] for entry in of["reasons"] if entry["grade"] == "stops"} for of in told]
    assert all({"formats", "schemas"} <= codes for codes in stopping), stopping
    assert stopping[0] == stopping[1] == stopping[2]
    assert extracted["reasons"] == validated["reasons"] == beside["reasons"]


def test_what_a_person_accepts_holds_for_that_package_and_no_more_places(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("extract", "-o", "pkg", "--archive", "embedded:arc", "--package", "package.toml") == 3
    accepted = ("validate", "pkg", "--accept", "formats", "--by", "Kari Nordmann", "--note", "2026/1042")
    told = line(capsys, "verdict", *accepted)
    (reason,) = [entry for entry in told["reasons"] if entry["code"] == "formats"]  # type: ignore[attr-defined]  # JSON
    assert reason["accepted"]["by"] == "Kari Nordmann" and reason["accepted"]["most"] == reason["count"] == 1
    assert told["verdict"] == "not-ready", "the schemas are not the official ones, which nobody can accept"
    assert line(capsys, "verdict", "validate", "pkg")["reasons"] == told["reasons"], "it is remembered"
    assert run("browse", "pkg", "--static", "copy") == 0
    assert "Kari Nordmann" in (place / "copy/index.html").read_text("utf-8")
    for wrong in (("--accept", "schemas", "--by", "K"), ("--accept", "formats"), ("--accept", "nothing", "--by", "K")):
        assert run("validate", "pkg", *wrong) == 2, wrong
    beside = place / "pkg.accepted.json"
    beside.write_text(beside.read_text().replace('"most": 1', '"most": 0'))
    assert [
        entry["accepted"]
        for entry in line(capsys, "verdict", "validate", "pkg")["reasons"]  # type: ignore[attr-defined]  # JSON
        if entry["code"] == "formats"
    ] == [None], "one place more is another matter"
    beside.write_text(beside.read_text().replace('"most": 0', '"most": 1'))
    assert run("extract", "-o", "other", "--archive", "embedded:arc", "--change-log", "from-archive") == 3
    (place / "other.accepted.json").write_bytes(beside.read_bytes())
    assert all(entry["accepted"] is None for entry in line(capsys, "verdict", "validate", "other")["reasons"])  # type: ignore[attr-defined]  # JSON


def test_what_was_accepted_follows_to_the_next_package_while_it_is_the_same(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_archive = ("--archive", "embedded:arc", "--package", "package.toml")

    def next_package(name: str, file: str, content: bytes) -> tuple[str, object]:
        (place / "src" / "Sak" / file).write_bytes(content)
        assert run("ingest", "src", "-o", f"run-{name}", "--archive", "embedded:arc") == 0
        capsys.readouterr()
        assert run("extract", "-o", name, *of_archive) == 3
        said = capsys.readouterr().err
        told = line(capsys, "verdict", "validate", name)
        (reason,) = [entry for entry in told["reasons"] if entry["code"] == "formats"]  # type: ignore[attr-defined]  # JSON
        return said, reason["accepted"]

    assert run("extract", "-o", "pkg", *of_archive) == 3
    assert run("validate", "pkg", "--accept", "formats", "--by", "Kari Nordmann") == 3
    said, accepted = next_package("pkg-2", "svar.txt", b"svar")
    assert "1 acceptance by Kari Nordmann on " in said and " still applies" in said
    assert cast("dict[str, object]", accepted)["by"] == "Kari Nordmann"
    said, accepted = next_package("pkg-3", "lyd.xyz", b"\x00\x07" * 9)
    assert accepted is None and "Kari Nordmann" not in said, "one document more is another matter"


def test_the_creator_of_package_toml_stands_in_every_file_of_the_package(place: Path) -> None:
    assert run("extract", "-o", "pkg", "--archive", "embedded:arc", "--package", "package.toml") == 3
    structure = etree.parse(place / "pkg" / "arkivstruktur.xml")
    assert [one.text for one in structure.iterfind("{*}arkivskaper/{*}arkivskaperNavn")] == ["Fjellvik kommune"]
    assert [one.text for one in structure.iterfind("{*}arkivskaper/{*}arkivskaperID")] == ["987"]
    for file in (place / "pkg").glob("*.xml"):
        assert "Ukjent" not in file.read_text("utf-8"), file.name


def reasons(told: dict[str, object]) -> dict[str, tuple[str, int]]:
    """Grade and number of each reason of a line, or of a report beside a package."""
    return {entry["code"]: (entry["grade"], entry["count"]) for entry in told["reasons"]}  # type: ignore[attr-defined]  # JSON


def test_the_load_behind_a_package_is_proved_by_its_certificate_even_later(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--archive", "embedded:arc", "--package", "package.toml")
    extracted = line(capsys, "extracted", "extract", "-o", "pkg.zip", *where)
    (load,) = cast("list[dict[str, int]]", extracted["loads"])
    numbers = [load[name] for name in ("read", "archived", "left_out", "lost", "gap", "proof")]
    assert numbers == [2, 2, 0, 0, 0, "none"] and load["objects"] >= 6
    assert reasons(extracted)["load"] == ("stops", 1)
    assert line(capsys, "delivery", "runs")["reasons"] == extracted["reasons"]
    for depth, reason in (("fields", ("remark", 1)), ("bytes", None)):
        assert run("verify", "run", "--depth", depth) == 0
        told = [line(capsys, "verdict", "validate", "pkg.zip"), line(capsys, "delivery", "runs")]
        told += [json.loads(max((place / "run").glob("verify-*.json")).read_text())["deliveries"][0]["verdict"]]
        assert [reasons(entry).get("load-in-part") for entry in told] == [reason] * 3, depth
        assert all("load" not in reasons(entry) and "load-unknown" not in reasons(entry) for entry in told)
    for name, words in (
        ("runs.html", ("runs", "--html", "runs.html")),
        ("copy/index.html", ("browse", "pkg.zip", "--static", "copy")),
    ):
        assert run(*words) == 0
        assert "Not ready for deposit." in (place / name).read_text("utf-8"), name


def test_the_ordinary_journey_ends_ready_when_everything_is_stated_and_verified(
    place: Path, reference: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "src" / "Sak" / "film.xyz").unlink()
    whole = DELIVERY + '[delivery]\ndescription = "From the file share of 2026"\n[agreement]\nnumber = "2026/1042"\n'
    (place / "whole.toml").write_text(whole)
    assert run("ingest", "src", "-o", "whole-run", "--archive", "embedded:other") == 0
    assert run("verify", "whole-run", "--depth", "bytes") == 0
    where = ("--package", "whole.toml", "--schemas", str(reference / "xsd" / "noark5" / "5.0"))
    made = line(capsys, "extracted", "extract", "-o", "pkg", "--archive", "embedded:other", *where)
    assert (made["code"], made["verdict"], made["reasons"]) == (0, "ready", [])
    assert (
        line(capsys, "extracted", "extract", "-o", "dias", "--as", "dias-sip", "--archive", "embedded:other", *where)[
            "reasons"
        ]
        == []
    )


def test_what_the_archive_lost_since_the_load_is_a_gap_of_the_package(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(place / "run" / "run.db")) as journal, journal:
        journal.execute("UPDATE entity SET id = '999999' WHERE n = (SELECT max(n) FROM entity WHERE state = 'done')")
    where = ("--archive", "embedded:arc", "--package", "package.toml")
    assert reasons(line(capsys, "extracted", "extract", "-o", "pkg", *where))["source"] == ("stops", 1)
    part = line(capsys, "extracted", "extract", "-o", "part", *where, "--from", "2000-01-01")
    assert "source" not in reasons(part), "what a selection leaves out is not lost"


def test_records_with_the_day_of_the_load_for_a_date_are_told_where_their_documents_are_older(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = place / "old" / "Sak"
    old.mkdir(parents=True)
    (old / "brev.txt").write_text("an old letter")
    os.utime(old / "brev.txt", (1_400_000_000, 1_400_000_000))
    assert run("recipe", "new", "old", "-o", "r.toml") == 0
    recipe = Path("r.toml").read_text("utf-8")
    undated = [line for line in recipe.splitlines() if not line.startswith(("opprettetDato", "case = "))]
    Path("r.toml").write_text("\n".join(undated), "utf-8")
    assert run("ingest", "old", "--recipe", "r.toml", "-o", "old-run", "--archive", "embedded:arc") == 0
    extracted = line(capsys, "extracted", "extract", "-o", "pkg", "--archive", "embedded:arc")
    assert reasons(extracted)["load-dates"] == ("stops", 1)
    assert {load["source"] for load in extracted["loads"]} == {"src", "old"}  # type: ignore[attr-defined]  # JSON


def test_records_without_documents_are_made_and_are_not_ready(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(place / "register.sqlite")) as register, register:
        register.execute("CREATE TABLE sak (id INTEGER PRIMARY KEY, tittel TEXT)")
        register.execute("INSERT INTO sak VALUES (1, 'Byggesak')")
    assert run("ingest", "register.sqlite", "-o", "register-run", "--archive", "embedded:register") == 0
    made = line(capsys, "extracted", "extract", "-o", "pkg", "--archive", "embedded:register")
    assert (made["code"], made["files"], reasons(made)["empty"]) == (3, 0, ("stops", 1))


def test_a_selection_of_nothing_is_refused_unless_it_is_wanted(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = ("extract", "-o", "pkg", "--archive", "embedded:arc", "--from", "2090-01-01")
    assert run(*nothing) == 4
    assert "--allow-empty" in capsys.readouterr().err
    assert sorted(entry.name for entry in place.glob("*pkg*")) == []
    made = line(capsys, "extracted", *nothing, "--allow-empty")
    assert (made["code"], made["verdict"], made["depositable"]) == (3, "not-ready", False)
    assert "empty" in [reason["code"] for reason in made["reasons"]]  # type: ignore[attr-defined]  # JSON
    assert run("validate", "pkg") in (3, 4)
