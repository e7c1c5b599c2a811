"""What comes late, is gone, or comes again between runs: nothing is lost, and each deletion is told once.

The archive is stood for by the keys that it would have: what was read is known from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from noarkit.events import ignore_event
from noarkit.services.known_keys import KnownKeys, add_known_keys, document_key
from noarkit.services.port import DELETION_KEY_END, Deletion, FetchFailure, Item, Omission, ServiceItem, Window
from noarkit.services.spend.service import Spend, open_service
from noarkit.services.spend.standin.data import format_time
from noarkit.services.standins.server import StandinSpec
from tests.services.histories.world import serving
from tests.services.standing import LATER, Standing, connected

FREE = ((1_000_000, 60.0),)
NOW = datetime.now(UTC)
OLD = format_time(NOW - timedelta(days=200))
FINAL = {"status": "COMPLETED", "exportStatus": "EXPORTED", "settledAt": OLD, "bookkeepingDate": OLD}
ENTRY = "00000000-0000-4000-9000-000000000001"


class Runs:
    """Runs over a spend service, and what the archive has of it."""

    def __init__(self, held: Standing, store: Any, service: Spend, folder: Path) -> None:  # Any: the stand-in's own
        self.held, self.store, self.service = held, store, service
        self.known_file = folder / "known.db"
        self.since: datetime | None = None
        self.count = 0
        self.again: dict[str, tuple[str, ...]] = {}

    def run(self, *streams: str, sweep: bool = False, losses: Iterable[str] = ()) -> list[ServiceItem]:
        """What a run reads; all of it is archived afterwards, but for these entries, which are asked for again."""
        self.count += 1
        found: list[ServiceItem] = []
        known_keys = KnownKeys(self.known_file)
        for stream in self.service.streams():
            if stream.name in (streams or ("entries", "jobs")):
                again = self.again.get(stream.name, ())
                window = Window(self.since, LATER, sweep, again=again, known_keys=known_keys)
                found += self.service.items(stream, window, ignore_event)
        known_keys.close()
        lost = set(losses)
        items = [one for one in found if isinstance(one, Item) and not lost & {one.key.rsplit(":", 1)[1]}]
        documents = [document_key(item.key, one.identity) for item in items for one in item.contents]
        documents += [document_key(item.key, one.identity) for item in items for one in item.generated]
        gone = [one.key.removesuffix(DELETION_KEY_END) for one in found if isinstance(one, Deletion)]
        add_known_keys(self.known_file, "a", (*(item.key for item in items), *documents), gone, self.count)
        self.since = datetime.now(UTC) - self.service.look_back
        self.again = {"entries": (*self.service.again()["entries"], *lost)}
        return found

    @property
    def company(self) -> str:
        """The company whose books are read."""
        return str(self.store.company_id)


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A service with a voucher that was settled 200 days ago, and has one receipt."""
    with (
        serving("spend", StandinSpec(60, limits=FREE), tmp_path) as (held, standin),
        connected(open_service, held, tmp_path) as service,
    ):
        standin.store.change(ENTRY, FINAL)
        standin.store.add_receipt(ENTRY)
        yield Runs(held, standin.store, service, tmp_path)


def entry(items: list[ServiceItem], entry_id: str = ENTRY) -> Item | None:
    """The entry among items, where it is there."""
    return next((one for one in items if isinstance(one, Item) and one.key.endswith(entry_id)), None)


def keys(items: list[ServiceItem], kind: type[Deletion] | type[Omission]) -> list[str]:
    """The keys of what is told, without the company, and without wallets and cashback."""
    told = [one for one in items if isinstance(one, kind)]
    return [one.key.partition(":")[2] for one in told if getattr(one, "reason", "") not in ("wallet", "cashback")]


def test_a_receipt_of_a_voucher_settled_long_ago_comes_with_the_next_sweep(runs: Runs) -> None:
    before = entry(runs.run())
    assert before is not None
    assert len(before.contents) == 1
    runs.store.add_receipt(ENTRY)
    assert entry(runs.run()) is None, "it lies behind the look-back"
    after = entry(runs.run(sweep=True))
    assert after is not None
    assert [one.identity for one in after.contents][:1] == [one.identity for one in before.contents]
    assert len(after.contents) == 2


def test_a_job_that_was_pending_and_ended_later_is_read_with_the_entries_that_it_took(runs: Runs) -> None:
    runs.store.job_states[0] = "pending"
    number = int(runs.store.job_entries(0)[0])
    late = runs.store.entry_id(number)
    runs.store.change(late, {"exportStatus": "EXPORTED", "status": "COMPLETED", "settledAt": OLD})
    runs.store.hide(late, hides=True)
    first = runs.run()
    job = f"{runs.company}:job:{runs.store.job(0)['id']}"
    assert job not in {one.key for one in first if isinstance(one, Item)}
    runs.store.job_states[0] = "completed"
    runs.store.hide(late, hides=False)
    second = runs.run()
    assert job in {one.key for one in second if isinstance(one, Item)}, "however long ago it was created"
    if runs.store.entry(late)["family"] not in ("WALLET", "CASHBACK"):
        assert entry(second, late) is not None, "an exported voucher that appears late"
    assert not [one for one in runs.run("jobs") if isinstance(one, Item) and one.key == job], "once"
    assert job in {one.key for one in runs.run("jobs", sweep=True) if isinstance(one, Item)}, "but for a sweep"


