"""The CRM as strict as it is published: consent, tokens, pages, refusals, rates, messages, writing back."""

from __future__ import annotations

import json

from tests.strict_services.conftest import Desk, crm_settings, send
from tests.strict_services.crm import Crm
from tests.strict_services.crm_calls import message
from tests.strict_services.crm_data import Record
from tests.strict_services.crm_ledger import CrmLedger
from tests.strict_services.serving import Rate, Reply, Request, trouble_once

CRM = "crm:strict"


def test_a_person_consents_in_a_browser_and_each_later_command_uses_that_consent(
    desk: Desk, crm: Crm, crm_ledger: CrmLedger
) -> None:
    settings = {name: value for name, value in crm_settings(desk, crm).items() if name != "refresh_token"}
    desk.connect(CRM, settings)
    desk.log_in(CRM)
    desk.noarkit("connect", CRM, "status")
    assert "not-so-secret" not in desk.out and crm.refresh_token not in desk.out
    desk.verify(desk.load_and_compare(crm_ledger))
    assert len(crm.grants) <= 2, "the token is good for an hour, and all commands share it"


def test_a_token_that_ends_in_the_middle_of_a_run_is_renewed_once(desk: Desk, crm: Crm, crm_ledger: CrmLedger) -> None:
    ended: list[str] = []

    def end(request: Request) -> None:
        if request.path.endswith("/Attachments") and not ended:
            ended.append(request.path)
            crm.end_tokens()

    crm.before = end
    desk.load_and_compare(crm_ledger)
    assert ended and len(crm.grants) == 2


def with_many_notes(crm: Crm, deal: Record) -> None:
    """More notes than page numbers reach, on smaller pages than are asked for."""
    crm.deepest = crm.rows_a_page = 10
    for number in range(20):
        crm.data.note(deal, f"Notat {number} av mange", "Kort", at=deal.created)


def test_lists_are_read_to_the_end_where_page_numbers_end(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    with_many_notes(crm, deals[0])
    desk.load_and_compare(crm_ledger)
    assert any(request.parameter("page_token") for request in crm.requests)


def test_a_module_that_may_not_be_read_is_told_and_the_rest_is_archived(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    crm.refused_modules.add("Quotes")
    crm_ledger.observe()
    run = desk.run(CRM, code=3)
    wrong = crm_ledger.differences(desk.archive())
    assert len(wrong) == len(deals) and all(":Quotes:" in each for each in wrong)
    assert "Quotes" in (desk.home / run / "set-aside.csv").read_text("utf-8-sig")
    crm.refused_modules.clear()
    desk.load_and_compare(crm_ledger)


def test_a_busy_service_is_waited_for_by_seconds_and_by_dates(desk: Desk, crm: Crm, crm_ledger: CrmLedger) -> None:
    desk.noarkit("connect", CRM)
    crm.rate = Rate(30, 1.5)
    desk.load_and_compare(crm_ledger)
    assert crm.rate.refused > 0


def test_a_service_that_breaks_now_and_then_loses_nothing(desk: Desk, crm: Crm, crm_ledger: CrmLedger) -> None:
    broken = crm.refuse(500, "INTERNAL_ERROR", "try again")
    crm.troubles += [
        trouble_once("/Notes", broken),
        trouble_once("/Deals", Reply(503), broken),
        trouble_once("/Emails", broken),
    ]
    desk.load_and_compare(crm_ledger)


def test_a_message_is_a_hint_that_the_next_plan_follows(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    crm.data.edit(deals[0], at=deals[0].modified, Stage="Closed Won")
    desk.load_and_compare(crm_ledger)
    wanted = json.dumps({"events": ["Deals.all"]})
    with desk.listening_after(CRM, "notifications", "open", "ADDRESS", "--arguments", wanted) as address:
        (channel,) = crm.channels.values()
        assert channel.url.startswith(address) and channel.token and 32 <= len(channel.token) <= 50
        crm.data.mail(deals[0], "Varslet", "Kom sent, og ingen tid forteller det")
        body = message(crm, channel.id, "Deals", "update", [deals[0].id])
        forged = {**body, "token": "x" * 40}
        assert send(channel.url, json.dumps(forged).encode(), {}) in (401, 403, 404)
        assert {send(channel.url, json.dumps(body).encode(), {}) // 100 for _ in range(2)} == {2}
    desk.verify(desk.load_and_compare(crm_ledger))


def test_ids_are_written_back_without_workflows_and_each_refusal_is_told(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    settings = crm_settings(desk, crm)
    crm.scopes |= {"modules.UPDATE"}
    desk.connect(CRM, {**settings, "write_modules": ["Deals", "Cases"]})
    crm_ledger.observe()
    desk.noarkit("plan", CRM, "-o", "run")
    crm.data.delete(deals[2])
    desk.noarkit("ingest", "run", "--workers", 0, "--write-back", "Archive_Id", code=(0, 3))
    assert deals[0].values["Archive_Id"] and "Archive_Id" not in deals[2].values
    assert {request.path for request in crm.writes} >= {"/crm/v8/Deals"}
    assert deals[2].id in desk.out + desk.err + "".join(p.read_text("utf-8-sig") for p in desk.home.glob("run/*.csv"))
