"""A table of a recipe while it is read: hands out typed values, each with its line, and keeps what is wrong with them.

A field may be written by either of its names (`mappeIdent`, `mappeID`); what is handed out has the archive's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import TypeVar

from noarkit.model import metamodel
from noarkit.model.field_names import archive_name, field_names
from noarkit.recipes.lines import Path, nearest_line
from noarkit.recipes.recipe_model import Fields, RecipeProblem, Value

# what a wrong kind of value should have been, as TOML writes it
ASK = "ask"
"""What stands where nobody has decided yet."""
UNANSWERED = "unanswered"
"""The problem of that."""
KINDS = {dict: "{ … }", list: "[ … ]", str: '"…"', bool: "true, false", int: "1, 2, …"}
_T = TypeVar("_T")
_Choice = TypeVar("_Choice", bound=str)


@cache
def _noark_fields() -> frozenset[str]:
    return frozenset(name for kind in metamodel().types for name in field_names(kind))


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the text while it is read: hands out typed values, and tells of what is wrong with them."""

    data: Mapping[str, object]
    path: Path
    lines: Mapping[Path, int]
    problems: list[RecipeProblem]
    renames: dict[Path, str] = field(default_factory=dict)
    """The fields written by the standard's name, by their paths, with the archive's."""

    @property
    def line(self) -> int:
        return nearest_line(self.lines, self.path)

    def line_of(self, *names: str | int) -> int:
        return nearest_line(self.lines, (*self.path, *names))

    def problem(self, key: str, *names: str | int, **data: object) -> None:
        self.problems.append(RecipeProblem(self.line_of(*names), key, data))

    def check_keys(self, *known_keys: str) -> None:
        for name in self.data:
            if name not in known_keys:
                near = get_close_matches(name, known_keys, 1)
                key = "field-outside-fields" if "fields" in known_keys and name in _noark_fields() else "unknown-key"
                self.problem(key, name, name=name, near=near[0] if near else "", known=", ".join(sorted(known_keys)))

    def typed(self, name: str, kind: type[_T], default: _T) -> _T:
        value = self.data.get(name, default)
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        self.problem("wrong-kind", name, name=name, wanted=KINDS.get(kind, kind.__name__))
        return default

    def text(self, name: str, default: str = "") -> str:
        return self.typed(name, str, default)

    def choice(self, name: str, options: Sequence[_Choice], default: _Choice) -> _Choice:
        value = self.text(name, default)
        for option in options:
            if option == value:
                return option
        near = get_close_matches(value, options, 1)
        self.problem(
            "unknown-choice", name, name=name, value=value, near=near[0] if near else "", known=", ".join(options)
        )
        return default

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.data.get(name, [])
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return tuple(items)
        self.problem("wrong-kind", name, name=name, wanted='"…", ["…"]')
        return ()

    def value(self, name: str) -> Value | None:
        if name not in self.data:
            return None
        return Value(self.data[name], self.line_of(name))

    def values(self, name: str) -> tuple[Value, ...]:
        value = self.data.get(name, [])
        if isinstance(value, list):
            return tuple(Value(item, self.line_of(name, index)) for index, item in enumerate(value))
        return (Value(value, self.line_of(name)),)

    def table(self, name: str) -> Table:
        return Table(self.typed(name, dict, {}), (*self.path, name), self.lines, self.problems, self.renames)

    def tables(self, name: str) -> list[Table]:
        """The tables of a list; a single table counts as a list of one."""
        value = self.data.get(name, [])
        if isinstance(value, dict):
            return [self.table(name)]
        if not isinstance(value, list):
            self.problem("wrong-kind", name, name=name, wanted="{ … }, [{ … }]")
            return []
        tables = []
        for index, item in enumerate(value):
            if isinstance(item, dict):
                tables.append(Table(item, (*self.path, name, index), self.lines, self.problems, self.renames))
            else:
                self.problem("wrong-kind", name, index, name=name, wanted="{ … }")
        return tables

    def fields(self, kind: str, name: str = "fields") -> Fields:
        """The fields of an object of type `kind`, by the archive's names."""
        table = self.table(name)
        written_names: dict[str, str] = {}
        values: dict[str, Value] = {}
        for spelling, raw in table.data.items():
            field_name = archive_name(kind, spelling)
            if field_name in values:
                table.problem("field-twice", spelling, field=spelling, other=written_names[field_name])
                continue
            if field_name != spelling:
                table.renames[*table.path, spelling] = field_name
            written_names[field_name] = spelling
            values[field_name] = Value(raw, table.line_of(spelling))
        return values

    def written_name(self, kind: str, field: str) -> str:
        """The name by which `fields` has a field of a `kind`."""
        return next((name for name in self.table("fields").data if archive_name(kind, name) == field), field)
