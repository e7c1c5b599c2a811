"""A guest in somebody else's process: the library leaves nothing changed behind, runs twice, and in threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent

_STATE = """
import gc, json, locale, logging, multiprocessing, os, signal, socket, sys, threading, warnings
from decimal import getcontext

def state():
    gc.collect()
    loggers = {name: (one.level, len(one.handlers), one.propagate, one.disabled)
               for name, one in logging.root.manager.loggerDict.items() if isinstance(one, logging.Logger)
               and (one.level or one.handlers or not one.propagate or one.disabled)}
    mask = os.umask(0o22)
    os.umask(mask)
    return {
        "signals": {int(one): repr(signal.getsignal(one)) for one in signal.valid_signals()},
        "root": (logging.root.level, len(logging.root.handlers), logging.root.manager.disable), "loggers": loggers,
        "warnings": [repr(one) for one in warnings.filters], "showwarning": repr(warnings.showwarning),
        "cwd": os.getcwd(), "umask": mask, "environment": dict(os.environ), "locale": locale.setlocale(locale.LC_ALL),
        "threads": sorted(one.name for one in threading.enumerate()),
        "children": len(multiprocessing.active_children()),
        "files": sorted(os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                        if os.path.exists(f"/proc/self/fd/{fd}")),
        "hooks": (repr(sys.excepthook), repr(threading.excepthook), repr(sys.displayhook)),
        "limit": sys.getrecursionlimit(),
        "timeout": socket.getdefaulttimeout(), "decimal": repr(getcontext()), "argv": list(sys.argv),
        "path": list(sys.path),
        "start": multiprocessing.get_start_method(allow_none=True), "streams": (id(sys.stdout), id(sys.stderr)),
    }

signal.signal(signal.SIGTERM, lambda *_: None)
logging.basicConfig(level=logging.DEBUG, filename="debug.log")
warnings.simplefilter("error")
import noarkit
"""

_JOURNEY = """
def journey(name, archive="embedded:archive", place="files"):
    heard = []
    scanned = noarkit.scan(place, listener=heard.append)
    noarkit.plan(place, f"{name}", listener=heard.append)
    loaded = noarkit.ingest(f"{name}", archive=archive, listener=heard.append)
    proof = noarkit.verify(f"{name}", depth="bytes", listener=heard.append)
    numbers = loaded.numbers
    return scanned.records, loaded.state, numbers.archived, numbers.already_there, proof.good, len(heard) > 9
"""


def lay_out(place: Path, names: tuple[str, ...] = ("files",)) -> None:
    """Some files in each of the folders."""
    for name in names:
        (place / name / "case").mkdir(parents=True)
        for number in range(8):
            (place / name / "case" / f"{number}.txt").write_text(f"{name} {number}", "utf-8")


def run(code: str, place: Path, timeout_s: float = PATIENCE_S) -> list[object]:
    """What a script of somebody else's tells in its last line; it prints nothing else."""
    (place / "script.py").write_text(code, "utf-8")
    ran = subprocess.run(
        [sys.executable, "script.py"],
        cwd=place,
        env={"HOME": str(place), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    (line,) = ran.stdout.splitlines()
    told = json.loads(line)
    assert isinstance(told, list)
    return told


def test_every_journey_leaves_the_process_as_it_was_and_may_be_made_again(tmp_path: Path) -> None:
    lay_out(tmp_path, ("files", "more"))
    code = """
told = [journey("run-0")]
before = state()
told.append(journey("run-1", place="more"))
noarkit.close("run-1")
with noarkit.Archive("embedded:archive") as archive:
    told.append(archive.count("Basisregistrering"))
    json.dumps([noarkit.status("run-1").to_dict(), [str(path) for path in noarkit.report("run-1")]])
noarkit.retry("run-1")
noarkit.extract("extract", noarkit.ExtractOptions(), archive="embedded:archive")
noarkit.convert("extract", "sip", form="eark-sip")
told.append([noarkit.validate("extract").valid, noarkit.validate("sip").valid])
told[-1].append(noarkit.compare("extract", "extract").equal)
for call in (lambda: noarkit.plan("files", "run-1"), lambda: noarkit.scan("nowhere"), lambda: noarkit.validate("files"),
             lambda: noarkit.ingest("nothing"), lambda: noarkit.verify("run-1", archive="http://127.0.0.1:9/x")):
    try:
        call()
    except noarkit.NoarkitError as fault:
        told.append(fault.code)
        assert str(fault) and fault.code in str(fault)
after = state()
told.append({name: [before[name], after[name]] for name in before if before[name] != after[name]})
print(json.dumps(told))
"""
    first, second, count, good, *faults, changed = run(_STATE + _JOURNEY + code, tmp_path)
    assert first == [8, "done", 8, 0, True, True]
    assert second == [8, "done", 8, 0, True, True]
    assert (count, good) == (16, [True, True, True])
    assert changed == {}
    assert len(faults) >= 4, faults


def test_two_threads_may_each_make_a_journey(tmp_path: Path) -> None:
    lay_out(tmp_path, ("one", "two"))
    code = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as threads:
    apart = list(threads.map(lambda name: journey(name + "-a", f"embedded:{name}-archive", name), ("one", "two")))
    together = list(threads.map(lambda name: journey(name + "-b", "embedded:both", name), ("one", "two")))
print(json.dumps([apart, together, len(multiprocessing.active_children())]))
"""
    apart, together, left = run(_STATE + _JOURNEY + code, tmp_path)
    assert apart == together == [[8, "done", 8, 0, True, True]] * 2
    assert left == 0


def test_beside_a_thread_of_somebody_else_nothing_is_forked(tmp_path: Path) -> None:
    lay_out(tmp_path)
    code = """
pids = {}
real = os.fork
def fork():
    pids[threading.current_thread().name] = pids.get(threading.current_thread().name, 0) + 1
    return real()
os.fork = fork
noarkit.plan("files", "run")
idle = threading.Event()
other = threading.Thread(target=idle.wait)
other.start()
beside = noarkit.ingest("run", archive="embedded:one", workers=2).state, dict(pids)
idle.set()
other.join()
noarkit.plan("files", "again")
alone = noarkit.ingest("again", archive="embedded:two", workers=2).state, dict(pids)
print(json.dumps([beside, alone]))
"""
    beside, alone = run(_STATE + code, tmp_path)
    assert beside == ["done", {}]
    assert alone == ["done", {"MainThread": pytest.approx(2, abs=1)}]
