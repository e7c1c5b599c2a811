"""What the chapters of the manual promise of every service, held against services that are strict."""

from __future__ import annotations

import json
import re
import time
import tomllib

from tests.strict_services.appsec import Appsec
from tests.strict_services.conftest import Desk, appsec_settings, send
from tests.strict_services.crm import Crm
from tests.strict_services.crm_calls import message
from tests.strict_services.crm_data import Record
from tests.strict_services.crm_ledger import CrmLedger
from tests.strict_services.spend import Spend
from tests.strict_services.spend_data import Entry
from tests.strict_services.spend_ledger import SpendLedger


def test_the_memory_may_be_deleted_everything_is_read_again_and_nothing_is_duplicated(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    desk.load_and_compare(crm_ledger)
    for place in (desk.home / ".local/state/noarkit/connections").glob("*"):
        if "grant" not in place.name:
            place.unlink()
    crm.requests.clear()
    desk.load_and_compare(crm_ledger)
    asked = {request.path for request in crm.requests}
    assert all(f"/crm/v8/Deals/{deal.id}/Attachments" in asked for deal in deals), "everything is read again"


def test_what_was_read_is_remembered_for_each_archive(desk: Desk, crm: Crm, crm_ledger: CrmLedger) -> None:
    desk.load_and_compare(crm_ledger)
    desk.noarkit("plan", "crm:strict", "-o", "other", "--archive", "embedded:other-archive")
    desk.noarkit("ingest", "other", "--archive", "embedded:other-archive", "--workers", 0, "--json")
    assert desk.summary()["archived"] == len(crm_ledger.expected), "another archive has nothing of it yet"


def test_the_recipe_of_a_service_is_written_for_you_to_edit_and_can_be_used(
    desk: Desk, spend: Spend, spend_ledger: SpendLedger
) -> None:
    desk.noarkit("recipe", "new", "spend:strict", "-o", "spend.toml")
    desk.noarkit("recipe", "check", "spend.toml")
    desk.load_and_compare(spend_ledger, "--recipe", "spend.toml")


def test_configure_shows_each_setting_and_where_it_comes_from_and_takes_no_secret_as_a_value(
    desk: Desk, appsec: Appsec
) -> None:
    desk.noarkit("connect", "appsec:strict", "configure")
    assert re.search(r"api_key .*key\.secret.*\[file\]", desk.out) and "a-key-of-the-strict-service" not in desk.out
    desk.noarkit("connect", "appsec:strict", "configure", "--set", "api_key=plain-text", code=2)
    assert "plain-text" not in (desk.home / "noarkit.toml").read_text("utf-8")
    desk.noarkit("connect", "appsec:strict", "configure", "--set", "reports=false")
    appsec.data.scan(appsec.data.project("portal"))
    desk.run("appsec:strict")
    assert not [request for request in appsec.requests if "/reports" in request.path], "it is written and counts"


def test_a_set_value_comes_before_the_environment_and_that_before_the_file(desk: Desk, appsec: Appsec) -> None:
    desk.connect("appsec:strict", appsec_settings(desk, appsec, tenant="of-the-file"))
    desk.variables["NOARKIT_APPSEC_STRICT_TENANT"] = "of-the-environment"
    desk.noarkit("connect", "appsec:strict", code=6)
    realms = [request.path.split("/")[3] for request in appsec.requests if "realms" in request.path]
    assert set(realms) == {"of-the-environment"}
    desk.noarkit("connect", "appsec:strict", "--set", "tenant=etaten")


def test_a_plan_says_how_many_messages_are_waiting_and_finds_what_no_message_told(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    desk.load_and_compare(crm_ledger)
    wanted = json.dumps({"events": ["Deals.all"]})
    with desk.listening_after("crm:strict", "notifications", "open", "ADDRESS", "--arguments", wanted):
        (channel,) = crm.channels.values()
        for deal in deals[:2]:
            crm.data.edit(deal, Description="Endret")
            body = message(crm, channel.id, "Deals", "update", [deal.id])
            send(channel.url, json.dumps(body).encode(), {})
    crm.data.edit(deals[2], Description="Endret, og ingen sa det")
    run = desk.load_and_compare(crm_ledger)
    assert "Webhook notifications covered by this plan: 2." in desk.plan_said
    desk.run("crm:strict")
    assert run != desk.runs[-1] and "Webhook notifications" not in desk.plan_said, "they are gone once it is archived"


def test_limits_are_kept_however_many_processes_work(desk: Desk, spend: Spend, entries: list[Entry]) -> None:
    times: list[float] = []
    spend.before = lambda _: times.append(time.monotonic())
    desk.connect("spend:strict", {**_settings_of(desk), "rates": ["2/2s"]})
    desk.together(*[["connect", "spend:strict", "jobs", "list"]] * 4)
    assert len(times) >= 4
    # a moment may pass between the permission to ask and the arrival of the request
    assert all(later - earlier > 0.5 for earlier, later in zip(times, times[2:], strict=False)), times


def _settings_of(desk: Desk) -> dict[str, object]:
    config = tomllib.loads((desk.home / "noarkit.toml").read_text("utf-8"))
    found: dict[str, object] = config["connections"]["spend"]["strict"]
    return found
