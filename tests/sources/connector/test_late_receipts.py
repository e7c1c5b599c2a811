"""A receipt that comes late is something new, which the next run archives: no run is told that its source changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import noarkit
from noarkit.loading.verification.outcome import VerifyResult
from noarkit.services.spend.standin.data import format_time
from noarkit.services.standins.server import StandinSpec
from tests.services.histories.world import serving

COUNT = 8


def test_a_late_receipt_of_a_voucher_with_none_or_one_is_no_change_of_what_was_archived(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with serving("spend", StandinSpec(COUNT, limits=((1_000_000, 60.0),)), tmp_path) as (held, standin):
        site, store = held.site(archive), standin.store

        def load(run: str) -> noarkit.IngestResult:
            noarkit.plan("spend:standin", tmp_path / run, archive=archive, settings=site)
            return noarkit.ingest(tmp_path / run, archive=archive, workers=0, settings=site)

        def verify(run: str, *, whole: bool = False) -> VerifyResult:
            return noarkit.verify(tmp_path / run, archive=archive, settings=site, whole=whole)

        settled = format_time(datetime.now(UTC) - timedelta(days=5))
        final = {"status": "COMPLETED", "exportStatus": "EXPORTED", "settledAt": settled, "bookkeepingDate": settled}
        vouchers = [store.entry_id(number) for number in range(2)]
        assert [bool(store.entry(voucher)["receiptIds"]) for voucher in vouchers] == [True, False]
        for voucher in vouchers:
            store.change(voucher, final)
        load("first")
        for voucher in vouchers:
            store.add_receipt(voucher)
        assert load("second").numbers.new_versions == len(vouchers)
        results = [verify("first"), verify("first", whole=True), verify("second")]
        assert [(result.differences, result.notices, result.source_changed) for result in results] == [(0, [], 0)] * 3
        assert [dict(result.missing) for result in results] == [{}] * 3
