"""The client rules of the reference (its section 6) that concern a CRM, each by its number."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.errors import ServiceBusy, ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.services.crm.listing import listed_by_id, records_by_page, records_in_bulk
from noarkit.services.crm.service import Crm, open_service
from noarkit.services.standins.server import StandinSpec
from noarkit.services.wire import Request
from tests.services.scripted import Answering, Asked, Told, one_after_another, serving, told
from tests.services.standing import Standing, all_of, connected, standing


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A CRM that gives tokens; what it answers is scripted by the tests."""
    with standing("crm", tmp_path_factory.mktemp("crm"), StandinSpec(3)) as found:
        yield found


@contextmanager
def scripted(held: Standing, folder: Path, answer: Answering) -> Iterator[Crm]:
    """A CRM whose answers are told; its tokens are the stand-in's."""
    with serving(answer) as other, connected(open_service, held, folder, org_id="1") as service:
        service.calls.client.base = other.url
        yield service


def fielded(**answers: Told) -> Answering:
    """A module of two fields; `answers` by the end of a path."""
    fields = told({"fields": [{"api_name": name, "data_type": "text"} for name in ("id", "Modified_Time", "Name")]})

    def answer(asked: Asked) -> Told:
        if asked.path.endswith("/settings/fields"):
            return fields
        return next((one for end, one in answers.items() if asked.path.endswith(end)), told({}, 204))

    return answer


def test_1_204_on_a_list_is_an_empty_list_and_304_is_nothing_new(held: Standing, tmp_path: Path) -> None:
    for status in (204, 304):
        with scripted(held, tmp_path, one_after_another(Told(status, b""))) as service:
            since = datetime(2026, 1, 1, tzinfo=UTC)
            assert service.calls.page("/Deals", ("id",), None).rows == ()
            assert service.calls.deleted_page("Deals", None, since).rows == ()
    with (
        standing("crm", tmp_path / "there", StandinSpec(2)) as there,
        connected(open_service, there, tmp_path) as service,
    ):
        later = datetime.now(UTC) + timedelta(days=1)
        asked = Request(
            "GET", service.calls.client.url("/crm/v8/Deals"), (("fields", "id"),),
            {"If-Modified-Since": later.isoformat(timespec="seconds")},
        )  # fmt: skip
        assert service.calls.client.ask(asked).status == 304


@pytest.mark.parametrize(
    ("name", "info"),
    [
        ("the same token again", {"more_records": True, "next_page_token": "a"}),
        ("no token where pages end", {"more_records": True, "next_page_token": None}),
    ],
)
def test_2_a_list_that_does_not_get_on_is_a_fault(held: Standing, tmp_path: Path, name: str, info: object) -> None:
    rows = [{"id": str(number), "Modified_Time": "2026-01-01T00:00:00+00:00"} for number in range(3)]
    with (
        scripted(held, tmp_path, fielded(Deals=told({"data": rows, "info": info}))) as service,
        pytest.raises(ServiceStrange),
    ):
        list(records_by_page(service.calls, "Deals", service.fields("Deals"), name))


@pytest.mark.parametrize("rows", [[], [{"id": "1", "Modified_Time": "2026-01-01T00:00:00+00:00"}]])
def test_2_more_records_is_true_with_empty_or_known_data_and_a_new_token_each_time(
    held: Standing, tmp_path: Path, rows: list[object]
) -> None:
    count = 0

    def answer(asked: Asked) -> Told:
        nonlocal count
        if asked.path.endswith("/settings/fields"):
            return fielded()(asked)
        count += 1
        more = {"more_records": count < 50, "next_page_token": f"t{count}"}
        return told({"data": rows, "info": more})

    with scripted(held, tmp_path, answer) as service, pytest.raises(ServiceStrange):
        list(records_by_page(service.calls, "Deals", service.fields("Deals"), "test"))
    assert count <= 4, "it is not asked for ever"


def test_2_a_list_of_emails_that_promises_more_and_does_not_say_where_is_a_fault(
    held: Standing, tmp_path: Path
) -> None:
    answer = told({"Emails": [{"message_id": "a"}], "info": {"more_records": True}})
    with scripted(held, tmp_path, fielded(Emails=answer)) as service, pytest.raises(ServiceStrange) as fault:
        service.calls.emails("Deals", "1", "2", None)
    assert fault.value.data["why"] == "list-incomplete"


