"""An air gap under fire: packing and loading that are killed at any moment, disks that fill up, and a bundle's memory.

Whatever stops it, nothing half bears a bundle's name, the same command goes on, and the receipt agrees in the end.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from noarkit.forms.sealed.read import open_sealed
from noarkit.safe.signing import new_key_pair, read_public
from tests.cli.elsewhere import environment
from tests.faults.test_disk_full import elsewhere, fill, small_disk
from tests.forked import DEVNULL, PIPE, ROOT, Forked, run_forked
from tests.waiting import PATIENCE_S

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
KILLS = 25 if DEEP else 2
FORMS = ("bundle", "bundle.zip", "bundle.tar") if DEEP else ("bundle", "bundle.zip")
FILES = 20_000 if DEEP else 200
MOST_MIB = 160
MEASURED = ROOT / "tests" / "programs" / "measured_memory.py"


def keys(home: Path) -> None:
    """A pair for each side."""
    for side in ("a", "b"):
        private, public = new_key_pair()
        (home / f"{side}.key").write_bytes(private)
        (home / f"{side}.key").chmod(0o600)
        (home / f"{side}.pub").write_bytes(public)


def source(home: Path, count: int, size: int = 2_000) -> Path:
    """So many files, thirty a folder."""
    chance = random.Random(count)
    for number in range(count):
        path = home / "src" / f"case{number // 30:04}" / f"{number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chance.randbytes(size))
    return home / "src"


def line(*words: object) -> list[str]:
    return ["noarkit", *map(str, words), "--json"]


def run(home: Path, *words: object) -> tuple[int, list[dict[str, object]]]:
    """A command to its end: its exit code, and what it told."""
    done = run_forked(line(*words), env=environment(home), cwd=home, timeout=PATIENCE_S)
    return done.returncode, [json.loads(one) for one in done.stdout.splitlines()]


def killed(home: Path, chance: random.Random, wanted: str, *words: object, within: float = 0.15) -> bool:
    """Starts a command and kills it at some moment within so many seconds of an event; False where it ended before."""
    process = Forked(line(*words), env=environment(home), cwd=home, stdout=PIPE, stderr=DEVNULL)
    assert process.stdout is not None
    for told in process.stdout:
        if f'"{wanted}"' in told:
            time.sleep(chance.random() * within)
            break
    process.kill()
    process.stdout.close()
    return process.wait() == -signal.SIGKILL


def remove(bundle: Path) -> None:
    """A bundle, in whichever of its forms, is gone."""
    if bundle.is_dir():
        shutil.rmtree(bundle)
    else:
        bundle.unlink(missing_ok=True)


PACK = ("plan", "src", "-o", "run", "--seal-key", "a.key", "--pack")
LOAD = ("-o", "there", "--trust-key", "a.pub", "--archive", "embedded:archive", "--workers", 1)
ANSWER = ("verify", "there", "--depth", "bytes", "--receipt-out", "receipt.zip", "--seal-key", "b.key")
CLOSE = ("verify", "run", "--receipt", "receipt.zip", "--trust-key", "b.pub")


def whole(home: Path, name: str, count: int) -> None:
    """The bundle is proven, and holds so many documents."""
    key = read_public((home / "a.pub").read_bytes(), "a")
    with open_sealed(home / name, (key,), "bundle") as sealed:
        sealed.prove()
        assert sealed.seal.statement["documents"] == count


@pytest.mark.parametrize("name", FORMS)
def test_packing_that_is_killed_again_and_again_ends_in_a_whole_bundle(name: str, tmp_path: Path) -> None:
    keys(tmp_path)
    source(tmp_path, 600)
    chance = random.Random(name)
    assert run(tmp_path, "plan", "src", "-o", "run")[0] == 0
    kills, within = 0, 0.15
    for _ in range(4 * KILLS):
        if killed(tmp_path, chance, chance.choice(("package_begun", "package_files")), *PACK, name, within=within):
            kills += 1
        else:  # a fast machine was done before: begin again, and strike sooner
            within /= 2
            remove(tmp_path / name)
        if kills == KILLS:
            break
    code, told = run(tmp_path, *PACK, name)
    assert code == 0, told
    assert kills == KILLS
    whole(tmp_path, name, 600)
    code, told = run(tmp_path, *PACK, name)
    assert code == 0 and [one["stood"] for one in told if one["event"] == "packed"] == [True]
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".noarkit-")] == []


def test_loading_from_a_bundle_that_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    keys(tmp_path)
    source(tmp_path, 60)
    assert run(tmp_path, *PACK, "bundle.zip")[0] == 0
    (tmp_path / "src").rename(tmp_path / "gone")
    chance = random.Random("load")
    events = ("bundle", "seal_proven", "preflight", "shard_started", "chunk_done", "chunk_done")
    kills, within = 0, 0.15
    for event in chance.sample(events, len(events)) * (1 + DEEP * 5):
        if killed(tmp_path, chance, event, "ingest", "bundle.zip", *LOAD, within=within):
            kills += 1
        else:  # a fast machine was done before: begin again, and strike sooner
            within /= 4
            shutil.rmtree(tmp_path / "there", ignore_errors=True)
            shutil.rmtree(tmp_path / "archive", ignore_errors=True)
        if kills == KILLS:
            break
    assert kills >= 1
    for _ in range(4):
        code, told = run(tmp_path, "ingest", "bundle.zip", *LOAD)
        if code == 0:
            break
    assert code == 0, told[-2:]
    assert told[-1]["archived"] == 60
    (tmp_path / "gone").rename(tmp_path / "elsewhere")
    code, told = run(tmp_path, *ANSWER, "--archive", "embedded:archive")
    assert code == 0, told
    assert run(tmp_path, *CLOSE)[0] == 0


@pytest.mark.parametrize("name", FORMS[1:])
def test_a_full_disk_under_a_bundle_leaves_nothing_half_and_room_lets_it_be_sealed(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    keys(tmp_path)
    source(tmp_path, 60, 100_000)
    with small_disk(tmp_path / "disk", 24):
        keeper = fill(tmp_path / "disk", 2_500_000)
        for _ in range(2):
            code, told = run(tmp_path, *PACK, f"disk/{name}")
            assert code == 10, told
            assert not (tmp_path / "disk" / name).exists()
        keeper.unlink()
        assert run(tmp_path, *PACK, f"disk/{name}")[0] == 0
        whole(tmp_path, f"disk/{name}", 60)
        assert {path.name for path in (tmp_path / "disk").iterdir()} == {name}


def test_a_full_disk_under_the_run_that_a_bundle_becomes_leaves_no_run(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if elsewhere(request):
        return
    keys(tmp_path)
    source(tmp_path, 1_200, 10)
    assert run(tmp_path, *PACK, "bundle.zip")[0] == 0
    with small_disk(tmp_path / "disk", 8):
        keeper = fill(tmp_path / "disk", 1_000_000)
        words = ("plan", "bundle.zip", "-o", "disk/there", "--trust-key", "a.pub")
        for _ in range(2):
            code, told = run(tmp_path, *words)
            assert code == 10, told
            assert not (tmp_path / "disk/there/plan.json").exists()
        keeper.unlink()
        assert run(tmp_path, *words)[0] == 0


def most_memory(home: Path, *words: object) -> float:
    """The most memory that a command took, in MiB, without its children."""
    command = [sys.executable, str(MEASURED), *map(str, words), "--json"]
    done = subprocess.run(command, env=environment(home), cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return int(done.stderr.split()[-1]) / 1024


@pytest.mark.parametrize("name", FORMS[:1] + FORMS[1:] * DEEP)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell what a process took")
def test_many_small_files_take_no_more_memory_than_a_few(name: str, tmp_path: Path) -> None:
    took: dict[int, list[float]] = {}
    for count in (30, FILES):
        home = tmp_path / str(count)
        home.mkdir()
        keys(home)
        source(home, count, 20)
        steps: list[Callable[[], float]] = [
            lambda home=home: most_memory(home, *PACK, name),  # type: ignore[misc]  # bound where it is made
            lambda home=home: most_memory(home, "plan", name, "-o", "there", "--trust-key", "a.pub"),  # type: ignore[misc]
        ]
        took[count] = [step() for step in steps]
    if DEEP:
        home = tmp_path / str(FILES)
        load = ("ingest", "there", "--archive", "embedded:archive", "--workers", 1)
        took[FILES] += [most_memory(home, *words) for words in (load, ANSWER, CLOSE)]
    print(name, took)
    assert max(took[FILES]) < MOST_MIB
    for few, many in zip(took[30], took[FILES], strict=False):
        assert many < few + 40
