"""A table of a database is a register of the case folders, as a sheet is: recognised, joined, counted both ways."""

from __future__ import annotations

import csv
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import chdir, closing
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import PlanFault, SecretOnTheLine, UsageFault
from noarkit.events import ignore_event
from noarkit.projects.project import project_text, read_project
from noarkit.projects.questions import answer, questions
from noarkit.recipes import read_recipe
from noarkit.records import fitted
from noarkit.sources.files.register.database_table import full_address, table_rows, tables_at
from noarkit.sources.files.source import FileTree
from tests.sources.database.sample import Sample, engine

FOLDERS = range(1, 8)
TITLES = {1: "Høring om veg", 2: "Klage på vedtak", 3: "Tilsyn i barnehage", 4: "Søknad om tilskudd", 5: "Skolerute"}
"""Rows 1–5 have a folder, 8 and 9 have none, and 5 is there twice; folders 6 and 7 have no row."""
ACCOUNT = {"rows": 8, "by_number": 5, "rows_left": 2, "places_left": 2, "twice": 1}


def write_folders(root: Path) -> Path:
    """Case folders, each with a letter."""
    for number in FOLDERS:
        folder = root / f"2019-00{number:02} {TITLES.get(number, 'Annet')}"
        folder.mkdir(parents=True)
        (folder / "brev.txt").write_text(f"brev {number}", "utf-8")
    return root


def fill(url: str) -> None:
    """A table of cases, one of customers of which some have the number of a case, and a view of the first."""
    with engine(url).connect() as db:
        run = db.exec_driver_sql
        run("CREATE TABLE regkunde (id INTEGER PRIMARY KEY, navn VARCHAR(40), sak VARCHAR(20))")
        texts = "saksnr VARCHAR(20), emne VARCHAR(80), ansvarlig VARCHAR(40)"
        run(f"CREATE TABLE regsak (id INTEGER PRIMARY KEY, {texts}, start DATE)")
        for place, number in enumerate((1, 2, 3, 4, 5, 5, 8, 9), start=1):
            title = TITLES.get(number, f"En annen sak {number}")
            latest = ("2019/1", "2019/2", "2019/3", "ukjent", "avsluttet", "", "", "")[place - 1]
            run(f"INSERT INTO regkunde VALUES ({place}, 'Kunde {place}', '{latest}')")
            run(f"INSERT INTO regsak VALUES ({place}, '2019/{number}', '{title}', 'Berit Dal', '2019-0{number}-03')")
        run("CREATE TABLE regtom (id INTEGER PRIMARY KEY, navn VARCHAR(40))")
        run("CREATE VIEW regvisning AS SELECT saksnr, emne FROM regsak")


