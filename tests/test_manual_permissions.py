"""The table of permissions in the manual: an account with those of its rows can do what the rows say, and with one less
it cannot."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.manual.chapters import chapter_source
from noarkit.manual.markdown import Table, parse, plain_text
from noarkit.server.rights import EXPLICIT_PERMISSIONS, SERVICE_PERMISSIONS
from noarkit.words.texts import LANGUAGES

ARCHIVE = "embedded:archive"
READING, LOADING, DATES, LOGS = 0, 2, 3, 8
"""The rows of what a load with its dates, a verification and an extract need."""


def needs(lang: str) -> list[tuple[list[str], list[str]]]:
    """The permissions of each row: on objects, and service permissions."""
    (table,) = (block for block in parse(chapter_source("permissions", lang)) if isinstance(block, Table))
    return [
        (
            [name for name in EXPLICIT_PERMISSIONS if name in plain_text(on_objects).split(", ")],
            [name for name in SERVICE_PERMISSIONS if name in plain_text(service)],
        )
        for _, on_objects, service in table.rows
    ]


def test_both_languages_have_the_same_permissions() -> None:
    english, norwegian = (needs(lang) for lang in LANGUAGES)
    assert english == norwegian
    assert len(english) > 10 and ([], []) not in english


def run(*arguments: str) -> int:
    return main([*arguments, "--progress", "none"], {"HOME": "/nonexistent"})


def load(rows: list[tuple[list[str], list[str]]], *, without: str = "") -> int:
    """What a load ends with, by an account that has the permissions of these rows but one."""
    options = [
        "--service-permission",
        "Publish documents",
    ]  # it counts for nothing here; none at all would change nothing
    for on_objects, service in rows:
        options += [word for name in on_objects if name != without for word in ("--permission", name)]
        options += [word for name in service if name != without for word in ("--service-permission", name)]
    assert run("doctor", "--archive", ARCHIVE, "--probe") == 0
    assert run("groups", ARCHIVE, "Integrations", *options) == 0
    assert run("plan", "case-files", "-o", "run") == 0
    return run("ingest", "run", "--archive", ARCHIVE)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "case-files" / "2019-0001 Vei").mkdir(parents=True)
    (tmp_path / "case-files" / "2019-0001 Vei" / "letter.txt").write_text("a letter", "utf-8")
    return tmp_path


@pytest.mark.usefixtures("one_archive")
def test_the_rows_of_a_load_are_enough_to_load_verify_and_extract(place: Path) -> None:
    with contextlib.chdir(place):
        table = needs("en")
        assert load([table[row] for row in (READING, LOADING, DATES, LOGS)]) == 0
        assert run("verify", "run", "--depth", "bytes") == 0
        assert run("extract", "-o", "delivery", "--archive", ARCHIVE) == 3, "made, but not ready for deposit"
        log = (place / "delivery" / "endringslogg.xml").read_text("utf-8")
    assert "arkivstatus" in log, "the account reads the change log"


@pytest.mark.usefixtures("one_archive")
@pytest.mark.parametrize("without", ["ReadThis", "Read", "Create", "Update", "UpdateSystemManaged", "Store documents"])
def test_a_load_needs_each_of_them(without: str, place: Path) -> None:
    with contextlib.chdir(place):
        table = needs("en")
        assert load([table[row] for row in (READING, LOADING, DATES)], without=without) != 0
