"""Reads `deposit.toml`: where the records are, what becomes of them on the way, and what a delivery must say of itself.

The sections of a delivery (creator, system, period, agreement) are those of `package.toml`, and commands that take one
take this file. `"ask"` stands where nobody has decided yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from noarkit.errors import ConfigFault
from noarkit.recipes.toml_table import ASK
from noarkit.recipes.toml_writer import basic_string
from noarkit.safe.paths import shown_path
from noarkit.safe.toml import Document, read_toml
from noarkit.words.texts import template

PROJECT_FILE = "deposit.toml"
RECIPE_FILE = "recipe.toml"
NONE = "none"
USUAL_POLICY = "no-raf-2022"
"""The policy of copies that a new project has, where copies can be made; `derive` takes it where none is named."""
DatePolicy = Literal["keep", "carry", "todays"]
_ASKED = (
    *(("[creator]", "name"), ("[creator]", "identification")),
    *(("[system]", "name"), ("[system]", "type")),
)
"""What nobody but a person can say, also where a package without a project has a usual value for it."""
_VALUE = r'^({} = )"[^"\n]*"'


@dataclass(frozen=True, slots=True)
class Project:
    """What was decided. Places within the project are full paths; those of others stand as they were written."""

    folder: Path
    source: str
    recipe: Path
    copies_policy: str
    archive: str
    dates: DatePolicy
    approval: bool
    depth: str
    form: str
    schemas: Path | None
    change_log: str

    @property
    def file(self) -> Path:
        """The file itself."""
        return self.folder / PROJECT_FILE

    @property
    def copies(self) -> Path | None:
        """Where archival copies are; None for a project without any."""
        return None if self.copies_policy == NONE else self.folder / "copies"


def read_project(folder: Path) -> Project:
    """The project in a folder. Raises `ConfigFault` with the line of what cannot be used, or where there is none."""
    try:
        return _read(folder)
    except ConfigFault as fault:  # no setting is wrong, so settings are not where it is mended
        raise ConfigFault(**{**fault.data, "file": PROJECT_FILE}) from fault


def _read(folder: Path) -> Project:
    document = read_toml(folder / PROJECT_FILE)
    archive = _text(document, "archive", "at", "embedded:archive")
    schemas = _text(document, "package", "schemas", "")
    return Project(
        folder=folder,
        source=_required_text(document, "source", "place"),
        recipe=shown_path(folder / _text(document, "source", "recipe", RECIPE_FILE)),
        copies_policy=_policy(folder, _text(document, "copies", "policy", NONE)),
        archive=_within(folder, archive),
        dates=_date_policy(document),
        approval=_text(document, "load", "approval", "required") != NONE,
        depth=_text(document, "load", "verify", "bytes"),
        form=_text(document, "package", "form", "noark5"),
        schemas=shown_path(folder / schemas) if schemas else None,
        change_log=_text(document, "package", "change_log", "closing"),
    )


def project_text(source: str, copies_policy: str, lang: str) -> str:
    """The text of a new project: what is decided by default, and what is asked."""
    head, package = (template(name, lang) for name in (PROJECT_FILE, "package.toml"))
    sections = package[package.index("[agreement]") :]
    for section, key in _ASKED:
        before, heading, after = sections.partition(f"\n{section}")
        sections = before + heading + re.sub(_VALUE.format(key), rf'\g<1>"{ASK}"', after, count=1, flags=re.MULTILINE)
    head = head.replace('place = ""', f"place = {basic_string(source)}")
    return head.replace('policy = "none"', f"policy = {basic_string(copies_policy)}").rstrip() + "\n\n" + sections


def _within(folder: Path, archive: str) -> str:
    """An embedded archive lies in the project, unless its place is a full path."""
    kind, colon, place = archive.partition(":")
    return f"{kind}:{shown_path(folder / place)}" if kind == "embedded" and colon else archive


def _policy(folder: Path, name: str) -> str:
    """A policy is known by its name, or is a file of the project."""
    return str(shown_path(folder / name)) if (folder / name).is_file() else name


def _text(document: Document, section: str, name: str, default: str) -> str:
    table = document.data.get(section, {})
    value = table.get(name, default) if isinstance(table, Mapping) else None
    if not isinstance(value, str):
        raise ConfigFault(where=document.where(f"{section}.{name}"), why="wrong-kind")
    return value


def _required_text(document: Document, section: str, name: str) -> str:
    text = _text(document, section, name, "")
    if not text:
        raise ConfigFault(where=document.where(f"{section}.{name}"), why="missing-key")
    return text


def _date_policy(document: Document) -> DatePolicy:
    choices: tuple[DatePolicy, ...] = get_args(DatePolicy)
    value = _text(document, "archive", "dates", "keep")
    for choice in choices:
        if value == choice:
            return choice
    raise ConfigFault(where=document.where("archive.dates"), why="no-such-choice")
