"""A plan that must be approved is loaded only as it was approved."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

import noarkit
from noarkit.errors import JournalFault, NotApproved, PlanChanged, UsageFault
from noarkit.loading.approval import FILE_NAME, approval_of, approvals
from noarkit.loading.folder import RunFolder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A plan of one file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "letter.txt").write_text("Dear neighbour\n")
    noarkit.plan("files", "run")
    yield tmp_path / "run"


def _ingest(run: Path) -> noarkit.IngestResult:
    return noarkit.ingest(run, archive="embedded:archive", workers=0, approved_only=True)


def test_nothing_is_loaded_before_somebody_approved(run: Path) -> None:
    with pytest.raises(NotApproved):
        _ingest(run)
    assert not (run / "run.db").exists()
    noarkit.approve(run, by="Kari", note="case 7")
    assert _ingest(run).numbers.archived == 1


def test_an_approval_names_plan_person_account_and_time(run: Path) -> None:
    approval = noarkit.approve(run, by=" Kari ", note="case 7")
    line = orjson.loads((run / FILE_NAME).read_bytes())
    assert line == approval.to_dict()
    assert (line["by"], line["note"], line["plan"]) == ("Kari", "case 7", RunFolder(run).plan()["sha256"])
    assert line["account"].count("@") == 1 and line["at"].endswith("+00:00")
    assert stat.S_IMODE((run / FILE_NAME).stat().st_mode) == 0o600


def test_an_approval_of_another_plan_does_not_count(run: Path, tmp_path: Path) -> None:
    noarkit.approve(run, by="Kari")
    (tmp_path / "files" / "second.txt").write_text("More\n")
    noarkit.plan("files", "again")
    (tmp_path / "again" / FILE_NAME).write_bytes((run / FILE_NAME).read_bytes())
    with pytest.raises(NotApproved):
        _ingest(tmp_path / "again")


def test_a_withdrawn_approval_does_not_count_until_a_new_one(run: Path) -> None:
    noarkit.approve(run, by="Kari")
    noarkit.approve(run, by="Kari", withdraw=True)
    with pytest.raises(NotApproved):
        _ingest(run)
    noarkit.approve(run, by="Ola")
    assert [approval.withdrawn for approval in approvals(RunFolder(run))] == [False, True, False]
    assert _ingest(run).state == "done"


def test_a_withdrawal_takes_back_the_approval_of_the_same_name_alone(run: Path) -> None:
    noarkit.approve(run, by="Kari")
    noarkit.approve(run, by="Ola")
    noarkit.approve(run, by=" kari", withdraw=True)
    approval = approval_of(RunFolder(run))
    assert approval is not None and approval.by == "Ola"
    assert _ingest(run).state == "done"


def test_what_was_not_approved_under_a_name_is_not_withdrawn_under_it(run: Path) -> None:
    noarkit.approve(run, by="Kari")
    with pytest.raises(UsageFault):
        noarkit.approve(run, by="Ola", withdraw=True)
    noarkit.approve(run, by="Kari", withdraw=True)
    with pytest.raises(UsageFault):
        noarkit.approve(run, by="Kari", withdraw=True)
    assert [approval.by for approval in approvals(RunFolder(run))] == ["Kari", "Kari"]


def test_a_plan_that_was_changed_cannot_be_approved(run: Path) -> None:
    folder = RunFolder(run)
    plan = folder.plan()
    folder.write_plan({**plan, "sha256": "0" * 64})
    with pytest.raises(PlanChanged):
        noarkit.approve(run, by="Kari")
    assert not (run / FILE_NAME).exists()


def test_retry_demands_the_approval_before_it_takes_anything_up(run: Path) -> None:
    with pytest.raises(NotApproved):
        noarkit.retry(run, archive="embedded:archive", approved_only=True)


def test_an_approval_needs_a_name(run: Path) -> None:
    with pytest.raises(UsageFault):
        noarkit.approve(run, by="  ")


def test_a_line_that_a_crash_cut_off_is_told_and_spoils_no_later_one(run: Path) -> None:
    noarkit.approve(run, by="Kari")
    with (run / FILE_NAME).open("ab") as file:
        file.write(b'{"plan":"ab')
    noarkit.approve(run, by="Ola")
    assert len((run / FILE_NAME).read_bytes().splitlines()) == 3
    with pytest.raises(JournalFault) as told:
        approval_of(RunFolder(run))
    assert str(told.value.data["where"]).endswith(":2")


def test_an_approval_that_is_not_on_the_disk_is_not_told(run: Path) -> None:
    (run / FILE_NAME).mkdir()
    with pytest.raises(JournalFault):
        noarkit.approve(run, by="Kari")
    (run / FILE_NAME).rmdir()
    assert approval_of(RunFolder(run)) is None
