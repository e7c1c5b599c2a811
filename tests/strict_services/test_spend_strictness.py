"""The spend service as strict as it is published: consent, rotation, scopes, rates, signed addresses, messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.strict_services.conftest import Desk, send, spend_settings
from tests.strict_services.serving import Rate, Reply, Request, trouble_once
from tests.strict_services.spend import CLIENT_ID, CLIENT_SECRET, Spend
from tests.strict_services.spend_data import Entry, pdf
from tests.strict_services.spend_ledger import SpendLedger

SPEND = "spend:strict"


def test_a_person_consents_and_each_refresh_token_is_used_once(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger
) -> None:
    settings = {**spend_settings(desk, spend), "auth": "oauth", "auth_url": spend.url, "client_id": CLIENT_ID}
    del settings["api_key"]
    desk.connect(SPEND, {**settings, "client_secret": desk.secret("client", CLIENT_SECRET)})
    desk.log_in(SPEND)
    desk.load_and_compare(spend_ledger)
    for number in range(2):
        spend.access.clear()
        spend.data.receipt(spend.data.entry(3, note=f"Ny {number}"), pdf(f"new {number}"))
        desk.load_and_compare(spend_ledger)
    assert spend.refreshes == 3, "each ended token was renewed once, with the newest refresh token"
    desk.noarkit("connect", SPEND, "status")
    assert spend.refresh_token not in desk.out


def test_lists_are_read_to_the_end_by_cursors(desk: Desk, spend: Spend, spend_ledger: SpendLedger) -> None:
    spend.rows_a_page = 5
    entry = spend.data.entry(3)
    for number in range(11):
        spend.data.receipt(entry, pdf(f"many {number}"), at=entry.time("settledAt"))
    for number in range(8):
        spend.data.entry(4 + number / 100, note=f"Mange {number}")
    desk.load_and_compare(spend_ledger)
    assert sum(request.parameter("after") != "" for request in spend.requests) >= 4


@pytest.mark.parametrize("scope", ["users:read", "vendors:read", "tag-groups:read"])
def test_a_register_that_may_not_be_read_is_told_and_the_rest_is_archived(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger, scope: str
) -> None:
    spend.scopes.discard(scope)
    run = desk.load_and_compare(spend_ledger, code=3)
    held = desk.archive()
    assert sum(":codelist:" in key for key in held) in (5, 6)
    assert "codelist" in (desk.home / run / "set-aside.csv").read_text("utf-8-sig")


def test_an_address_that_ended_is_asked_for_again(desk: Desk, spend: Spend, spend_ledger: SpendLedger) -> None:
    spend.url_life = timedelta(seconds=-1)
    desk.noarkit("plan", SPEND, "-o", "run1")
    spend.url_life = timedelta(hours=24)
    spend.files.troubles.append(trouble_once("", Reply(403, b"<Error><Code>AccessDenied</Code></Error>")))
    spend_ledger.observe()
    desk.noarkit("ingest", "run1", "--workers", 0)
    assert spend_ledger.differences(desk.archive()) == []


def test_a_busy_service_is_waited_for_by_seconds_and_by_dates(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger
) -> None:
    spend.rate = Rate(10, 1.5)
    desk.load_and_compare(spend_ledger)
    assert spend.rate.refused > 0


def test_a_service_that_breaks_now_and_then_loses_nothing(desk: Desk, spend: Spend, spend_ledger: SpendLedger) -> None:
    broken = spend.refuse(503, "PROCESSING_FAILED", "try again")
    ends = ("entries:search", "receipts:search", "/receipts", "/export-jobs", "/items", "chart-of-accounts:search")
    spend.troubles += [trouble_once(end, broken) for end in ends]
    desk.load_and_compare(spend_ledger)


def test_jobs_and_their_items_are_read_in_the_newest_version_too(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger
) -> None:
    desk.connect(SPEND, spend_settings(desk, spend, export_version=3))
    desk.load_and_compare(spend_ledger)
    assert any(request.path.startswith("/v3/export-jobs") for request in spend.requests)
    assert not any(request.path.startswith("/v2/export-jobs") for request in spend.requests)
    assert not any(request.method == "PUT" or request.path.endswith("export-job-events") for request in spend.requests)


def test_another_company_under_the_same_name_is_refused(desk: Desk, spend: Spend, spend_ledger: SpendLedger) -> None:
    desk.load_and_compare(spend_ledger)
    spend.data.company_id = spend.data.new_id()
    for entry in spend.data.entries.values():
        entry.values["companyId"] = spend.data.company_id
    desk.connect(SPEND, spend_settings(desk, spend))
    desk.noarkit("plan", SPEND, "-o", "other", code=(2, 4))
    assert spend.data.company_id in desk.err


def test_a_signed_message_is_a_hint_that_the_next_plan_follows(
    desk: Desk, spend: Spend, entries: list[Entry], spend_ledger: SpendLedger
) -> None:
    desk.load_and_compare(spend_ledger)
    wanted = json.dumps({"url": "ADDRESS"})
    with desk.listening_after(SPEND, "subscriptions", "create", "--arguments", wanted) as address:
        (subscription,) = spend.subscriptions.values()
        url = str(subscription["endpointUrl"])
        assert url.startswith(address)
        spend.data.receipt(spend.data.entry(2), pdf("told of"))
        assert subscription["eventTypes"] == ["v1.export-job.created"]
        job = spend.data.job(entries[:1], "pending", days_ago=0)
        moment = datetime.now(UTC)
        body, headers = spend.message("v1.export-job.created", spend.job_row(job), "msg_1", moment)
        assert send(url, body + b" ", headers) in (400, 401, 403)
        stale = spend.message("v1.export-job.created", spend.job_row(job), "msg_2", moment - timedelta(minutes=6))
        assert send(url, *stale) in (400, 401, 403)
        several = {**headers, "webhook-signature": f"v1,AAAA {headers['webhook-signature']}"}
        assert send(url, body, several) // 100 == 2
        assert send(url, body, headers) // 100 == 2, "sent again, it is answered and kept once"
    spend.data.complete(job)
    desk.verify(desk.load_and_compare(spend_ledger))


def test_the_first_page_of_a_job_is_not_asked_for_where_it_has_ended(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger
) -> None:
    refused: list[Request] = []
    spend.before = lambda request: refused.append(request) if request.path.endswith("export-items") else None
    desk.load_and_compare(spend_ledger)
    assert refused == [], "the rich items of an ended job are answered with 422"
