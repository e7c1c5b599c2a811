"""The security service from the first connection to the last verification, and what changes between runs."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.strict_services.appsec import API_KEY, Appsec, now
from tests.strict_services.appsec_ledger import AppsecLedger
from tests.strict_services.conftest import Desk, appsec_settings, send
from tests.strict_services.serving import Rate, trouble_once

APPSEC = "appsec:strict"


@pytest.fixture
def ledger(appsec: Appsec) -> AppsecLedger:
    """Two projects with scans, a decision, and what the trail told of some days ago."""
    data = appsec.data
    portal, archive = data.project("portal"), data.project("arkiv")
    data.decide(data.scan(portal))
    data.scan(portal, 2, days_ago=40)
    data.scan(archive, 0, days_ago=2)
    data.scan(archive, 0, "Failed", days_ago=3)
    data.audit_event("create", at=now() - timedelta(days=3))
    return AppsecLedger(appsec)


def test_a_first_run_archives_each_scan_decision_and_day(desk: Desk, ledger: AppsecLedger) -> None:
    desk.noarkit("connect", APPSEC)
    desk.verify(desk.load_and_compare(ledger))


def test_a_second_run_takes_what_ended_late_what_was_decided_and_nothing_else(
    desk: Desk, appsec: Appsec, ledger: AppsecLedger
) -> None:
    data = appsec.data
    portal = next(iter(data.projects))
    running = data.scan(portal, 4, "Running", days_ago=12)
    desk.load_and_compare(ledger)
    running.status = "Completed"
    data.scan(portal, 1, days_ago=0)
    data.decide(next(iter(data.scans.values())), "CONFIRMED", "Likevel")
    desk.verify(desk.load_and_compare(ledger))
    desk.load_and_compare(ledger)
    desk.noarkit("status", desk.runs[-1], "--json")
    assert desk.summary()["archived"] == 0, "nothing changed"


def test_what_the_service_forgets_stays_in_the_archive(desk: Desk, appsec: Appsec, ledger: AppsecLedger) -> None:
    desk.load_and_compare(ledger)
    appsec.data.scans.clear()
    appsec.data.decisions.clear()
    desk.load_and_compare(ledger)


def test_findings_are_read_page_by_page_and_each_number_is_kept_whole(
    desk: Desk, appsec: Appsec, ledger: AppsecLedger
) -> None:
    appsec.results_most = 7
    appsec.data.scan(next(iter(appsec.data.projects)), 25)
    desk.load_and_compare(ledger)


def test_findings_that_cannot_be_proven_complete_are_set_aside_and_never_shortened(
    desk: Desk, appsec: Appsec, ledger: AppsecLedger
) -> None:
    appsec.results_most = 7
    short = appsec.data.scan(next(iter(appsec.data.projects)), 9)
    del short.findings[-1].values["similarityId"]
    short.findings[-1].values["similarityId"] = short.findings[0].similarity_id
    short.findings[-1].values |= {name: short.findings[0].values[name] for name in ("id", "data", "description")}
    ledger.observe()
    run = desk.run(APPSEC, code=(0, 3))
    wrong = ledger.differences(desk.archive())
    listed = (desk.home / run / "set-aside.csv").read_text("utf-8-sig")
    assert wrong == [] or (wrong == [f"missing: ETATEN:scan:{short.id}"] and short.id in listed)


def test_policies_that_may_not_be_read_a_busy_service_and_ended_tokens_lose_nothing(
    desk: Desk, appsec: Appsec, ledger: AppsecLedger
) -> None:
    appsec.hides_policies = True
    appsec.rate = Rate(15, 1.5)
    appsec.troubles += [trouble_once(end, appsec.refuse(502, "502", "busy")) for end in ("/results", "/audit-events")]
    desk.noarkit("connect", APPSEC)
    appsec.access.clear()
    desk.load_and_compare(ledger)


def test_a_key_that_ended_is_told_and_never_shown(desk: Desk, appsec: Appsec) -> None:
    desk.connect(APPSEC, {**appsec_settings(desk, appsec), "api_key": desk.secret("key", "an-old-key-of-ours")})
    desk.noarkit("plan", APPSEC, "-o", "run", code=6)
    assert "an-old-key-of-ours" not in desk.out + desk.err and API_KEY not in desk.out + desk.err


def test_a_signed_message_is_a_hint_that_the_next_plan_follows(
    desk: Desk, appsec: Appsec, ledger: AppsecLedger
) -> None:
    desk.load_and_compare(ledger)
    wanted = json.dumps({"url": "ADDRESS"})
    with desk.listening_after(APPSEC, "webhook", "create", "--arguments", wanted) as address:
        (hook,) = appsec.hooks.values()
        config = hook["config"]
        assert isinstance(config, dict) and config["url"].startswith(address)
        scan = appsec.data.scan(next(iter(appsec.data.projects)), 2, days_ago=0)
        body, headers = appsec.message(scan, config["secret"])
        assert send(config["url"], body + b" ", headers) in (400, 401, 403)
        assert send(config["url"], body, headers) // 100 == 2
    desk.verify(desk.load_and_compare(ledger))
