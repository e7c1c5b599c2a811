"""A project from a folder to a package: where it stops, what it does again, and that `status` is right at every step.

The steps run as the commands that they print, each in a process of its own.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from noarkit import copies
from noarkit.cli import deposit
from noarkit.cli.main import main
from tests.journeys.deposits import answer, expected, go_on, new_project, noarkit, states
from tests.journeys.killing import end
from tests.journeys.old_share import make_share
from tests.waiting import came


def test_a_project_goes_to_a_package_in_four_commands_and_stops_where_a_person_decides(tmp_path: Path) -> None:
    new_project(tmp_path)
    assert states(tmp_path) == expected(None, "waiting")
    said = go_on(tmp_path, code=4)
    assert "Who created the records (arkivskaper)?" in said
    assert "? [system] type" in said, "what a package has a usual value for is asked here"
    assert "$ noarkit" not in said, "a question stands, so nothing is run"
    answer(tmp_path)
    assert states(tmp_path) == expected("copies", "next") | {"recipe": "done"}

    said = go_on(tmp_path, code=4)
    assert [shlex.split(line)[2] for line in said.splitlines() if line.startswith("$ noarkit")] == ["plan"]
    assert states(tmp_path) == expected("plan", "waiting")
    approval = re.search(r"noarkit (deposit p --approve --by)", said)
    assert approval is not None, "the command that approves is told"

    said = go_on(tmp_path, *approval[1].split()[2:], "Kari", code=3)
    commands = [shlex.split(line) for line in said.splitlines() if line.startswith("$ noarkit")]
    assert [command[2] for command in commands] == ["approve", "ingest", "verify", "extract", "validate"]
    assert states(tmp_path) == expected("package", "done")
    assert said.count("Not ready for deposit.") == 2, "by extract, and by validate"

    # a certificate of less than the project asks does not count, though it is the newest
    assert noarkit("verify", "--project", "p", "--depth", "fields", cwd=tmp_path).returncode == 0
    assert states(tmp_path) == expected("ingest", "next")
    # what was printed runs as printed, and everything is there already
    assert "--approved-only" in commands[1]
    assert noarkit(*commands[2][2:], cwd=tmp_path).returncode == 0
    assert states(tmp_path)["package"] == "next", "no package has the newer certificate behind it"
    assert "validate" in go_on(tmp_path, code=3)
    assert states(tmp_path) == expected("package", "done")


def test_nobody_approves_a_plan_that_was_not_there_to_be_looked_at(tmp_path: Path) -> None:
    new_project(tmp_path)
    answer(tmp_path)
    said = go_on(tmp_path, "--approve", "--by", "Kari", code=4)
    assert "$ noarkit approve" not in said
    assert states(tmp_path)["approve"] == "waiting"
    assert noarkit("deposit", "p", "--approve", cwd=tmp_path).returncode == 2, "a person has a name"


def test_what_is_of_before_is_done_again_beside_it_and_nothing_is_loaded_twice(tmp_path: Path) -> None:
    new_project(tmp_path)
    answer(tmp_path)
    go_on(tmp_path, code=4)
    go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    files = [path for path in (tmp_path / "share").rglob("*") if path.is_file()]
    count = sum(path.name != "Thumbs.db" for path in files)

    recipe = tmp_path / "p" / "recipe.toml"
    text = recipe.read_text("utf-8")
    recipe.write_text(text.replace('"ADM"', '"ADM2"'), "utf-8")
    assert states(tmp_path)["plan"] == "next"
    recipe.write_text(text, "utf-8")
    assert states(tmp_path) == expected("package", "done")
    recipe.write_text(text + "# a remark\n", "utf-8")
    assert states(tmp_path)["plan"] == "next"
    recipe.write_text(text, "utf-8")

    folder = next((tmp_path / "share" / "Saksmapper" / "2014").iterdir())
    (folder / "07 Nytt 03.04.2014.txt").write_text("nytt")
    assert states(tmp_path) == expected("copies", "next") | {"recipe": "done"}
    assert "$ noarkit plan" in go_on(tmp_path, "--to", "plan", code=0)
    said = go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    assert re.search(r"archived +1 ", said)
    assert re.search(rf"already there +{count} ", said)
    assert sorted(path.name for path in (tmp_path / "p").iterdir() if path.is_dir()) == [
        *("archive", "package", "package-2", "run", "run-2")
    ]
    assert states(tmp_path) == expected("package", "done")

    file = tmp_path / "p" / "deposit.toml"
    file.write_text(file.read_text("utf-8").replace("Sætre kommune", "Sætre herred"), "utf-8")
    assert states(tmp_path)["package"] == "next"


def test_the_next_command_is_told_without_being_run(tmp_path: Path) -> None:
    new_project(tmp_path)
    answer(tmp_path)
    said = go_on(tmp_path, "--dry-run", code=0)
    (line,) = [line for line in said.splitlines() if line.startswith("noarkit plan")]
    assert not (tmp_path / "p" / "run").exists()
    assert noarkit(*shlex.split(line)[1:], cwd=tmp_path).returncode == 0
    assert states(tmp_path)["plan"] == "done"


@pytest.mark.parametrize("seed", range(3))
def test_killed_anywhere_and_run_again_it_comes_to_the_same(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    new_project(tmp_path, cases_a_year=3)
    answer(tmp_path)
    go_on(tmp_path, code=4)
    command = [sys.executable, "-m", "noarkit", "deposit", "p", "--approve", "--by", "Kari"]
    for _ in range(4):
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(chance.random() * 6)
        number = signal.SIGKILL if chance.random() < 0.5 else signal.SIGTERM
        end(process, number)
    said = go_on(tmp_path, *([] if states(tmp_path)["approve"] == "done" else ["--approve", "--by", "Kari"]), code=3)
    assert "Not ready for deposit" in said
    run = noarkit("status", "p/run", "--json", cwd=tmp_path)
    numbers = [json.loads(line) for line in run.stdout.splitlines()]
    assert any(line.get("archived") == 18 * 6 and line.get("skipped") == 18 for line in numbers), run.stdout


def test_a_plan_that_was_killed_is_made_in_the_same_run(tmp_path: Path) -> None:
    new_project(tmp_path, cases_a_year=40)
    answer(tmp_path)
    command = [sys.executable, "-m", "noarkit", "deposit", "p"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    run = tmp_path / "p" / "run"
    assert came((run / "graph.db").exists, pause_s=0.002)
    end(process, signal.SIGKILL)
    assert not (run / "plan.json").exists(), "the kill came too late to say anything"
    go_on(tmp_path, code=4)
    assert [path.name for path in (tmp_path / "p").glob("run*")] == ["run"]
    assert states(tmp_path)["approve"] == "waiting"


def test_an_answer_that_is_no_choice_is_refused_in_the_language_of_the_reader(tmp_path: Path) -> None:
    new_project(tmp_path)
    recipe = tmp_path / "p" / "recipe.toml"
    register = '\n[register]\nfile = "register.csv"\njoins = { "nr" = "case.number" }\nno_folder = "ask"\n'
    recipe.write_text(recipe.read_text("utf-8") + register, "utf-8")
    command = [sys.executable, "-m", "noarkit", "--lang", "nb", "deposit", "p", "--ask", "--to", "recipe"]
    answers = "\nSætre\n\nFilserver\nFilområde\nyes\nkanskje\nreport\n"
    done = subprocess.run(command, cwd=tmp_path, input=answers, capture_output=True, text=True, check=False)
    assert "kanskje er ikke en av report, make\n" in done.stderr
    assert "is not one of" not in done.stderr
    assert 'no_folder = "report"' in recipe.read_text("utf-8")


def test_questions_are_answered_at_the_terminal_and_a_step_is_done_once_more(tmp_path: Path) -> None:
    new_project(tmp_path)
    asked = noarkit("deposit", "p", "--to", "recipe", "--json", cwd=tmp_path)
    told = [json.loads(line) for line in asked.stdout.splitlines()]
    places = [line for line in told if line["event"] == "question"]
    assert [place["key"] for place in places] == [
        *("package.schemas", "creator.name", "creator.identification", "system.name", "system.type"),
        *("source.case_name",),
    ]
    lines = (tmp_path / "p" / "deposit.toml").read_text("utf-8").splitlines()
    for place in places:
        file, _, line = place["where"].rpartition(":")
        text = (tmp_path / file).read_text("utf-8").splitlines()[int(line) - 1]
        assert '"ask"' in text or text.startswith("# case_name = ")

    answers = '\nSætre "gamle" kommune\n\nFilserver\nFilområde\nyes\n'
    command = [sys.executable, "-m", "noarkit", "deposit", "p", "--ask"]
    done = subprocess.run(command, cwd=tmp_path, input=answers, capture_output=True, text=True, check=False)
    assert done.returncode == 4, "the plan waits for a person"
    after = (tmp_path / "p" / "deposit.toml").read_text("utf-8").splitlines()
    changed = [line for line, before in zip(after, lines, strict=True) if line != before]
    assert [line.split("#")[0].split("=")[1].strip() for line in changed] == [
        *('""', '"Sætre \\"gamle\\" kommune"', '""', '"Filserver"', '"Filområde"')
    ]

    assert "noarkit plan" in go_on(tmp_path, "--from", "plan", "--to", "plan", code=0)
    assert {path.name for path in (tmp_path / "p").glob("run*")} == {"run", "run-2"}
    assert noarkit("status", "--project", "p", cwd=tmp_path).returncode == 0
    assert noarkit("approve", "--by", "Kari", cwd=tmp_path, project="p").returncode == 0, "NOARKIT_PROJECT names it too"
    assert states(tmp_path)["approve"] == "done"


def test_a_source_that_moved_and_a_recipe_that_changed_load_nothing_twice(tmp_path: Path) -> None:
    new_project(tmp_path)
    answer(tmp_path)
    assert "Then load it" not in go_on(tmp_path, code=4), "what comes next is the project's to say: approval"
    said = go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    assert not re.search(r"^Next", said, re.MULTILINE)
    status = noarkit("deposit", "status", "p", cwd=tmp_path).stdout
    assert "Not ready for deposit." in status, "done, and yet not ready"

    loaded = counts(tmp_path / "p" / "run")["archived"]
    (tmp_path / "share").rename(tmp_path / "moved")
    file = tmp_path / "p" / "deposit.toml"
    file.write_text(re.sub(r'place = ".*"', 'place = "moved"', file.read_text("utf-8")), "utf-8")
    (next((tmp_path / "moved" / "Saksmapper" / "2014").iterdir()) / "nytt brev.txt").write_text("nytt", "utf-8")
    assert "--same-as" in go_on(tmp_path, code=4)
    go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    assert counts(tmp_path / "p" / "run-2") == {"archived": 1, "already_there": loaded}

    with (tmp_path / "p" / "recipe.toml").open("a", encoding="utf-8") as recipe:
        recipe.write("# another recipe\n")
    assert "--other-recipe" in go_on(tmp_path, code=4)
    go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    assert counts(tmp_path / "p" / "run-3")["archived"] == 0
    assert states(tmp_path) == expected("package", "done")


def test_a_database_file_that_changed_is_seen_by_the_look_alone(tmp_path: Path) -> None:
    database = tmp_path / "register.db"
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("CREATE TABLE brev (id INTEGER PRIMARY KEY, tittel TEXT)")
        db.executemany("INSERT INTO brev (tittel) VALUES (?)", [("Et",), ("To",)])
    place = f"sqlite:///{database}"
    assert noarkit("deposit", "new", place, "-o", "p", "--no-copies", cwd=tmp_path).returncode == 0
    answer(tmp_path)
    recipe = tmp_path / "p" / "recipe.toml"
    recipe.write_text(recipe.read_text("utf-8").replace('"ask"', '"X"'), "utf-8")
    said = go_on(tmp_path, code=4)
    assert "seen only by reading it again" not in said
    assert states(tmp_path) == expected("plan", "waiting")
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("UPDATE brev SET tittel = 'Tre' WHERE id = 2")  # as many rows, and no higher key
    assert states(tmp_path)["plan"] == "next"
    assert "$ noarkit plan" in go_on(tmp_path, code=4)
    assert states(tmp_path) == expected("plan", "waiting")


def counts(run: Path) -> dict[str, object]:
    """How many records a run brought into the archive, and how many were there."""
    told = noarkit("status", run, "--json", cwd=run).stdout.splitlines()
    facts = next(line for line in map(json.loads, told) if "archived" in line)
    return {name: facts[name] for name in ("archived", "already_there")}


def test_a_step_that_is_due_again_right_after_it_was_done_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where a source changes while it is read: another plan would be made for ever."""
    new_project(tmp_path)
    answer(tmp_path)
    monkeypatch.chdir(tmp_path)
    lines: list[object] = []

    def run_in_front(words: list[str]) -> int:
        lines.append(words)
        assert len(lines) < 3, "it does not end"
        return 0

    monkeypatch.setattr(deposit, "run_in_front", run_in_front)
    assert main(["deposit", "p", "--lang", "en"], {}) == 5
    assert len(lines) == capsys.readouterr().err.count("$ noarkit plan") == 1