def test_a_voucher_that_appears_late_without_any_job_comes_with_the_next_sweep(runs: Runs) -> None:
    runs.store.hide(ENTRY, hides=True)
    runs.run()
    runs.store.hide(ENTRY, hides=False)
    assert entry(runs.run()) is None
    assert entry(runs.run(sweep=True)) is not None


@pytest.mark.parametrize("is_listed", [True, False], ids=["listed as deleted", "not there any more"])
def test_a_deleted_voucher_is_told_once_and_read_again_if_it_comes_back(runs: Runs, is_listed: bool) -> None:
    runs.run()

    def remove(*, is_away: bool) -> None:
        if is_listed:
            runs.store.change(ENTRY, {"deletedAt": format_time(NOW) if is_away else None})
        else:
            runs.store.hide(ENTRY, hides=is_away)

    remove(is_away=True)
    assert keys(runs.run(sweep=True), Deletion) == [f"entry:{ENTRY}:deleted"]
    assert keys(runs.run(sweep=True), Deletion) == []
    remove(is_away=False)
    assert entry(runs.run(sweep=True)) is not None
    remove(is_away=True)
    assert keys(runs.run(sweep=True), Deletion) == [f"entry:{ENTRY}:deleted"], "and told again if it goes again"


def test_a_voucher_that_was_never_archived_and_never_will_be_is_no_deletion(runs: Runs) -> None:
    runs.store.change(ENTRY, {"exportStatus": "NOT_EXPORTED", "deletedAt": format_time(NOW)})
    assert keys(runs.run(sweep=True), Deletion) == []


def test_an_archived_voucher_that_is_deleted_is_told_whatever_became_of_it_first(runs: Runs) -> None:
    runs.run()
    runs.store.change(ENTRY, {"exportStatus": "NOT_EXPORTED", "deletedAt": format_time(NOW)})
    assert keys(runs.run(sweep=True), Deletion) == [f"entry:{ENTRY}:deleted"]


def test_a_deleted_receipt_is_told_once_and_its_voucher_stays(runs: Runs) -> None:
    runs.run()
    receipt = str(runs.store.receipts(ENTRY)[0]["id"])
    runs.store.absent_receipts.add(receipt)
    runs.store.change(ENTRY, {"receiptIds": []})
    second = runs.run(sweep=True)
    assert keys(second, Deletion) == [f"entry:{ENTRY}:receipt:{receipt}:deleted"]
    assert entry(second) is not None
    assert keys(runs.run(sweep=True), Deletion) == []


def test_a_job_that_is_not_listed_any_more_is_told_once(runs: Runs) -> None:
    runs.run()
    add_known_keys(runs.known_file, "a", [f"{runs.company}:job:gone"], [])
    assert keys(runs.run(), Deletion) == ["job:gone:deleted"]
    assert keys(runs.run(), Deletion) == []


def test_a_receipt_that_the_voucher_names_and_nobody_has_is_listed_and_the_voucher_archived(runs: Runs) -> None:
    receipt = str(runs.store.receipts(ENTRY)[0]["id"])
    runs.store.absent_receipts.add(receipt)
    first = runs.run()
    found = entry(first)
    assert found is not None
    assert found.contents == ()
    assert keys(first, Omission) == [f"entry:{ENTRY}:receipt:{receipt}"]
    assert {one.reason for one in first if isinstance(one, Omission)} >= {"receipt-gone"}
    runs.store.absent_receipts.clear()
    found = entry(runs.run(sweep=True))
    assert found is not None
    assert [one.identity for one in found.contents] == [f"receipt:{receipt}"], "it is there again"
    assert found.generated_first, "the page was the main document, and stays so"


def test_a_receipt_that_is_listed_and_gone_holds_its_voucher_back_for_one_run_only(runs: Runs) -> None:
    receipt = str(runs.store.receipts(ENTRY)[0]["id"])
    runs.held.control("trouble", path=f"/files/{ENTRY}/{receipt}", status=404, times=1)
    runs.run(losses=[ENTRY])  # the load met it: the voucher was set aside
    second = runs.run()
    found = entry(second)
    assert found is not None, "asked for by its id"
    assert (found.contents, keys(second, Omission)) == ((), [f"entry:{ENTRY}:receipt:{receipt}"])
    runs.held.control("trouble", path=f"/files/{ENTRY}/{receipt}", status=404, times=1)
    found = entry(runs.run(sweep=True))
    assert found is not None, "nor does it hold it back when all is read again"
    assert found.contents == ()
    found = entry(runs.run(sweep=True))
    assert found is not None
    assert len(found.contents) == 1, "it turned up"


def test_a_receipt_that_we_may_not_read_is_not_gone(runs: Runs) -> None:
    receipt = str(runs.store.receipts(ENTRY)[0]["id"])
    runs.held.control("trouble", path=f"/files/{ENTRY}/{receipt}", status=403, times=2)
    runs.run(losses=[ENTRY])
    found = entry(runs.run())
    assert found is not None
    assert len(found.contents) == 1


def test_a_job_without_any_date_is_set_aside_alone(runs: Runs) -> None:
    job = {"id": "j", "status": "completed"}
    assert runs.service._books._job(job, []) == FetchFailure("jobs", f"{runs.company}:job:j", "no-date")
