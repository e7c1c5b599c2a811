"""What nobody has decided yet: each `"ask"` in the two files of a project, with what the file says of it.

questions(project)[0]   ->   Question("register.no_folder", Path("saetre/recipe.toml"), 14, "2 rows have no folder …")
answer(question, "make")     the same line, with `"make"` for `"ask"`; every other stays as it is
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from noarkit.projects.project import Project
from noarkit.recipes.recipe_model import NoFolderPolicy, NoRowPolicy, OpenPolicy
from noarkit.recipes.toml_table import ASK
from noarkit.recipes.toml_writer import basic_string
from noarkit.safe.atomic import write_text
from noarkit.safe.toml import Document, read_text, read_toml
from noarkit.sources.files.register.database_table import full_address

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "register.no_folder": get_args(NoFolderPolicy),
    "register.no_row": get_args(NoRowPolicy),
    "dates.open": get_args(OpenPolicy),
}
_REGISTER = "register.database"
_YES, _NO = "yes", "no"
_COMPANIONS = ("case_exceptions", "sakssekvensnummer")
_DOUBTED = re.compile(rf"# (case_name|mail_cases|saksaar|{'|'.join(_COMPANIONS)}) = ")
"""A line of a recipe that counts only once somebody has said so; companions belong to the line above them."""
_TWICE, _NONE = "source.case_exceptions", "none"
"""The folders that share a number with another: the one that is taken out of the list has it."""
_OPTIONAL = frozenset({"package.schemas", "creator.identification"})
"""What may have no answer yet."""
_PAIR = 2
_ASKED = re.compile(rf"""(["']){ASK}\1""")


@dataclass(frozen=True, slots=True)
class Question:
    """One question: the key as it stands in its file, the line, and the comments that stand at it."""

    key: str
    file: Path
    line: int
    evidence: str
    is_doubt: bool = False
    """True for a line that stands behind a `#`: does it count?"""
    folders: tuple[str, ...] = ()
    """Those of which one may be the case whose number several have."""

    @property
    def where(self) -> str:
        """File and line, as faults of a file name them."""
        return f"{self.file}:{self.line}"

    @property
    def is_optional(self) -> bool:
        """True where an empty answer is one."""
        return self.key in _OPTIONAL

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers that can be given; none where any text can."""
        if self.folders:
            return (*self.folders, _NONE)
        return (_YES, _NO) if self.is_doubt else tuple(one for one in _CHOICES.get(self.key, ()) if one != ASK)


def questions(project: Project) -> tuple[Question, ...]:
    """All that is asked, in the order of the files. Raises `ConfigFault`."""
    files = (file for file in (project.file, project.recipe) if file.is_file())
    return tuple(question for file in files for question in _questions(read_toml(file)))


def answer(question: Question, text: str) -> None:
    """Writes the answer into the file, in place of the first `"ask"` of its line; a line in doubt counts, or goes."""
    lines = read_text(question.file).splitlines(keepends=True)
    at = question.line - 1
    if question.is_doubt:
        following = range(at + 1, next((n for n in range(at + 1, len(lines)) if lines[n][:1] != "#"), len(lines)))
        for number in (at, *(n for n in following if _is_companion(lines[n]))):
            lines[number] = lines[number].removeprefix("# ") if text == _YES else "\n"
    elif question.folders:
        lines[at] = _without(lines[at], *([ASK] if text == _NONE or len(question.folders) == _PAIR else []), text)
    else:
        if question.key == _REGISTER and text:  # one with a secret in it is refused before it is written anywhere
            text = full_address(text)
        lines[at] = _ASKED.sub(lambda _: basic_string(text), lines[at], count=1)
    write_text(question.file, "".join(lines))


def _without(line: str, *names: str) -> str:
    """A line with a list, without some of its texts."""
    for name in names:
        line = re.sub(rf"{re.escape(basic_string(name))}(, )?", "", line, count=1)
    return line.replace(", ]", "]")


def _is_companion(line: str) -> bool:
    """True for a line in doubt that goes with the one above it."""
    match = _DOUBTED.match(line)
    return match is not None and match[1] in _COMPANIONS


def _questions(document: Document) -> Iterator[Question]:
    lines = read_text(document.path).splitlines()
    asked = [
        Question(key, document.path, line, _evidence(lines, line), folders=_folders(document) if key == _TWICE else ())
        for key, line in _places(document)
    ]
    for line, text in enumerate(lines, 1):
        if (match := _DOUBTED.match(text)) and not _is_companion(text):
            asked.append(Question(f"source.{match[1]}", document.path, line, _evidence(lines, line), is_doubt=True))
    yield from sorted(asked, key=lambda question: question.line)


def _places(document: Document) -> Iterator[tuple[str, int]]:
    """The keys of what is asked, with their lines."""
    for key in _keys(document.data, ""):
        yield key, int(document.where(key).rpartition(":")[2])


def _folders(document: Document) -> tuple[str, ...]:
    """The folders in the list of those that share a number."""
    source = document.data.get("source")
    names = source.get("case_exceptions") if isinstance(source, Mapping) else ()
    return tuple(name for name in names if name != ASK) if isinstance(names, list) else ()


def _keys(value: object, key: str) -> Iterator[str]:
    if value == ASK:
        yield key
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _keys(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner, key)


def _evidence(lines: list[str], line: int) -> str:
    """The comments right above a line, else those above the heading that it stands under, and the one that ends it."""
    behind = _ASKED.split(lines[line - 1])[-1].partition("#")[2]
    comments = _comments_above(lines, line)
    heading = next((at for at in range(line - 1, 0, -1) if lines[at - 1].startswith("[")), 0)
    if not comments and (not behind or heading == line - 1):
        comments = _comments_above(lines, heading)
    return " ".join(filter(None, (text.strip(" #") for text in (*comments, behind))))


def _comments_above(lines: list[str], line: int) -> list[str]:
    first = max(line - 1, 0)
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return lines[first : line - 1]
