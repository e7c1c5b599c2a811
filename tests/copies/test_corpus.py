"""Documents of every kind become what the policy says of them, and nothing is fetched, changed or left running."""

from __future__ import annotations

import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from noarkit.copies.converters.registry import converters
from noarkit.copies.settings import CopySettings
from scripts.copies_corpus.__main__ import write_corpus
from scripts.copies_corpus.kinds import KINDS
from tests.copies.corpus import hostile
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.copies_tools
# becomes the parent of what a dead process leaves behind, and says what of it is alive in the end
_RUN = """
import ctypes, pathlib, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
code = subprocess.run(sys.argv[1:], stdout=2).returncode
alive = []
for children in pathlib.Path("/proc/self/task").glob("*/children"):
    for child in children.read_text().split():
        alive.append(pathlib.Path("/proc", child, "cmdline").read_bytes().decode())
print(code, [command for command in alive if command])
"""


@contextmanager
def _listener() -> Iterator[tuple[int, list[str]]]:
    """A server that writes down who calls."""
    calls: list[str] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def listen() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                calls.append(str(peer))
                connection.close()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield server.getsockname()[1], calls
        server.shutdown(socket.SHUT_RDWR)
    thread.join(PATIENCE_S)


def _looks(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.rglob("*")) if path.is_file()
    }


def _outcomes(copies: Path) -> dict[str, tuple[str, str | None]]:
    with closing(sqlite3.connect(copies / "derive.db")) as db:
        rows = db.execute("SELECT d.locator, c.state, c.reason FROM document d LEFT JOIN copy c ON c.n = d.copy")
        return {locator: (state, reason) for locator, state, reason in rows}


def test_each_kind_becomes_what_the_policy_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("soffice") is None:
        pytest.skip("soffice is not installed")
    assert len({kind.name + kind.suffix for kind in KINDS}) >= 40
    assert sum(kind.count for kind in KINDS) >= 400
    with _listener() as (port, calls):
        monkeypatch.setattr(hostile, "FAR", f"http://127.0.0.1:{port}/spor.png")
        expected = write_corpus(tmp_path, most=1)
        before = _looks(tmp_path / "documents")
        command = [
            sys.executable,
            "-m",
            "noarkit",
            "derive",
            str(tmp_path / "documents"),
            "-o",
            str(tmp_path / "copies"),
        ]
        told = subprocess.run(
            [sys.executable, "-c", _RUN, *command], capture_output=True, text=True, check=True, timeout=PATIENCE_S
        )
        assert calls == []
    assert told.stdout.strip() == "3 []", told.stderr[-3000:]
    assert _looks(tmp_path / "documents") == before
    there = converters(CopySettings())
    wanted = {}
    for place, each in expected.items():
        is_there = each.converter is None or (each.converter in there and there[each.converter].version() is not None)
        wanted[place] = (each.state, each.reason) if is_there else ("failed", "tool-missing")
    outcomes = _outcomes(tmp_path / "copies")
    attached = {place: outcomes.pop(place) for place in list(outcomes) if "//part/" in place}
    assert outcomes == wanted
    assert {state for state, _ in attached.values()} <= {"made", "kept"}
    assert attached


def test_the_same_corpus_is_written_twice(tmp_path: Path) -> None:
    # LibreOffice writes a date, and a lock has a number that nobody can foresee
    kinds = tuple(kind for kind in KINDS if not kind.old and not kind.name.startswith(("fiendtlig", "låst")))
    for name in ("a", "b"):
        write_corpus(tmp_path / name, most=2, kinds=kinds)
    first, second = (_looks(tmp_path / name / "documents") for name in ("a", "b"))
    assert list(first.values()) == list(second.values())
    assert json.loads((tmp_path / "a" / "expected.json").read_text())["docx/brev-1.docx"]["state"] == "made"
