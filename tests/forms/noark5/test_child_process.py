"""An iterator in a process of its own: the same values, faults in their place, and no child that is left."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from noarkit.errors import PackageFault
from noarkit.forms.noark5.child_process import iterate_in_child
from noarkit.forms.noark5.source import ExtractSource
from noarkit.safe.worker_pool import can_use_workers
from tests.processes import have_ended
from tests.sources.package.made import classified, fonds, items, package, record, series
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.skipif(not can_use_workers(), reason="a child has no processor to run on")

_ENDLESS = """
import json, multiprocessing, os, signal, sys
from itertools import count
from noarkit.forms.noark5.child_process import iterate_in_child
values = iterate_in_child(lambda: ((n,) for n in count()), "x")
next(values)
print(json.dumps([child.pid for child in multiprocessing.active_children()]), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_values_come_in_their_order() -> None:
    made = [(number, {"name": ["text", None]}) for number in range(1001)]
    assert list(iterate_in_child(lambda: iter(made), "x")) == made
    assert list(iterate_in_child(lambda: iter(()), "x")) == []


def test_a_fault_comes_after_the_values_before_it() -> None:
    def failing() -> Iterator[tuple[object, ...]]:
        yield from ((number,) for number in range(250))
        raise PackageFault(where="here", why="malformed-xml", line=7)

    seen: list[tuple[object, ...]] = []
    with pytest.raises(PackageFault) as caught:
        for value in iterate_in_child(failing, "x"):
            seen.append(value)
    assert len(seen) == 250
    assert caught.value.data == {"where": "here", "why": "malformed-xml", "line": 7}


def test_a_child_that_is_ended_from_outside_is_told() -> None:
    def ending() -> Iterator[tuple[object, ...]]:
        yield (1,)
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(PackageFault) as caught:
        list(iterate_in_child(ending, "x"))
    assert caught.value.data["why"] == "lost-worker"


def test_who_stops_listening_leaves_no_child() -> None:
    values = iterate_in_child(lambda: ((number,) for number in range(10**9)), "x")
    assert list(islice(values, 3)) == [(0,), (1,), (2,)]
    assert multiprocessing.active_children()
    del values
    assert not multiprocessing.active_children()


def test_a_child_outlives_the_thread_that_first_asked() -> None:
    values = iterate_in_child(lambda: ((number,) for number in range(5000)), "x")
    thread = threading.Thread(target=next, args=(values,))
    thread.start()
    thread.join()
    assert len(list(values)) == 4999


def test_a_child_holds_no_file_of_its_parent_open(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    with mine.open("wb"):
        assert (str(mine),) in set(_held())
        assert (str(mine),) not in set(iterate_in_child(_held, "x"))


def _held() -> Iterator[tuple[object, ...]]:
    """The files that this process has open."""
    for one in list(Path("/proc/self/fd").iterdir()):
        with suppress(FileNotFoundError):
            yield (str(one.readlink()),)


def test_a_killed_parent_leaves_no_child() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _ENDLESS], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert told.returncode == -signal.SIGKILL, told.stderr
    (child,) = json.loads(told.stdout)
    assert have_ended([child]), "the child outlives its parent"


def test_an_extract_is_read_the_same_whoever_parses_it(tmp_path: Path) -> None:
    structure = fonds(series(classified(*(record(number) for number in range(100, 400)))))
    root = package(tmp_path, structure).root
    here, beside = ExtractSource(root), ExtractSource(root, large_bytes=0)
    assert items(here) == items(beside)
    assert len(items(beside)) > 300


def test_a_broken_extract_is_told_the_same_whoever_parses_it(tmp_path: Path) -> None:
    structure = fonds(series(classified(*(record(number) for number in range(100, 400)))))
    root = package(tmp_path, structure[: len(structure) // 2]).root
    faults = []
    for large_bytes in (0, 10**9):
        with pytest.raises(PackageFault) as caught:
            items(ExtractSource(root, large_bytes=large_bytes))
        faults.append(caught.value.data)
    assert faults[0] == faults[1]
    assert faults[0]["why"] == "malformed-xml"
