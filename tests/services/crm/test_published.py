"""Both sides keep within what is published: how long a call may be, what it must name, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from noarkit.events import ignore_event
from noarkit.services.crm.fields import A_CALL, Fields, readable_fields
from noarkit.services.crm.listing import all_records, listed_by_id, records_by_ids, records_by_page
from noarkit.services.crm.service import Crm, open_service
from noarkit.services.port import Item, Window
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import LATER, PLAIN, Standing, connected, standing

LONGEST = 1_024


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A CRM that nobody changes."""
    with standing("crm", tmp_path_factory.mktemp("crm"), StandinSpec(130)) as found:
        yield found


@pytest.fixture
def crm(held: Standing, tmp_path: Path) -> Iterator[Crm]:
    """A connection of its own."""
    with connected(open_service, held, tmp_path) as service:
        yield service


def asked(held: Standing, crm: Crm, method: str, path: str, **query: str) -> httpx.Response:
    """What the stand-in answers to anybody who has a token."""
    headers = {"Authorization": crm.credential.headers()["Authorization"]}
    url = f"{held.url}/crm/v8{path}"
    return httpx.request(method, url, params=query, headers=headers, trust_env=False, verify=PLAIN)


def test_batches_of_names_are_neither_too_many_nor_too_long() -> None:
    names = tuple(f"A_rather_long_name_of_a_field_{number:03}" for number in range(300))
    batches = Fields(names, frozenset(), {}).batches()
    assert [name for batch in batches for name in batch[1:]] == list(names)
    assert all(len(batch) <= A_CALL and len(",".join(batch)) <= LONGEST for batch in batches)


def test_records_are_asked_for_by_as_many_ids_as_a_call_takes(crm: Crm) -> None:
    fields = crm.fields("Deals")
    whole = list(records_by_page(crm.calls, "Deals", fields, "test"))
    ids = [str(row["id"]) for row in whole]
    assert list(records_by_ids(crm.calls, "Deals", fields, iter([*ids, "1"]))) == whole


def test_a_module_reads_the_same_by_pages_and_by_a_bulk_read(crm: Crm) -> None:
    fields = crm.fields("Deals")
    by_page = {str(row["id"]): row for row in all_records(crm.calls, "Deals", fields, "test", 100_000)}
    in_bulk = {str(row["id"]): row for row in all_records(crm.calls, "Deals", fields, "test", 1)}
    assert in_bulk == by_page
    assert all(isinstance(row["Account_Name"], dict) and row["Account_Name"]["name"] for row in in_bulk.values())


def test_a_module_that_may_not_be_counted_is_read_page_by_page(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(5)) as busy, connected(open_service, busy, tmp_path) as service:
        body = json.dumps({"code": "OAUTH_SCOPE_MISMATCH", "status": "error", "message": "no", "details": {}})
        busy.control("trouble", path="/actions/count", status=401, body=body, times=100)
        items = list(service.items(service.streams()[0], Window(None, LATER), ignore_event))
        assert len(items) == 5
        assert all(isinstance(item, Item) for item in items)


def test_twelve_deals_cost_a_few_credits_and_not_one_each(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(30)) as busy, connected(open_service, busy, tmp_path) as service:
        fields = service.fields("Deals")
        before = int(str(busy.control("counts")["spent"]))
        ids = [str(row["id"]) for row in listed_by_id(service.calls, "Deals", ("Modified_Time",), "test")]
        assert len(list(records_by_ids(service.calls, "Deals", fields, iter(ids[:12])))) == 12
        assert int(str(busy.control("counts")["spent"])) - before == 1 + len(fields.batches())


def test_a_record_is_called_by_the_field_that_its_module_is_named_by(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"api_name": "Account_Name", "data_type": "lookup"},
        {"api_name": "Tilsynsnavn", "data_type": "text", "display_field": True},
    ]
    assert readable_fields(rows).titles()[0] == "Tilsynsnavn"
    with (
        standing("crm", tmp_path, StandinSpec(5)) as busy,
        connected(open_service, busy, tmp_path) as service,
    ):
        look_up = {"id": "77", "name": "Fjord AS"}
        busy.control("change", module="Cases", put=[{"Subject": "", "Account_Name": look_up, "Tag": [{"name": "x"}]}])
        found = [one for one in service.items(service.streams()[1], Window(None, LATER), ignore_event)]
        made = next(one for one in found if isinstance(one, Item) and one.fields["case"]["party"])  # type: ignore[index]  # a table
        assert str(made.fields["title"]).startswith("Cases ")
        assert made.fields["case"]["party"] == "Fjord AS"  # type: ignore[index]  # a table
        assert made.fields["case"]["tags"] == ["x"]  # type: ignore[index]  # a table


