"""The house keeps its shape: imports point one way, modules stay small, names say what they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from noarkit.config import SETTINGS
from noarkit.service_names import BUILT_IN
from tests.package_code import MODULES, PACKAGE, nodes_of, tree_of

LAYERS = (
    ("version",),
    ("service_names",),
    ("errors",),
    ("wings",),
    ("events",),
    ("results",),
    ("option_fields",),
    ("verdict",),
    ("words",),
    ("manual",),
    ("safe",),
    ("secrets",),
    ("setting_values",),
    ("config",),
    ("model",),
    ("documents",),
    ("graph",),
    ("records",),
    ("recipes", "archive"),
    ("services",),
    ("settings",),
    ("sources",),
    ("forms",),
    ("copies",),
    ("embedded",),
    ("loading", "extraction"),
    ("airgap",),
    ("operations",),
    ("places",),
    ("catalogue",),
    ("reports",),
    ("retention",),
    ("api",),
    ("projects",),
    ("assistant",),
    ("reading_room",),
    ("cli",),
    ("__main__",),
)
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
APART = ("server", "standin")
UNRELATED = {("forms", "services")}  # one above the other, and neither knows the other
GROUND = {"version", "errors", "events", "words", "safe", "secrets", "config", "model"}
STARTERS = {"embedded", "cli"}
ODDS = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "stuff"}
# a name that is one of these, bare, says nothing of what it names
BARE = frozenset(
    """
    another any anything asked asking bears begun being believed bench both brought called carried chosen
    collected come coming counted crew decided declared described desk doing done drawn dropped due each ending
    every everybody face filing filled found gathered given gives giving goes going gone got hand handed hands
    having heard held holding holds it joined judged judging keeping keeps kept knowing known knows lacking
    lacks laid landed laying learned learnt leaving left lent listed looked lost made makes making manner marked
    matched meant merged met named needed nobody none noted nothing offered one other others owed paid picked
    placed prepared proved proven putting raised reached refused rest said saying says seeing seen sees sent
    shown some something spelled standing stands stated staying taken takes taking team telling tells terms that
    them these they thing things this those told touched trusted waited walked wanted wanting wants watched way
    whole wish wishes worked wrapped writing written
    """.split()  # noqa: SIM905  # a list of so many would take a line each
)
DUNDER_OTHER = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__sub__", "__or__", "__and__"}
# words of a contract: keys of recipes, options of commands, columns of tables and of JSON
CONTRACT_NAMES = frozenset({"each", "left", "whole", "carried", "refused", "asked", "trusted", "every", "other"})
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_POSITIONAL = 6  # self, and five of its own
MAX_BARE_LOCALS = 0.01
"""The share of local names that may be a bare participle or pronoun."""


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    return ".".join(("noarkit", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def layer_of(name: str) -> str:
    """The part of the house a dotted name belongs to; the package itself is ''. Stand-ins lie beside their clients."""
    parts = name.split(".")
    if parts[1:2] == ["services"] and ("standin" in parts or "standins" in parts):
        return "standin"
    return parts[1] if len(parts) > 1 else ""


KNOWN = {name_of(path) for path in MODULES}


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The dotted names of the modules that a module imports, wherever in it, `noarkit` itself too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "noarkit")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            module = str(node.module)
            if module.split(".")[0] == "noarkit":
                for alias in node.names:
                    name = f"{module}.{alias.name}"
                    yield name if name in KNOWN else module


def may_import(layer: str, other: str) -> bool:
    """Whether a part of the house may know another."""
    if layer == other:
        return True
    if (layer, other) in UNRELATED:
        return False
    if other in APART:
        return layer in STARTERS
    if (layer, other) == ("server", "documents"):
        return True
    if layer in APART:
        return other in GROUND
    if layer == "":
        return other != "cli"
    return other in HEIGHT and HEIGHT[other] < HEIGHT[layer]


def test_every_part_of_the_house_has_its_place() -> None:
    assert {layer_of(name) for name in KNOWN} == {"", *HEIGHT, *APART}


def test_imports_point_one_way() -> None:
    upward = {
        f"{name_of(path)} → {other}"
        for path in MODULES
        for other in imported(path)
        if not may_import(layer_of(name_of(path)), layer_of(other))
    }
    assert sorted(upward) == []


def test_the_rule_itself_says_what_it_shall() -> None:
    allowed = [
        ("loading", "archive"),
        ("server", "model"),
        ("server", "documents"),
        ("cli", "server"),
        ("embedded", "server"),
    ]
    refused = [("archive", "loading"), ("archive", "forms"), ("server", "archive"), ("loading", "server")]
    refused += [("model", ""), ("words", "safe"), ("forms", "services"), ("services", "forms"), ("standin", "services")]
    assert [pair for pair in allowed if not may_import(*pair)] == []
    assert [pair for pair in refused if may_import(*pair)] == []
    assert may_import("model", "config")


def test_services_stand_apart_from_each_other_and_from_their_stand_ins() -> None:
    entangled = []
    for path in MODULES:
        parts = name_of(path).split(".")
        if parts[1:2] != ["services"] or len(parts) < 3 or parts[2] not in BUILT_IN:
            continue
        for other in imported(path):
            theirs = other.split(".")
            if theirs[1:2] == ["services"] and len(theirs) > 2 and theirs[2] in BUILT_IN:
                same_side = ("standin" in parts) == ("standin" in theirs)
                if theirs[2] != parts[2] or not same_side:
                    entangled.append(f"{name_of(path)} → {other}")
    assert sorted(entangled) == []


def test_rules_judge_without_the_writer_of_their_form() -> None:
    judges = [path for path in MODULES if {"forms", "rules"} <= {*path.relative_to(PACKAGE).parts}]
    assert len(judges) > 40
    assert [(name_of(path), other) for path in judges for other in imported(path) if ".write" in other] == []


def test_no_module_is_a_box_of_odds() -> None:
    assert [name for name in sorted(KNOWN) if ODDS & set(name.split("."))] == []


def lines_of_body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How long a function is without its parameters and its docstring, which may be as long as they must."""
    has_docstring = ast.get_docstring(node) is not None and len(node.body) > 1
    first = node.body[1 if has_docstring else 0]
    return (node.end_lineno or 0) - first.lineno + 1


