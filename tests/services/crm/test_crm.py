"""The CRM's interface, row by row, against a stand-in over real sockets; and each trouble a client must bear."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest

from noarkit.errors import (
    AllowanceSpent,
    ConsentNeeded,
    ItemVanished,
    NoarkitError,
    ServiceBroken,
    ServiceBusy,
    ServiceDenied,
    ServiceRefused,
)
from noarkit.graph.entity import Content
from noarkit.services.crm import channels as watch
from noarkit.services.crm.letters import build_letter
from noarkit.services.crm.listing import deleted_records, listed_by_id, query_by_id, records_by_page, records_in_bulk
from noarkit.services.crm.service import Crm, open_service
from noarkit.services.crm.write_calls import delete, insert, update, upsert, write_values
from noarkit.services.port import FetchFailure, Item
from noarkit.services.standins.server import StandinSpec
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, all_of, connected, standing
from tests.waiting import PATIENCE_S

RECORDS = 60


@pytest.fixture(scope="module")
def crm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the stand-in's config lies."""
    return tmp_path_factory.mktemp("crm")


@pytest.fixture(scope="module")
def held(crm_folder: Path) -> Iterator[Standing]:
    """A CRM that nobody changes."""
    with standing("crm", crm_folder, StandinSpec(RECORDS)) as found:
        yield found


@pytest.fixture
def crm(held: Standing, tmp_path: Path) -> Iterator[Crm]:
    """A connection of its own."""
    with connected(open_service, held, tmp_path) as service:
        yield service


def test_a_token_is_shown_with_the_prefix_of_the_service_and_lives_an_hour(crm: Crm) -> None:
    assert crm.credential.headers()["Authorization"].startswith("Service-oauthtoken ")
    grant = crm.credential.grant()
    assert grant.ends_at_s - grant.renew_at_s == 60
    assert crm.introduce().tenant == crm.tenant


def test_modules_are_listed_and_those_that_hold_cases_are_read(crm: Crm) -> None:
    assert {str(row["api_name"]) for row in crm.calls.modules()} >= {"Deals", "Accounts", "Inspections"}
    assert [stream.name for stream in crm.streams()] == [
        "Deals",
        "Cases",
        "Inspections",
        "Quotes",
        "Sales_Orders",
        "Purchase_Orders",
        "Invoices",
        "Tasks",
        "Calls",
        "Notes",
        "Attachments",
        "Emails",
    ]


@pytest.mark.parametrize("module", ["Deals", "Accounts", "Inspections"])
def test_records_of_standard_and_custom_modules_are_read_whole(crm: Crm, module: str) -> None:
    fields = crm.fields(module)
    found = list(records_by_page(crm.calls, module, fields, "test"))
    assert len(found) == crm.calls.count(module)
    assert len({row["id"] for row in found}) == len(found)
    times = [str(row["Modified_Time"]) for row in found]
    assert times == sorted(times)


def test_more_fields_than_a_call_takes_are_put_together(crm: Crm) -> None:
    fields = crm.fields("Deals")
    assert len(fields.names) > 50
    assert len(fields.batches()) == 2
    row = next(records_by_page(crm.calls, "Deals", fields, "test"))
    assert {"Deal_Name", "Extra_50"} <= set(row)


def test_private_fields_are_told_by_the_service(crm: Crm) -> None:
    assert crm.fields("Contacts").private == {"Email", "Phone"}


def test_a_module_that_may_not_be_read_is_told_and_the_rest_goes_on(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path, modules=["Locking_Information__s", "Cases"]) as service:
        found = all_of(service, "Locking_Information__s")
        assert [type(one) for one in found] == [FetchFailure]
        assert found[0].reason == "NO_PERMISSION"  # type: ignore[union-attr]  # it is the one above
        assert all_of(service, "Cases")


