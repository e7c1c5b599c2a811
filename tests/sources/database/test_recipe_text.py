"""A recipe for a database is text that people read and TOML that reads back, whatever its tables are called."""

from __future__ import annotations

import sqlite3
import tomllib
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.events import ignore_event
from noarkit.recipes import check, read_recipe
from noarkit.recipes.toml_writer import basic_string, render
from noarkit.sources.database.source import find_database
from tests.sources.database.case_bases import BASES, make_case_base

ODD = "lin\nje\r\x0b\x7f\x85\u2028\"\\'\U000e0041kode"


def recipe_of(path: Path, lang: str = "en") -> str:
    database = find_database(f"sqlite:///{path}")
    assert database is not None
    return database.proposal(ignore_event, lang=lang, here=path.parent)


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_a_comment_has_the_lines_of_its_sentences(tmp_path: Path, lang: str) -> None:
    make_case_base(tmp_path / "base.db", BASES["saksnr"])
    text = recipe_of(tmp_path / "base.db", lang)
    assert "\\u000a" not in text
    (line,) = (line for line in text.splitlines() if line.startswith("# brev: 120 ") and "journal" in line)
    assert "[source.documents]" not in line
    following = text[text.index(line) :].splitlines()[1]
    assert following.startswith("# ")
    assert "[source.documents]" in following


def test_names_with_signs_that_end_lines_make_a_recipe_that_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    name = '"' + ODD.replace('"', '""') + '"'
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE sak (id INTEGER PRIMARY KEY, {name} TEXT, tittel TEXT, opprettet DATE)")
        db.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, sak_id INTEGER REFERENCES sak (id), fil BLOB)")
        for n in range(1, 12):
            day = date(2012, 3, 1) + timedelta(days=n)
            db.execute("INSERT INTO sak VALUES (?, ?, 'Tittel', ?)", (n, f"12/{100 + n}", day.isoformat()))
            db.execute(f"INSERT INTO {name} VALUES (?, ?, ?)", (n, n, b"x" * 300))
        db.commit()
    text = recipe_of(path)
    recipe = read_recipe(text)
    assert not [problem for problem in check(recipe) if not problem.warning]
    assert recipe.data["source"]["tables"] == ["sak", ODD]  # type: ignore[index]  # plain TOML
    doubted = [line.removeprefix("# ") for line in text.split("\n") if line.startswith(("# saksaar =", "# sakssek"))]
    assert len(doubted) == 2, text
    for line in doubted:
        ((_, expression),) = tomllib.loads(line).items()
        assert ODD.replace("\\", "\\\\").replace("'", "\\'") in expression


@given(st.text(), st.text())
def test_any_text_stands_on_one_line_and_any_comment_is_one(text: str, comment: str) -> None:
    written = basic_string(text)
    assert len(written.splitlines()) == 1
    whole = text.encode("utf-8", "replace").decode("utf-8")
    assert tomllib.loads(render({"a": text}, {("a",): comment}).encode("utf-8", "replace").decode()) == {"a": whole}
