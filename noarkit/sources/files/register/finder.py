"""Finds a register among the files of a tree or the tables of a database: a table one of whose columns joins with the
folders, or with the files.

A column joins if three in five of its values are case numbers or names of folders (or names of files), or if it has
three in five of the folders. What its other columns mean is told by what they hold, and by their headings where that
leaves a choice (`columns`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path

from noarkit.errors import SourceFault
from noarkit.model.disclosure import MASK
from noarkit.recipes.recipe_model import RegisterJoin, RegisterOf, RegisterRules
from noarkit.sources.files import folders
from noarkit.sources.files.case_names import CaseForm, Folder, number_in
from noarkit.sources.files.names import normalize_name
from noarkit.sources.files.register import database_table, tables
from noarkit.sources.files.register.cases import folded
from noarkit.sources.files.register.columns import Columns, meanings, screening_codes
from noarkit.sources.files.register.rows import NAMES, extension_of, malformed, plain_path

EXTENSIONS = (".xlsx", ".ods", ".csv")
MOST_CANDIDATES = 20
MOST_BYTES = 50_000_000
_MOST_ROWS = 20_000
_LEAST_SHARE = 0.6
_LEAST_JOINED = 3
_OWN_NAMES = frozenset(name.decode() for name in NAMES)


@dataclass(frozen=True, slots=True)
class FoundRegister:
    """A register and how it joins: its rules for a recipe, the rows that were read (without sums and remarks), the
    folders or files that `joined` one, the codes of screening in it, and whether all its rows were read. `rows_left`
    and `places_left` are rows without a folder, as the column that joins has them (a mask where it has names, and the
    row is screened), and folders without a row."""

    rules: RegisterRules
    rows: int
    joined: int
    codes: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = True
    rows_left: tuple[str, ...] = ()
    places_left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """What a register may be of: the case folders, the form of their names, and the names of files in small letters."""

    folders: Sequence[Folder]
    form: CaseForm | None
    files: Collection[str]


def is_candidate(path: Path) -> bool:
    """True for a file that may be a register, by its name and size."""
    try:
        status = path.stat(follow_symlinks=False)
    except OSError:
        return False  # whoever reads it says that it cannot be read
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    return path.name.lower().endswith(EXTENSIONS) and path.name.lower() not in _OWN_NAMES and 0 < size <= MOST_BYTES


def find_register(root: Path, candidates: Iterable[Path], places: Places) -> FoundRegister | None:
    """The best of the candidates; None where none joins."""
    best: tuple[float, FoundRegister] | None = None
    for path in candidates:
        try:
            for score, register in _registers_in(path, os.fspath(path.relative_to(root)), places):
                if best is None or score > best[0]:
                    best = score, register
        except SourceFault:
            continue  # a table that cannot be read is no register; it is loaded like any other file
    return None if best is None else best[1]


def find_table(where: str, places: Places) -> FoundRegister | None:
    """The best of the tables at an address of a database, or the one that it names; None where none joins. Raises the
    faults of `table_rows`."""
    best: tuple[float, FoundRegister] | None = None
    for address in database_table.tables_at(where):
        scored = _register_in(RegisterRules(database=address), database_table.table_rows(address), places)
        if scored is not None and (best is None or scored[0] > best[0]):
            best = scored
    return None if best is None else best[1]


def _registers_in(path: Path, where: str, places: Places) -> Iterator[tuple[float, FoundRegister]]:
    with folders.faults(where), path.open("rb") as file, malformed(where):
        for sheet, rows in groupby(tables.sheet_rows(file, extension_of(where)), key=lambda row: row[0]):
            numbered = tables.numbered_rows(cells for _, cells in rows)
            scored = _register_in(RegisterRules(where, sheet), numbered, places)
            if scored is not None:
                yield scored


def _register_in(
    rules: RegisterRules, numbered_rows: Iterator[tuple[int, Mapping[str, object]]], places: Places
) -> tuple[float, FoundRegister] | None:
    """The register that a table is, and how well it joins; None where it does not."""
    columns = _columns([row for _, row in islice(numbered_rows, _MOST_ROWS)])
    is_whole = next(numbered_rows, None) is None
    join = _best_join(columns, places)
    return None if join is None else (join.score, _register(rules, columns, join, places, is_whole=is_whole))


def _columns(rows: Sequence[Mapping[str, object]]) -> Columns:
    return {name: [str(row[name]).strip() for row in rows] for name in (rows[0] if rows else ())}


@dataclass(frozen=True, slots=True)
class _Join:
    """A column that joins: by what, how well, and the place that each row joins with, if any."""

    column: str
    way: RegisterJoin
    score: float
    places: list[str | None]


def _best_join(columns: Columns, places: Places) -> _Join | None:
    joins = [join for name, values in columns.items() for join in _joins(name, values, places)]
    return max(joins, key=lambda join: join.score, default=None)


def _joins(name: str, values: Sequence[str], places: Places) -> Iterator[_Join]:
    form = places.form
    cases = {folder.name: form.parse(folder.name) if form else None for folder in places.folders}
    by_number = {case.ident: folder for folder, case in cases.items() if case}
    by_name = {folded(folder): folder for folder in cases}
    numbers = [number_in(value, form) for value in values] if by_number else []
    files = [normalize_name(plain_path(value).rpartition("/")[2]) for value in values]
    joined_by: dict[RegisterJoin, tuple[list[str | None], int]] = {
        "case.number": ([by_number.get(case.ident) if case else None for case in numbers], len(by_number)),
        "folder.name": ([by_name.get(folded(value)) for value in values], len(by_name)),
        "path": ([file if file in places.files else None for file in files], len(places.files)),
    }
    for join_way, (joined_places, count) in joined_by.items():
        hits, distinct = sum(place is not None for place in joined_places), len(set(joined_places) - {None})
        if distinct >= _LEAST_JOINED:
            score = max(hits / max(1, sum(map(bool, values))), distinct / count)
            if score >= _LEAST_SHARE:
                yield _Join(name, join_way, score, joined_places)


def _register(
    found_rules: RegisterRules, columns: Columns, join: _Join, places: Places, *, is_whole: bool
) -> FoundRegister:
    is_row = partial(number_in, form=places.form) if join.way == "case.number" else bool
    rows = [index for index, value in enumerate(columns[join.column]) if is_row(value)]  # without sums and remarks
    cells = {name: [values[index] for index in rows] for name, values in columns.items() if name != join.column}
    titles = [_title(join.places[index], places.form) for index in rows]
    names = meanings(cells, titles, of_cases=join.way != "path")
    codes = screening_codes(cells[names["skjerming"]]) if "skjerming" in names else {}
    is_of: RegisterOf = "document" if join.way == "path" else "case"
    rules = replace(found_rules, is_of=is_of, column=join.column, joins=join.way, columns=names)
    joined = set(join.places) - {None}
    # a number says nothing of what a case is about; a name does
    may_tell = columns[names["skjerming"]] if "skjerming" in names and join.way != "case.number" else ()
    rows_left = tuple(
        MASK if may_tell and may_tell[index].strip() else columns[join.column][index]
        for index in rows
        if join.places[index] is None
    )
    places_left = tuple(folder.name for folder in places.folders if folder.name not in joined)
    return FoundRegister(rules, len(rows), len(joined), codes, is_whole, rows_left, places_left)


def _title(folder: str | None, form: CaseForm | None) -> str:
    """The title in the name of a folder, where there is one."""
    if folder is None:
        return ""
    case = form.parse(folder) if form else None
    return (case.title if case else folder) or folder
