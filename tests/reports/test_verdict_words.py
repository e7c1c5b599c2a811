"""Each reason and remark of a verdict says whose task it is, what to do, and where: at a key that there is."""

from __future__ import annotations

import re
import tomllib

import pytest

from noarkit.projects.project import PROJECT_FILE, project_text
from noarkit.reports.verdict_words import verdict_lines
from noarkit.verdict import REASONS, Reason, Verdict
from noarkit.words.texts import LANGUAGES, template, texts

_KEY = re.compile(r"\[(\w+)\] (\w+) (?:in|i) package\.toml \((?:in a project|i et prosjekt|i eit prosjekt): (\S+)\)")


@pytest.mark.parametrize("grade", ["stops", "remark"])
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("code", REASONS)
def test_a_reason_and_a_remark_say_whose_task_it_is_and_what_to_do(code: str, lang: str, grade: str) -> None:
    words = texts(lang)
    told = "\n".join(verdict_lines(Verdict((Reason(code, grade, 2),)), words))  # type: ignore[arg-type]  # a grade
    assert words.text("verdict_remedies", code) in told
    assert words.text("verdict_owners", REASONS[code].owner) in told


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_fact_that_is_missing_is_told_with_the_key_that_it_is_written_at(lang: str) -> None:
    told = {code: _KEY.search(texts(lang).text("verdict_remedies", code)) for code in REASONS}
    keys = {code: found.groups() for code, found in told.items() if found is not None}
    assert keys.keys() == {"creator", "system", "agreement", "origin"}
    for content in (template("package.toml", lang), project_text("share", "none", lang)):
        sections = tomllib.loads(content)
        for section, key, file in keys.values():
            assert key in sections[section]
            assert file == PROJECT_FILE
