"""The local data of a proven run goes, whole, with a receipt; of any other run, and of anybody else, nothing goes."""

from __future__ import annotations

import hashlib
import json
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.errors import JournalFault, RunLocked, RunNotProven, UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.retention.erasing import ErasureOrder, erase_run
from noarkit.retention.inventory import is_ours
from tests.retention.runs import copy_of, erase_in_child, make_run

LATER_S = 3_600.0


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is loaded and verified; tests work on copies."""
    return make_run(tmp_path_factory.mktemp("loaded"))


@pytest.fixture
def run(loaded: Path, tmp_path: Path) -> Path:
    return copy_of(loaded, tmp_path / "runs" / "run")


def order(**options: object) -> ErasureOrder:
    return ErasureOrder(time.time() + LATER_S, **options)  # type: ignore[arg-type]  # as named


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and sha256 of each file, by hashlib alone."""
    return {
        path.name: (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in folder.iterdir()
        if path.is_file()
    }


def test_every_file_of_a_run_is_known_as_ours(run: Path) -> None:
    assert [path.name for path in run.iterdir() if not is_ours(path.name)] == []


def test_a_verified_run_goes_and_its_receipt_has_every_file(run: Path) -> None:
    (run.parent / "run.noarkit-catalogue.db").write_bytes(b"catalogue")
    (run.parent / "run.noarkit-text.db").write_bytes(b"texts")
    (run.parent / "run.noarkit-access.jsonl").write_bytes(b"{}\n")
    (run.parent / "other.noarkit-text.db").write_bytes(b"another's")
    before = contents(run)
    plan = json.loads((run / "plan.json").read_text())["sha256"]
    erasure = erase_run(run, order(because="slettingsplan"))
    assert sorted(path.name for path in run.parent.iterdir()) == sorted(
        [erasure.receipt.path.name, "run.noarkit-access.jsonl", "other.noarkit-text.db"]
    )
    receipt = json.loads(erasure.receipt.path.read_text("utf-8"))
    named = {entry["name"]: (entry["size_bytes"], entry["sha256"]) for entry in receipt["files"]}
    del before["run.lock"], named["run.lock"]  # it names who holds it now
    assert named == before
    assert {entry["name"] for entry in receipt["beside"]} == {"run.noarkit-catalogue.db", "run.noarkit-text.db"}
    assert (receipt["state"], receipt["because"]) == ("done", "slettingsplan")
    assert receipt["proof"]["plan_sha256"] == plan and receipt["proof"]["numbers"]["archived"] == 2
    assert receipt["by"] and receipt["ended"] and erasure.receipt.path.stat().st_mode & 0o077 == 0
    assert erasure.is_complete


def test_a_dry_run_removes_nothing(run: Path) -> None:
    before = contents(run)
    erasure = erase_run(run, order(dry_run=True))
    after = contents(run)
    del before["run.lock"], after["run.lock"]
    assert after == before and not erasure.receipt.path.exists()
    assert erasure.receipt.inventory.size_bytes > 0


def test_a_run_that_was_not_verified_stays(run: Path) -> None:
    for path in run.glob("verify-*"):
        path.unlink()
    before = contents(run)
    with pytest.raises(RunNotProven) as fault:
        erase_run(run, order())
    assert fault.value.data["why"] == "not-verified"
    assert contents(run).keys() >= before.keys() and not list(run.parent.glob("*erased*"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"good": False, "verdict": "not_verified"}, "not-verified"),
        ({"depth": "counts"}, "not-verified"),
        ({"sample": 0.05}, "not-verified"),
        ({"plan_sha256": "0" * 64}, "not-verified"),
        ({"ended": "2001-01-01T00:00:00+00:00"}, "loaded-since"),
    ],
)
def test_a_certificate_that_proves_too_little_is_no_proof(change: dict[str, object], why: str, run: Path) -> None:
    (path,) = run.glob("verify-*.json")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(RunNotProven) as fault:
        erase_run(run, order())
    assert fault.value.data["why"] == why and (run / "run.db").exists()


def test_a_newer_certificate_that_found_differences_outweighs_an_older_good_one(run: Path) -> None:
    (path,) = run.glob("verify-*.json")
    bad = json.loads(path.read_text("utf-8")) | {"good": False, "verdict": "not_verified"}
    (run / "verify-29991231-235959.json").write_text(json.dumps(bad), "utf-8")
    with pytest.raises(RunNotProven):
        erase_run(run, order())


@pytest.mark.parametrize("change", ["DELETE FROM entity", "UPDATE entity SET state = 'of a later version'"])
def test_a_run_with_records_that_are_open_or_unaccounted_for_stays(change: str, run: Path) -> None:
    with closing(sqlite3.connect(run / "run.db")) as db, db:
        db.execute(change)
    with pytest.raises(RunNotProven) as fault:
        erase_run(run, order())
    assert fault.value.data["why"] == "records-open" and (run / "plan.json").exists()


@pytest.mark.parametrize("state", ["retracting", "retracted_in_part", "retracted"])
def test_a_run_whose_retraction_was_begun_stays(state: str, run: Path) -> None:
    with closing(sqlite3.connect(run / "run.db")) as db, db:
        db.execute("INSERT INTO meta VALUES ('retraction', ?)", (state,))
        db.execute("INSERT INTO retraction VALUES (1, 'Mappe', '7', 'intent', '', 'admin', 0)")
    with pytest.raises(RunNotProven) as fault:
        erase_run(run, order())
    assert fault.value.data["why"] == "retracted" and (run / "run.db").exists()