def test_modules_and_functions_stay_small_and_say_what_they_are() -> None:
    faults = []
    for path in MODULES:
        text, tree, name = path.read_text("utf-8"), tree_of(path), name_of(path)
        excess = len(text.splitlines()) - MAX_MODULE_LINES
        if excess > 0:
            faults.append(f"{name} is {excess} lines too long")
        if text and not ast.get_docstring(tree):
            faults.append(f"{name} has no docstring")
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                excess = lines_of_body(node) - MAX_FUNCTION_LINES
                if excess > 0:
                    faults.append(f"{name}.{node.name} is {excess} lines too long")
                if len(node.args.posonlyargs) + len(node.args.args) > MAX_POSITIONAL:
                    faults.append(f"{name}.{node.name} has too many arguments")
    assert faults == []


def is_bare(name: str) -> bool:
    """True for a name that is a bare participle or pronoun."""
    return name.strip("_").lower() in BARE


def test_names_of_modules_classes_and_functions_say_what_they_are() -> None:
    bare = [name for name in KNOWN if is_bare(name.rpartition(".")[2])]
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and is_bare(node.name):
                bare.append(f"{name_of(path)}.{node.name}")
    # the position of a stream is asked of every file, by that name
    assert sorted(name for name in bare if not name.endswith(".tell")) == []


def test_names_of_parameters_and_locals_mostly_say_what_they_are() -> None:
    locals_, bare_locals, bare_parameters = 0, [], []
    for path in MODULES:
        for function in nodes_of(path):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            arguments = function.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            if function.name not in DUNDER_OTHER:
                bare_parameters += [
                    f"{name_of(path)}.{function.name} {argument.arg}"
                    for argument in named
                    if is_bare(argument.arg) and argument.arg not in CONTRACT_NAMES
                ]
            stored = {
                node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            locals_ += len(stored)
            bare_locals += [f"{name_of(path)}.{function.name} {name}" for name in stored if is_bare(name)]
    assert locals_ > 10_000
    assert len(bare_locals) / locals_ < MAX_BARE_LOCALS, bare_locals
    assert sorted(bare_parameters) == []


def test_only_the_command_line_prints_or_exits() -> None:
    outspoken = []
    for path in MODULES:
        if layer_of(name_of(path)) in ("cli", "embedded"):
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "sys.exit", "exit", "quit"):
                outspoken.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert outspoken == []


def test_no_two_modules_need_each_other() -> None:
    packages = {name_of(path) for path in MODULES if path.name == "__init__.py"}
    needs = {name_of(path): set(imported(path)) - {name_of(path)} for path in MODULES if path.name != "__init__.py"}
    assert len(needs) > len(packages)
    # what needs nothing that is left is taken away, again and again: what stays goes round in circles
    while free := {name for name in needs if not needs[name] & needs.keys()}:
        needs = {name: below for name, below in needs.items() if name not in free}
    assert sorted(needs) == []


def test_every_setting_is_read_somewhere() -> None:
    others = [node for path in MODULES if name_of(path) != "noarkit.config" for node in nodes_of(path)]
    read = {node.attr for node in others if isinstance(node, ast.Attribute)}
    spelt = {node.value for node in others if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert [one.key for one in SETTINGS if one.key.rpartition(".")[2] not in read | spelt] == []
