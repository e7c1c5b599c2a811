"""The CRM's interface as a person uses it: each row by the words of `noarkit connect`, over real sockets."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import ConfigFault, SecretFault, ServiceRefused, UsageFault
from noarkit.services.crm.channels import LONGEST, renew_webhooks
from noarkit.services.crm.commands import COMMANDS
from noarkit.services.crm.service import open_service
from noarkit.services.crm.write_calls import insert
from noarkit.services.inbox.endpoints import inbox_endpoints
from noarkit.services.inbox.signatures import prove
from noarkit.services.inbox.webhooks import read_webhooks
from noarkit.services.standins.server import StandinSpec
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, connected, standing
from tests.waiting import PATIENCE_S

INVENTORY = ["Products", "Vendors", "Quotes", "Sales_Orders", "Purchase_Orders", "Invoices"]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A CRM whose changes hurt nobody."""
    with standing("crm", tmp_path_factory.mktemp("crm"), StandinSpec(60)) as found:
        yield found


def said(held: Standing, *words: str, **more: object) -> list[dict[str, object]]:
    """What the CRM answers to words."""
    return [dict(one) for one in COMMANDS.run(held.connection(), words, more)]


def partly(held: Standing, *words: str, **more: object) -> list[dict[str, object]]:
    """What the CRM answers to words that it does not carry out whole."""
    rows = list[dict[str, object]]()
    with pytest.raises(ServiceRefused) as caught:
        for one in COMMANDS.run(held.connection(), words, more):
            rows.append(dict(one))
    assert (caught.value.data["why"], caught.value.data["total"]) == ("not-all-done", len(rows))
    return rows


def test_the_prefix_of_the_token_is_a_setting(tmp_path: Path, held: Standing) -> None:
    with serving(lambda asked: told({"modules": []})) as other:
        with connected(open_service, held, tmp_path, auth_prefix="Other-oauthtoken") as service:
            service.calls.client.base = other.url
            service.calls.modules()
        assert other.asked[0].path == "/crm/v8/settings/modules"
        assert other.asked[0].headers["authorization"].startswith("Other-oauthtoken ")


@pytest.mark.parametrize("module", ["Deals", "Inspections", *INVENTORY])
def test_records_of_any_standard_custom_and_inventory_module_are_read(held: Standing, module: str) -> None:
    assert module in {one["api_name"] for one in said(held, "modules", "list")}
    found = said(held, "records", "list", module)
    assert [len(found)] == [one["count"] for one in said(held, "records", "count", module)]
    (one,) = said(held, "records", "get", module, str(found[0]["id"]))
    assert one["Modified_Time"] == found[0]["Modified_Time"]
    names = {str(field["api_name"]) for field in said(held, "fields", "list", module)}
    assert {"Modified_Time"} <= names <= set(found[0]), "every field that can be read"


def test_related_inventory_records_hang_on_their_deal(held: Standing) -> None:
    invoices = said(held, "records", "list", "Invoices")
    deal = invoices[0]["Deal_Name"]
    assert isinstance(deal, dict)
    wanted = {one["id"] for one in invoices if one["Deal_Name"]["id"] == deal["id"]}  # type: ignore[index]  # a look-up
    related = said(held, "records", "related", "Deals", str(deal["id"]), "Invoices")
    assert {one["id"] for one in related} == wanted
    assert all("Grand_Total" in one for one in related)
    assert len(said(held, "records", "related", "Deals", str(deal["id"]), "Products")) == 3


def test_records_are_created_updated_upserted_and_deleted_in_words(held: Standing) -> None:
    new: list[object] = [{"Deal_Name": "I ord", "Contract_Number": "ORD-1"}, {"Stage": "uten navn"}]
    first, second = partly(held, "records", "create", "Deals", records=new, unique="Contract_Number")
    assert (first["done"], second["done"], second["field"]) == (True, False, "Deal_Name")
    one = str(first["id"])
    (changed,) = said(held, "records", "update", "Deals", records=[{"id": one, "Stage": "Closed Won"}])
    (same,) = said(held, "records", "upsert", "Deals", records=new[:1], unique=["Contract_Number"])
    assert changed["done"] and same["id"] == one
    assert said(held, "records", "get", "Deals", one)[0]["Stage"] == "Closed Won"
    assert [told["done"] for told in partly(held, "records", "delete", "Deals", f"{one},999")] == [True, False]
    assert one in {row["id"] for row in said(held, "records", "deleted", "Deals")}
    with pytest.raises(ServiceRefused):
        said(held, "records", "get", "Deals", one)


