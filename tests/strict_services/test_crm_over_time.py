"""The CRM over time: what changes between one run and the next is neither lost nor archived twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.strict_services.conftest import Desk, wait_for_the_next_second
from tests.strict_services.crm import Crm
from tests.strict_services.crm_data import Record
from tests.strict_services.crm_ledger import CrmLedger
from tests.strict_services.serving import Request
from tests.strict_services.test_crm_strictness import with_many_notes

CRM = "crm:strict"


def test_what_was_edited_while_a_run_read_is_archived_with_all_that_hangs_on_it(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    edited: list[Record] = []

    def edit(request: Request) -> None:
        if request.path.endswith("/Deals") and not edited:
            wait_for_the_next_second()
            edited.append(deals[1])
            crm.data.edit(deals[1], Stage="Qualification")

    crm.before = edit
    desk.run(CRM)
    assert edited
    desk.load_and_compare(crm_ledger)


def test_what_becomes_visible_late_with_an_old_time_is_archived_with_all_that_hangs_on_it(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    deals[0].is_hidden = True
    crm.data.delete(deals[1])
    desk.load_and_compare(crm_ledger)
    deals[0].is_hidden = False
    desk.load_and_compare(crm_ledger)
    crm.data.restore(deals[1])
    desk.verify(desk.load_and_compare(crm_ledger))


def points_to(record: Record, case: Record) -> bool:
    """Whether a record belongs to a case."""
    return any(isinstance(value, dict) and value.get("id") == case.id for value in record.values.values())


def test_each_deletion_is_reported_and_nothing_leaves_the_archive(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    desk.load_and_compare(crm_ledger)
    data, org = crm.data, crm.org_id
    note = next(each for each in data.notes.values() if each.parent == deals[0].id)
    attachment = next(each for each in data.attachments.values() if each.parent == deals[0].id)
    (offer,) = [each for each in data.visible("Quotes") if points_to(each, deals[0])]
    (task,) = [each for each in data.visible("Tasks") if points_to(each, deals[0])]
    del data.notes[note.id], data.attachments[attachment.id]
    data.delete(offer)
    data.delete(task, is_permanent=True)
    data.delete(deals[2])
    data.edit(deals[0], Stage="Closed Won")
    run = desk.load_and_compare(crm_ledger)
    case = f"{org}:Deals:{deals[0].id}"
    gone = {
        f"{case}:note:{note.id}:deleted",
        f"{case}:att:{attachment.id}:deleted",
        f"{case}:Quotes:{offer.id}:deleted",
        f"{case}:Tasks:{task.id}:deleted",
    }
    told = {key for key, reason in desk.skipped(run) if reason == "deleted in the service"}
    assert gone <= told, told
    assert any(deals[2].id in key for key in told)
    again = desk.load_and_compare(crm_ledger)
    assert not {key for key, _ in desk.skipped(again)} & told, "it is told once"


def test_a_list_whose_page_token_ended_is_begun_anew(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    with_many_notes(crm, deals[0])
    aged: list[str] = []

    def age(request: Request) -> None:
        if request.parameter("page_token") and not aged:
            aged.append(request.path)
            for token in crm.page_tokens.values():
                token.ends = datetime.now(UTC) - timedelta(minutes=1)

    crm.before = age
    desk.load_and_compare(crm_ledger)
    assert aged
