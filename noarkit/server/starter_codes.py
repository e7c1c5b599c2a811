"""The codes that a new archive comes with: those of the standard, and a starter set of ours."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from noarkit.model import metamodel


def starter_codes() -> dict[str, frozenset[str]]:
    """The codes of each list in a new archive, by the name of the list; a list without any is there too."""
    codes = {name: {code.code for code in code_list.codes} for name, code_list in metamodel().code_lists.items()}
    for name, rows in own_codes().items():
        codes[name] |= {row[0] for row in rows}
    return {name: frozenset(values) for name, values in codes.items()}


def own_codes() -> dict[str, list[list[str]]]:
    """The starter set: code, name and perhaps authority of each value, by the name of the list."""
    return tomllib.loads(files("noarkit.server").joinpath("starter-codes.toml").read_text("utf-8"))
