"""The package's own code, for tests that look through all of it: read, and walked, once in a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import noarkit
from tests.processor_time import SHARED

PACKAGE = Path(noarkit.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    """The text of a module."""
    return path.read_text("utf-8")


def modules_with(*words: str) -> list[Path]:
    """The modules whose text holds one of these words: no other needs to be parsed by whoever looks for them."""
    return [path for path in MODULES if any(word in text_of(path) for word in words)]


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    with SHARED.counted():
        return ast.parse(text_of(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of it, as `ast.walk` gives them."""
    with SHARED.counted():
        return tuple(ast.walk(tree_of(path)))
