"""Copies that are carried: sealed on one machine, proven on the other, and never taken where anything was changed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.main import main
from noarkit.errors import SealBroken
from noarkit.safe.signing import new_key_pair

TEXT = "Blåbærsyltetøy på kjøkkenbenken"


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sealed copies, carried to another folder; keys `ours` and `theirs`."""
    monkeypatch.chdir(tmp_path)
    Path("documents").mkdir()
    Path("documents/latin.txt").write_bytes(TEXT.encode("cp1252"))
    for name in ("ours", "theirs"):
        private, public = new_key_pair()
        Path(name).write_bytes(private)
        Path(name).chmod(0o600)
        Path(f"{name}.pub").write_bytes(public)
    assert main(["derive", "documents", "-o", "copies"], {}) == 0
    assert main(["derive", "-o", "copies", "--seal", "--seal-key", "ours"], {}) == 0
    shutil.copytree("copies", "carried")
    return Path("carried")


def change_row(statement: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "derive.db")) as db, db:
            db.execute(statement)

    return change


def test_a_seal_that_holds_is_told_and_its_copies_are_planned(
    carried: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", "-o", str(carried), "--check", "--trust-key", "ours.pub"], {}) == 0
    assert "the seal is good" in capsys.readouterr().out
    planned = ["plan", "documents", "--copies", str(carried), "--trust-key", "ours.pub", "-o", "run"]
    assert main(planned, {}) == 0
    assert (Path("run") / "plan.json").is_file()


@pytest.mark.parametrize(
    "change",
    [
        change_row("UPDATE copy SET result_puid = 'fmt/477'"),
        change_row("UPDATE document SET copy = NULL"),
        change_row("UPDATE copy SET state = 'held'"),
        change_row("UPDATE meta SET value = 'somebody' WHERE name = 'agent'"),
        lambda folder: (folder / "seal.json").write_text((folder / "seal.json").read_text("utf-8") + " ", "utf-8"),
        lambda folder: (folder / "seal.sig").unlink(),
    ],
)
def test_whatever_a_plan_goes_by_may_not_have_changed(carried: Path, change: Callable[[Path], object]) -> None:
    change(carried)
    with pytest.raises(SealBroken):
        noarkit.check_copies(carried, trust_key="ours.pub")
    with pytest.raises(SealBroken):
        noarkit.plan("documents", "run", copies=carried, trust_key="ours.pub")
    assert not (Path("run") / "plan.json").exists()


def test_a_seal_of_somebody_else_is_none(carried: Path) -> None:
    with pytest.raises(SealBroken):
        noarkit.check_copies(carried, trust_key="theirs.pub")


def test_bytes_of_a_copy_are_held_to_the_sealed_checksum(carried: Path) -> None:
    (copy,) = [path for path in (carried / "objects").rglob("*") if path.is_file()]
    copy.write_bytes(copy.read_bytes()[::-1])
    assert main(["derive", "-o", str(carried), "--check", "--trust-key", "ours.pub"], {}) == 7


def test_more_copies_are_sealed_again(carried: Path) -> None:
    Path("documents/more.txt").write_bytes(TEXT.upper().encode("cp1252"))
    noarkit.derive("documents", "copies")
    with pytest.raises(SealBroken):
        noarkit.check_copies("copies", trust_key="ours.pub")
    assert noarkit.seal_copies("copies", seal_key="ours").objects == 2
    assert noarkit.check_copies("copies", trust_key="ours.pub").sealed_by
    assert noarkit.check_copies(carried, trust_key="ours.pub").sealed_by
