"""The spend service over time: what changes between one run and the next is neither lost nor archived twice."""

from __future__ import annotations

from tests.strict_services.conftest import Desk
from tests.strict_services.spend import Spend
from tests.strict_services.spend_data import Entry, pdf
from tests.strict_services.spend_ledger import SpendLedger

SPEND = "spend:strict"
TYPES = {
    "application/pdf": ".pdf",
    "application/postscript": ".ps",
    "application/xml": ".xml",
    "text/xml": ".xml",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/heic": ".heic",
    "image/heif": ".heif",
    "image/gif": ".gif",
}


def test_a_late_receipt_is_a_document_of_its_own(
    desk: Desk, spend: Spend, entries: list[Entry], spend_ledger: SpendLedger
) -> None:
    desk.load_and_compare(spend_ledger)
    spend.data.receipt(entries[0], pdf("late"))
    spend.data.receipt(entries[1], b"GIF89a late", "image/gif")
    desk.verify(desk.load_and_compare(spend_ledger))


def test_a_late_receipt_on_a_voucher_of_long_ago_is_archived(
    desk: Desk, spend: Spend, entries: list[Entry], spend_ledger: SpendLedger
) -> None:
    desk.load_and_compare(spend_ledger)
    spend.data.receipt(entries[2], pdf("late"))
    desk.load_and_compare(spend_ledger)


def test_a_job_that_ends_late_and_a_voucher_that_appears_late_are_archived(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger
) -> None:
    data = spend.data
    late = data.entry(150)
    late.is_hidden = True
    job = data.job([late], "pending", days_ago=100)
    desk.load_and_compare(spend_ledger)
    late.is_hidden = False
    data.complete(job)
    desk.load_and_compare(spend_ledger)


def test_a_deletion_is_reported_and_nothing_leaves_the_archive(
    desk: Desk, spend: Spend, entries: list[Entry], spend_ledger: SpendLedger
) -> None:
    desk.load_and_compare(spend_ledger)
    spend.data.delete(entries[0])
    del spend.data.entries[entries[2].id]
    run = desk.load_and_compare(spend_ledger)
    told = {key for key, reason in desk.skipped(run) if reason == "deleted in the service"}
    assert told == {f"{spend.data.company_id}:entry:{entries[number].id}:deleted" for number in (0, 2)}
    again = desk.load_and_compare(spend_ledger)
    assert not {key for key, _ in desk.skipped(again)} & told, "it is told once"


def test_each_published_type_of_receipt_keeps_its_own_suffix(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger
) -> None:
    entry = spend.data.entry(3)
    for mime_type in TYPES:
        spend.data.receipt(entry, _CONTENTS[mime_type], mime_type)
    desk.load_and_compare(spend_ledger)
    (record,) = desk.archive()[f"{spend.data.company_id}:entry:{entry.id}"]
    names = {content: each.file_name for each in record.documents for content in each.versions}
    told = {mime_type: names[content].rpartition(".")[2] for mime_type, content in _CONTENTS.items()}
    assert told == {mime_type: suffix[1:] for mime_type, suffix in TYPES.items()}


_CONTENTS = {
    "application/pdf": pdf("type"),
    "application/postscript": b"%!PS-Adobe-3.0\nshowpage\n",
    "application/xml": b"<?xml version='1.0'?><faktura/>",
    "text/xml": b"<?xml version='1.0'?><kvittering/>",
    "image/jpeg": bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9"),
    "image/png": bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"),
    "image/heic": bytes.fromhex("00000018667479706865696300000000") + b"heicmif1",
    "image/heif": bytes.fromhex("00000018667479706d69663100000000") + b"mif1heif",
    "image/gif": b"GIF89a\x01\x00\x01\x00\x00\x00\x00;",
}