def test_a_post_never_holds_more_than_a_hundred_records(tmp_path: Path, held: Standing) -> None:
    def answer(asked: Asked) -> Told:
        count = len(json.loads(asked.body)["data"])
        return told({"data": [{"status": "success", "code": "SUCCESS", "details": {"id": "1"}}] * count}, 201)

    with serving(answer) as other:
        with connected(open_service, held, tmp_path) as service:
            service.calls.client.base = other.url
            assert len(list(insert(service.calls, "Deals", ({"Deal_Name": str(n)} for n in range(350))))) == 350
        assert [len(json.loads(asked.body)["data"]) for asked in other.asked] == [100, 100, 100, 50]
        assert {(asked.method, asked.path) for asked in other.asked} == {("POST", "/crm/v8/Deals")}


@pytest.mark.parametrize(
    "words",
    [
        ("records",),
        ("records", "list"),
        ("records", "burn", "Deals"),
        ("records", "get", "Deals", "../org"),
        ("records", "list", "Deals/1"),
        ("records", "create", "Deals"),
        ("notifications", "open", "https://hooks.example"),
        ("modules",),
        ("payments", "list"),
    ],
)
def test_what_cannot_be_asked_is_told_before_anything_is_sent(held: Standing, words: tuple[str, ...]) -> None:
    before = held.control("counts")["spent"]
    with pytest.raises(UsageFault):
        said(held, *words)
    assert held.control("counts")["spent"] == before


def test_notifications_are_opened_kept_proven_renewed_and_closed(tmp_path: Path) -> None:
    heard: list[Asked] = []
    came = threading.Event()

    def receive(asked: Asked) -> Told:
        heard.append(asked)
        came.set()
        return told({})

    with standing("crm", tmp_path, StandinSpec(5)) as busy, serving(receive) as receiver:
        to = busy.connection()
        wanted: dict[str, object] = {"events": ["Deals.edit"], "fields": {"Deals": ["Stage"]}}
        (opened,) = said(busy, "notifications", "open", receiver.url, **wanted)
        (kept,) = read_webhooks(to)
        assert kept.secret.reveal() not in json.dumps(opened)
        assert stat.S_IMODE(to.state_file("webhooks.json").stat().st_mode) == 0o600
        assert kept.path.startswith("/crm/standin/") and len(kept.path) > 30, "nobody guesses it"
        assert kept.ends is not None and timedelta(days=6) < kept.ends - datetime.now(UTC) <= LONGEST
        deals = said(busy, "records", "list", "Deals")
        said(busy, "records", "update", "Deals", records=[{"id": deals[0]["id"], "Stage": "Closed Lost"}])
        assert came.wait(PATIENCE_S)
        door = inbox_endpoints([to])[heard[0].path]
        assert prove(door.seal, heard[0].headers, heard[0].body, 0).reason == ""

        now = datetime.now(UTC)
        assert list(renew_webhooks(to, now)) == [], "not before half of its life"
        (renewed,) = renew_webhooks(to, now + LONGEST / 2 + timedelta(minutes=1))
        assert renewed.secret != kept.secret and read_webhooks(to) == (renewed,)
        assert (renewed.events, renewed.fields) == (kept.events, {"Deals": ("Stage",)}), "conditions outlive it"
        door = inbox_endpoints([to])[kept.path]
        assert prove(door.seal, heard[0].headers, heard[0].body, 0).reason == "", "what was under way is good yet"
        (told_there,) = said(busy, "notifications", "list")
        assert told_there["channel_id"] == kept.id
        assert "Stage" in json.dumps(told_there["notification_condition"]), "and there"
        said(busy, "notifications", "close", kept.id)
        assert read_webhooks(to) == () and said(busy, "notifications", "list") == []
        with pytest.raises(ConfigFault):
            inbox_endpoints([to])


def test_a_file_of_webhooks_that_others_may_read_is_refused(tmp_path: Path, held: Standing) -> None:
    to = held.connection({"state": str(tmp_path)})
    to.state_file("webhooks.json").write_text("[]")
    with pytest.raises(SecretFault):
        read_webhooks(to)
    to.state_file("webhooks.json").chmod(0o600)
    assert read_webhooks(to) == ()
    to.state_file("webhooks.json").write_text('[{"secret": "canary"')
    with pytest.raises(SecretFault) as caught:
        read_webhooks(to)
    assert "canary" not in str(caught.value) and caught.value.__cause__ is None


def test_the_command_prints_what_the_service_answers(held: Standing, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["connect", "crm:standin", "--config", str(held.config), "--lang", "en"]
    assert main([*line, "records", "count", "Deals"], held.environment) == 0
    assert json.loads(capsys.readouterr().out)["count"] >= 60
    assert main([*line, "records", "burn", "Deals"], held.environment) == 2
    assert "records list MODULE" in capsys.readouterr().err
