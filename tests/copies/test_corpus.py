"""Documents of every kind become what the policy says of them, and nothing is fetched, changed or left running."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from scripts.copies_corpus.judging import count_ordinary, derive_corpus, differences, wanted_outcomes
from scripts.copies_corpus.kinds import KINDS
from scripts.copies_corpus.writing import DOCUMENTS, PAGES, write_corpus
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


def test_the_corpus_is_large_and_each_loss_has_a_good_twin() -> None:
    kinds = {kind.title: kind for kind in KINDS}
    assert len(kinds) == len(KINDS) >= 200
    assert sum(kind.count for kind in KINDS) >= 1000
    twins = [kind for kind in KINDS if kind.twin]
    assert len(twins) >= 40
    for kind in twins:
        assert kind.state in ("held", "failed")
        assert kinds[kind.twin].state in ("made", "kept")
    assert all((kind.state == "held") == bool(kind.held) for kind in KINDS)


def test_each_kind_becomes_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("soffice") is None:
        pytest.skip("soffice is not installed")
    told: list[str] = []

    def run(command: Sequence[str]) -> int:
        whole = [sys.executable, "-c", _RUN, *command]
        answer = subprocess.run(whole, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
        told.append(answer.stderr[-3000:])
        code, _, alive = answer.stdout.strip().partition(" ")
        assert alive == "[]"
        return int(code)

    with _listener() as (port, calls):
        monkeypatch.setattr(hostile, "FAR", f"http://127.0.0.1:{port}/spor.png")
        expected = write_corpus(tmp_path, KINDS, most=1_000 if os.environ.get("NOARKIT_DEEP") else 2)
        before = [_looks(tmp_path / folder) for folder in (DOCUMENTS, PAGES)]
        outcomes = derive_corpus(tmp_path, run)
        assert calls == []
    assert [_looks(tmp_path / folder) for folder in (DOCUMENTS, PAGES)] == before
    assert differences(wanted_outcomes(expected), outcomes) == {}, told
    attached = [outcome for place, outcome in outcomes.items() if "//part/" in place]
    assert attached and {outcome.state for outcome in attached} <= {"made", "kept"}
    ordinary, without = count_ordinary(expected, KINDS, outcomes)
    assert ordinary > 60 and without.total() <= ordinary * 0.05


def test_the_same_corpus_is_written_twice(tmp_path: Path) -> None:
    # LibreOffice writes a date, and a lock has a number that nobody can foresee
    kinds = tuple(kind for kind in KINDS if not kind.old and not kind.name.startswith(("fiendtlig", "låst")))
    for name in ("a", "b"):
        write_corpus(tmp_path / name, kinds, most=2)
    first, second = (_looks(tmp_path / name / "documents") for name in ("a", "b"))
    assert list(first.values()) == list(second.values())
    assert json.loads((tmp_path / "a" / "expected.json").read_text())["docx/brev-1.docx"]["state"] == "made"
