"""The map of the house, noarkit/README.md and its picture, shows what is there: no room less, no path that is gone."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest
from lxml import etree

from noarkit.manual.markdown import anchor
from scripts.draw_map import PICTURE, README, ROOT, drawing, rooms
from tests.package_code import MODULES, PACKAGE, tree_of
from tests.test_layers import APART, HEIGHT, LAYERS

TEXT = README.read_text("utf-8")
NO_TABLE = {"loading/verification"}  # its columns are depths and codes of findings
OWN_PAGE = "The language\n===="  # what follows is no table of modules


def modules_named_in(docstring: str) -> set[str]:
    """The names in a docstring's tables: `name  what it does`, once or several times a line; a `name: …` within too."""
    names: set[str] = set()
    for line in docstring.partition(OWN_PAGE)[0].splitlines()[1:]:
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) > 1 and re.fullmatch(r"[a-z0-9_/ ·]+", cells[0]):
            for cell in cells[::2]:
                names.update(re.split(r"[ ·]+", cell))
            names.update(re.findall(r"; ([a-z_]+):", line))
    return {name.rstrip("/") for name in names if name}


def contents_of(room: Path) -> set[str]:
    """The modules and packages of a room."""
    modules = {path.stem for path in room.glob("*.py")} - {"__init__"}
    return modules | {path.parent.name for path in room.glob("*/__init__.py")}


def docstring_of(path: Path) -> str:
    return ast.get_docstring(tree_of(path)) or ""


def test_modules_that_docstrings_of_packages_name_are_there() -> None:
    told = 0
    for path in (path for path in MODULES if path.name == "__init__.py"):
        room = path.parent
        if room == PACKAGE or room.relative_to(PACKAGE).as_posix() in NO_TABLE:
            continue
        names = modules_named_in(docstring_of(path))
        told += len(names)
        assert names - contents_of(room) == set(), room
    assert told > 300


@pytest.mark.parametrize("room", sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")))
def test_the_docstring_of_a_room_names_all_its_modules(room: str) -> None:
    path = PACKAGE / room
    named = modules_named_in(docstring_of(path / "__init__.py"))
    if room == "cli":  # one file a command, named as the command is
        named |= {file.stem for file in path.glob("*.py") if docstring_of(file).startswith("`noarkit ")}
    if room == "services":  # each service is a package beside the shared modules
        named |= {file.parent.name for file in path.glob("*/kind.py")}
    assert contents_of(path) - named == set()


def test_a_stale_name_in_a_docstring_is_seen() -> None:
    told = "What.\n\n    one     first; two: second\n    three four   both      five  last\n\nIn a line  of text."
    assert modules_named_in(told) == {"one", "two", "three", "four", "five"}


def test_every_room_on_disk_is_on_the_map_and_no_other() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert len(folders) > 15
    assert rooms().keys() == folders | modules | {"standin"}


def test_the_tables_go_from_top_to_bottom_in_the_order_of_imports() -> None:
    heights = [HEIGHT[name] for name in rooms() if name not in APART]
    assert len(heights) == sum(map(len, LAYERS))
    assert [pair for pair in pairwise(heights) if pair[0] < pair[1]] == []


def test_every_path_on_the_map_is_there() -> None:
    named = re.findall(r"`([\w./-]+(?:/|\.py|\.toml|\.md))`", TEXT) + re.findall(
        r"`((?:scripts|tests)/[\w./-]+)`", TEXT
    )
    # files that a user has, folders that every form or service has, and what lies apart
    paths = {path for path in named if path not in {"rules/", "source/", "rules.toml", "standin/"}}
    assert len(paths) > 50
    assert [path for path in sorted(paths) if not (PACKAGE / path).exists() and not (ROOT / path).exists()] == []


def test_links_of_the_map_lead_to_files_and_headings() -> None:
    links = re.findall(r"\]\(([^)#]+)#?([^)]*)\)", TEXT)
    assert len(links) > 4
    for target, place in links:
        page = PACKAGE / target
        assert page.is_file(), target
        headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M) if place else []
        assert not place or place in map(anchor, headings)


def test_names_in_the_life_of_a_chunk_are_those_of_the_journal() -> None:
    journal = (PACKAGE / "loading" / "journal.py").read_text("utf-8")
    (states,) = re.findall(r"^States of a chunk: (.+?)\. ", journal, re.M)
    table = re.findall(
        r"^\| ([a-z ]+?)(?:, with a time)? \| .* \| .* \|$", TEXT.split("## The life of a chunk")[1], re.M
    )
    told = set(re.findall(r"planned|intent|done|in_doubt|refused", states))
    assert len(told) == 5
    assert told <= {name.replace(" ", "_") for name in table}


def test_the_picture_is_what_the_script_draws() -> None:
    assert PICTURE.read_text("utf-8") == drawing(), "scripts/draw-map draws it again"


def test_the_picture_shows_every_room_and_refers_to_nothing_outside() -> None:
    root = etree.fromstring(PICTURE.read_bytes())
    shown = {str(node.text) for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert rooms().keys() <= shown
    assert not re.search(r"href|url\((?!#)|@import|<script|<image", PICTURE.read_text("utf-8"))
