"""A load opens its run once, and holds it to its end."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import noarkit
from noarkit.cli.main import main
from noarkit.errors import JournalFault, RunLocked
from noarkit.events import Event
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import numbers
from noarkit.loading.open_run import OpenRun, open_run
from noarkit.safe.children import is_single_threaded


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A plan of two letters."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / "share").mkdir(exist_ok=True)
        (tmp_path / "share" / f"{name}.txt").write_text(name)
    noarkit.plan("share", "run")
    yield Path("run")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file of a run is opened, in this process."""
    counts: Counter[str] = Counter()
    connect, read_text = sqlite3.connect, Path.read_text

    def count_connection(place: Any, *more: Any, **options: Any) -> sqlite3.Connection:
        counts.update(name for name in ("graph.db", "run.db") if name in str(place))
        opened_now: sqlite3.Connection = connect(place, *more, **options)
        return opened_now

    def count_text(path: Path, *more: Any, **options: Any) -> str:
        counts.update([path.name] if path.name == "plan.json" else [])
        return read_text(path, *more, **options)

    monkeypatch.setattr(sqlite3, "connect", count_connection)
    monkeypatch.setattr(Path, "read_text", count_text)
    return counts


@pytest.mark.usefixtures("one_archive")
def test_a_load_opens_its_plan_and_its_journal_once(run: Path, opened: Counter[str]) -> None:
    for _ in range(2):  # the first load, and one that finds nothing left
        opened.clear()
        assert main(["ingest", str(run), "--archive", "embedded:archive", "--workers", "1"], {}) == 0
        of_worker = 0 if is_single_threaded() else 1  # beside other threads this process is the worker, too
        assert opened["graph.db"] <= 3 + of_worker
        assert opened["run.db"] <= 2
        assert opened["plan.json"] <= 3


@pytest.mark.usefixtures("one_archive")
def test_the_result_of_a_load_bears_a_folder_that_nobody_holds(run: Path) -> None:
    result = noarkit.ingest(run, archive="embedded:archive", workers=0)
    assert result.folder == RunFolder(run)
    assert numbers(result.folder).archived == 2


@pytest.mark.usefixtures("one_archive")
def test_nobody_comes_in_between_the_steps_of_a_load(run: Path) -> None:
    """From the first event to the last list: loading, closing, the lists."""
    free: list[str] = []

    def look(event: Event, /) -> None:
        free.extend([event.name] if is_free(run) else [])

    noarkit.ingest(run, archive="embedded:archive", workers=0, listener=look)
    assert free == []
    assert is_free(run)


def is_free(run: Path) -> bool:
    """True where nobody holds a run."""
    try:
        with RunFolder(run).locked():
            return True
    except RunLocked:
        return False


def test_a_run_that_is_held_is_one_folder_to_all_who_ask(run: Path) -> None:
    with open_run(RunFolder(run)) as held:
        assert isinstance(held, OpenRun) and held == OpenRun(run)
        assert held.open_graph() is held.graph_store()
        assert held.open_journal() is held.open_journal()
        with closing(held.open_journal()) as journal:
            journal.remember(a="b")
        assert held.open_journal().meta("a") == "b"
        with held.locked(), open_run(held) as again:
            assert again is held
    assert is_free(run)


def test_what_was_opened_is_let_go(run: Path) -> None:
    with open_run(RunFolder(run)) as held:
        journal, graph = held.open_journal(), held.graph_store()
    assert isinstance(held, OpenRun)  # as a result bears it: from now on it is a run folder as any
    with closing(held.open_journal()) as again, closing(held.open_graph()) as plan:
        assert again.meta("a") is None and plan.meta("zone")
    assert held.kept_reader() is None and held.plan()["sha256"]
    with held.locked():
        assert not is_free(run)
    assert numbers(held).read == 2
    with open_run(held) as second:
        assert second is not held and not is_free(run)
    with pytest.raises(JournalFault):
        journal.meta("a")
    with pytest.raises(sqlite3.ProgrammingError):
        graph.meta("zone")
