"""The section `[register]` of a recipe: a list of cases or documents among the files, or a table of a database.

[register]
file  = "Saksregister.xlsx"
joins = { Saksnummer = "case.number" }
[register.columns]
tittel = "Tittel"

[register]
database = "sqlite:///saker.db#sak"      # without joins, its columns are recognised by what they hold
"""

from __future__ import annotations

from typing import get_args

from noarkit.recipes.recipe_model import (
    NoFolderPolicy,
    NoRowPolicy,
    RegisterJoin,
    RegisterOf,
    RegisterRules,
)
from noarkit.recipes.toml_table import ASK, KINDS, UNANSWERED, Table

_OF_CASES = ("no_folder", "no_row")
_KEYS = ("is_of", "joins", "columns")
_OF_FILES = ("file", "sheet", "keep")
_OF_DATABASES = ("database",)
_EXAMPLE = '{ Saksnummer = "case.number" }'


def read_register_rules(table: Table, kinds: tuple[str, ...]) -> RegisterRules:
    """The rules of the section; what is wrong with it is noted at its line."""
    if "files" not in kinds:
        table.check_keys()
        return RegisterRules()
    of_choices: tuple[RegisterOf, ...] = ("case", "document")
    is_of = table.choice("is_of", of_choices, "case")
    in_database = "database" in table.data and "file" not in table.data
    places = _OF_DATABASES if in_database else _OF_FILES
    table.check_keys(*places, *_KEYS, *(_OF_CASES if is_of == "case" else ()))
    if not table.text(places[0]):
        table.problem("missing-key", name=places[0])
    if table.data.get("database") == ASK:
        table.problem(UNANSWERED, "database", name="database")
    recognised = in_database and "joins" not in table.data
    column, joins = ("", get_args(RegisterJoin)[0]) if recognised else _joins(table, is_of)
    columns = table.table("columns").data
    for name, heading in columns.items():
        if not isinstance(heading, str) or not heading:
            table.problem("wrong-kind", "columns", name, name=name, wanted=KINDS[str])
    folder_ways: tuple[NoFolderPolicy, ...] = get_args(NoFolderPolicy)
    row_ways: tuple[NoRowPolicy, ...] = get_args(NoRowPolicy)
    for name in _OF_CASES:
        if table.data.get(name) == ASK:
            table.problem(UNANSWERED, name, name=name)
    return RegisterRules(
        file=table.text("file"),
        sheet=table.text("sheet"),
        database=table.text("database"),
        is_of=is_of,
        column=column,
        joins=joins,
        columns={name: str(heading) for name, heading in columns.items()},
        no_folder=table.choice("no_folder", folder_ways, "report"),
        no_row=table.choice("no_row", row_ways, "report"),
        keep=table.typed("keep", bool, False),
    )


def _joins(table: Table, is_of: RegisterOf) -> tuple[str, RegisterJoin]:
    """The column that joins, and with what."""
    ways: tuple[RegisterJoin, ...] = get_args(RegisterJoin)
    usual: RegisterJoin = ways[0] if is_of == "case" else ways[-1]
    joins = table.table("joins").data
    if len(joins) != 1:
        table.problem("wrong-kind", "joins", name="joins", wanted=_EXAMPLE)
        return "", usual
    column, raw_way = next(iter(joins.items()))
    fitting = ways[:-1] if is_of == "case" else ways[-1:]
    for choice in fitting:
        if raw_way == choice:
            return column, choice
    table.problem("unknown-choice", "joins", column, name=column, value=raw_way, near=usual, known=", ".join(fitting))
    return column, usual
