"""A run is taken back out of an archive that holds another run's objects as well.

Killed before each step and run again, with calls that are reset, lost, late or refused: everything that the run made is
gone, nothing else is touched, and the journal says exactly what went. What the archive holds is read with SQLite alone,
and compared with what it held before the run was loaded.
The ordinary suite takes a few steps; NOARKIT_DEEP=1 takes every one.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import noarkit
from noarkit.embedded import keep_services
from noarkit.errors import RunRetracted
from noarkit.server.clients import ClientsFile
from tests.faults.test_connector_kills import Forks, forks
from tests.faults.world import DEEP, World

__all__ = ["forks"]
Held = dict[str, list[tuple[object, ...]]]
TECHNICAL = "noarkit: run guards (not part of any series)"


def write_tree(place: Path, *names: str) -> Path:
    """A source of small files."""
    for name in names:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return place


def open_recipe(place: Path) -> Path:
    """The recipe of files, which are not closed after their load."""
    text = (Path(noarkit.__file__).parent / "sources" / "files" / "default-recipe.toml").read_text()
    text = text.replace("close = true", "close = false").replace("LEVEL", "1")
    place.write_text(text)
    return place


def rows_of(archive: Path) -> Held:
    """Every row of every object and every pair, and every file: but for versions, which a child that came and went has
    raised, and for what is noarkit's own."""
    with closing(sqlite3.connect(f"{(archive / 'archive.db').as_uri()}?mode=ro", uri=True)) as db:
        own = {row[0] for row in db.execute("SELECT id FROM o_klassifikasjonssystem WHERE tittel = ?", (TECHNICAL,))}
        content: Held = {}
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        for (name,) in names:
            if not name.startswith(("o_", "p_", "stored_file", "light_pdf")):
                continue
            cursor = db.execute(f"SELECT * FROM {name} ORDER BY 1, 2")
            columns = [column[0] for column in cursor.description]
            rows = [dict(zip(columns, row, strict=True)) for row in cursor]
            kept = [
                tuple(value for column, value in row.items() if column != "version")
                for row in rows
                if not (name == "o_klassifikasjonssystem" and row["id"] in own)
                and not (name == "o_klasse" and row["refKlassifikasjonssystem"] in own)
            ]
            content[name] = kept
        stored = {row[0] for row in db.execute("SELECT sha256 FROM stored_file")}
    # a released file is swept within a minute: what matters is that no row has it, and that no other is gone
    content["files"] = [(sha256, (archive / "files" / sha256[:2] / sha256).read_bytes()) for sha256 in sorted(stored)]
    return content


