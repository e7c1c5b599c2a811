"""What is forked is a process like one that starts from nothing: its words, folder, environment, streams and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import DEVNULL, PIPE, ROOT, Forked, forked_noarkit, run_forked
from tests.waiting import PATIENCE_S

TELLS = """
import json, os, sys
print(json.dumps([sys.argv[1:], os.getcwd(), sorted(os.environ), os.environ["HOME"], sys.stdin.read()]))
sys.stderr.write("over there")
"""
ENDS = {
    "nothing": ("", 0),
    "a number": ("raise SystemExit(7)", 7),
    "a sentence": ("raise SystemExit('no')", 1),
    "a fault": ("1 / 0", 1),
    "a signal": ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    "at exit": ("import atexit, os; atexit.register(os._exit, 5)", 5),
    "a thread": (
        "import threading, os, time; threading.Thread(target=lambda: (time.sleep(.1), os._exit(6))).start()",
        6,
    ),
}


def program(folder: Path, text: str) -> str:
    """A module of its own, found from the folder of the tests."""
    (folder / "told.py").write_text(text)
    return "told"


def test_it_gets_words_folder_environment_and_streams_as_a_process_that_starts_from_nothing(tmp_path: Path) -> None:
    program(tmp_path, TELLS)
    env = {"HOME": "somewhere", "PATH": os.environ["PATH"], "LC_CTYPE": "C.UTF-8"}
    words = ["told", "a b", "--x"]
    forked = run_forked(words, cwd=tmp_path, env=env)
    begun = subprocess.run(
        [sys.executable, "-m", *words], cwd=tmp_path, env=env, stdin=DEVNULL, capture_output=True, text=True
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (begun.returncode, begun.stdout, begun.stderr)
    assert str(tmp_path) in forked.stdout and "over there" in forked.stderr


@pytest.mark.parametrize("how", ENDS)
def test_it_ends_as_a_process_that_starts_from_nothing(how: str, tmp_path: Path) -> None:
    text, code = ENDS[how]
    program(tmp_path, text)
    forked = run_forked(["told"], cwd=tmp_path)
    begun = subprocess.run([sys.executable, "-m", "told"], cwd=tmp_path, capture_output=True, text=True)
    assert forked.returncode == begun.returncode == code
    assert forked.stderr.splitlines()[-1:] == begun.stderr.splitlines()[-1:]


def test_it_is_killed_itself_and_nothing_beside_it(tmp_path: Path) -> None:
    first, second = (
        Forked(["noarkit", "serve", "--data", tmp_path / name, "--port", "0"], cwd=ROOT, stdout=PIPE) for name in "ab"
    )
    for one in (first, second):
        assert one.stdout is not None and "http" in one.stdout.readline()
    assert first.poll() is None
    os.kill(first.pid, signal.SIGKILL)
    assert first.wait(PATIENCE_S) == -signal.SIGKILL
    assert second.poll() is None
    second.send_signal(signal.SIGTERM)
    assert second.wait(PATIENCE_S) in (0, 143)
    for one in (first, second):
        assert one.stdout is not None
        one.stdout.close()


SCRIPT = """
noarkit version
noarkit help '' 2>&1
echo "ended with $?"
noarkit serve --data archive --port 0 --json > said &
until grep -q serving said; do sleep 0.02; done
kill $!
wait $!
echo "ended with $?"
noarkit serve --data archive --port 0 --json > said-again &
until grep -q serving said-again; do sleep 0.02; done
kill -9 $(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/' archive/serving.json)
wait $!
echo "ended with $?"
"""


def test_the_commands_of_a_script_are_forked_and_get_its_words_and_signals_and_give_their_ends(tmp_path: Path) -> None:
    with forked_noarkit(tmp_path) as forked:
        environment = {"HOME": str(tmp_path), "LC_CTYPE": "C.UTF-8", **forked}
        told = subprocess.run(
            ["sh", "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
        )
    said = told.stdout.splitlines()
    assert said[0].startswith("noarkit ") and "ended with 2" in said, told
    assert said[-2:] in (["ended with 143", "ended with 137"], ["ended with 0", "ended with 137"]), told
