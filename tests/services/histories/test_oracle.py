"""The oracle can disagree: each kind of loss that is put into what was found is complained of."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.embedded import keep_services
from noarkit.services.standins.histories.script import Change, History
from tests.services.histories.crm import ORACLE
from tests.services.histories.oracle import differences
from tests.services.histories.world import Played, Schedule, play

SMALL = replace(ORACLE, records=2)
HISTORY = History(
    (
        Change("edit", "Deals/0", {"Description": "en"}, 100),
        Change("attach", "Deals/0", {"content": "brev"}, 100),
        Change("delete", "Cases/0", {}, 150),
    )
)
Damage = Callable[[Played, sqlite3.Connection], str]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, Path]:
    """A small history without a loss, and its archive."""
    folder = tmp_path_factory.mktemp("history")
    with keep_services():
        played = play(
            "crm", SMALL, HISTORY, Schedule((0.0, 500.0, SMALL.sweep_s)), folder, f"embedded:{folder / 'archive'}"
        )
    assert differences("crm", SMALL, played, folder / "archive") == []
    return played, folder / "archive"


def _lost(played: Played, db: sqlite3.Connection) -> str:
    db.execute("UPDATE o_eksternid SET eksternID = 'x' WHERE eksternID LIKE '%Deals%:snapshot'")
    return "is not archived"


def _doubled(played: Played, db: sqlite3.Connection) -> str:
    (number,) = db.execute("SELECT max(refRegistrering) FROM o_eksternid").fetchone()
    key = db.execute("SELECT eksternID FROM o_eksternid WHERE eksternID LIKE '%Deals%:snapshot'").fetchone()[0]
    db.execute("UPDATE o_eksternid SET eksternID = ? WHERE refRegistrering = ?", (key, number))
    return "is archived 2 times"


def _elsewhere(played: Played, db: sqlite3.Connection) -> str:
    db.execute("UPDATE o_eksternid SET eksternID = 'folder:x' WHERE eksternID LIKE 'folder:%Deals%'")
    return "is in folder:x"


def _without_a_version(played: Played, db: sqlite3.Connection) -> str:
    db.execute("DELETE FROM o_dokumentversjon WHERE filnavn LIKE 'Deals%' AND versjonsnummer > 1")
    return "without this version"


def _without_a_file(played: Played, db: sqlite3.Connection) -> str:
    db.execute("UPDATE o_dokumentversjon SET sjekksum = 'f' WHERE filnavn = 'brev.txt'")
    return "without its file"


def _silent(played: Played, db: sqlite3.Connection) -> str:
    for run in played.runs:
        run.deleted_keys = frozenset()
    return "no run reported it"


def _false_deletion(played: Played, db: sqlite3.Connection) -> str:
    key = next(key for key in played.timeline[-1].facts if ":Deals:" in key and key.endswith(":snapshot"))
    played.runs[1].deleted_keys |= {f"{key.removesuffix(':snapshot')}:deleted"}
    return "was there all the time"


def _told_twice(played: Played, db: sqlite3.Connection) -> str:
    played.runs[2].deleted_keys = played.runs[1].deleted_keys
    return "reported as deleted again"


@pytest.mark.parametrize(
    "damage",
    [_lost, _doubled, _elsewhere, _without_a_version, _without_a_file, _silent, _false_deletion, _told_twice],
)
def test_what_is_wrong_is_complained_of(damage: Damage, good: tuple[Played, Path], tmp_path: Path) -> None:
    played, archive = good
    copy = tmp_path / "archive"
    copy.mkdir()
    with closing(sqlite3.connect(archive / "archive.db")) as db, closing(sqlite3.connect(copy / "archive.db")) as to:
        db.backup(to)
    (copy / "files").symlink_to(archive / "files")
    runs = [replace(run) for run in played.runs]
    damaged = replace(played, runs=runs)
    with closing(sqlite3.connect(copy / "archive.db")) as db, db:
        expected = damage(damaged, db)
    assert any(expected in line for line in differences("crm", SMALL, damaged, copy))