def journal_rows(run: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of a journal."""
    with closing(sqlite3.connect(f"{(run / 'run.db').as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def made_by(run: Path) -> Counter[str]:
    """The ids of what a run made, as its journal has them."""
    return Counter(row[0] for row in journal_rows(run, "SELECT id FROM entity WHERE state = 'done'"))


@dataclass
class Scene:
    """An archive with an earlier run, and a run that was loaded into it; `before` is what it held before that."""

    root: Path
    before: Held

    @property
    def archive(self) -> Path:
        return self.root / "archive"

    @property
    def run(self) -> Path:
        return self.root / "run"

    def copy_to(self, root: Path) -> Scene:
        """The same scene elsewhere, to be changed."""
        shutil.copytree(self.root, root)
        return Scene(root, self.before)

    def retract(self, **options: Any) -> noarkit.RetractResult:
        """By the public function, on a service of its own."""
        return noarkit.retract(self.run, archive=f"embedded:{self.archive}", **options)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Two runs, which share fonds, series and a folder."""
    root = tmp_path_factory.mktemp("scene")
    place = f"embedded:{root / 'archive'}"
    earlier = write_tree(root / "earlier" / "src", "shared/one.txt", "old/two.txt")
    later = write_tree(root / "later" / "src", "shared/three.txt", "new/four.txt", "new/five.txt")
    recipe = open_recipe(root / "open.toml")
    with keep_services():
        noarkit.plan(earlier, root / "first", recipe=recipe)
        noarkit.ingest(root / "first", archive=place, workers=0)
        before = rows_of(root / "archive")
        noarkit.plan(later, root / "run", recipe=recipe)
        result = noarkit.ingest(root / "run", archive=place, workers=0)
    assert (result.state, result.numbers.archived) == ("done", 3)
    assert rows_of(root / "archive") != before
    there = journal_rows(root / "run", "SELECT count(*) FROM entity WHERE state = 'already_there'")[0][0]
    assert there >= 4, "the runs share nothing"
    return Scene(root, before)


def assert_retracted(scene: Scene, made: Counter[str], state: str = "retracted") -> None:
    """Exactly what the run made is gone, and its journal says so."""
    now = rows_of(scene.archive)
    for name, rows in scene.before.items():
        assert now[name] == rows, name
    gone = Counter(row[0] for row in journal_rows(scene.run, "SELECT id FROM retraction WHERE state = 'gone'"))
    assert gone == made
    assert journal_rows(scene.run, "SELECT count(*) FROM retraction WHERE state != 'gone'") == [(0,)]
    assert journal_rows(scene.run, "SELECT count(*) FROM entity WHERE state = 'done'") == [(0,)]
    status = noarkit.status(scene.run)
    assert status.state == state and status.numbers.add_up and status.retracted == {"gone": sum(made.values())}


def test_a_dry_run_lists_and_changes_nothing(loaded: Scene, tmp_path: Path) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    with_run, journal = rows_of(scene.archive), journal_rows(scene.run, "SELECT * FROM entity")
    result = scene.retract()
    assert sum(result.objects.values()) == sum(made_by(scene.run).values()) > 10
    assert not result.kept and not result.gone and not result.deletes
    assert rows_of(scene.archive) == with_run and journal_rows(scene.run, "SELECT * FROM entity") == journal
    assert noarkit.status(scene.run).state == "done"


def test_what_a_run_made_goes_and_nothing_else(loaded: Scene, tmp_path: Path) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    made = made_by(scene.run)
    result = scene.retract(delete=True)
    assert (result.gone, result.kept_count, result.absent) == (sum(made.values()), 0, 0)
    assert_retracted(scene, made)
    assert noarkit.check_archive(scene.archive).flaw_count == 0
    again = scene.retract(delete=True)
    assert (again.gone, again.kept_count, again.objects) == (0, 0, {})
    assert_retracted(scene, made)
    lines = (scene.run / "retracted.csv").read_text("utf-8-sig").splitlines()
    assert len(lines) == 1 + sum(made.values())
    place = f"embedded:{scene.archive}"
    for refused in (noarkit.ingest, noarkit.close, noarkit.retry, noarkit.verify):
        with pytest.raises(RunRetracted):
            refused(scene.run, archive=place)
    # the same source, planned again, is loaded as for the first time
    noarkit.plan(scene.root / "later" / "src", scene.root / "again", recipe=scene.root / "open.toml")
    assert noarkit.ingest(scene.root / "again", archive=place, workers=0).numbers.archived == 3


def served(scene: Scene, forks: Forks) -> Iterator[dict[str, Any]]:
    """The scene's archive, served by a process of its own."""
    archive = forks.ask("archive", archive=str(scene.archive))
    yield archive
    forks.ask("end", pid=archive["pid"])


def command(scene: Scene, forks: Forks, url: str, *words: str, kill_at: tuple[str, int] = ("", 0)) -> dict[str, Any]:
    """A command with the account that may delete; what it came to."""
    secret = ClientsFile(scene.archive / "clients.toml").current().accounts["admin"].secret
    environment = {"HOME": str(scene.root), "PATH": os.environ["PATH"], "NOARKIT_TRANSACTION_DEADLINE_S": "0.3"}
    environment |= {"NOARKIT_CLIENT_ID": "admin", "NOARKIT_CLIENT_SECRET": secret}
    line = [*words, "--archive", url, "--progress", "none"]
    return forks.ask("run", line=line, environment=environment, kill_at=kill_at, log=str(scene.root / "log"))


def steps_of(names: list[str]) -> list[tuple[str, int]]:
    """Every step by its name and how many of that came before."""
    return [(name, names[: place + 1].count(name)) for place, name in enumerate(names)]


def test_killed_at_a_step_the_same_command_again_takes_exactly_the_rest(
    loaded: Scene, forks: Forks, tmp_path: Path
) -> None:
    made = made_by(loaded.run)
    alone = loaded.copy_to(tmp_path / "alone" / "scene")
    for archive in served(alone, forks):
        done = command(alone, forks, archive["url"], "retract", str(alone.run), "--delete")
        assert done["code"] == 0, (alone.root / "log").read_text()
    assert_retracted(alone, made)
    steps = steps_of(done["steps"])
    first = next(place for place, (name, _) in enumerate(steps) if name == "write run.db")
    sampled = steps if DEEP else [*steps[first :: max(1, (len(steps) - first) // 7)], steps[-3]]
    killed = 0
    for number, step in enumerate(sampled):
        scene = loaded.copy_to(tmp_path / f"case{number}" / "scene")
        for archive in served(scene, forks):
            killed += (
                command(scene, forks, archive["url"], "retract", str(scene.run), "--delete", kill_at=step)["code"]
                == -signal.SIGKILL
            )
            again = command(scene, forks, archive["url"], "retract", str(scene.run), "--delete")
            assert again["code"] == 0, (step, (scene.root / "log").read_text()[-3000:])
        assert_retracted(scene, made)
        shutil.rmtree(scene.root)
    print(f"{len(steps)} steps, killed at {killed} of {len(sampled)}")
    assert killed >= len(sampled) // 2


def test_a_run_that_was_killed_while_it_loaded_is_taken_back_whole(loaded: Scene, forks: Forks, tmp_path: Path) -> None:
    template = loaded.copy_to(tmp_path / "template" / "scene")
    template.retract(delete=True)
    shutil.rmtree(template.run)
    noarkit.plan(template.root / "later" / "src", template.run, recipe=template.root / "open.toml")
    alone = Scene(template.root, loaded.before).copy_to(tmp_path / "alone" / "scene")
    for archive in served(alone, forks):
        done = command(alone, forks, archive["url"], "ingest", str(alone.run), "--workers", "0")
        assert done["code"] == 0, (alone.root / "log").read_text()
    steps = steps_of(done["steps"])
    # an answer was heard and its outcome is not in the journal: that is where a chunk is in doubt
    doubtful = [
        step
        for place, step in enumerate(steps)
        if place and step[0] == "write run.db" and steps[place - 1][0] == "hear"
    ]
    assert len(doubtful) >= 3
    for number, step in enumerate(steps if DEEP else doubtful[-3:]):
        scene = template.copy_to(tmp_path / f"case{number}" / "scene")
        for archive in served(scene, forks):
            command(scene, forks, archive["url"], "ingest", str(scene.run), "--workers", "0", kill_at=step)
            # killed before it had a journal, a run has loaded nothing, and there is nothing to take back
            expected = 0 if (scene.run / "run.db").exists() else 2
            again = command(scene, forks, archive["url"], "retract", str(scene.run), "--delete")
            assert again["code"] == expected, (step, (scene.root / "log").read_text()[-3000:])
        now = rows_of(scene.archive)
        for name, rows in scene.before.items():
            assert now[name] == rows, (step, name)
        shutil.rmtree(scene.root)


RULES: dict[str, dict[str, object]] = {
    "reset before": {"kind": "reset"},
    "reset after": {"kind": "commit-reset"},
    "a fault after": {"kind": "commit-fail", "status": 500},
    "a late commit behind a 500": {"kind": "late-commit", "status": 500, "seconds": 0.1},
    "a late commit behind a 503": {"kind": "late-commit", "status": 503, "seconds": 0.1},
    "a delayed commit": {"kind": "delay-commit", "seconds": 0.1},
    "half an answer": {"kind": "cut"},
    "busy": {"kind": "refuse", "status": 503},
    "a conflict that is none": {"kind": "refuse", "status": 409},
    "not there": {"kind": "commit-fail", "status": 404},
}


@pytest.mark.parametrize("what", RULES)
def test_what_happens_on_the_way_takes_nothing_twice_and_leaves_nothing(
    what: str, loaded: Scene, forks: Forks, tmp_path: Path
) -> None:
    made = made_by(loaded.run)
    # the first ones delete the guards of the run's shards
    more = (("POST transaction", 1), ("POST transaction", 4), ("POST query", 9)) if DEEP else ()
    for call, nth in (("POST transaction", 3), *more):
        if call == "POST query" and "commit" in str(RULES[what]["kind"]):
            continue
        scene = loaded.copy_to(tmp_path / f"{call} {nth}" / "scene")
        world = World(scene.root)
        world.serve({"call": call, "nth": nth, **RULES[what]})
        try:
            again = {"code": 5}
            for _ in range(3):
                if again["code"] == 5:
                    again = command(scene, forks, world.url, "retract", str(scene.run), "--delete")
            assert again["code"] == 0, (scene.root / "log").read_text()[-3000:]
            assert (scene.archive / "faults.log").exists()
            assert_retracted(scene, made)
        finally:
            world.stop()


def test_an_archive_that_dies_at_a_delete_and_comes_back(loaded: Scene, forks: Forks, tmp_path: Path) -> None:
    made = made_by(loaded.run)
    for kind in ("die-before", "die-after"):
        scene = loaded.copy_to(tmp_path / kind / "scene")
        world = World(scene.root)
        world.serve({"call": "POST transaction", "kind": kind, "nth": 3})
        with ThreadPoolExecutor(1) as threads:
            retracting = threads.submit(command, scene, forks, world.url, "retract", str(scene.run), "--delete")
            assert world.died()
            world.serve()
            assert retracting.result(120)["code"] in (0, 5), (scene.root / "log").read_text()[-3000:]
        again = command(scene, forks, world.url, "retract", str(scene.run), "--delete")
        assert again["code"] == 0, (scene.root / "log").read_text()[-3000:]
        world.stop()
        assert_retracted(scene, made)
