"""The spend service from the first connection to the last verification, held against what the service itself holds."""

from __future__ import annotations

from tests.strict_services.conftest import Desk
from tests.strict_services.spend import Spend
from tests.strict_services.spend_ledger import SpendLedger

SPEND = "spend:strict"


def test_a_first_run_archives_all_that_is_final_in_its_month(desk: Desk, spend_ledger: SpendLedger) -> None:
    desk.noarkit("connect", SPEND)
    desk.verify(desk.load_and_compare(spend_ledger))


def test_what_is_not_final_waits_and_what_never_will_be_is_left_out_with_its_reason(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger
) -> None:
    data = spend.data
    waiting = data.entry(5, exportStatus="NOT_EXPORTED")
    pending = data.entry(5, status="PENDING", exportStatus="NOT_CREATED", settledAt=None)
    rejected = data.entry(5, status="REJECTED", exportStatus="NOT_CREATED")
    cancelled = data.entry(5, status="CANCELLED", exportStatus="NOT_CREATED")
    internal = data.entry(5, family="WALLET", subFamily="LOAD")
    run = desk.load_and_compare(spend_ledger)
    reasons = dict(desk.skipped(run))
    for entry, words in (
        (waiting, "not final yet"),
        (rejected, "rejected"),
        (cancelled, "cancelled"),
        (internal, "within"),
    ):
        (reason,) = [reason for key, reason in reasons.items() if entry.id in key]
        assert words in reason
    data.edit(waiting, exportStatus="EXPORTED")
    data.edit(pending, status="COMPLETED", exportStatus="EXPORTED", settledAt=pending.time("performedAt"))
    desk.load_and_compare(spend_ledger)
