"""Every command that writes, on file systems of almost no room: exit 10 and the place, nothing half under a whole name,
and the same command with room ends well. And on file systems that are read-only: exit 2 or 8, and no F900.

The suite takes every third command, with another size for the next; NOARKIT_DEEP=1 (`scripts/faults`) takes all of them
with all sizes from 0 to 512 KiB, by 4.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.test_disk_full import elsewhere, fill, small_disk
from tests.faults.world import DEEP
from tests.forked import run_forked
from tests.waiting import PATIENCE_S

DISK_MB = 12
SIZES = (0, 4, 8, 16, 28, 44, 64, 100, 200, 400)
ENDS_WELL = {0, 3}


@dataclass(frozen=True, slots=True)
class Case:
    """A command. `disk` and `home` name what lies on the small disk and beside it before it is called; `{disk}` and
    `{home}` stand for the two folders. `makes` is what must not be there where it could not be made whole."""

    words: str
    disk: tuple[str, ...] = ()
    home: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    good: frozenset[int] = frozenset(ENDS_WELL)
    read_only: bool = True


ARCHIVE = "--archive embedded:{home}/archive"
CASES = {
    "init": Case("init {disk}/x"),
    "key": Case("key new -o {disk}/key", makes=("key", "key.pub")),
    "recipe": Case("recipe new {base}/source -o {disk}/r.toml", makes=("r.toml",)),
    "log file": Case("--log-file {disk}/log plan {base}/source -o {home}/run"),
    "plan": Case("plan {base}/source -o {disk}/run"),
    "plan a database": Case("plan sqlite:///{base}/a.db -o {disk}/run"),
    "ingest a run": Case("ingest {disk}/planned --archive embedded:{home}/empty", ("planned",), ("empty",)),
    "ingest a source": Case("ingest {base}/source -o {disk}/run --archive embedded:{home}/empty", (), ("empty",)),
    "ingest into": Case(
        "ingest {home}/planned --archive embedded:{disk}/empty", ("empty",), ("planned",), read_only=False
    ),
    "close": Case(f"close {{disk}}/done {ARCHIVE}", ("done",), ("archive",)),
    "retry": Case(f"retry {{disk}}/done {ARCHIVE}", ("done",), ("archive",)),
    "verify": Case(f"verify {{disk}}/done {ARCHIVE}", ("done",), ("archive",)),
    "status": Case("status {disk}/done", ("done",)),
    "report": Case("report {disk}/done", ("done",)),
    "extract": Case(f"extract -o {{disk}}/made {ARCHIVE}", (), ("archive",), ("made",)),
    "extract a zip": Case(f"extract -o {{disk}}/made.zip {ARCHIVE}", (), ("archive",), ("made.zip",)),
    "extract a bag": Case(f"extract --as bagit -o {{disk}}/made {ARCHIVE}", (), ("archive",), ("made",)),
    "extract a DIAS package": Case(f"extract --as dias-sip -o {{disk}}/made {ARCHIVE}", (), ("archive",), ("made",)),
    **{
        f"convert to {form}": Case(f"convert {{base}}/source --as {form} -o {{disk}}/made", makes=("made",))
        for form in ("bagit", "eark-sip", "eark-aip", "eark-dip", "dias-sip", "dias-aip")
    },
    "convert to a zip": Case("convert {base}/source --as bagit -o {disk}/made.zip", makes=("made.zip",)),
    "convert to a tar": Case("convert {base}/source --as eark-sip -o {disk}/made.tar.gz", makes=("made.tar.gz",)),
    "convert to noark5": Case("convert {base}/extract --as noark5 -o {disk}/made", makes=("made",)),
    "convert to siard": Case("convert sqlite:///{base}/a.db --as siard -o {disk}/a.siard", makes=("a.siard",)),
    "convert to sqlite": Case("convert {base}/a.siard --as sqlite -o {disk}/b.db", makes=("b.db",)),
    **{
        f"validate to {kind}": Case(
            f"validate {{base}}/broken --report {kind} -o {{disk}}/r.{kind}",
            makes=(f"r.{kind}",),
            good=frozenset({4}),
        )
        for kind in ("html", "json", "csv")
    },
    "compare": Case("compare {base}/extract {base}/extract --report html -o {disk}/c.html", makes=("c.html",)),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """What all cases begin with, made once."""

    base: Path

    def run(self, words: str, place: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """One command line; `place` holds the small disk and the home beside it."""
        told = words.format(disk=place / "disk", home=place / "home", base=self.base)
        env = {**os.environ, "HOME": str(place), "NOARKIT_LANG": "en", **environment}
        return run_forked(["noarkit", *told.split()], env=env, cwd=place, timeout=PATIENCE_S)

    def lay(self, names: tuple[str, ...], place: Path) -> None:
        """Puts copies of what was made into a folder."""
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copytree(self.base / name, place / name)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A source, a database, runs, archives and packages."""
    base = tmp_path_factory.mktemp("base")
    (base / "source" / "a").mkdir(parents=True)
    for number in range(8):
        (base / "source" / "a" / f"{number}.txt").write_bytes(os.urandom(3_000 * number) + b"x")
    with closing(sqlite3.connect(base / "a.db")) as db:
        db.execute("CREATE TABLE letter (id INTEGER PRIMARY KEY, title TEXT, body BLOB)")
        rows = ((number, f"Brev {number}", os.urandom(5_000)) for number in range(20))
        db.executemany("INSERT INTO letter VALUES (?, ?, ?)", rows)
        db.commit()
    made = Stage(base)
    for words in (
        "plan {base}/source -o {base}/planned",
        "ingest {base}/source -o {base}/done --archive embedded:{base}/archive",
        "extract -o {base}/extract --archive embedded:{base}/archive",
        "convert {base}/source --as bagit -o {base}/broken",
        "convert sqlite:///{base}/a.db --as siard -o {base}/a.siard",
    ):
        end = made.run(words, base)
        assert end.returncode in ENDS_WELL, end.stderr
    (base / "broken" / "data" / "unlisted").write_text("x")
    (base / "empty").mkdir()
    return made


