"""Patterns of names say which files of a tree are taken, in whatever reads it; what they leave out is counted."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.sources.files.name_patterns import compile_patterns

TREE = (
    "Saker/2014-0007 Vei/brev.pdf",
    "Saker/2014-0007 Vei/~lås.tmp",
    "Saker/Kladd/utkast.pdf",
    "Bilder/A/1.JPG",
    "les.txt",
)


@pytest.mark.parametrize(
    ("pattern", "taken"),
    [
        ("*.tmp", {"Saker/2014-0007 Vei/~lås.tmp"}),
        ("*.jpg", {"Bilder/A/1.JPG"}),
        ("kladd", {"Saker/Kladd/utkast.pdf"}),
        ("Kladd/", {"Saker/Kladd/utkast.pdf"}),
        ("les.txt/", set()),
        ("Saker/*.pdf", set()),
        ("Saker/*/*.pdf", {"Saker/2014-0007 Vei/brev.pdf", "Saker/Kladd/utkast.pdf"}),
        ("**/*.pdf", {"Saker/2014-0007 Vei/brev.pdf", "Saker/Kladd/utkast.pdf"}),
        ("/les.txt", {"les.txt"}),
        ("Saker/2014*", {"Saker/2014-0007 Vei/brev.pdf", "Saker/2014-0007 Vei/~lås.tmp"}),
        ("~la\u030as.*", {"Saker/2014-0007 Vei/~lås.tmp"}),
        ("[bl]*", {"Saker/2014-0007 Vei/brev.pdf", "Bilder/A/1.JPG", "les.txt"}),
    ],
)
def test_a_pattern_takes_in_what_people_expect(pattern: str, taken: set[str]) -> None:
    takes = compile_patterns([pattern])
    assert {path for path in TREE if takes(path[: path.rfind("/") + 1], path.rpartition("/")[2])} == taken


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in TREE:
        Path("share", path).parent.mkdir(parents=True, exist_ok=True)
        Path("share", path).write_text(path, "utf-8")
    return tmp_path


@pytest.mark.usefixtures("share")
def test_what_is_left_out_is_counted_listed_and_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--include", "Saker/**", "--include", "*.jpg", "--exclude", "*.tmp", "--exclude", "Kladd/")
    assert main(["scan", "share", *options, "--json"], {}) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    scan = next(line for line in lines if line["event"] == "scan")
    assert (scan["records"], sum(scan["skipped"].values())) == (2, 3)
    assert main(["plan", "share", "-o", "run", *options], {}) == 0
    capsys.readouterr()
    with Path("run/skipped.csv").open(encoding="utf-8-sig", newline="") as file:
        skipped = {row[0]: row[1] for row in list(csv.reader(file, delimiter=";"))[1:]}
    assert len(skipped) == 3
    assert main(["ingest", "run", "--workers", "0"], {}) == 0
    assert "archived         2" in capsys.readouterr().out
    assert main(["verify", "run"], {}) == 0, "the walk that verifies leaves out the same"
    Path("share/Saker/2014-0007 Vei/brev.pdf").unlink()
    assert main(["plan", "share", "-o", "run-2", "--since", "run", *options], {}) == 0


@pytest.mark.usefixtures("share")
def test_patterns_of_a_source_without_files_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect("some.db")) as db:
        db.execute("CREATE TABLE t (a)")
    assert main(["scan", "sqlite:///some.db", "--exclude", "*.tmp"], {}) == 2
    assert "--exclude" in capsys.readouterr().err
    assert main(["plan", "share", "-o", "run", "--include", ""], {}) == 2


@pytest.mark.usefixtures("share")
def test_a_recipe_says_the_same_under_source() -> None:
    recipe = '[source]\nkind = "files"\nexclude = ["*.tmp", "Kladd/"]\n[target]\nexternal_system = "x"\n'
    recipe += '[target.arkivskaper]\nfields = { arkivskaperIdent = "1", arkivskaperNavn = "N" }\n[target.arkiv]\n'
    recipe += 'fields = { tittel = "A" }\n[target.arkivdel]\nfields = { tittel = "D" }\n[[map]]\nfor = "file"\n'
    recipe += 'type = "Basisregistrering"\nfields = { tittel = "= record.name" }\n'
    Path("recipe.toml").write_text(recipe, "utf-8")
    assert main(["plan", "share", "--recipe", "recipe.toml", "--exclude", "*.txt", "-o", "run"], {}) == 0
    plan = json.loads(Path("run/plan.json").read_text("utf-8"))
    assert plan["records"] == {"mapped": 2, "skipped": 3}
