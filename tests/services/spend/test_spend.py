"""The interface of the spend service, row by row, over real sockets; and each trouble a client of it must bear."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from noarkit.errors import ConsentNeeded, ServiceRefused, UsageFault
from noarkit.events import Event, ignore_event
from noarkit.services.access.consent import code_of
from noarkit.services.port import Deletion, FetchFailure, Item, Omission, ServiceItem, Window
from noarkit.services.spend import write_calls
from noarkit.services.spend.money import format_amount
from noarkit.services.spend.service import Spend, open_login, open_service
from noarkit.services.standins.server import StandinSpec
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import LATER, Standing, all_of, connected, standing

FREE = ((1_000_000, 60.0),)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service that nobody changes."""
    with standing("spend", tmp_path_factory.mktemp("spend"), StandinSpec(150, limits=FREE)) as found:
        yield found


@pytest.fixture
def spend(held: Standing, tmp_path: Path) -> Iterator[Spend]:
    """A connection of its own, by a key that does not change."""
    with connected(open_service, held, tmp_path) as service:
        yield service


def test_entries_that_are_final_come_once_with_their_receipts(spend: Spend) -> None:
    items = [one for one in all_of(spend, "entries") if isinstance(one, Item)]
    assert len({item.key for item in items}) == len(items) > 80
    assert {item.kind for item in items} == {"entry", "bill"}
    assert any(len(item.contents) > 1 for item in items)
    for item in items:
        data = item.fields["data"]
        assert isinstance(data, dict)
        assert data["status"] == "COMPLETED"
        assert len(item.contents) == len(data["receiptIds"])
        assert [made.media_type for made in item.generated] == ["text/plain", "application/json"]
        assert not item.generated_first


def test_receipts_are_originals_of_the_size_they_promise_and_our_token_does_not_go_there(
    held: Standing, spend: Spend
) -> None:
    items = [one for one in all_of(spend, "entries") if isinstance(one, Item) and one.contents]
    for item in items[:20]:
        for content in item.contents:
            with spend.open(content) as source:
                assert len(source.read()) == content.size_bytes
    assert held.control("counts")["troubles_met"] == 0


def test_an_address_that_has_run_out_is_asked_for_anew(held: Standing, spend: Spend) -> None:
    item = next(one for one in all_of(spend, "entries") if isinstance(one, Item) and one.contents)
    held.control("trouble", path="/files/", status=403, times=1)
    with spend.open(item.contents[0]) as source:
        assert source.read()


def test_codes_stand_with_their_names(spend: Spend) -> None:
    item = next(one for one in all_of(spend, "entries") if isinstance(one, Item))
    data = item.fields["data"]
    assert isinstance(data, dict)
    assert data["account"]["name"].startswith("Konto")
    assert all({"tagId", "code", "name"} <= set(tag) for tag in data["tags"])


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_export_jobs_are_read_in_every_version_and_never_started(held: Standing, tmp_path: Path, version: int) -> None:
    with connected(open_service, held, tmp_path, export_version=version) as service:
        items = [one for one in all_of(service, "jobs") if isinstance(one, Item)]
        assert {str(item.fields["status"]) for item in items} <= {"completed", "completed_with_errors", "failed"}
        assert bool(service.introduce().remarks) == (version == 0)
        pending = [job for job in service.calls.jobs(version) if job["status"] == "pending"]
        assert pending  # they are there, and are not taken before they ended
        with pytest.raises(ServiceRefused):
            service.calls.write("POST", f"/v{version}/export-jobs", {})


def test_items_tell_what_became_of_them_and_the_oldest_versions_keep_three_members(
    held: Standing, tmp_path: Path
) -> None:
    for version, kept in ((1, {"accountingEntryId", "status", "failureReason"}), (3, None)):
        with connected(open_service, held, tmp_path / str(version), export_version=version) as service:
            (*_, item) = (one for one in all_of(service, "jobs") if isinstance(one, Item))
            entries = json.loads(item.generated[1].data)["items"]
            assert entries
            for one in entries:
                assert kept is None or set(one) == kept
                assert one["accountingEntryId"]