@pytest.fixture
def cases(sample: Sample, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Folders, and the address of a database with their register, on each server in turn."""
    fill(sample.url)
    with chdir(tmp_path):
        yield write_folders(tmp_path / "mapper"), sample.url


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Folders, and the file of an SQLite database."""
    file = tmp_path / "saker.db"
    fill(f"sqlite:///{file}")
    with chdir(tmp_path):
        yield write_folders(tmp_path / "mapper"), file


def account_of(folders: Path, recipe: str) -> dict[str, int]:
    """How many of what were joined and left over, where a recipe is carried out."""
    source = fitted(FileTree(folders), read_recipe(recipe).source_settings("files"))
    assert isinstance(source, FileTree)
    account = source.survey_register(ignore_event)
    assert account is not None
    return {name: getattr(account, name) for name in ACCOUNT}


def run(line: str) -> int:
    return main(shlex.split(line), {})


def test_the_table_that_joins_is_found_among_all_and_proposed_with_its_columns(cases: tuple[Path, str]) -> None:
    folders, url = cases
    recipe = FileTree(folders).with_register(url).proposal(ignore_event)
    rules = read_recipe(recipe).register
    assert rules.database.endswith(("#regsak", ".regsak"))
    assert (rules.column, rules.joins, rules.is_of) == ("saksnr", "case.number", "case")
    assert rules.columns == {"tittel": "emne", "saksdato": "start", "saksansvarlig": "ansvarlig"}
    assert (rules.no_folder, rules.no_row) == ("ask", "ask")
    assert account_of(folders, recipe) == ACCOUNT


def test_a_view_that_is_named_is_the_register(cases: tuple[Path, str]) -> None:
    folders, url = cases
    label = next(label for label in tables_at(url) if label.endswith("regvisning"))
    rules = read_recipe(FileTree(folders).with_register(label).proposal(ignore_event)).register
    assert rules.database == full_address(label)
    assert rules.columns == {"tittel": "emne"}
    assert [row["saksnr"] for _, row in table_rows(label)][:2] == ["2019/1", "2019/2"]


def test_a_plan_recognises_what_the_recipe_does_not_say(cases: tuple[Path, str]) -> None:
    folders, url = cases
    recipe = FileTree(folders).with_register("ask").proposal(ignore_event)
    assert any(problem.key == "unanswered" for problem in read_recipe(recipe).problems)
    recipe = recipe.replace('database = "ask"', f'database = "{url}"')
    assert account_of(folders, recipe) == ACCOUNT
    Path("recipe.toml").write_text(recipe, "utf-8")
    assert run("plan mapper --recipe recipe.toml -o run --archive embedded:a") == 0
    with Path("run/register.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))[1:]
    assert len(rows) == ACCOUNT["rows_left"] + ACCOUNT["places_left"] + ACCOUNT["twice"]


def test_titles_of_the_table_reach_the_archive_and_are_proven(sqlite: tuple[Path, Path]) -> None:
    _, file = sqlite
    shutil.move("mapper/2019-0001 Høring om veg", "mapper/2019-0001 Veg")
    assert run(f"recipe new mapper --register {file.name}#regsak -o recipe.toml") == 0
    text = Path("recipe.toml").read_text("utf-8")
    assert f'database = "sqlite:///{file}#regsak"' in text
    Path("recipe.toml").write_text(text.replace('no_folder = "ask"', 'no_folder = "make"').replace('"ask"', '"report"'))
    assert run("ingest mapper --recipe recipe.toml -o run --archive embedded:a") == 0
    assert run("verify run --depth bytes") == 0
    assert run("extract -o ut --archive embedded:a") == 3
    structure = Path("ut/arkivstruktur.xml").read_text("utf-8")
    assert "<tittel>Høring om veg</tittel>" in structure
    assert structure.count('xsi:type="saksmappe"') == 9
    assert file.stat().st_size and sorted(path.name for path in file.parent.glob("saker.db*")) == ["saker.db"]


def test_an_answer_in_a_project_is_an_address_without_a_secret(sqlite: tuple[Path, Path], tmp_path: Path) -> None:
    folders, file = sqlite
    (tmp_path / "p").mkdir()
    Path("p/deposit.toml").write_text(project_text(str(folders), "none", "en"), "utf-8")
    Path("p/recipe.toml").write_text(FileTree(folders).with_register("ask").proposal(ignore_event), "utf-8")
    project = read_project(Path("p"))
    (question,) = (one for one in questions(project) if one.key == "register.database")
    assert "register" in question.evidence
    before = project.recipe.read_text("utf-8")
    for wrong, fault in (("postgresql://u:pw@h/d#t", SecretOnTheLine), ("nothing here", UsageFault)):
        with pytest.raises(fault):
            answer(question, wrong)
    assert project.recipe.read_text("utf-8") == before
    answer(question, "saker.db")
    assert f'database = "sqlite:///{file}"' in project.recipe.read_text("utf-8")
    assert account_of(folders, project.recipe.read_text("utf-8")) == ACCOUNT


def test_rows_and_folders_that_do_not_join_are_named_where_they_are_asked_about(
    sqlite: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("deposit new mapper -o p --no-copies --register saker.db") == 0
    asked = {question.key: question for question in questions(read_project(Path("p")))}
    capsys.readouterr()
    assert run("recipe check p/recipe.toml mapper") == 4, "two questions are open"
    told = capsys.readouterr().out
    for key, kind, count, names in (
        ("register.no_folder", "The row has no folder or file", ACCOUNT["rows_left"], ["2019/8", "2019/9"]),
        (
            "register.no_row",
            "The folder or file has no row",
            ACCOUNT["places_left"],
            ["2019-0006 Annet", "2019-0007 Annet"],
        ),
    ):
        assert asked[key].evidence.startswith(f"{count} "), "as many as a plan counts"
        assert asked[key].evidence.endswith(f"They are: {', '.join(names)}.")
        assert [line.partition(": ")[2] for line in told.splitlines() if line.strip().startswith(kind)] == names


def test_of_many_rows_the_first_are_named_and_the_check_lists_them_all(
    sqlite: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, file = sqlite
    with closing(sqlite3.connect(file)) as db:
        db.execute("DELETE FROM regsak WHERE saksnr IN ('2019/8', '2019/9')")
        db.executemany(
            "INSERT INTO regsak (saksnr, emne) VALUES (?, 'Uten mappe')", [(f"2018/{n}",) for n in range(1, 8)]
        )
        db.commit()
    assert run("deposit new mapper -o p --no-copies --register saker.db") == 0
    (question,) = (one for one in questions(read_project(Path("p"))) if one.key == "register.no_folder")
    first = ", ".join(f"2018/{n}" for n in range(1, 6))
    assert f"Among them: {first}, and 2 more; noarkit recipe check RECIPE SOURCE lists them all." in question.evidence
    capsys.readouterr()
    assert run("recipe check p/recipe.toml mapper") == 4
    assert sum("The row has no folder or file: 2018/" in line for line in capsys.readouterr().out.splitlines()) == 7


def test_a_project_is_made_with_a_register(sqlite: tuple[Path, Path]) -> None:
    assert run("deposit new mapper -o p --no-copies --register saker.db") == 0
    assert "#regsak" in Path("p/recipe.toml").read_text("utf-8")


@pytest.mark.parametrize("where", ["saker.db#nosuch", "saker.db#regtom"])
def test_a_table_that_is_not_there_or_joins_nothing_is_told(sqlite: tuple[Path, Path], where: str) -> None:
    with pytest.raises(PlanFault):
        FileTree(sqlite[0]).with_register(where).proposal(ignore_event)


def test_an_address_is_the_same_from_everywhere(sqlite: tuple[Path, Path]) -> None:
    assert full_address("saker.db#a") == full_address("sqlite:///saker.db#a") == f"sqlite:///{sqlite[1]}#a"
    with pytest.raises(UsageFault):
        full_address("nowhere.db")


def test_a_section_names_one_place(sqlite: tuple[Path, Path]) -> None:
    text = FileTree(sqlite[0]).with_register("saker.db").proposal(ignore_event)
    both = text.replace("[register]\n", '[register]\nfile = "a.csv"\n')
    assert [problem.key for problem in read_recipe(both).problems if not problem.warning][:1] == ["unknown-key"]
