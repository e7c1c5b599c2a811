"""Every journey a second time with something changed between: recipe, archive, source, package, findings.

What the archive holds is counted in its own database, which no command of the journeys reads.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from noarkit.cli.main import main

RECORD_COUNT = "SELECT count(*) FROM o_abstraktregistrering"
FILE_COUNT = "SELECT count(*) FROM o_dokumentversjon"


@dataclass(frozen=True)
class Answer:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:  # Any: JSON is read as its readers would
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def summary(self) -> dict[str, Any]:
        return self.lines[-1]


class Desk:
    """A folder where somebody works: a share, an archive of one's own, and commands."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys
        self.share = root / "share"
        for case, names in {"2014/one": ("a.txt", "b.txt"), "2015/two": ("c.txt",)}.items():
            (self.share / case).mkdir(parents=True)
            for name in names:
                (self.share / case / name).write_text(f"what {name} says")

    def run(self, *words: str) -> Answer:
        self._capsys.readouterr()
        code = main([*words, "--progress", "none"], {})
        said = self._capsys.readouterr()
        return Answer(code, said.out, said.err)

    def json(self, *words: str) -> Answer:
        return self.run(*words, "--json")

    def done(self, *words: str) -> Answer:
        """A command that must end well."""
        answer = self.run(*words)
        assert answer.code == 0, answer.err + answer.out
        return answer

    def count(self, sql: str, archive: str = "noarkit-archive") -> int:
        """What an archive holds, asked of its database."""
        with closing(sqlite3.connect(self.root / archive / "archive.db")) as db:
            return int(db.execute(sql).fetchone()[0])


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)


@pytest.fixture
def loaded(desk: Desk) -> Desk:
    """The same with a run that is loaded."""
    desk.done("plan", "share", "-o", "run")
    desk.done("ingest", "run")
    assert desk.count(RECORD_COUNT) == 3
    return desk


def tree_of(folder: Path) -> dict[str, str]:
    """Every file below a folder with its sha256."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def test_a_plan_is_not_made_over_another(desk: Desk) -> None:
    desk.done("plan", "share", "-o", "run")
    before = tree_of(Path("run"))
    (desk.share / "2015/two/late.txt").write_text("later")
    assert desk.run("plan", "share", "-o", "run").code == 2
    assert tree_of(Path("run")) == before


def test_a_load_again_sends_nothing(loaded: Desk) -> None:
    changes = loaded.count("SELECT count(*) FROM change_log")
    again = loaded.json("ingest", "run")
    assert (again.code, again.summary["archived"]) == (0, 3)
    assert loaded.count("SELECT count(*) FROM change_log") == changes


def test_a_run_that_is_loaded_does_not_need_its_source(loaded: Desk) -> None:
    loaded.share.rename("away")
    again = loaded.json("ingest", "run")
    assert (again.code, again.summary["state"], again.summary["archived"]) == (0, "done", 3)
    assert loaded.json("status", "run").code == 0
    assert loaded.json("close", "run").code == 0
    assert loaded.json("report", "run").code == 0


def test_a_load_into_another_archive_is_refused_and_the_run_is_as_it_was(loaded: Desk) -> None:
    before = loaded.json("status", "run").lines[0]
    assert loaded.run("ingest", "run", "--archive", "embedded:other").code == 2
    assert loaded.json("status", "run").lines[0] == before
    assert loaded.count(RECORD_COUNT, "other") == 0
    assert loaded.json("ingest", "run").code == 0


def test_another_recipe_for_a_run_that_stands_is_refused(loaded: Desk) -> None:
    loaded.done("recipe", "new", "share", "-o", "other.toml")
    answer = loaded.run("ingest", "share", "--recipe", "other.toml", "-o", "run")
    assert answer.code == 2
    assert "recipe" in answer.err
    assert loaded.json("status", "run").summary["archived"] == 3


def test_what_was_added_changed_and_removed_since_is_what_the_next_plan_loads(loaded: Desk) -> None:
    (loaded.share / "2015/two/late.txt").write_text("later")
    (loaded.share / "2014/one/a.txt").write_text("what a.txt says now")
    (loaded.share / "2014/one/b.txt").unlink()
    loaded.done("plan", "share", "-o", "next", "--since", "run")
    summary = loaded.json("ingest", "next").summary
    assert (summary["exit"], summary["read"], summary["archived"], summary["already_there"]) == (0, 3, 1, 2)
    assert summary["new_versions"] == 1
    assert (loaded.count(RECORD_COUNT), loaded.count(FILE_COUNT)) == (4, 5)
    assert loaded.json("verify", "next", "--depth", "bytes").code == 0
    first = loaded.json("verify", "run", "--depth", "bytes")
    assert (first.code, first.summary["state"]) == (3, "done")
    assert loaded.json("ingest", "next").summary["already_there"] == 2


def test_the_same_source_planned_anew_is_there_already(loaded: Desk) -> None:
    loaded.done("plan", "share", "-o", "again")
    summary = loaded.json("ingest", "again").summary
    assert (summary["exit"], summary["archived"], summary["already_there"]) == (0, 0, 3)
    assert (loaded.count(RECORD_COUNT), loaded.count(FILE_COUNT)) == (3, 3)
    assert loaded.json("verify", "again", "--depth", "bytes").code == 0


def test_a_source_that_changed_after_the_plan_is_set_aside_and_mended_by_the_next_plan(desk: Desk) -> None:
    desk.done("plan", "share", "-o", "run", "--hash")
    (desk.share / "2014/one/a.txt").write_text("something else that is longer")
    summary = desk.json("ingest", "run").summary
    assert (summary["exit"], summary["archived"], summary["set_aside"]) == (3, 2, 1)
    desk.done("plan", "share", "-o", "next", "--since", "run")
    summary = desk.json("ingest", "next").summary
    assert (summary["exit"], summary["archived"], summary["already_there"]) == (0, 1, 2)
    assert desk.count(RECORD_COUNT) == 3


def retitle(title: str) -> str:
    """Gives the first record another title in the archive, behind everybody's back; returns the one it had."""
    with closing(sqlite3.connect("noarkit-archive/archive.db")) as db:
        number, before = db.execute("SELECT id, tittel FROM o_abstraktregistrering ORDER BY id LIMIT 1").fetchone()
        db.execute("UPDATE o_abstraktregistrering SET tittel = ? WHERE id = ?", (title, number))
        db.commit()
    return str(before)


