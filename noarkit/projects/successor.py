"""A new project with the answers of another: everything is loaded anew, into an archive of its own.

What an archive holds keeps the values that it was loaded with. Where the recipe or the source was corrected since, a
new load is the way to a package that says so; recipe, answers, policy and copies are taken over as they are now.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from noarkit.errors import UsageFault
from noarkit.projects.project import PROJECT_FILE, Project
from noarkit.recipes.toml_table import ASK
from noarkit.recipes.toml_writer import basic_string
from noarkit.safe.atomic import write_text
from noarkit.safe.toml import read_text

EMBEDDED = "embedded:"


def has_own_archive(project: Project) -> bool:
    """True for a project whose archive lies in it, so that another project has another one."""
    place = project.archive.removeprefix(EMBEDDED)
    return project.archive.startswith(EMBEDDED) and Path(place).absolute().is_relative_to(project.folder.absolute())


def make_successor(old: Project, folder: Path, source: str) -> None:
    """Makes the project in a folder that has none. Which archive it loads is asked where the old one is no part of its
    project. Raises `UsageFault`."""
    if (folder / PROJECT_FILE).exists():
        raise UsageFault(what="project-exists", where=str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(old.folder.glob("*.toml")):
        if file.name != PROJECT_FILE:
            write_text(folder / file.name, read_text(file))
    if old.copies is not None and old.copies.is_dir():
        shutil.copytree(old.copies, folder / "copies", dirs_exist_ok=True)
    text = _with_value(read_text(old.file), "place", source)
    if not has_own_archive(old):
        text = _with_value(text, "at", ASK)
    if old.schemas is not None and not old.schemas.is_relative_to(old.folder):
        place = old.schemas if old.schemas.is_absolute() else os.path.relpath(old.schemas, folder)
        text = _with_value(text, "schemas", str(place))
    write_text(folder / PROJECT_FILE, text, replace=False)  # last: a folder without it is no project


def _with_value(text: str, key: str, value: str) -> str:
    """The text with another value for the first such key, whose comment stays."""
    line = rf"""(?m)^({key}\s*=\s*)("[^"\n]*"|'[^'\n]*')"""
    return re.sub(line, lambda match: match[1] + basic_string(value), text, count=1)
