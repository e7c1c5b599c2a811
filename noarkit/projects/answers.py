"""Whether an answer can be one: what is typed is checked at once, not by the step that needs it hours later.

    checked(question, "974 760 673", project)   ->   "974760673"
    checked(question, "abc", project)           ->   raises BadAnswer("organisation-number")

Keys without a rule of their own take any text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from noarkit.errors import NoarkitError
from noarkit.extraction.schema_files import schema_set
from noarkit.model.organisation_numbers import normal_number
from noarkit.projects.project import Project
from noarkit.projects.questions import Question
from noarkit.recipes.read import is_municipality
from noarkit.recipes.toml_table import ASK

_NUMBER_WORDS = re.compile(r"[\s.\u00a0]|\bMVA\b|^NO", re.IGNORECASE)


class BadAnswer(Exception):
    """An answer that cannot be one; `why` names the sentence that says so."""

    def __init__(self, why: str, **data: object) -> None:
        super().__init__(why)
        self.why = why
        self.data = data


def checked(question: Question, text: str, project: Project) -> str:
    """The answer as it is written down. Raises `BadAnswer`."""
    if not text and not question.is_optional:
        raise BadAnswer("empty")
    if question.choices and text not in question.choices:
        raise BadAnswer("no-choice", value=text, choices=", ".join(question.choices))
    check = _CHECKS.get(question.key)
    return text if check is None or not text else check(text, project)


def schemas_problem(project: Project) -> BadAnswer | None:
    """What is wrong with the folder of schemas that stands in the file, so that nothing is loaded for a package that
    cannot be made."""
    if project.schemas is None or project.schemas.name == ASK:
        return None
    try:
        _schemas(str(project.schemas), project)
    except BadAnswer as bad:
        return bad
    return None


def _schemas(text: str, project: Project) -> str:
    """A folder is written as it is found from the project, wherever the question was answered."""
    folder = next((place for place in (project.folder / text, Path(text)) if place.is_dir()), None)
    if folder is None:
        raise BadAnswer("no-folder", value=text)
    try:
        schema_set(folder)
    except NoarkitError as fault:
        missing = str(fault.data.get("where", "")).partition(": ")[2]
        raise BadAnswer("no-schemas", value=text, missing=missing) from fault
    return text if folder == project.folder / text else os.path.relpath(folder, project.folder)


def _organisation(text: str, _: Project) -> str:
    number = normal_number(_NUMBER_WORDS.sub("", text))
    if number is None:
        raise BadAnswer("organisation-number", value=text)
    return number


def _municipality(text: str, _: Project) -> str:
    if not is_municipality(text):
        raise BadAnswer("municipality", value=text)
    return text


_CHECKS: Mapping[str, Callable[[str, Project], str]] = {
    "package.schemas": _schemas,
    "creator.identification": _organisation,
    "defaults.Eiendom.knr": _municipality,
}