def test_2_a_query_that_answers_fewer_rows_than_were_asked_for_is_gone_on_with(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        after = int(json.loads(asked.body)["select_query"].partition("id > ")[2].split()[0])
        data = [{"id": str(number)} for number in range(after + 1, min(after + 4, 11))]
        return told({"data": data, "info": {"more_records": after + 4 < 11}}) if data else told({}, 204)

    with scripted(held, tmp_path, answer) as service:
        found = [str(row["id"]) for row in listed_by_id(service.calls, "Deals", (), "test")]
        assert found == [str(number) for number in range(1, 11)]


def test_3_a_token_service_that_is_throttled_with_400_is_waited_for(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(3)) as there:
        body = json.dumps(
            {"error": "Access Denied", "error_description": "You have made too many requests continuously"}
        )
        there.control("trouble", path="/oauth/v2/token", status=400, body=body, times=2)
        with connected(open_service, there, tmp_path) as service:
            assert service.calls.modules()
            assert sum(service.calls.client.clock.sleep_s.__self__.slept) >= 120  # type: ignore[attr-defined]  # a VirtualClock's
            there.control("trouble", path="/oauth/v2/token", status=400, body=body, times=1_000)
            there.control("expire")
            with pytest.raises(ServiceBusy):
                service.calls.modules()


def tables(job: str, content: bytes, more: Mapping[str, bytes] | None = None) -> Answering:
    """A bulk read that ends at once, with this table."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, data in {f"{job}.csv": content, **(more or {})}.items():
            file.writestr(name, data)

    def answer(asked: Asked) -> Told:
        if asked.method == "POST":
            return told({"data": [{"details": {"id": job, "state": "ADDED"}}]}, 201)
        if asked.path.endswith("/result"):
            return Told(200, packed.getvalue())
        if asked.path.endswith("/settings/fields"):
            return fielded()(asked)
        return told({"data": [{"id": job, "state": "COMPLETED", "result": {"more_records": False}}]})

    return answer


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with-a-mark"])
def test_5_bulk_cells_keep_quotes_commas_line_feeds_and_other_scripts(
    held: Standing, tmp_path: Path, mark: bytes
) -> None:
    cells = ['En "avtale", med\r\nlinjeskift\nog 日本語', "", " luft ", "=1+1", "a;b"]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["Id", "Name"])
    writer.writerows([[str(number), cell] for number, cell in enumerate(cells)])
    with scripted(held, tmp_path, tables("77", mark + text.getvalue().encode())) as service:
        found = list(records_in_bulk(service.calls, "Deals", service.fields("Deals")))
        assert [row["Name"] for row in found] == [cell or None for cell in cells]
        assert [row["id"] for row in found] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("content", [b"Id,Name\r\n", b"", b"\xef\xbb\xbfId,Name\n"])
def test_5_a_bulk_table_of_zero_rows_is_an_empty_module(held: Standing, tmp_path: Path, content: bytes) -> None:
    with scripted(held, tmp_path, tables("78", content)) as service:
        assert list(records_in_bulk(service.calls, "Deals", service.fields("Deals"))) == []


def test_5_an_unknown_state_of_a_bulk_job_is_waited_for_and_then_given_up(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        if asked.method == "POST":
            return told({"data": [{"details": {"id": "79"}}]}, 201)
        if asked.path.endswith("/settings/fields"):
            return fielded()(asked)
        return told({"data": [{"id": "79", "state": "A NEW STATE"}]})

    with scripted(held, tmp_path, answer) as service, pytest.raises(ServiceBusy):
        list(records_in_bulk(service.calls, "Deals", service.fields("Deals")))


def test_8_a_record_without_owner_title_or_amount_is_a_case_all_the_same(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(2)) as there:
        there.control("change", module="Cases", put=[{"id": None, "Subject": "x", "Owner": None, "Created_By": None}])
        with connected(open_service, there, tmp_path) as service:
            found = all_of(service, "Cases")
            assert len(found) == service.calls.count("Cases")
            assert all(getattr(item, "kind", "") == "record" for item in found)


def test_a_secret_in_the_place_of_a_code_is_never_repeated(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path, org_id="1") as service:
        token = service.credential.grant().access_token
        for status in (400, 403):
            with serving(one_after_another(told({"code": token, "status": "error"}, status))) as other:
                service.calls.client.base = other.url
                with pytest.raises((ServiceDenied, ServiceRefused)) as caught:
                    service.calls.modules()
            assert token not in repr((caught.value, caught.value.data)) and "***" in str(caught.value)


def test_a_refresh_that_is_refused_is_not_asked_again(held: Standing, tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(2)) as there, connected(open_service, there, tmp_path) as service:
        service.calls.modules()
        body = json.dumps({"code": "INVALID_TOKEN", "status": "error"})
        there.control("trouble", path="/crm/v8/settings/modules", status=401, times=5, body=body)
        with pytest.raises(ServiceDenied):
            service.calls.modules()
        assert there.control("counts")["troubles_met"] == 2, "once with the old token, once with the new"