def test_page_2001_needs_a_token_and_gets_one(tmp_path: Path) -> None:
    with (
        standing("crm", tmp_path, StandinSpec(2_300)) as large,
        connected(open_service, large, tmp_path) as service,
    ):
        found = list(records_by_page(service.calls, "Deals", service.fields("Deals"), "test"))
        assert len({row["id"] for row in found}) == 2_300


def test_notes_emails_and_attachments_know_their_case(crm: Crm) -> None:
    for stream, kind in (("Notes", "note"), ("Attachments", "attachment"), ("Emails", "email")):
        items = [one for one in all_of(crm, stream) if isinstance(one, Item)]
        assert items
        for item in items:
            assert item.kind == kind
            case = item.fields["case"]
            assert isinstance(case, dict)
            assert str(case["key"]).startswith(f"{crm.tenant}:")
            assert item.key.startswith(f"{crm.tenant}:")


def test_every_attachment_opens_with_the_bytes_it_promised(crm: Crm) -> None:
    contents = [content for one in all_of(crm, "Attachments") if isinstance(one, Item) for content in one.contents]
    contents += [content for one in all_of(crm, "Emails") if isinstance(one, Item) for content in one.contents]
    assert len(contents) > 10
    for content in contents:
        with crm.open(content) as source:
            assert len(source.read()) == content.size_bytes


def test_an_attachment_that_is_gone_is_no_empty_file(crm: Crm) -> None:
    item = next(one for one in all_of(crm, "Attachments") if isinstance(one, Item) and one.contents)
    gone = Content(item.contents[0].locator + "99", "x", 1)
    with pytest.raises(ItemVanished), crm.open(gone) as source:
        source.read()


def test_an_email_is_put_together_and_says_so() -> None:
    email: dict[str, object] = {
        "message_id": "m1",
        "subject": "Æres være\r\nBcc: x@example.org",
        "from": {"user_name": "Øyvind Ås", "email": "o@example.org"},
        "to": [{"user_name": 'A "b"', "email": "a@example.org"}, {"user_name": None, "email": "ñ@example.org"}],
        "sent_time": "2026-01-02T03:04:05+01:00",
        "content": "Hei,\r\n\x0b" + "å" * 2_000,
        "mail_format": "text",
    }
    made = message_from_bytes(build_letter(email), policy=default)
    assert made["X-Reconstructed"]
    assert made["Subject"] == "Æres være Bcc: x@example.org"
    assert made["Bcc"] is None
    assert "å" * 2_000 in made.get_content()
    assert build_letter(email) == build_letter(email)


def test_bulk_reads_give_the_same_records(crm: Crm) -> None:
    fields = crm.fields("Accounts")
    one_by_one = {row["id"]: row["Account_Name"] for row in records_by_page(crm.calls, "Accounts", fields, "test")}
    assert {row["id"]: row["Account_Name"] for row in records_in_bulk(crm.calls, "Accounts", fields)} == one_by_one


@pytest.mark.parametrize(
    ("fate", "fault"),
    [("fails", ServiceBroken), ("never", ServiceBusy), ("two", NoarkitError), ("climbs", NoarkitError)],
)
def test_bulk_jobs_that_go_wrong_end(tmp_path: Path, fate: str, fault: type[Exception]) -> None:
    with (
        standing("crm", tmp_path, StandinSpec(20, options={"bulk": fate})) as odd,
        connected(open_service, odd, tmp_path) as service,
        pytest.raises(fault),
    ):
        list(records_in_bulk(service.calls, "Accounts", service.fields("Accounts")))


def test_bulk_tables_with_a_mark_and_several_pages_are_read(tmp_path: Path) -> None:
    with (
        standing("crm", tmp_path, StandinSpec(50, options={"bulk": "bom", "bulk-rows": "20"})) as odd,
        connected(open_service, odd, tmp_path) as service,
    ):
        assert len(list(records_in_bulk(service.calls, "Deals", service.fields("Deals")))) == 50


