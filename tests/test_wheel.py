"""The wheel holds everything, and works in an empty environment far from this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = (
    "noarkit/words/en.toml",
    "noarkit/words/nb.toml",
    "noarkit/words/en-help.toml",
    "noarkit/manual/en/recipes.md",
    "noarkit/manual/nb/recipes.md",
    "noarkit/words/templates/noarkit.nb.toml",
    "noarkit/words/templates/package.en.toml",
    "noarkit/schemas/events.json",
    "noarkit/model/noark5.txt",
    "noarkit/model/code-lists.toml",
    "noarkit/model/noark5-xml.txt",
    "noarkit/model/noark5-mapping.txt",
    "noarkit/forms/noark5/official-schemas.txt",
    "noarkit/forms/noark5/addml.txt",
    "noarkit/schemas/noark5/5.0/arkivstruktur.xsd",
    "noarkit/server/starter-codes.toml",
    "noarkit/reading_room/templates/room.html",
    "noarkit/reading_room/assets/room.css",
    "noarkit/reading_room/assets/room.js",
    "noarkit/reading_room/assets/search.js",
    "noarkit/py.typed",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (made,) = place.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`noarkit` in an environment of its own, which sees our libraries but not this checkout."""
    home = tmp_path_factory.mktemp("elsewhere") / "env"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, capture_output=True)
    python = home / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    found = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    # an ordinary path line: files of ours that stand there in editable form are not followed from it
    Path(found.stdout.strip(), "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin" / "noarkit"


def run(program: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command, far from here."""
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [str(program), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_wheel_holds_words_templates_schemas_and_tables(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert set(DATA) <= names
    assert {
        str(path.relative_to(ROOT)) for path in (ROOT / "noarkit").rglob("*.toml") if "__pycache__" not in path.parts
    } <= names
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "noarkit" / "manual").rglob("*.md")} <= names
    assert not [name for name in names if name.startswith(("tests/", "scripts/", "samples/")) or "__pycache__" in name]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_installed_command_runs_elsewhere(program: Path, tmp_path: Path) -> None:
    version = run(program, "version", folder=tmp_path)
    assert (version.returncode, version.stdout.split()[0], version.stderr) == (0, "noarkit", "")
    where = subprocess.run(
        [str(program.parent / "python"), "-c", "import noarkit; print(noarkit.__file__)"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert str(ROOT) not in where.stdout


def test_the_installed_command_explains_a_fault_in_both_languages(program: Path, tmp_path: Path) -> None:
    english = run(program, "help", "F301", folder=tmp_path)
    norwegian = run(program, "help", "F301", "--lang", "nb", folder=tmp_path)
    assert "No connection to the archive" in english.stdout
    assert "Ingen forbindelse med arkivet" in norwegian.stdout
    assert (english.returncode, norwegian.returncode) == (0, 0)


def test_the_installed_command_shows_a_chapter_of_the_manual_in_both_languages(program: Path, tmp_path: Path) -> None:
    english = run(program, "help", "recipes", folder=tmp_path)
    norwegian = run(program, "help", "recipes", "--lang", "nb", folder=tmp_path)
    assert english.stdout.startswith("RECIPES: ") and "external_system" in english.stdout
    assert norwegian.stdout.startswith("OPPSKRIFTER: ") and "external_system" in norwegian.stdout
    assert (english.returncode, norwegian.returncode) == (0, 0)


def test_the_installed_command_makes_its_files_and_finds_an_archive_of_its_own(program: Path, tmp_path: Path) -> None:
    assert run(program, "init", folder=tmp_path).returncode == 0
    assert (tmp_path / "noarkit.toml").exists()
    found = run(program, "doctor", "--archive", f"embedded:{tmp_path / 'archive'}", "--probe", folder=tmp_path)
    assert found.returncode == 0, found.stderr + found.stdout


def test_manual_pages_are_installed_where_man_looks_beside_the_command(program: Path, tmp_path: Path) -> None:
    share = program.parent.parent / "share"
    for lang, place in (("en", share / "man" / "man1"), ("nb", share / "man" / "nb" / "man1")):
        printed = run(program, "man", "--lang", lang, folder=tmp_path)
        assert (place / "noarkit.1").read_text("utf-8") == printed.stdout
        assert printed.stdout.startswith(".TH NOARKIT 1 ")


def test_completions_are_installed_where_shells_look_beside_the_command(program: Path, tmp_path: Path) -> None:
    share = program.parent.parent / "share"
    places = {
        "bash": share / "bash-completion" / "completions" / "noarkit",
        "zsh": share / "zsh" / "site-functions" / "_noarkit",
        "fish": share / "fish" / "vendor_completions.d" / "noarkit.fish",
    }
    for shell, place in places.items():
        assert place.read_text("utf-8") == run(program, "completion", shell, folder=tmp_path).stdout
    lines = (f". '{places['bash']}'", "COMP_WORDS=(noarkit ing) COMP_CWORD=1", "_noarkit_completion noarkit")
    environment = {"HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    completed = subprocess.run(
        ["bash", "--norc", "-c", "; ".join((*lines, 'echo "${COMPREPLY[@]}"'))],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed.stdout.split() == ["ingest"]
