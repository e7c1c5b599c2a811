"""The house keeps its shape: imports point one way, modules and functions stay small, and nothing is a box of odds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "noarkit"
# From the ground up; what stands on one line does not know its neighbours.
LAYERS = (
    ("errors",),
    ("events",),
    ("words",),
    ("manual",),
    ("safe",),
    ("secrets",),
    ("config",),
    ("settings",),
    ("model",),
    ("graph",),
    ("packages", "archive", "connectors"),
    ("sources",),
    ("load", "extract", "validate"),
    ("engine",),
    ("report",),
    ("web",),
    ("embedded",),
    ("destination",),
    ("airgap",),
    ("origins",),
    ("ingestion",),
    ("deliveries", "archive_client"),
    ("assistant",),
    ("cli",),
    ("__main__",),
)
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
APART = ("server", "standins")
GROUND = {"errors", "events", "words", "safe", "secrets", "config", "model"}
STARTERS = {"embedded", "cli"}
ODDS = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "stuff"}
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60

MODULES = sorted(PACKAGE.rglob("*.py"))


def layer_of(path: Path) -> str:
    """The part of the house a module belongs to; the package itself is ''."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imported(path: Path) -> Iterator[str]:
    """The parts of the house that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "noarkit" and len(parts) > 1 and not parts[1].startswith("__"):
                yield parts[1]


def may_import(layer: str, other: str) -> bool:
    """Whether a part of the house may know another."""
    if layer == other:
        return True
    if other in APART:
        return layer in STARTERS
    if layer in APART:
        return other in GROUND
    if layer == "":
        return other != "cli"
    return other in HEIGHT and HEIGHT[other] < HEIGHT[layer]


def test_every_part_of_the_house_has_its_place() -> None:
    assert {layer_of(path) for path in MODULES} <= {"", *HEIGHT, *APART}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    layer = layer_of(path)
    assert [other for other in imported(path) if other in {*HEIGHT, *APART} and not may_import(layer, other)] == []


@pytest.mark.parametrize(
    ("layer", "other", "may"),
    [
        ("load", "archive", True),
        ("archive", "load", False),
        ("archive", "packages", False),
        ("server", "archive", False),
        ("server", "model", True),
        ("load", "server", False),
        ("cli", "server", True),
        ("embedded", "server", True),
        ("web", "embedded", False),
        ("model", "config", True),
        ("words", "safe", False),
    ],
)
def test_the_rule_itself_says_what_it_shall(layer: str, other: str, may: bool) -> None:
    assert may_import(layer, other) is may


def test_no_module_is_a_box_of_odds() -> None:
    assert [
        path for path in MODULES if ODDS & {part.removesuffix(".py") for part in path.relative_to(PACKAGE).parts}
    ] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_and_functions_stay_small_and_say_what_they_are(path: Path) -> None:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= MAX_MODULE_LINES
    assert ast.get_docstring(tree) or not text
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert (node.end_lineno or 0) - node.lineno < MAX_FUNCTION_LINES, node.name
            # self, and five of its own
            assert len(node.args.posonlyargs) + len(node.args.args) <= 6, node.name


def test_only_the_command_line_prints_or_exits() -> None:
    found = []
    for path in MODULES:
        if layer_of(path) in ("cli", "embedded"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "sys.exit", "exit", "quit"):
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert found == []


def needed_by(path: Path) -> set[Path]:
    """The modules that a module imports, wherever in it and for whatever; a package's face is left out."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        found |= {PACKAGE.parent / f"{name.replace('.', '/')}.py" for name in names}
    return found - {path}


def test_no_two_modules_need_each_other() -> None:
    needs = {path: needed_by(path) & set(MODULES) for path in MODULES if path.name != "__init__.py"}
    # what needs nothing that is left is taken away, again and again: what stays goes round in circles
    while free := {path for path in needs if not needs[path] & needs.keys()}:
        needs = {path: below for path, below in needs.items() if path not in free}
    assert sorted(str(path.relative_to(PACKAGE)) for path in needs) == []