def test_a_run_that_was_only_planned_stays(run: Path) -> None:
    (run / "run.db").unlink()
    with pytest.raises(RunNotProven) as fault:
        erase_run(run, order())
    assert fault.value.data["why"] == "not-loaded" and (run / "plan.json").exists()


def test_a_run_that_is_too_young_stays(run: Path) -> None:
    with pytest.raises(RunNotProven) as fault:
        erase_run(run, order(older_than_s=LATER_S * 2))
    assert fault.value.data["why"] == "too-young"


def test_a_run_in_use_stays(run: Path) -> None:
    with RunFolder(run).locked(), pytest.raises(RunLocked):
        erase_run(run, order())
    assert (run / "plan.json").exists()


def test_links_are_never_followed_and_files_of_others_stay(run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "graph.db").write_bytes(b"mine")
    (outside / "ids.csv").write_bytes(b"mine too")
    (run / "estimate.json").unlink(missing_ok=True)
    (run / "estimate.json").symlink_to(outside / "ids.csv")
    (run / "folder-link").symlink_to(outside)
    (run / "notat.docx").write_bytes(b"a person's own")
    (run / "mappe").mkdir()
    (run / "mappe" / "run.db").write_bytes(b"not ours")
    erasure = erase_run(run, order())
    assert contents(outside).keys() == {"graph.db", "ids.csv"}
    assert sorted(path.name for path in run.iterdir()) == ["estimate.json", "folder-link", "mappe", "notat.docx"]
    assert (run / "mappe" / "run.db").read_bytes() == b"not ours"
    assert not erasure.is_complete
    assert dict(erasure.receipt.inventory.leftovers) == {
        "estimate.json": "link", "folder-link": "link", "mappe": "folder", "notat.docx": "not-ours",
    }  # fmt: skip


def test_a_lock_that_is_a_link_is_not_followed(run: Path, tmp_path: Path) -> None:
    target = tmp_path / "valuable"
    target.write_text("stays")
    (run / "run.lock").unlink()
    (run / "run.lock").symlink_to(target)
    with pytest.raises(JournalFault):
        erase_run(run, order())
    assert target.read_text() == "stays" and (run / "plan.json").exists()


def test_killed_at_any_step_the_same_command_finishes(loaded: Path, tmp_path: Path) -> None:
    steps = 0
    states = set()
    while True:
        run = copy_of(loaded, tmp_path / str(steps) / "run")
        code = erase_in_child(run, steps, time.time() + LATER_S)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        states.add((run / "plan.json").exists())
        erasure = erase_run(run, order())
        receipt = json.loads(erasure.receipt.path.read_text("utf-8"))
        assert not run.exists() and receipt["state"] == "done"
        assert {"plan.json", "graph.db", "run.db"} <= {entry["name"] for entry in receipt["files"]}
        assert list(run.parent.glob("*.noarkit-erased-*")) == [erasure.receipt.path]
        assert erase_run(run, order()).is_old
        steps += 1 if steps < 3 else 4
    assert steps > 8 and states == {True, False}


def test_what_was_half_removed_is_no_run_that_could_be_loaded_again(loaded: Path, tmp_path: Path) -> None:
    run = copy_of(loaded, tmp_path / "run")
    assert erase_in_child(run, 3, time.time() + LATER_S) == -signal.SIGKILL
    assert not (run / "plan.json").exists() and (run / "graph.db").exists()


def test_a_new_run_in_the_place_of_a_half_removed_one_is_not_touched(loaded: Path, tmp_path: Path) -> None:
    run = copy_of(loaded, tmp_path / "run")
    assert erase_in_child(run, 3, time.time() + LATER_S) == -signal.SIGKILL
    for path in run.iterdir():
        path.unlink()
    run.rmdir()
    copy_of(loaded, run)
    for path in run.glob("verify-*"):
        path.unlink()
    with pytest.raises(RunNotProven):
        erase_run(run, order())
    assert (run / "run.db").exists()


def test_a_receipt_that_is_not_ours_alone_removes_nothing(loaded: Path, tmp_path: Path) -> None:
    run = copy_of(loaded, tmp_path / "run")
    assert erase_in_child(run, 3, time.time() + LATER_S) == -signal.SIGKILL
    (receipt,) = tmp_path.glob("*erased*")
    receipt.chmod(0o666)
    with pytest.raises(JournalFault):
        erase_run(run, order())
    assert (run / "graph.db").exists()


def test_a_receipt_can_name_nothing_but_files_of_ours(loaded: Path, tmp_path: Path) -> None:
    run = copy_of(loaded, tmp_path / "run")
    assert erase_in_child(run, 3, time.time() + LATER_S) == -signal.SIGKILL
    (receipt,) = tmp_path.glob("*erased*")
    (tmp_path / "valuable").write_text("stays")
    (run / "valuable").write_text("stays")
    facts = json.loads(receipt.read_text("utf-8"))
    evil = [{"name": name, "size_bytes": 5, "sha256": "", "names": 1} for name in ("../valuable", "valuable")]
    facts["files"] += evil
    facts["beside"] += [*evil, {"name": str(tmp_path / "valuable"), "size_bytes": 5, "sha256": "", "names": 1}]
    receipt.write_text(json.dumps(facts), "utf-8")
    receipt.chmod(0o600)
    erase_run(run, order())
    assert (tmp_path / "valuable").exists() and (run / "valuable").exists()


def test_a_folder_that_is_no_run_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for place in ("folder", "nothing"):
        with pytest.raises(UsageFault):
            erase_run(tmp_path / place, order())
    assert (tmp_path / "folder").exists()