def test_copies_that_wait_are_accepted_by_the_command_that_is_printed(tmp_path: Path) -> None:
    make_share(tmp_path / "share", cases_a_year=1)
    first = next((tmp_path / "share").rglob("*.txt"))
    first.write_bytes("Vårt brev på æøå".encode("latin-1"))
    assert noarkit("deposit", "new", "share", "-o", "p", cwd=tmp_path).returncode == 0
    answer(tmp_path)
    shipped = Path(copies.__file__).parent / "policy" / "no-raf-2022.toml"
    ours = shipped.read_text("utf-8").replace('decoded-as = "note"', 'decoded-as = "hold"')
    (tmp_path / "p" / "ours.toml").write_text(ours, "utf-8")
    file = tmp_path / "p" / "deposit.toml"
    file.write_text(file.read_text("utf-8").replace('"no-raf-2022"', '"ours.toml"'), "utf-8")
    # what cannot be converted here (letters without an office program) is no concern of this test
    for path in (tmp_path / "share").rglob("*"):
        if path.is_file() and path.suffix != ".txt":
            path.unlink()

    assert "noarkit derive" in go_on(tmp_path, code=4)
    said = go_on(tmp_path, code=4)
    assert "$ noarkit derive" not in said, "it waits for a person, so nothing is made again"
    look, accept = (
        shlex.split(line)[1:] for line in re.findall(r"noarkit derive .*?(?=   |$)", said, re.MULTILINE)[:2]
    )
    assert noarkit(*look, cwd=tmp_path).returncode == 0
    assert noarkit(*accept, "Kari Nordmann", cwd=tmp_path).returncode == 0
    go_on(tmp_path, code=4)
    assert states(tmp_path) == expected("plan", "waiting") | {"copies": "done"}
    first.with_name("senere.txt").write_bytes(b"Et brev til")
    said = go_on(tmp_path, code=4)
    assert "1 acceptance by Kari Nordmann on " in said and " still applies" in said


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('place = ""', "a mandatory key is missing"),
        ("at = 1", "wrong type"),
        ('dates = "sometimes"', "not one of the"),
    ],
)
def test_what_a_project_cannot_say_is_told_with_its_line(line: str, why: str, tmp_path: Path) -> None:
    new_project(tmp_path)
    file = tmp_path / "p" / "deposit.toml"
    name = line.split()[0]
    file.write_text(re.sub(rf"^{name} = .*$", line, file.read_text("utf-8"), count=1, flags=re.M), "utf-8")
    done = noarkit("deposit", "status", "p", cwd=tmp_path)
    assert done.returncode == 2
    assert re.search(r"p/deposit\.toml:\d+", done.stderr), done.stderr


def test_a_folder_that_is_no_project_is_told(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    done = noarkit("deposit", "p", cwd=tmp_path)
    assert done.returncode == 2
    assert "p/deposit.toml" in done.stderr