def test_registers_are_snapshots_of_a_year_and_employees_are_codes_alone(spend: Spend) -> None:
    items = [one for one in all_of(spend, "registers") if isinstance(one, Item)]
    assert {str(item.fields["name"]) for item in items} >= {"employees", "vendors", "accounts", "tax-codes", "tags"}
    (employees,) = (item for item in items if item.fields["name"] == "employees")
    assert b"@" not in employees.generated[1].data
    assert b"E001" in employees.generated[1].data


def test_accounts_are_archived_and_tag_groups_take_their_three_members(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path) as service:
        account = write_calls.create(service.calls, "accounts", {"code": "9999", "name": "Prøve"})
        assert (account["archived"], account["externalId"]) == (False, "9999")
        assert write_calls.archive(service.calls, "accounts", str(account["id"]))["archived"] is True
        write_calls.delete(service.calls, "accounts", str(account["id"]))
        group = write_calls.create_tag_group(service.calls, "Prosjekt", "PRO", is_archived=True)
        assert (group["name"], group["code"], group["archived"]) == ("Prosjekt", "PRO", True)
        write_calls.delete(service.calls, "tag-groups", str(group["id"]))
        with pytest.raises(UsageFault):
            write_calls.create(service.calls, "payments", {})


def test_an_api_key_is_a_user_name_without_a_password(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(30, limits=FREE, options={"auth": "key"})) as keyed:
        service = open_service(keyed.connection({"state": str(tmp_path / "s")}))
        shown_key = service.calls.client.credential
        assert shown_key is not None
        kind, _, pair = shown_key.headers()["Authorization"].partition(" ")
        assert kind == "Basic"
        assert base64.b64decode(pair).decode().endswith(":")
        assert service.introduce().account
        service.close()
        with pytest.raises(UsageFault):
            open_login(keyed.connection())