def test_what_verify_found_is_told_by_everybody_until_it_is_mended(loaded: Desk) -> None:
    before = retitle("forged")
    assert loaded.json("verify", "run").code == 7
    assert loaded.json("verify", "run").code == 7, "a second look finds the same"
    for command in ("status", "ingest"):
        assert loaded.json(command, "run").code == 7, command
    retitle(before)
    assert loaded.json("verify", "run", "--depth", "bytes").code == 0
    for command in ("status", "ingest", "close"):
        assert loaded.json(command, "run").code == 0, command


@pytest.mark.parametrize("stored", [b"", b"what", b"what a.txt says, and more than it said"])
def test_a_file_that_the_archive_cut_or_stretched_is_a_difference(loaded: Desk, stored: bytes) -> None:
    """The archive breaks off over it each time at the same place: that is its own word, and no bad line."""
    file = next(path for path in Path("noarkit-archive/files").rglob("*") if path.is_file())
    file.chmod(0o600)
    file.write_bytes(stored)
    assert loaded.json("verify", "run", "--depth", "bytes").code == 7
    assert loaded.json("status", "run").code == 7


def test_a_package_is_not_made_over_another(loaded: Desk) -> None:
    assert loaded.run("extract", "-o", "pkg", "--as", "noark5").code in (0, 3)
    before = tree_of(Path("pkg"))
    assert loaded.run("extract", "-o", "pkg", "--as", "bagit").code == 2
    assert tree_of(Path("pkg")) == before


def test_an_archive_that_has_grown_is_extracted_whole_the_second_time(loaded: Desk) -> None:
    first = loaded.json("extract", "-o", "one", "--as", "noark5")
    (loaded.share / "2015/two/late.txt").write_text("later")
    loaded.done("plan", "share", "-o", "next", "--since", "run")
    loaded.done("ingest", "next")
    second = loaded.json("extract", "-o", "two", "--as", "noark5")
    counts = [next(line for line in made.lines if line["event"] == "extracted") for made in (first, second)]
    assert [made["units"].get("Basisregistrering", made["units"].get("registrering")) for made in counts] == [3, 4]
    compared = loaded.json("compare", "one", "two")
    assert compared.code == 7
    assert loaded.json("compare", "one", "one").code == 0


def test_a_package_that_changed_is_not_valid_the_second_time(loaded: Desk) -> None:
    loaded.run("extract", "-o", "pkg", "--as", "noark5")
    first = loaded.json("validate", "pkg").code
    document = next(path for path in Path("pkg").rglob("*.txt"))
    document.write_bytes(document.read_bytes()[:-1] + b"?")
    assert first in (0, 3)
    assert loaded.json("validate", "pkg").code == 4
    document.unlink()
    assert loaded.json("validate", "pkg").code == 4


def test_a_room_follows_its_run(desk: Desk) -> None:
    """A reading copy of a run before and after it was loaded: each tells the run as it is."""
    desk.done("plan", "share", "-o", "run")
    desk.done("browse", "run", "--static", "before")
    desk.done("ingest", "run")
    desk.done("browse", "run", "--static", "after")
    assert "3 not loaded yet" in read_page("before")
    assert "3 archived" in read_page("after")
    assert "not loaded yet" not in read_page("after")


def read_page(folder: str) -> str:
    return " ".join(Path(folder, "index.html").read_text("utf-8").split())


def test_a_copied_run_goes_on_where_the_first_was(desk: Desk) -> None:
    """The run is a folder: a copy of it that is loaded second finds what the first loaded, and doubles nothing."""
    desk.done("plan", "share", "-o", "run")
    shutil.copytree("run", "copy")
    desk.done("ingest", "run")
    summary = desk.json("ingest", "copy").summary
    assert (summary["exit"], summary["already_there"] + summary["archived"]) == (0, 3)
    assert (desk.count(RECORD_COUNT), desk.count(FILE_COUNT)) == (3, 3)


def test_what_was_retracted_is_loaded_once_by_a_new_plan(loaded: Desk) -> None:
    archive = ("--archive", "embedded:noarkit-archive")
    assert loaded.run("retract", "run", "--delete", "--closed", *archive).code == 0
    assert loaded.count(RECORD_COUNT) == 0
    again = loaded.run("retract", "run", "--delete", "--closed", *archive)
    assert again.code == 0
    assert loaded.run("ingest", "run").code != 0
    loaded.done("plan", "share", "-o", "next")
    loaded.done("ingest", "next")
    assert (loaded.count(RECORD_COUNT), loaded.count(FILE_COUNT)) == (3, 3)


def test_an_archive_begun_anew_at_the_same_address_is_noticed(loaded: Desk) -> None:
    shutil.rmtree("noarkit-archive")
    assert loaded.run("ingest", "run").code == 2
    assert loaded.run("verify", "run").code == 2
    assert loaded.run("close", "run").code == 2
    loaded.done("plan", "share", "-o", "next")
    loaded.done("ingest", "next")
    assert loaded.count(RECORD_COUNT) == 3
