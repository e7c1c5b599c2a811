"""The work is shared with child processes, and what comes out is the same; kills leave nothing behind."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.events import Event
from noarkit.forms.noark5.rules.run import Noark5ValidateOptions, validate_extract
from noarkit.forms.noark5.rules.store import is_uuid, pack_id, unpack_id
from noarkit.forms.validation import ValidateResult, validate
from samples.packages.bad import BAD
from samples.packages.make import write_good
from scripts.benchmarks.noark_package import make_package
from tests.forked import PIPE, Forked, run_forked
from tests.waiting import PATIENCE_S

SOME = ("N007", "N103", "N109", "N301", "N402", "N405", "N505", "N601")


def timeless(report: ValidateResult) -> ValidateResult:
    """A report without how long it took."""
    return replace(report, seconds=0.0)


@pytest.mark.parametrize("code", SOME)
def test_children_find_what_we_find_ourselves(code: str, tmp_path: Path) -> None:
    next(bad for bad in BAD if bad.code == code).draft().write(tmp_path)
    alone = validate_extract(tmp_path, Noark5ValidateOptions(workers=0))
    shared = validate_extract(tmp_path, Noark5ValidateOptions(workers=3))
    assert timeless(shared) == timeless(alone)
    assert code in shared.codes


def test_a_package_of_thousands_is_shared_and_whole(thousands: Path) -> None:
    report = validate(thousands)
    assert report.codes == {"N102"}
    totals = {count.rule.code: count.total for count in report.counts}
    assert (totals["N907"], totals["N912"], totals["N921"], totals["N938"]) == (270, 2700, 2700, 27)
    assert report.summary["files"] == (str(2700 + 11),)


def test_the_first_hundred_places_are_told_and_all_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    make_package(folder, 250)
    for path in (folder / "dokumenter" / "0").iterdir():
        path.write_bytes(b"%PDF pdfaid")
    outcome = next(one for one in validate(folder).outcomes if one.rule.code == "N402")
    assert (outcome.count, len(outcome.places)) == (250, 100)
    lines = [place.line for place in outcome.places if place.line is not None]
    assert len(lines) == 100 and lines == sorted(lines)


def test_the_work_is_told_while_it_goes_on(tmp_path: Path) -> None:
    heard: list[Event] = []
    write_good(tmp_path, "5.0")
    validate(tmp_path, listener=heard.append)
    assert {event.name for event in heard} == {"validating"}
    assert heard[-1].data["bytes"] == (tmp_path / "arkivstruktur.xml").stat().st_size


def state_of(folder: Path) -> list[tuple[str, int, int]]:
    """Every name in a folder, its size and when it was changed."""
    return [
        (str(path), path.lstat().st_size, path.lstat().st_mtime_ns) for path in sorted([folder, *folder.rglob("*")])
    ]


@pytest.fixture(scope="module")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package large enough to be shared."""
    folder = tmp_path_factory.mktemp("thousands") / "package"
    make_package(folder, 2700)
    return folder


@pytest.mark.parametrize(
    ("how", "after"),
    [(signal.SIGTERM, 1), (signal.SIGKILL, 0), (signal.SIGKILL, 1), (signal.SIGKILL, 15), (signal.SIGKILL, 45)],
)
def test_killed_at_any_step_it_leaves_no_file_and_no_child_and_the_next_report_is_the_same(
    how: signal.Signals, after: int, thousands: Path, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    before, undisturbed = state_of(thousands), timeless(validate(thousands))
    code = (
        "import sys; from pathlib import Path; from noarkit.forms.validation import validate\nprint('on', flush=True)\n"
    )
    code += "validate(Path(sys.argv[1]), listener=lambda event: print('on', flush=True))"
    environment = {**os.environ, "TMPDIR": str(scratch), "SQLITE_TMPDIR": str(scratch)}
    child = Forked(["-c", code, thousands], cwd=scratch, stdout=PIPE, env=environment, new_session=True)
    assert child.stdout is not None
    with child.stdout:
        for _ in range(after + 1):
            assert child.stdout.readline() == "on\n"
        child.send_signal(how)
        child.wait(PATIENCE_S)
    assert child.returncode == -how
    wait_until_gone(child.pid)
    if left := list(scratch.iterdir()):  # a link for the worker that tells formats: it goes with the next
        assert {path.name.rpartition("-")[0] for path in left} == {"noarkit-own-puid"}
        assert run_forked(["-c", code, thousands], cwd=scratch, env=environment).returncode == 0
    assert list(scratch.iterdir()) == []
    assert state_of(thousands) == before
    assert timeless(validate(thousands)) == undisturbed


def wait_until_gone(group: int) -> None:
    """Waits until no process of a group is left."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("a child outlived its parent")


def test_ids_are_packed_and_none_is_taken_for_another() -> None:
    upper = "3D3D3D3D-3D3D-3D3D-3D3D-3D3D3D3D3D3D"
    assert pack_id(upper) == pack_id(upper.lower()) and is_uuid(pack_id(upper))
    assert unpack_id(pack_id(upper)) == upper.lower()
    for text in ("", "1", "=" * 15, "x" * 16, upper[:-1], upper.replace("-", "="), "æ" * 18):
        assert not is_uuid(pack_id(text))
        assert unpack_id(pack_id(text)) == text
