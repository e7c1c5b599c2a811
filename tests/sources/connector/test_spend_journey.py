"""A spend service through the whole road: vouchers by month, archived once, then exactly what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, standing

pytestmark = pytest.mark.usefixtures("one_archive")

FREE = ((1_000_000, 60.0),)
NEW, LATE = "00000000-0000-4000-9000-000000000001", "00000000-0000-4000-9000-000000000002"
SETTLED = {"status": "COMPLETED", "exportStatus": "EXPORTED"}


def load(held: Standing, folder: Path, name: str, archive: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    noarkit.plan("spend:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def test_all_vouchers_are_archived_once_and_then_only_what_is_new(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("spend", tmp_path, StandinSpec(30, limits=FREE)) as held:
        first = load(held, tmp_path, "first", archive)
        assert (ingest_exit_code(first), first.numbers.read) == (0, first.numbers.archived + first.numbers.skipped)
        assert noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive)).good

        second = load(held, tmp_path, "second", archive)
        assert (second.numbers.archived, second.numbers.new_versions) == (0, 0)

        held.control("change", entries=[{**SETTLED, "id": NEW, "settledAt": "2026-11-20T10:00:00.000Z"}])
        third = load(held, tmp_path, "third", archive)
        assert (ingest_exit_code(third), third.numbers.archived) == (0, 1)
        assert third.numbers.add_up

    for run in ("first", "third"):
        noarkit.close(tmp_path / run, archive=archive)
    made = noarkit.extract(tmp_path / "package", archive=archive)
    assert made.files > 30
    report = noarkit.validate(tmp_path / "package")
    assert [outcome.rule.code for outcome in report.outcomes if outcome.rule.level == "error"] == []


def test_an_entry_settled_long_ago_and_exported_later_is_archived_and_what_is_left_out_is_listed(
    tmp_path: Path,
) -> None:
    archive, old = f"embedded:{tmp_path / 'archive'}", "2024-02-01T10:00:00.000Z"
    with standing("spend", tmp_path, StandinSpec(12, limits=FREE)) as held:
        late = {"id": LATE, "status": "COMPLETED", "exportStatus": "NOT_EXPORTED", "settledAt": old}
        held.control("change", entries=[late])
        first = load(held, tmp_path, "first", archive)
        assert first.numbers.add_up
        report = json.loads((tmp_path / "first" / "plan-report.json").read_text())
        reasons = {one["reason"]: one["count"] for one in report["skipped"]}
        assert reasons.pop("not-final") == 1
        assert set(reasons) == {"wallet", "cashback"}
        assert sum(reasons.values()) + 1 == first.numbers.skipped
        assert "not final yet" in (tmp_path / "first" / "plan.html").read_text()
        assert noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive)).good
        held.control("export", entries=[LATE])
        second = load(held, tmp_path, "second", archive)
        assert second.numbers.archived == 2, "the entry, and the job that took it"
        assert noarkit.verify(tmp_path / "second", depth="bytes", settings=held.site(archive)).good
        third = load(held, tmp_path, "third", archive)
        assert third.numbers.archived == 0


def shelf(archive: str, voucher: str) -> dict[str, list[str]]:
    """The names of the files of each document of a voucher in the archive, by the title of the document."""
    with noarkit.Archive(archive) as asked:
        (key,) = (one for one in asked.find("EksternId") if str(one.fields["eksternID"]).endswith(f"entry:{voucher}"))
        record = key.links["refRegistrering"]
        documents = [one for one in asked.find("Dokument") if one.links["refRegistrering"] == record]
        files: dict[str, list[str]] = {}
        for version in asked.find("Dokumentversjon"):
            for document in documents:
                if version.links["refDokument"] == document.id:
                    files.setdefault(str(document.fields["tittel"]), []).append(str(version.fields["filnavn"]))
    return files


@pytest.mark.parametrize("receipts", [0, 1], ids=["there was none before", "beside another"])
def test_a_late_receipt_is_a_document_of_its_own(receipts: int, tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("spend", tmp_path, StandinSpec(12, limits=FREE)) as held:
        held.control("change", entries=[{**SETTLED, "id": NEW, "settledAt": "2026-11-20T10:00:00.000Z"}])
        for _ in range(receipts):
            held.control("receipt", entry=NEW)
        load(held, tmp_path, "first", archive)
        before = shelf(archive, NEW)
        held.control("receipt", entry=NEW)
        second = load(held, tmp_path, "second", archive)
        assert (second.numbers.archived, ingest_exit_code(second)) == (0, 0)
        for run in ("first", "second"):
            proof = noarkit.verify(tmp_path / run, depth="bytes", settings=held.site(archive))
            assert (proof.findings, proof.verdict == "not_verified") == ([], False)
        after = shelf(archive, NEW)
        endings = [[name.rpartition(".")[2] for name in names] for names in after.values()]
        assert all(len(set(of_one)) == 1 for of_one in endings), "no file became a version of another's document"
        assert sum(map(len, after.values())) - sum(map(len, before.values())) == 3, "page and data name the receipt"
        assert sum(title.startswith("Kvittering") for title in after) == receipts + 1, "each has a title of its own"
        third = load(held, tmp_path, "third", archive)
        assert third.numbers.new_versions == 0


def test_a_receipt_that_is_gone_holds_its_voucher_back_once_and_is_added_when_it_turns_up(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("spend", tmp_path, StandinSpec(3, limits=FREE)) as held:
        held.control("change", entries=[{**SETTLED, "id": NEW, "settledAt": "2026-11-20T10:00:00.000Z"}])
        held.control("receipt", entry=NEW)
        held.control("trouble", path=f"/files/{NEW}", status=404, times=1)
        first = load(held, tmp_path, "first", archive)
        assert (first.numbers.set_aside, ingest_exit_code(first)) == (1, 3)
        held.control("trouble", path=f"/files/{NEW}", status=404, times=1)
        second = load(held, tmp_path, "second", archive)
        assert (second.numbers.archived, second.numbers.set_aside, ingest_exit_code(second)) == (1, 0, 0)
        report = json.loads((tmp_path / "second" / "plan-report.json").read_text())
        assert {one["reason"]: one["count"] for one in report["skipped"]}["receipt-gone"] == 1
        assert not any(title.startswith("Kvittering") for title in shelf(archive, NEW))
        held.control("trouble", path=f"/files/{NEW}", status=404, times=1)
        third = load(held, tmp_path, "third", archive)
        assert (third.numbers.set_aside, third.numbers.new_versions, ingest_exit_code(third)) == (0, 0, 0)
        load(held, tmp_path, "fourth", archive)
        assert any(title.startswith("Kvittering") for title in shelf(archive, NEW)), "it turned up"
        fifth = load(held, tmp_path, "fifth", archive)
        assert (fifth.numbers.set_aside, fifth.numbers.new_versions) == (0, 0)


def test_a_voucher_that_is_archived_is_not_held_back_by_its_receipt_nor_is_that_read_again(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("spend", tmp_path, StandinSpec(3, limits=FREE)) as held:
        held.control("change", entries=[{**SETTLED, "id": NEW, "settledAt": "2026-11-20T10:00:00.000Z"}])
        held.control("receipt", entry=NEW)
        load(held, tmp_path, "first", archive)
        held.control("trouble", path=f"/files/{NEW}", status=404, times=100)
        met = held.control("counts")["troubles_met"]
        second = load(held, tmp_path, "second", archive)
        assert (second.numbers.set_aside, second.numbers.new_versions, ingest_exit_code(second)) == (0, 0, 0)
        assert held.control("counts")["troubles_met"] == met, "its bytes are named by an id, and are there"


def test_every_so_many_days_all_vouchers_are_read(tmp_path: Path) -> None:
    archive, old = f"embedded:{tmp_path / 'archive'}", "2024-02-01T10:00:00.000Z"
    with standing("spend", tmp_path, StandinSpec(3, limits=FREE)) as held:
        held.control("change", entries=[{**SETTLED, "id": NEW, "settledAt": old}])
        load(held, tmp_path, "first", archive)
        held.control("receipt", entry=NEW)
        assert load(held, tmp_path, "second", archive).numbers.new_versions == 0
        held.config.write_text(held.config.read_text().rstrip() + "\nsweep_days = 0\n")
        assert load(held, tmp_path, "third", archive).numbers.new_versions > 0
        assert any(title.startswith("Kvittering") for title in shelf(archive, NEW))
