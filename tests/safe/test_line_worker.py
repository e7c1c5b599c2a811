"""Programs of ours that are asked by line: their answers, their ends, and no module from where a user happens to be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.embedded import open_embedded
from noarkit.forms.container.hash_pool import HashPool, Task
from noarkit.safe.children import WorkerLost
from noarkit.safe.line_worker import LineWorker
from tests.processes import have_ended
from tests.waiting import PATIENCE_S

_ENDS = """
import os, signal, sys
from noarkit.safe.line_worker import LineWorker
worker = LineWorker("tests.safe.test_line_worker", "answer")
worker.ask(b"ready")
print(worker.pid, flush=True)
{end}
"""


def answer() -> None:
    """The program: says a line back, or does what the line says."""
    for line in sys.stdin.buffer:
        word = line.strip()
        if word == b"sleep":
            time.sleep(600)
        elif word == b"die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == b"half":
            os.write(1, b"ha")
            os._exit(0)
        elif word == b"environment":
            line = json.dumps(dict(os.environ)).encode() + b"\n"
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


@pytest.fixture
def worker() -> Iterator[LineWorker]:
    """One that answers."""
    started = LineWorker("tests.safe.test_line_worker", "answer")
    yield started
    started.kill()


def test_each_line_has_its_answer_and_closing_waits_for_the_end(worker: LineWorker) -> None:
    for question in (b"one", b"x" * 1_000_000, b"two"):
        assert worker.ask(question) == question + b"\n"
    assert not worker.has_ended
    worker.close()
    assert worker.has_ended


@pytest.mark.parametrize("word", [b"die", b"half"])
def test_a_program_that_ends_is_lost_and_stays_so(worker: LineWorker, word: bytes) -> None:
    for question in (word, b"again"):
        with pytest.raises(WorkerLost):
            worker.ask(question)


def test_one_that_does_not_answer_in_time_is_lost(worker: LineWorker) -> None:
    assert worker.ask(b"ready", PATIENCE_S) == b"ready\n"
    began = time.monotonic()
    with pytest.raises(WorkerLost):
        worker.ask(b"sleep", 0.3)
    assert 0.3 <= time.monotonic() - began < PATIENCE_S


def test_another_thread_may_interrupt_who_waits(worker: LineWorker) -> None:
    worker.ask(b"ready")
    timer = threading.Timer(0.2, worker.interrupt)
    timer.start()
    began = time.monotonic()
    with pytest.raises(WorkerLost):
        worker.ask(b"sleep", PATIENCE_S)
    timer.join()
    assert time.monotonic() - began < PATIENCE_S / 2


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(0)"])
def test_it_ends_with_its_parent(end: str) -> None:
    command = [sys.executable, "-c", _ENDS.format(end=end)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=PATIENCE_S)
    pid = int(ran.stdout)
    if not have_ended([pid]):
        os.kill(pid, signal.SIGKILL)
        pytest.fail("the program outlives its parent")


def test_it_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOARKIT_CLIENT_SECRET", "canary-1")
    monkeypatch.setenv("VAULT_TOKEN", "canary-2")
    started = LineWorker("tests.safe.test_line_worker", "answer")
    told = started.ask(b"environment")
    started.kill()
    assert b"canary" not in told and json.loads(told)["PATH"] == os.environ["PATH"]


def test_no_program_of_ours_takes_a_module_from_the_folder_that_a_user_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package from elsewhere may hold a file of any name, and who validates it may be in it."""
    package = tmp_path / "package"
    package.mkdir()
    for name in ("orjson", "hashlib", "json", "selectors", "noarkit", "sqlite3"):
        (package / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", "utf-8")
    (package / "a.txt").write_text("a", "utf-8")
    monkeypatch.chdir(package)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    with HashPool(package, ["sha256"], width=2) as pool:
        pool.warm()
        assert [hashed.why for _, hashed in pool.work([Task("a.txt", 1)] * 2_000)] == [""] * 2_000
    with open_embedded(tmp_path / "archive"):
        pass
    assert not (tmp_path / "ran").exists()
