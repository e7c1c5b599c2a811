"""The code lists: what stands in them at first, and the three calls that read and change them.

A list is known by its name (equal to the name of the fields that use it); which lists exist is the model's to say.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files

from noarkit.model import metamodel
from noarkit.server.wire import Route


def statements() -> Iterator[str]:
    """The table of all values, and the values a new archive comes with."""
    yield (
        "CREATE TABLE code_value (list TEXT NOT NULL, code TEXT NOT NULL, name TEXT NOT NULL, description TEXT,"
        " authority TEXT, PRIMARY KEY (list, code), UNIQUE (list, name))"
    )
    for name, code_list in metamodel().code_lists.items():
        for code in code_list.codes:
            yield _insert(name, code.code, code.name)
    for name, codes in _starter_codes().items():
        for code_name in codes:
            yield _insert(name, *code_name)


def routes() -> list[Route]:
    """The calls of this area."""
    return []


def _starter_codes() -> dict[str, list[list[str]]]:
    return tomllib.loads(files("noarkit.server").joinpath("starter-codes.toml").read_text("utf-8"))


def _insert(list_name: str, code: str, name: str, authority: str | None = None) -> str:
    values = ", ".join("NULL" if value is None else _quoted(value) for value in (list_name, code, name, authority))
    return f"INSERT INTO code_value (list, code, name, authority) VALUES ({values})"  # noqa: S608  # quoted, our own data


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
