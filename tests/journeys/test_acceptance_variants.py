"""The share of samples/deposit in other shapes: two folders with one number, commands that are killed, and copies made
by an office program."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from lxml import etree

from samples.deposit.make import TWICE, make
from tests.copies.converters.tasks import needs_office
from tests.journeys.acceptance import KNR, json_of, lines_of, new_project, printed, run, stops_in
from tests.journeys.killing import end

XML = ("arkivstruktur", "loependeJournal", "offentligJournal", "endringslogg")
KILLS = 6
"""So often a command is killed before one is let through."""
MOMENT = re.compile(r"(?<= )20[2-9]\d-\d\d-\d\dT.*")
"""A moment of the load: the share is older."""
OLDER, NEWER = "2015-0007", "2015_7 Befaring"


def cases_of(run_folder: Path) -> dict[str, tuple[object, object]]:
    """The cases of a plan: the number of each, as year and sequence, by the name of its folder."""
    query = (
        "SELECT key, json_extract(fields, '$.saksaar'), json_extract(fields, '$.sakssekvensnummer') FROM entity"
        " WHERE type = 'Saksmappe'"
    )
    with closing(sqlite3.connect(run_folder / "graph.db")) as db:
        return {str(key).rpartition("/")[2]: (year, number) for key, year, number in db.execute(query)}


@pytest.mark.parametrize("chosen", [OLDER, ""])
def test_which_of_two_folders_has_a_number_is_asked_before_anything_is_planned(
    chosen: str, twice: Path, tmp_path: Path
) -> None:
    asked = run(["deposit", "new", str(twice), "-o", "project", "--no-copies"], tmp_path)[2]
    assert "9 questions" in asked and "source.case_exceptions" in asked
    assert run(["deposit", "project"], tmp_path)[1] == 4
    recipe = tmp_path / "project" / "recipe.toml"
    code = run(["plan", str(twice), "--recipe", "project/recipe.toml", "-o", "project/run"], tmp_path)[1]
    assert (code, (tmp_path / "project" / "run" / "graph.db").exists()) == (4, False)

    folder = next((path.name for path in (twice / "Saksmapper" / "2015").glob(f"{chosen}*")), "") if chosen else "none"
    answers = "\n".join(("", "Sætre", "", "Filserver", "filområde", folder, KNR, "make", "report", ""))
    command = [sys.executable, "-m", "noarkit", *printed(asked, "deposit project --ask")]
    done = subprocess.run(command, cwd=tmp_path, input=answers, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stdout + done.stderr
    assert '"ask"' not in recipe.read_text("utf-8").partition("case_exceptions = ")[2].partition("\n")[0]
    cases = cases_of(tmp_path / "project" / "run")
    assert sum(number == TWICE for number in cases.values()) == 1, "a folder's, or else that of the register alone"
    bearers = [name for name in cases if name.startswith((OLDER, NEWER))]
    assert len(bearers) == 2, "each is a case"
    assert [name for name in bearers if cases[name] == TWICE] == ([folder] if chosen else [])


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The share in which two folders have one number."""
    return make(tmp_path_factory.mktemp("twice") / "share", has_number_twice=True).root


def normal(package: Path) -> list[str]:
    """The structure, journals and change log of a package as lines: times of the load and ids apart."""
    lines = [line for name in XML for line in lines_of(package / f"{name}.xml")]
    return sorted(MOMENT.sub("", line) for line in lines)


def last_line(place: Path, project: str) -> list[str]:
    """The command of a project that comes next: its approval, where nobody approved yet."""
    approval = run(["deposit", "status", project, "--json"], place)[2]
    waits = any('"approve"' in line and '"waiting"' in line for line in approval.splitlines())
    return ["deposit", project, *(["--approve", "--by", "Kari Nordmann"] if waits else [])]


@pytest.fixture(scope="module")
def tenth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tenth of the share, and a project of it whose package was made without a stop."""
    place = tmp_path_factory.mktemp("tenth")
    make(place / "share", is_tenth=True)
    new_project(place, "whole", "share", "--no-copies")
    codes = [run(last_line(place, "whole"), place)[1] for _ in range(2)]
    assert codes == [4, 3]
    return place


@pytest.mark.parametrize("seed", range(20 if os.environ.get("NOARKIT_DEEP") == "1" else 2))
def test_commands_that_are_killed_at_any_moment_come_to_the_same_package(seed: int, tenth: Path) -> None:
    chance, project = random.Random(seed), f"killed-{seed}"
    new_project(tenth, project, "share", "--no-copies")
    kills = 0
    for _ in range(40):
        words = last_line(tenth, project)
        command = subprocess.Popen(
            [sys.executable, "-m", "noarkit", *words],
            cwd=tenth,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code = command.wait(None if kills == KILLS else 0.3 + chance.random() * 6)
        except subprocess.TimeoutExpired:
            end(command, signal.SIGKILL)
            kills += 1
            continue
        assert code in (3, 4), words
        if code == 3:
            break
    assert kills > 0 and (tenth / project / "package").is_dir()
    assert normal(tenth / project / "package") == normal(tenth / "whole" / "package")
    assert [len(list((tenth / one).glob("run*"))) for one in (project, "whole")] == [1, 1]


@pytest.mark.parametrize("program", [pytest.param("soffice", marks=needs_office)])
def test_with_an_office_program_it_is_ready_once_what_has_no_copy_is_accepted(
    program: str, tmp_path: Path, reference: Path
) -> None:
    assert shutil.which(program)
    make(tmp_path / "share", is_tenth=True)
    new_project(tmp_path)
    file = tmp_path / "project" / "deposit.toml"
    official = reference / "xsd" / "noark5" / "5.0"
    file.write_text(file.read_text("utf-8").replace('schemas = ""', f'schemas = "{official}"', 1), "utf-8")
    assert run(["deposit", "project"], tmp_path)[1] == 4
    code, told = run(last_line(tmp_path, "project"), tmp_path)[1:]
    assert (code, told.count("Not ready for deposit.")) == (3, 2)
    package = tmp_path / "project" / "package"
    beside = json.loads(package.with_name("package.not-in-form.json").read_text("utf-8"))
    assert stops_in([beside]) == {"formats", "unusable"}
    structure = etree.parse(package / "arkivstruktur.xml")
    copies = structure.findall(".//{*}dokumentobjekt[{*}variantformat='Arkivformat']")
    assert copies, "what the office program could copy has a copy"
    assert etree.XMLSchema(etree.parse(official / "arkivstruktur.xsd")).validate(structure)

    code, told = run([*printed(told, "deposit project --accept.* --by"), "Kari Nordmann"], tmp_path)[1:]
    assert (code, "Ready for deposit, with remarks: " in told) == (0, True)
    lines = json_of(["validate", "project/package"], tmp_path)[1]
    assert {line["verdict"] for line in lines if line.get("verdict")} == {"ready-with-remarks"}
    assert "Ready for deposit, with remarks: " in run(["deposit", "status", "project"], tmp_path)[2]
