"""The package's own code, for tests that look through all of it: read, and walked, once in a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import noarkit

PACKAGE = Path(noarkit.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of it, as `ast.walk` gives them."""
    return tuple(ast.walk(tree_of(path)))