def test_records_are_listed_by_id_and_deletions_are_told(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(30)) as busy, connected(open_service, busy, tmp_path) as service:
        ids = [str(row["id"]) for row in records_by_page(service.calls, "Deals", service.fields("Deals"), "t")]
        since = datetime.now(UTC) - timedelta(minutes=1)
        busy.control("change", module="Deals", put=[{"id": ids[3], "Stage": "Closed Won"}, {"Deal_Name": "Ny"}])
        busy.control("change", module="Deals", delete=[ids[5]])
        found = list(listed_by_id(service.calls, "Deals", ("Modified_Time", "Deal_Name"), "t"))
        assert [str(row["Deal_Name"]) for row in found if row["Deal_Name"] == "Ny"] == ["Ny"]
        assert sorted(int(str(row["id"])) for row in found) == [int(str(row["id"])) for row in found]
        assert {str(row["id"]) for row in found} > {*ids} - {ids[5]}
        assert len(found) == 30
        assert [str(row["id"]) for row in deleted_records(service.calls, "Deals", since, "t")] == [ids[5]]


@pytest.mark.parametrize(("module", "name"), [("Deals; drop", "id"), ("Deals", "id from Users")])
def test_a_query_names_nothing_but_modules_and_fields(module: str, name: str) -> None:
    with pytest.raises(NoarkitError):
        query_by_id(module, (name,), 7)


def test_writes_go_by_the_hundred_and_each_record_has_its_result(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(5)) as busy, connected(open_service, busy, tmp_path) as service:
        good = [{"Deal_Name": f"Avtale {number}", "Contract_Number": f"N-{number}"} for number in range(150)]
        done = list(insert(service.calls, "Deals", [*good, {"Stage": "no name"}], "Contract_Number"))
        assert [one.good for one in done] == [True] * 150 + [False]
        assert done[150].field == "Deal_Name"
        changes = [{"id": one.id, "Archive_Id": f"A-{one.place}"} for one in done if one.good]
        assert all(one.good for one in update(service.calls, "Deals", changes))
        values = {done[0].id: "A-0", done[1].id: "B-1", "999": "C"}
        outcomes = {one.id: one.state for one in write_values(service.calls, "Deals", "Archive_Id", values)}
        assert outcomes == {done[0].id: "same", done[1].id: "written", "999": "refused"}
        again = list(upsert(service.calls, "Deals", good[:3], ["Contract_Number"]))
        assert [one.id for one in again] == [one.id for one in done[:3]]
        gone = list(delete(service.calls, "Deals", [done[0].id, "999"]))
        assert [one.good for one in gone] == [True, False]
        assert service.calls.record("Deals", done[0].id) is None
        counts = busy.control("counts")
        assert counts["held"]["Deals"] == 5 + 150 - 1  # type: ignore[index]  # a table


def test_an_insert_whose_answer_is_lost_is_looked_for_and_not_doubled(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(5)) as busy, connected(open_service, busy, tmp_path) as service:
        record = {"Deal_Name": "En gang", "Contract_Number": "U-1"}
        assert [one.good for one in insert(service.calls, "Deals", [record], "Contract_Number")] == [True]
        busy.control("trouble", path="/Deals", status=500)
        (found,) = insert(service.calls, "Deals", [record], "Contract_Number")
        assert found.good and found.code == "FOUND"
        busy.control("trouble", path="/Deals", status=500)
        (lost,) = insert(service.calls, "Deals", [{"Deal_Name": "x", "Contract_Number": "U-2"}], "Contract_Number")
        assert lost.doubtful
        names = [
            row["Contract_Number"] for row in records_by_page(service.calls, "Deals", service.fields("Deals"), "t")
        ]
        assert names.count("U-1") == 1


