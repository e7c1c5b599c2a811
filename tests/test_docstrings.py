"""Names in docstrings are names of the code, and each docstring documents something.

What stands in backticks and looks like a name is one. A value is written with its quotes, `"nb"`, and is no name.
"""

from __future__ import annotations

import ast
import builtins
import gc
import keyword
import pydoc
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.main import COMMANDS
from tests.package_code import MODULES, PACKAGE, modules_with, nodes_of, tree_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
NAMES: dict[type[ast.AST], str] = {
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.arg: "arg",
    ast.keyword: "arg",
    ast.ClassDef: "name",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
}
ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
FILES = frozenset({"csv", "db", "json", "toml", "txt", "xml"})
# what every docstring may name: Python's own words, the public functions, the commands and the rooms
EVERYWHERE = frozenset(
    {PACKAGE.name, *dir(builtins), *keyword.kwlist, *keyword.softkwlist, *noarkit.__all__, *COMMANDS}
    | {path.stem for path in PACKAGE.iterdir()}
)


@pytest.fixture(autouse=True)
def _no_garbage() -> Iterator[None]:
    """Trees are there until the end: to look for garbage among them takes longer than to read them."""
    gc.disable()
    yield
    gc.enable()


@dataclass(frozen=True, slots=True)
class Text:
    """A string that is a statement."""

    node: ast.Constant
    documents: bool
    function: Function | None
    """The outermost function around it."""

    def names(self) -> Iterator[tuple[int, str]]:
        """The line of each name in backticks, and the name."""
        text = str(self.node.value)
        for quoted in re.finditer(r"`([^`]+)`", text):
            name = quoted[1].removesuffix("()")
            if all(part.isidentifier() for part in name.split(".")):
                yield self.node.lineno + text.count("\n", 0, quoted.start()), name


def texts_in(node: ast.AST, function: Function | None = None) -> Iterator[Text]:
    """The strings that are statements: each documents what it begins or the assignment before it, or nothing."""
    if function is None and isinstance(node, Function):
        function = node
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        begins = field == "body" and isinstance(node, Function | ast.ClassDef | ast.Module)
        for child in getattr(node, field, ()):
            if isinstance(child, ast.Expr):
                if isinstance(child.value, ast.Constant) and isinstance(child.value.value, str):
                    yield Text(child.value, begins, function)
            else:
                yield from texts_in(child, function)
            begins = isinstance(child, ASSIGNMENTS)


@cache
def texts_of(tree: ast.Module) -> tuple[Text, ...]:
    """Those of a module."""
    return tuple(texts_in(tree))


def names_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that nodes of code bear or use."""
    for node in nodes:
        if isinstance(node, ast.alias):
            yield from (node.asname or node.name).split(".")
        elif type(node) in NAMES:
            yield getattr(node, NAMES[type(node)]) or ""


def outline(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module that are in no function: what is imported and declared, fields, methods, and what makes
    a value of a class."""
    yield node
    if isinstance(node, Function) and node.name == "__init__":
        yield from ast.walk(node.args)
    elif not isinstance(node, Function):
        for child in ast.iter_child_nodes(node):
            yield from outline(child)


def literals_in(nodes: Iterable[ast.AST], texts: Iterable[Text]) -> Iterator[str]:
    """The strings of code that are no docstrings."""
    statements = {id(text.node) for text in texts}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value


def words(literals: Iterable[str]) -> set[str]:
    """The words of strings: columns of a statement of SQL, names of files."""
    return set(re.findall(r"\w+", "\n".join(literals)))


@cache
def declared_anywhere() -> frozenset[str]:
    """What any module of the package declares, and its strings with a capital: types and fields of the standard."""
    found = {path.stem for path in MODULES}
    for path in MODULES:
        found.update(names_in(outline(tree_of(path))))
        found.update(text for text in literals_of(path) if text.isidentifier() and text != text.lower())
    return frozenset(found)


@cache
def literals_of(path: Path) -> frozenset[str]:
    """The strings in the code of a module."""
    return frozenset(literals_in(nodes_of(path), texts_of(tree_of(path))))


@cache
def declared_in(path: Path) -> frozenset[str]:
    """What every docstring of a module may name."""
    return EVERYWHERE | literals_of(path) | set(names_in(outline(tree_of(path))))


@cache
def named_in(path: Path) -> frozenset[str]:
    """What docstrings may name that are in no function: all names of the module, and the modules of its room.

    That of a room may name what its modules name.
    """
    siblings = {child.stem for child in path.parent.iterdir()}
    found = siblings | declared_in(path) | words(literals_of(path)) | set(names_in(nodes_of(path)))
    if path.name == "__init__.py":
        found.update(*(named_in(module) for module in path.parent.glob("[!_]*.py")))
    return frozenset(found)


def unknown_names(path: Path) -> Iterator[str]:
    """The names in docstrings of a module that nothing bears, with their lines.

    A function may name what stands in it, what its module declares, and strings of the module, but not parameters of
    another function. What begins with a capital, or has a dot, may be declared anywhere.
    """
    texts = texts_of(tree_of(path))
    for text in texts:
        names = list(text.names())
        if not names:
            continue
        known = named_in(path)
        if text.function:
            inside = list(ast.walk(text.function))
            known = declared_in(path) | set(names_in(inside)) | words(literals_in(inside, texts))
            known |= keywords_of(text.function)
        for line, name in names:
            if name not in known and not is_elsewhere(name, known):
                yield f"{path.relative_to(PACKAGE.parent)}:{line}: {name}"


def keywords_of(function: Function) -> Set[str]:
    """The keywords of a function that takes those of a class (`Unpack`), with those of the classes it extends."""
    packed = function.args.kwarg.annotation if function.args.kwarg else None
    if not isinstance(packed, ast.Subscript) or ast.unparse(packed.value) != "Unpack":
        return frozenset()
    return frozenset(keywords_named(ast.unparse(packed.slice)))


def keywords_named(class_name: str) -> Iterator[str]:
    """The fields of a class of keywords."""
    for path in modules_with(f"class {class_name}("):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and node.name == class_name:
                yield from (
                    item.target.id
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                )
                for base in node.bases:
                    yield from keywords_named(ast.unparse(base))


def is_elsewhere(name: str, known: Set[str]) -> bool:
    """Whether a type, or a name with a dot, is of another module, of a library, or of a file."""
    parts = name.split(".")
    if len(parts) == 1:
        return name != name.lower() and name in declared_anywhere()
    if parts[-1] in FILES or all(part in known or part in declared_anywhere() for part in parts):
        return True
    return pydoc.locate(name) is not None


def test_names_in_docstrings_are_names_of_the_code() -> None:
    assert [name for path in modules_with("`") for name in unknown_names(path)] == []


def test_every_lone_string_documents_something() -> None:
    lone = [
        f"{path.relative_to(PACKAGE.parent)}:{text.node.lineno}"
        for path in MODULES
        for text in texts_of(tree_of(path))
        if not text.documents
    ]
    assert lone == []