def sizes_of(name: str) -> Iterator[int]:
    """How much room is left, in KiB: all in the deep run, one of them else, another for each command."""
    if DEEP:
        yield from range(0, 513, 4)
        return
    yield SIZES[list(CASES).index(name) % len(SIZES)]


def assert_nothing_is_half(case: Case, disk: Path, before: set[Path]) -> None:
    """Nothing stands under the name of what a command makes, and no report breaks off."""
    for name in case.makes:
        assert not (disk / name).exists(), name
    for path in set(disk.rglob("*")) - before:
        if path.suffix == ".json":
            json.loads(path.read_text("utf-8"))
        elif path.suffix == ".html":
            assert path.read_text("utf-8").rstrip().endswith("</html>"), path
        elif path.suffix == ".csv":
            assert path.read_bytes().endswith(b'"\r\n'), path


def is_told(end: subprocess.CompletedProcess[str], place: Path) -> bool:
    """Whether the sentence names our disk, or says that the archive's is full."""
    return ("F405" in end.stderr and str(place) in end.stderr) or "F315" in end.stderr


@pytest.mark.parametrize("name", CASES if DEEP else list(CASES)[::3])
def test_a_command_on_a_full_disk_ends_with_10_and_with_room_it_ends_well(
    name: str, stage: Stage, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    case = CASES[name]
    sizes = sizes_of(name)
    assert sizes
    for size_kib in sizes:
        place = tmp_path / str(size_kib)
        stage.lay(case.home, place / "home")
        with small_disk(place / "disk", DISK_MB):
            stage.lay(case.disk, place / "disk")
            keeper = fill(place / "disk", size_kib * 1024)
            before = set((place / "disk").rglob("*"))
            end = stage.run(case.words, place)
            assert end.returncode in {10, *case.good}, (size_kib, end.stderr)
            if end.returncode == 10:
                assert is_told(end, place), (size_kib, end.stderr)
                assert_nothing_is_half(case, place / "disk", before)
                keeper.unlink()
                end = stage.run(case.words, place)
                assert end.returncode in case.good, (size_kib, end.stderr)
        shutil.rmtree(place)


@pytest.mark.parametrize("words", ["convert {base}/source --as bagit -o {home}/made", "plan {base}/source -o {home}/r"])
@pytest.mark.parametrize("size_kib", range(0, 513, 4) if DEEP else (0, 8))
def test_full_temporary_files_are_a_full_disk(
    words: str, size_kib: int, stage: Stage, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    (tmp_path / "home").mkdir()
    with small_disk(tmp_path / "disk", DISK_MB):
        fill(tmp_path / "disk", size_kib * 1024)
        full = str(tmp_path / "disk")
        end = stage.run(words, tmp_path, TMPDIR=full, SQLITE_TMPDIR=full)
        assert end.returncode in {0, 10}, end.stderr
        assert end.returncode == 0 or full in end.stderr


@pytest.mark.parametrize("size_kib", range(0, 1025, 8) if DEEP else (0, 60))
def test_an_archive_that_has_no_room_to_begin_says_so(
    size_kib: int, tmp_path: Path, stage: Stage, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    with small_disk(tmp_path / "disk", DISK_MB):
        fill(tmp_path / "disk", size_kib * 1024)
        command = [sys.executable, "-m", "noarkit", "serve", "--data", str(tmp_path / "disk/archive"), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stderr is not None
            served = process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            told = process.stderr.read()
        assert process.returncode == 10 or (served and process.returncode in (0, 143)), told
        assert process.returncode != 10 or str(tmp_path) in told


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.read_only][:: 1 if DEEP else 3])
def test_a_folder_that_is_read_only_is_no_unforeseen_fault(
    name: str, stage: Stage, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if sys.platform == "darwin" or elsewhere(request):
        return
    case = CASES[name]
    stage.lay(case.home, tmp_path / "home")
    with small_disk(tmp_path / "disk", DISK_MB):
        stage.lay(case.disk, tmp_path / "disk")
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
        end = stage.run(case.words, tmp_path)
        assert end.returncode in ({2, 8} if name != "status" else {0, 2}), end.stderr
        assert "F900" not in end.stderr
        assert name == "status" or str(tmp_path) in end.stderr, end.stderr


@pytest.mark.parametrize("words", ["status {disk}/planned", "runs {disk}", "ingest {disk}/planned " + ARCHIVE])
def test_a_journal_that_was_begun_and_has_no_tables_yet_is_an_empty_one(
    words: str, stage: Stage, tmp_path: Path
) -> None:
    stage.lay(("archive",), tmp_path / "home")
    stage.lay(("planned",), tmp_path / "disk")
    (tmp_path / "disk" / "planned" / "run.db").touch(mode=0o600)
    end = stage.run(words, tmp_path)
    assert end.returncode in ENDS_WELL, end.stderr


def in_a_shell(script: str, place: Path) -> subprocess.CompletedProcess[str]:
    """A command line of a shell that knows `noarkit`."""
    env = {**os.environ, "NOARKIT_LANG": "en", "HOME": str(place)}
    script = f'noarkit() {{ "{sys.executable}" -m noarkit "$@"; }}\n{script}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=env, cwd=place, timeout=PATIENCE_S
    )


@pytest.mark.parametrize("option", ["", "--json"])
@pytest.mark.parametrize(
    "words",
    [
        *("plan {base}/source -o {place}/run", "validate {base}/extract"),
        *(("help", "version", "scan {base}/source", "status {base}/done") if DEEP else ()),
    ],
)
def test_a_reader_who_leaves_is_passed_over_in_silence_and_the_work_is_done(
    words: str, option: str, stage: Stage, tmp_path: Path
) -> None:
    line = f"noarkit {option} {words.format(base=stage.base, place=tmp_path)}"
    end = in_a_shell(f"set -o pipefail; {line} | true", tmp_path)
    # the extract has noarkit's own schemas, so it is valid and not ready for deposit
    assert end.returncode == (3 if words.startswith("validate") else 0), end.stderr
    assert "Error" not in end.stderr and "Exception" not in end.stderr
    if words.startswith("plan"):
        assert (tmp_path / "run" / "plan.json").is_file()


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_an_output_that_is_closed_from_the_start_harms_nothing(closed: str, stage: Stage, tmp_path: Path) -> None:
    end = in_a_shell(f"noarkit plan {stage.base}/source -o {tmp_path}/run {closed}", tmp_path)
    assert end.returncode == 0, end.stderr
    assert "Error" not in end.stderr
    for path in (tmp_path / "run").rglob("*"):
        assert b"noarkit ingest" not in path.read_bytes(), f"{path} got what was said to the reader"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("words", ["version", "--json version", "scan {base}/source"])
def test_an_output_without_room_is_a_full_disk(words: str, stage: Stage, tmp_path: Path) -> None:
    end = in_a_shell(f"noarkit {words.format(base=stage.base)} > /dev/full", tmp_path)
    assert end.returncode == 10, end.stderr
    assert "F405" in end.stderr or "--json" in words
    assert "Exception" not in end.stderr
