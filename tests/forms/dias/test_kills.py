"""A build that is killed at any moment goes on where it stopped, and tar and description appear together or not."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from noarkit.errors import ItemVanished, RunLocked, UnsafeMember, UnsafePath, UsageFault
from noarkit.events import Event
from noarkit.forms.container.building import File
from noarkit.forms.dias.rules.run import validate_dias
from noarkit.forms.dias.write.order import DiasOrder
from noarkit.forms.dias.write.package import BuildState, make_dias
from tests.forked import run_forked
from tests.forms.dias.trees import content_of, laid

FILES = 1_100
DEEP = os.environ.get("NOARKIT_DEEP") == "1"

KILLED = """
import os, signal, sys
from pathlib import Path
from noarkit.forms.dias.write.package import make_dias
source, target, step, late = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
STEPS = {"open", "os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "os.truncate", "fcntl.flock"}
seen = 0
def count(name, arguments):
    global seen
    if name in STEPS and str(target.parent) in str(arguments) or name == "fcntl.flock":
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)
def files():
    for number, path in enumerate(sorted(source.iterdir())):
        if number == late:
            os.kill(os.getpid(), signal.SIGKILL)
        yield path.name, path, None, ""
sys.addaudithook(count)
make_dias(files(), target)
print(seen)
"""


def tree(count: int) -> dict[str, bytes]:
    return {f"{number:05}.txt": f"content {number}".encode() for number in range(count)}


def killed(source: Path, target: Path, step: int, late: int = -1) -> subprocess.CompletedProcess[str]:
    return run_forked(["-c", KILLED, source, target, step, late], cwd=source.parent)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_whichever_step_is_the_last_the_next_call_goes_on(tmp_path: Path) -> None:
    """Kills at one step after the other, each build gone on with until it is whole."""
    wanted = tree(3)
    files = laid(tmp_path / "source", wanted)
    whole = killed(tmp_path / "source", tmp_path / "trial", 0)
    steps = int(whole.stdout)
    assert steps > 40
    for step in range(1, steps + 1, 1 if DEEP else 9):
        place = tmp_path / f"at{step}"
        place.mkdir()
        target = place / "p"
        done = killed(tmp_path / "source", target, step)
        assert done.returncode == -signal.SIGKILL or step > steps - 5, done.stderr  # the last steps clear up
        if done.returncode == 0:
            break
        if target.exists():
            assert {path.suffix for path in target.iterdir()} == {".tar", ".xml"}, f"step {step}"
        begun = [path for path in place.glob(".noarkit-*.part/start.json")]
        told = begun[0].read_text() if begun else ""
        if target.exists() and not begun:  # killed at the very end, with nothing left to do
            with pytest.raises(UsageFault):
                make_dias(files, target)
        else:
            assert make_dias(files, target).files == 3
        assert left(place) == ["p"], f"step {step}"
        assert content_of(target) == wanted
        (tar,) = target.glob("*.tar")
        assert tar.stem in told or not told, f"step {step} began anew"


def test_a_late_kill_costs_little(tmp_path: Path) -> None:
    wanted = tree(FILES)
    files = laid(tmp_path / "source", wanted)
    target = tmp_path / "p"
    assert killed(tmp_path / "source", target, 0, 1_050).returncode == -signal.SIGKILL
    assert not target.exists()
    events: list[Event] = []
    made = make_dias(files, target, emit=events.append)
    copied = sum(int(str(event.data["files"])) for event in events if event.name == "package_files")
    assert made.resumed and made.files == FILES
    assert copied < FILES
    assert validate_dias(target).valid
    assert left(tmp_path) == ["p", "source"]


def test_what_changed_between_two_tries_is_taken_anew(tmp_path: Path) -> None:
    wanted = tree(FILES)
    laid(tmp_path / "source", wanted)
    killed(tmp_path / "source", tmp_path / "p", 0, 1_050)
    wanted |= {"00003.txt": b"another", "zz.txt": b"new"}
    del wanted["00700.txt"]
    (tmp_path / "source" / "00700.txt").unlink()
    make_dias(laid(tmp_path / "source", wanted), tmp_path / "p")
    assert content_of(tmp_path / "p") == wanted


def test_another_order_begins_anew(tmp_path: Path) -> None:
    files = laid(tmp_path / "source", tree(FILES))
    killed(tmp_path / "source", tmp_path / "p", 0, 1_050)
    made = make_dias(files, tmp_path / "p", DiasOrder("AIP"))
    assert not made.resumed
    assert validate_dias(tmp_path / "p").version == "AIP"
    assert left(tmp_path) == ["p", "source"]


def test_a_fault_keeps_what_was_done(tmp_path: Path) -> None:
    files = laid(tmp_path / "source", tree(2))
    gone: File = ("gone.txt", tmp_path / "nowhere", None, "")
    with pytest.raises(ItemVanished):
        make_dias([*files, gone], tmp_path / "p")
    (start,) = tmp_path.glob(".noarkit-*.part/start.json")
    told = start.read_text()
    make_dias(files, tmp_path / "p")
    (tar,) = (tmp_path / "p").glob("*.tar")
    assert tar.stem in told


def test_nothing_that_is_there_is_written_over(tmp_path: Path) -> None:
    files = laid(tmp_path / "source", tree(2))
    (tmp_path / "p").mkdir()
    with pytest.raises(UsageFault):
        make_dias(files, tmp_path / "p")
    assert left(tmp_path) == ["p", "source"]
    assert left(tmp_path / "p") == []


def test_two_builds_of_one_package_do_not_meet(tmp_path: Path) -> None:
    pair = BuildState(tmp_path / "p", "job", dict)
    with pytest.raises(RunLocked):
        make_dias([], tmp_path / "p")
    pair.close()
    make_dias([], tmp_path / "p")


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../out", "C:/x", "\udcff", "con", "a//b", "", "./a"])
def test_names_no_package_can_hold_are_refused(tmp_path: Path, name: str) -> None:
    (file,) = laid(tmp_path / "source", {"a": b"a"})
    with pytest.raises(UnsafePath):
        make_dias([(name, file[1], None, "")], tmp_path / "p")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "p").exists()


def test_twins_are_refused(tmp_path: Path) -> None:
    (file,) = laid(tmp_path / "source", {"a": b"a"})
    with pytest.raises(UnsafeMember):
        make_dias([("Å.txt", file[1], None, ""), ("A\u030a.txt", file[1], None, "")], tmp_path / "p")