def test_a_refresh_token_is_good_once_and_the_next_is_kept_first(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path) as service:
        service.introduce()
        for _ in range(3):
            held.control("expire")
            threads = [threading.Thread(target=service.calls.introspect) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert service.introduce().tenant


def test_an_answer_lost_while_renewing_asks_for_consent_plainly(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path) as service:
        held.control("trouble", path="/oauth/token", status=599)
        with pytest.raises(Exception, match="F35"):
            service.introduce()
        with pytest.raises(ConsentNeeded):
            service.introduce()


def test_what_was_granted_in_one_environment_never_reaches_another(held: Standing, tmp_path: Path) -> None:
    heard: list[Asked] = []

    def other(asked: Asked) -> Told:
        heard.append(asked)
        return told({"error": "invalid_grant"}, 400)

    with connected(open_service, held, tmp_path) as service:
        service.introduce()
        token = service.calls.client.credential.headers()["Authorization"]  # type: ignore[union-attr]  # it has one
        with serving(other) as production:
            state = {"state": str(tmp_path / "state"), "api_url": production.url, "auth_url": production.url}
            moved = open_service(held.connection(state))
            with pytest.raises(ConsentNeeded):
                moved.introduce()
            moved.close()
        assert all(token not in str(asked.headers) for asked in heard)


def test_a_first_consent_takes_pkce_and_the_secret_in_a_header(held: Standing, tmp_path: Path) -> None:
    to = held.connection({"state": str(tmp_path / "state")})
    login = open_login(to)
    consent = login.begin()
    answer = httpx.get(consent.url, follow_redirects=False, trust_env=False)
    login.finish(consent, code_of(answer.headers["location"], consent))
    login.close()
    service = open_service(to)
    assert service.introduce().account
    service.close()


def test_a_token_in_the_query_is_not_taken(held: Standing) -> None:
    answer = httpx.get(f"{held.url}/v1/introspect?access_token=x", trust_env=False)
    assert answer.status_code == 401


def test_six_hundred_a_minute_is_shared_and_never_passed(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(40, limits=((15, 1.0),))) as strict:
        services = [open_service(strict.connection({"state": str(tmp_path / "s")})) for _ in range(2)]  # of two runs

        def ask(number: int) -> None:
            for _ in range(10):
                services[number % 2].calls.introspect()

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counts = strict.control("counts")["limits"]
        assert counts["refused"] == 0  # type: ignore[index]  # a table
        assert counts["most"] == [15]  # type: ignore[index]  # a table
        for service in services:
            service.close()


def test_deleted_entries_are_told_and_late_receipts_are_new_versions(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(40, limits=FREE)) as held:
        service = open_service(held.connection({"state": str(tmp_path / "s")}))
        before = [one for one in all_of(service, "entries") if isinstance(one, Item)]
        late = str(before[0].key.rsplit(":", 1)[1])
        gone = str(before[1].key.rsplit(":", 1)[1])
        held.control("receipt", entry=late)
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        held.control("change", entries=[{"id": gone, "deletedAt": now}])
        after = all_of(service, "entries")
        assert [one.key for one in after if isinstance(one, Deletion)] == [before[1].key + ":deleted"]
        found = next(one for one in after if isinstance(one, Item) and one.key == before[0].key)
        assert len(found.contents) == len(before[0].contents) + 1
        service.close()


def test_amounts_are_exact_in_every_currency() -> None:
    assert format_amount({"currency": "NOK", "minors": 123450}) == "1234.50 NOK"
    assert format_amount({"currency": "JPY", "minors": -7}) == "-7 JPY"
    assert format_amount({"currency": "KWD", "minors": 5}) == "0.005 KWD"
    assert format_amount({"currency": "NOK", "minors": 99999999999999999}) == "999999999999999.99 NOK"
    assert format_amount(None) == ""


def test_a_window_takes_what_was_settled_in_it(spend: Spend) -> None:
    everything = [one for one in all_of(spend, "entries") if isinstance(one, Item)]
    middle = datetime(2025, 1, 1, tzinfo=UTC)
    later = [one for one in all_of(spend, "entries", middle) if isinstance(one, Item)]
    assert 0 < len(later) < len(everything)
    assert {one.key for one in later} < {one.key for one in everything}
    assert spend.look_back >= timedelta(days=30)


OLD = "2024-02-01T10:00:00.000Z"
LONG_AGO = {"status": "COMPLETED", "exportStatus": "NOT_EXPORTED", "settledAt": OLD, "bookkeepingDate": OLD}
LATE, OTHER = "00000000-0000-4000-9000-000000000001", "00000000-0000-4000-9000-000000000002"


def read(service: Spend, since: datetime | None, again: tuple[str, ...] = ()) -> list[ServiceItem]:
    """The entries of a window."""
    stream = next(one for one in service.streams() if one.name == "entries")
    return list(service.items(stream, Window(since, LATER, again=again), ignore_event))


def taken(items: list[ServiceItem]) -> set[str]:
    """The entries among items, by their own ids."""
    return {one.key.rsplit(":", 1)[1] for one in items if isinstance(one, Item)}


def test_an_entry_settled_long_ago_is_taken_once_an_export_took_it(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(5, limits=FREE)) as there:
        there.control("change", entries=[{"id": LATE, **LONG_AGO}, {"id": OTHER, **LONG_AGO}])
        with connected(open_service, there, tmp_path) as service:
            first = read(service, None)
            assert not {LATE, OTHER} & taken(first)
            shelf = service.again()["entries"]
            assert {LATE, OTHER} <= set(shelf)
            now = datetime.now(UTC)
            assert read(service, now, tuple(shelf)) != [], "what is still not final is told again"
            assert set(service.again()["entries"]) == set(shelf), "and stays on the shelf"
            there.control("export", entries=[LATE])
            assert taken(read(service, now, tuple(shelf))) == {LATE}, "by the shelf"
            assert LATE not in service.again()["entries"]
            assert OTHER in service.again()["entries"]
            assert taken(read(service, now)) == {LATE}, "by the items of the job, where nothing stands on a shelf"


def test_a_long_shelf_is_compared_with_what_is_not_exported_yet(tmp_path: Path) -> None:
    ids = [f"00000000-0000-4000-9000-{number:012d}" for number in range(130)]
    with standing("spend", tmp_path, StandinSpec(5, limits=FREE)) as there:
        there.control("change", entries=[{"id": one, **LONG_AGO} for one in ids])
        with connected(open_service, there, tmp_path) as service:
            read(service, None)
            shelf = service.again()["entries"]
            there.control("change", entries=[{"id": ids[7], "exportStatus": "EXPORTED"}])
            before = there.control("counts")["limits"]["calls"]  # type: ignore[index]  # a table
            assert taken(read(service, datetime.now(UTC), tuple(shelf))) == {ids[7]}
            asked = there.control("counts")["limits"]["calls"] - before  # type: ignore[index]  # a table
            assert asked < 20, "not one call for each"
            assert set(service.again()["entries"]) == set(shelf) - {ids[7]}


def test_an_entry_that_is_gone_leaves_the_shelf(tmp_path: Path) -> None:
    with (
        standing("spend", tmp_path, StandinSpec(5, limits=FREE)) as there,
        connected(open_service, there, tmp_path) as service,
    ):
        assert read(service, datetime.now(UTC), (LATE,)) == []
        assert service.again()["entries"] == ()


def test_what_is_left_out_is_told_with_its_reason(spend: Spend) -> None:
    left = [one for one in all_of(spend, "entries") if isinstance(one, Omission)]
    assert {one.reason for one in left} == {"wallet", "cashback"}, "what is not settled is in no window of settled ones"


def test_transfers_within_the_service_are_taken_where_that_is_set(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path, with_internal=True) as service:
        assert not [one for one in all_of(service, "entries") if isinstance(one, Omission)]


def test_what_never_will_be_final_is_told_so_and_not_waited_for(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(5, limits=FREE)) as there:
        there.control("change", entries=[{"id": LATE, **LONG_AGO, "status": "REJECTED"}])
        with connected(open_service, there, tmp_path) as service:
            left = {one.key.rsplit(":", 1)[1]: one.reason for one in read(service, None) if isinstance(one, Omission)}
            assert left[LATE] == "never-final"
            assert LATE not in service.again()["entries"]


def test_a_register_that_we_are_not_let_into_is_set_aside_and_the_rest_is_read(tmp_path: Path) -> None:
    scopes = "accounting-entries:read companies:read users:read tax-codes:read tag-groups:read export-jobs:read"
    heard: list[Event] = []
    with (
        standing("spend", tmp_path, StandinSpec(12, limits=FREE, options={"scopes": scopes})) as there,
        connected(open_service, there, tmp_path) as service,
    ):
        assert service.introduce().account
        found = all_of(service, "registers")
        assert [one.key.split(":")[2] for one in found if isinstance(one, FetchFailure)] == ["vendors", "accounts"]
        assert len([one for one in found if isinstance(one, Item)]) == 5
        stream = next(one for one in service.streams() if one.name == "entries")
        entries = list(service.items(stream, Window(None, LATER), heard.append))
        assert len(taken(entries)) >= 12
    assert {event.data["key"] for event in heard if event.name == "remark"} == {"vendors", "accounts"}


def test_a_shop_is_named_before_a_vendor_and_a_bill_by_the_vendor_in_the_books(spend: Spend) -> None:
    items = [one for one in all_of(spend, "entries") if isinstance(one, Item)]
    assert all(one.fields["supplier"] != "Ukjent leverandør" for one in items)
    bill = next(one for one in items if one.kind == "bill")
    assert bill.fields["supplier_number"]
    shop = next(one for one in items if one.kind == "entry")
    told = shop.fields["data"]
    assert isinstance(told, dict)
    assert shop.fields["supplier"] == told["merchant"]["name"]


def test_archived_tags_keep_their_codes_on_old_entries(spend: Spend) -> None:
    (tags,) = (one for one in all_of(spend, "registers") if isinstance(one, Item) and one.fields["name"] == "tags")
    assert sum(row["archived"] for row in json.loads(tags.generated[1].data)) == 3


def test_an_entry_has_a_page_that_a_person_reads_and_its_documents_have_titles(spend: Spend) -> None:
    item = next(one for one in all_of(spend, "entries") if isinstance(one, Item) and one.contents)
    page = next(one for one in item.generated if one.media_type == "text/plain")
    text = page.data.decode()
    assert f"Leverandør: {item.fields['supplier']}" in text
    assert f"Beløp: {item.fields['amount']}" in text
    assert item.papers[item.contents[0].locator].title.endswith(str(item.fields["title"]))
