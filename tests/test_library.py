"""The library chapter of the manual is run as it stands: its Python in its order, its recipe, its commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import noarkit
from noarkit.manual.chapters import chapter_source
from noarkit.recipes import check, read_recipe
from noarkit.words.texts import LANGUAGES
from tests.forked import run_forked

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = chapter_source("library", "en")
CANARY = "Tittel med Kari Nordmann"


def blocks(language: str, text: str = CHAPTER) -> list[str]:
    """The fenced blocks of a language."""
    return [block for kind, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M) if kind == language]


def lay_out(place: Path) -> None:
    """The folders that the chapter speaks of."""
    (place / "case-files" / "road").mkdir(parents=True)
    for name in ("a.txt", "b.txt"):
        (place / "case-files" / "road" / name).write_text(name, "utf-8")
    letters = place / "letters"
    letters.mkdir()
    for number, status in enumerate(("sent", "sent", "draft", "sent")):
        told = {"id": f"L{number}", "status": status, "scan": f"{number}.pdf", "subject": f"{CANARY} {number}"}
        (letters / f"{number}.json").write_text(json.dumps({**told, "written": "2019-05-06", "case": "19/1"}), "utf-8")
        if number != 3:
            (letters / f"{number}.pdf").write_bytes(b"%PDF-1.7 " + str(number).encode())


def python(code: str, place: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script of its own in a folder; warnings are errors."""
    script = place / "script.py"
    script.write_text(code, "utf-8")
    return subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=place,
        env={"HOME": str(place), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """All blocks of Python, run as one script."""
    place = tmp_path_factory.mktemp("library")
    lay_out(place)
    return place, python("\n".join(blocks("python")), place)


def test_every_block_of_the_chapter_runs_and_only_what_it_prints_is_printed(
    done: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    place, ran = done
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    told = "There is already a plan in this folder (F101): runs/case-files"
    assert lines[:4] == ["done 2", "F101 False plan-exists", told, "3 objects more"]  # where it goes comes first
    assert [line.split()[1] for line in lines[4:6]] == ["a.txt", "b.txt"]
    assert lines[6:] == ["2 1", "2"]
    assert sorted(path.read_bytes() for path in place.glob("version-*")) == [b"a.txt", b"b.txt"]


def test_its_recipe_is_a_good_one_for_its_reader(done: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    place, _ = done
    recipe = next(block for block in blocks("toml") if "[target]" in block)
    (place / "letters.toml").write_text(recipe, "utf-8")
    reader = next(block for block in blocks("python") if "class Letters" in block)
    ran = python(
        reader + "import noarkit\nletters = noarkit.from_reader(Letters('letters'), 'letters')\n"
        "found = noarkit.plan(letters, 'runs/recipe', recipe='letters.toml')\n"
        "print(dict(found.records), dict(found.entities))",
        place,
    )
    assert ran.returncode == 0, ran.stderr
    assert "{'mapped': 2, 'set_aside': 1, 'skipped': 1}" in ran.stdout
    assert "'Mappe': 1" in ran.stdout and "'Basisregistrering': 2" in ran.stdout


def test_its_commands_find_the_reader_by_the_name_its_package_registers(
    done: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    place, _ = done
    site = tmp_path / "site"
    told = site / "my_package-1.0.dist-info"
    told.mkdir(parents=True)
    reader = next(block for block in blocks("python") if "class Letters" in block)
    (site / "my_package.py").write_text(reader, "utf-8")
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", "utf-8")
    point = next(block for block in blocks("toml") if "entry-points" in block)
    found = re.search(r'entry-points\."(.*)"\]\nletters = "(.*)"', point)
    assert found is not None
    (told / "entry_points.txt").write_text(f"[{found[1]}]\nletters = {found[2]}\n", "utf-8")
    (commands,) = (block for block in blocks("") if "noarkit plan letters:" in block)
    codes = []
    for line in commands.splitlines():
        words = shlex.split(line.replace("/srv/letters", str(place / "letters")))
        env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{site}"}
        ran = run_forked([*words, "--progress", "none"], cwd=tmp_path, env=env)
        codes.append(ran.returncode)
        assert CANARY not in ran.stderr
    assert codes == [3, 0, 3, 3]  # one letter has no scan
    assert len(list((tmp_path / "runs" / "letters").glob("report.html"))) == 1


def test_the_chapter_names_what_there_is() -> None:
    named = set(re.findall(r"noarkit\.([A-Za-z_]+)", "\n".join(blocks("python"))))
    assert named - set(noarkit.__all__) == {"archive"}
    functions = re.search(r"^`scan plan.*? are the functions\.", CHAPTER, re.S | re.M)
    assert functions is not None
    listed = " ".join(re.findall(r"`([^`]+)`", functions[0])).split()
    assert len(listed) == 24 and set(listed) <= set(noarkit.__all__)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_recipe_that_help_explains_is_a_good_one(lang: str) -> None:
    recipe = read_recipe(
        next(block for block in blocks("toml", chapter_source("recipes", lang)) if "[target]" in block)
    )
    assert [rule.kinds for rule in recipe.maps] == [("file",)]
    assert check(recipe) == []


def test_the_example_of_the_package_itself_runs(tmp_path: Path) -> None:
    lay_out(tmp_path)
    example = re.search(r"(?:^    .*\n|^\n)+", (noarkit.__doc__ or ""), re.M)
    assert example is not None
    code = "\n".join(line[4:] for line in example[0].splitlines()).replace("/srv/case-files", "case-files")
    ran = python(code + "\nassert proof.good and result.state == 'done'", tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