@pytest.mark.parametrize(
    ("method", "path", "query"),
    [
        ("GET", "/Deals", {}),
        ("GET", "/Deals", {"fields": "id", "no_such": "1"}),
        ("GET", "/Deals", {"fields": "id", "ids": ",".join(["4150868030000000000"] * 60)}),
        ("GET", "/Deals", {"fields": ",".join(f"Name_{number:020}" for number in range(45))}),
        ("GET", "/Deals/deleted", {"fields": "id"}),
        ("GET", "/Deals/deleted", {"page_token": "x"}),
        ("GET", "/Deals/4150868030000000000/Attachments", {}),
        ("GET", "/Deals/4150868030000000000/Emails", {}),
        ("GET", "/Deals/4150868030000000000/Emails/actions/download_attachments", {"message_id": "1", "id": "1"}),
        ("PATCH", "/Deals", {"fields": "id"}),
        ("DELETE", "/org", {}),
        ("POST", "/settings/modules", {}),
    ],
)
def test_the_stand_in_refuses_what_the_published_service_refuses(
    held: Standing, crm: Crm, method: str, path: str, query: dict[str, str]
) -> None:
    assert asked(held, crm, method, path, **query).status_code in (400, 405)


def test_a_download_bears_its_name(held: Standing, crm: Crm) -> None:
    for deal in records_by_page(crm.calls, "Deals", crm.fields("Deals"), "test"):
        rows = asked(held, crm, "GET", f"/Deals/{deal['id']}/Attachments", fields="File_Name").json()["data"]
        for row in (one for one in rows if "Size" in one):
            got = asked(held, crm, "GET", f"/Deals/{deal['id']}/Attachments/{row['id']}")
            assert got.headers["Content-Disposition"].startswith("attachment; filename*=UTF-8''")
            return
    pytest.fail("no deal has an attachment")


def test_whoever_has_a_role_in_a_deal_is_a_party_of_it_where_that_is_wanted(held: Standing, tmp_path: Path) -> None:
    contacts: dict[bool, list[list[str]]] = {}
    for wanted in (False, True):
        with connected(open_service, held, tmp_path / str(wanted), contact_roles=wanted) as service:
            deals = next(stream for stream in service.streams() if stream.name == "Deals")
            found = [one for one in service.items(deals, Window(None, LATER), ignore_event) if isinstance(one, Item)]
            contacts[wanted] = [one.fields["case"]["contacts"] for one in found]  # type: ignore[index]  # a table
    assert all(len(names) == len(set(names)) for names in contacts[True])
    assert all(set(few) <= set(all_) for few, all_ in zip(contacts[False], contacts[True], strict=True))
    assert sum(map(len, contacts[True])) > sum(map(len, contacts[False])) > 0


def test_related_lists_leads_and_campaigns_are_told_of(held: Standing, crm: Crm) -> None:
    lists = asked(held, crm, "GET", "/settings/related_lists", module="Deals").json()["related_lists"]
    assert {"Notes", "Attachments", "Quotes", "Tasks", "Calls", "Contact_Roles"} <= {one["api_name"] for one in lists}
    for module in ("Leads", "Campaigns", "Tasks"):
        assert asked(held, crm, "GET", f"/{module}", fields="id").json()["data"]


def test_a_refresh_token_gives_ten_access_tokens_in_ten_minutes(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(1)) as busy:
        connection = busy.connection()
        secret, token = connection.secret("client_secret"), connection.secret("refresh_token")
        assert secret is not None and token is not None
        form = {
            "grant_type": "refresh_token",
            "client_id": connection.text("client_id"),
            "client_secret": secret.reveal(),
            "refresh_token": token.reveal(),
        }
        found = [
            httpx.post(f"{busy.url}/oauth/v2/token", data=form, trust_env=False).json().get("error") for _ in range(11)
        ]
        assert found == [None] * 10 + ["Access Denied"]