def test_a_channel_tells_of_changes_that_fit_its_conditions(tmp_path: Path) -> None:
    heard: list[Asked] = []
    came = threading.Event()

    def receive(asked: Asked) -> Told:
        heard.append(asked)
        came.set()
        return told({})

    with (
        standing("crm", tmp_path, StandinSpec(5)) as busy,
        serving(receive) as receiver,
        connected(open_service, busy, tmp_path) as service,
    ):
        now = datetime.now(UTC)
        conditions = {"Deals": ["Stage", "Amount"]}
        channel = watch.open_channel(
            service.calls, receiver.url + "/crm", ["Deals.edit", "Deals.create"], now, conditions
        )
        assert len(channel.secret.reveal()) == 32
        assert [row["channel_id"] for row in watch.channels(service.calls)] == [channel.id]
        ids = [str(row["id"]) for row in records_by_page(service.calls, "Deals", service.fields("Deals"), "t")]
        list(update(service.calls, "Deals", [{"id": ids[0], "Description": "ikke noe å melde"}]))
        list(update(service.calls, "Deals", [{"id": ids[1], "Stage": "Closed Won"}]))
        assert came.wait(PATIENCE_S)
        assert len(heard) == 1
        assert ids[1].encode() in heard[0].body
        assert channel.secret.reveal().encode() in heard[0].body
        renewed = watch.renew(service.calls, channel, now + timedelta(days=5))
        assert renewed.secret != channel.secret
        assert renewed.secret_before == channel.secret and renewed.fields == channel.fields
        assert watch.needs_renewal(channel, now + timedelta(days=4)) and not watch.needs_renewal(channel, now)
        watch.close_channels(service.calls, [channel.id])
        assert list(watch.channels(service.calls)) == []
        with pytest.raises(ServiceRefused):
            watch.close_channels(service.calls, [channel.id])


def test_eight_threads_with_a_dead_token_renew_it_once(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path) as service:
        service.calls.modules()
        before = held.control("counts")["exchanges"]
        held.control("expire")
        threads = [threading.Thread(target=service.calls.modules) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert held.control("counts")["exchanges"] == before + 1  # type: ignore[operator]  # a number


def test_a_dead_refresh_token_asks_for_consent(held: Standing, tmp_path: Path) -> None:
    secret = tmp_path / "dead"
    secret.write_text("1000.dead.dead")
    secret.chmod(0o600)
    with (
        connected(open_service, held, tmp_path, refresh_token={"file": str(secret)}) as service,
        pytest.raises(ConsentNeeded),
    ):
        service.introduce()


def test_a_wrong_token_says_that_the_region_may_be_wrong(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path, auth_prefix="Bearer") as service:
        with pytest.raises(ServiceDenied) as caught:
            service.calls.modules()
        assert caught.value.data["why"] == "token-or-region"


def test_credits_are_counted_as_they_cost_and_left_to_others(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(60, options={"credits": "40"})) as poor:
        with connected(open_service, poor, tmp_path, credits_floor=15) as service:
            with pytest.raises(AllowanceSpent):
                for _ in range(60):
                    service.calls.modules()
            assert poor.control("counts")["spent"] <= 25  # type: ignore[operator]  # a number
        with connected(open_service, poor, tmp_path, credits_most=3) as service, pytest.raises(AllowanceSpent):
            for _ in range(6):
                service.calls.modules()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_trouble_is_borne(held: Standing, tmp_path: Path, status: int) -> None:
    held.control("trouble", path="/settings/modules", status=status, times=2)
    with connected(open_service, held, tmp_path) as service:
        assert service.calls.modules()


def test_limits_are_never_passed_and_nearly_used(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(5, limits=((20, 1.0),))) as strict:
        service = open_service(strict.connection({"state": str(tmp_path / "s"), "rates": ["20/1s"]}))
        service.calls.modules()
        for _ in range(60):
            service.calls.modules()
        counts = strict.control("counts")["limits"]
        assert counts["refused"] == 0  # type: ignore[index]  # a table
        assert counts["most"] == [20]  # type: ignore[index]  # a table
        service.close()


def test_a_mandatory_parameter_is_never_forgotten(crm: Crm) -> None:
    with pytest.raises(ServiceRefused):
        crm.calls.get("/Deals")
