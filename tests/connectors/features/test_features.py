"""The interface of the feature-management service, row by row, over real sockets; and each trouble of it."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from starlette.testclient import TestClient

from noarkit.connectors.access.consent import code_of
from noarkit.connectors.features import Features, open_login, open_service, writing
from noarkit.connectors.features.agents import Tools
from noarkit.connectors.features.definitions import audit_moment
from noarkit.connectors.features.settings import read
from noarkit.connectors.inbox.doors import doors
from noarkit.connectors.inbox.hints import read as read_hint
from noarkit.connectors.inbox.receiver import receiver
from noarkit.connectors.inbox.signatures import Seal, prove
from noarkit.connectors.inbox.store import Inbox
from noarkit.connectors.pace import Clock
from noarkit.connectors.port import Deleted, Item, NotFetched, ServiceItem, Window
from noarkit.connectors.settings import Connection
from noarkit.errors import (
    ConfigFault,
    ConsentNeeded,
    ServiceAway,
    ServiceBroken,
    ServiceDenied,
    ServiceRefused,
    ServiceStrange,
    UsageFault,
)
from noarkit.events import nobody
from noarkit.secrets import Secret
from noarkit.standins.serving import Wish
from tests.connectors.scripted import Asked, Told, VirtualClock, serving, told
from tests.connectors.standing import Standing, standing

LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service that nobody changes but by what they make themselves."""
    wish = Wish(330, limits=(), options={"audit": "250"})
    with standing("features", tmp_path_factory.mktemp("features"), wish) as found:
        yield found


@pytest.fixture
def features(held: Standing, tmp_path: Path) -> Iterator[Features]:
    """A connection whose waits take no time."""
    yield from connected(held, tmp_path)


def connected(to: Standing, folder: Path, **more: object) -> Iterator[Features]:
    """A service with a state of its own."""
    clock = VirtualClock(datetime.now(UTC).timestamp())
    settings = {"state": str(folder / "state"), **more}
    service = open_service(to.connection(settings), Clock(clock.now_s, clock.sleep_s))
    try:
        yield service
    finally:
        service.close()


def scripted(held: Standing, folder: Path, url: str, **more: object) -> Iterator[Features]:
    """A connection to a service that answers as it is told."""
    yield from connected(held, folder, console_api_url=url, http_api_url=url, **more)


def all_of(service: Features, name: str, since: datetime | None = None, until: datetime = LATER) -> list[ServiceItem]:
    """The items of a stream."""
    stream = next(stream for stream in service.streams() if stream.name == name)
    return list(service.items(stream, Window(since, until), nobody))


def items_of(service: Features, name: str, since: datetime | None = None) -> list[Item]:
    """Those that are no tidings."""
    return [one for one in all_of(service, name, since) if isinstance(one, Item)]


# GET {console_api_url}/console/v1/gates: rules, status, permalink; paginated


def test_gates_are_listed_through_every_spelling_of_the_next_page(features: Features) -> None:
    gates = list(features.calls.definitions("gates"))
    assert len(gates) > 110
    assert len({gate["id"] for gate in gates}) == len(gates)
    assert all({"rules", "status", "permalink"} <= set(gate) for gate in gates)


def test_each_version_of_a_gate_is_an_item_with_a_key_of_the_services_own_ids(features: Features) -> None:
    items = items_of(features, "gates")
    gates = list(features.calls.definitions("gates"))
    assert len({item.key for item in items}) == len(items) == sum(int(str(gate["version"])) for gate in gates)
    project = features.tenant
    assert all(item.key.startswith(f"{project}:gate:") for item in items)
    assert {item.key.rsplit(":", 1)[1] for item in items} == {"v1", "v2", "v3", "v4"}


@pytest.mark.parametrize(
    "kind",
    ["dynamic_configs", "experiments", "layers", "segments", "param_stores", "autotunes", "holdouts", "metrics"],
)
def test_every_kind_of_definition_is_read_and_the_same_twice(features: Features, kind: str) -> None:
    first, second = items_of(features, kind), items_of(features, kind)
    assert len({item.key for item in first}) == len(first) > 5
    assert [(item.key, item.made) for item in first] == [(item.key, item.made) for item in second]


def test_what_changes_by_itself_is_no_change(features: Features) -> None:
    one = str(next(features.calls.definitions("gates"))["id"])
    looks = [features.calls.definition("gates", one) for _ in range(2)]
    assert looks[0] is not None
    assert looks[1] is not None
    assert looks[0]["checksPerHour"] != looks[1]["checksPerHour"]
    assert all(b"checksPerHour" not in item.made[0].data for item in items_of(features, "gates"))


def test_a_parameter_store_without_times_is_known_by_its_bytes(held: Standing, features: Features) -> None:
    before = {item.key for item in items_of(features, "param_stores")}
    one = str(next(features.calls.definitions("param_stores"))["id"])
    held.control("change", definitions=[{"kind": "param_stores", "id": one, "members": {"displayName": "Nytt"}}])
    after = {item.key for item in items_of(features, "param_stores")}
    assert len(after - before) == len(before - after) == 1
    (new,) = after - before
    assert len(new.rsplit(":", 1)[1]) == 16


def test_a_decision_of_an_experiment_stands_with_what_it_found_out(features: Features) -> None:
    decisions = [item for item in items_of(features, "experiments") if item.kind == "decision"]
    assert decisions
    assert all(":decision:" in item.key and item.fields["reason"] for item in decisions)
    assert all([b"absoluteLift" in made.data for made in item.made] == [False, True] for item in decisions)


def test_earlier_versions_are_walked_only_where_something_changed(held: Standing, features: Features) -> None:
    lately = datetime.now(UTC) - timedelta(minutes=5)
    held.control("change", definitions=[{"kind": "gates", "id": "to_ganger", "members": {"isEnabled": True}}] * 3)
    tails = [item.key for item in items_of(features, "gates", lately) if ":to_ganger:" in item.key]
    assert sorted(key.rsplit(":", 1)[1] for key in tails) == ["v1", "v2", "v3"]
    others = [item.key for item in items_of(features, "gates", lately) if ":to_ganger:" not in item.key]
    assert len(others) == len({key.rsplit(":", 1)[0] for key in others})  # the current one of each


def test_reviews_are_read_and_a_changed_one_is_the_same_item_with_other_bytes(
    held: Standing, features: Features
) -> None:
    before = {item.key: item.made[0].data for item in items_of(features, "reviews")}
    assert len(before) > 50
    gate = next(one for one in features.calls.definitions("gates") if list(features.calls.reviews("gates", one["id"])))  # type: ignore[arg-type]  # its id is a text
    reviews = [dict(one) for one in features.calls.reviews("gates", str(gate["id"]))]
    reviews[0]["status"] = "committed-later"
    held.control("change", reviews=[{"kind": "gates", "id": gate["id"], "reviews": reviews}])
    after = {item.key: item.made[0].data for item in items_of(features, "reviews")}
    assert after.keys() == before.keys()
    changed = f"{features.tenant}:review:{reviews[0]['review_id']}"
    assert [key for key in after if after[key] != before[key]] == [changed]


def test_the_audit_log_is_read_from_a_day_before_the_mark(features: Features) -> None:
    everything = items_of(features, "audit")
    assert len(everything) >= 250
    assert all(item.modified is not None for item in everything)
    since = datetime(2024, 6, 1, 12, tzinfo=UTC)
    later = items_of(features, "audit", since)
    assert 0 < len(later) < len(everything)
    wanted = {item.key for item in everything if item.modified is not None and item.modified >= since}
    assert wanted <= {item.key for item in later}


@pytest.mark.parametrize(
    ("date", "time", "told"),
    [
        ("Mon Sep 26 2022", "23:46:14 GMT+0000 (Coordinated Universal Time)", "2022-09-26T23:46:14+00:00"),
        ("Tue May 02 2023", "00:10:00 GMT+0200 (Central European Summer Time)", "2023-05-01T22:10:00+00:00"),
        ("Wed Dec 31 2025", "22:00:00 GMT-0330", "2026-01-01T01:30:00+00:00"),
        ("man. mai 02 2023", "00:10:00 GMT+0200", None),
        ("Mon Feb 31 2022", "00:00:00 GMT+0000", None),
        ("Mon Sep 26 2022", "23:46:14 GMT+9999", None),
        (None, None, None),
    ],
)
def test_the_odd_times_of_the_audit_log_are_understood_in_any_language(
    date: object, time: object, told: str | None
) -> None:
    found = audit_moment(date, time)
    assert (found.isoformat() if found is not None else None) == told


def test_what_was_deleted_is_told_and_what_came_back_is_not(held: Standing, features: Features) -> None:
    for name in ("borte_for_godt", "kom_igjen"):
        writing.create(features.calls, "gates", {"name": name})
        writing.delete(features.calls, "gates", name)
    writing.create(features.calls, "gates", {"name": "kom_igjen"})
    gone = {one.key for one in all_of(features, "audit") if isinstance(one, Deleted)}
    assert f"{features.tenant}:gate:borte_for_godt:deleted" in gone
    assert f"{features.tenant}:gate:kom_igjen:deleted" not in gone


# never: keys, the people of segments, exposures


def test_no_archive_job_reads_keys_or_people_or_checks_a_gate(held: Standing, features: Features) -> None:
    before = held.control("counts")
    for stream in features.streams():
        all_of(features, stream.name)
    after = held.control("counts")
    for name in ("checks", "exposures", "events", "keys_read", "people_read"):
        assert after[name] == before[name]


def test_secrets_in_definitions_are_left_out_wherever_they_stand(features: Features) -> None:
    items = items_of(features, "dynamic_configs")
    assert all(b"canary" not in item.made[0].data and b"[REMOVED]" in item.made[0].data for item in items)
    assert all("canary" not in str(item.fields) for item in items)
    assert all(b"properties" in item.made[0].data for item in items)  # what is no secret stays as it was written
    logged = items_of(features, "audit")[-5:]
    assert all(b"canary" not in item.made[0].data and b"kari@etaten.example" in item.made[0].data for item in logged)
    assert all(b"12345678901234567890" in item.made[0].data for item in items)  # numbers are exact


def test_people_in_rules_get_names_that_cannot_be_guessed_where_that_is_asked_for(
    held: Standing, tmp_path: Path
) -> None:
    secret = tmp_path / "pseudonyms"
    secret.write_text("en-hemmelig-nokkel\n")
    secret.chmod(0o600)
    for service in connected(held, tmp_path, pseudonym_key={"file": str(secret)}):
        items = [item for item in items_of(service, "gates") if b"conditions" in item.made[0].data]
        assert items
        items += items_of(service, "audit")[-5:]
        assert all(b"[REDACTED sha256:" in item.made[0].data for item in items)
        assert all(b'@etaten.example"]' not in item.made[0].data for item in items)


# header SERVICE-API-KEY (name configurable), optional SERVICE-API-VERSION: 20240601


def test_the_key_and_the_version_go_in_headers_whose_names_are_settings(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        return told({"message": "Read.", "data": {"id": "p1", "name": "Prosjekt"}})

    with serving(answer) as service:
        for named in ({}, {"key_header": "X-Own-Key", "version_header": "X-Own-Version", "api_version": "20990101"}):
            for found in scripted(held, tmp_path, service.url, **named):
                assert found.introduce().tenant == "p1"
    first, last = service.asked[0].headers, service.asked[-1].headers
    assert first["service-api-key"].startswith("console-write")
    assert first["service-api-version"] == "20240601"
    assert last["x-own-key"] == first["service-api-key"]
    assert last["x-own-version"] == "20990101"
    assert "service-api-key" not in last


def test_a_key_that_is_told_back_in_a_refusal_is_not_told_on(held: Standing, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("console-canary-0123456789\n")
    secret.chmod(0o600)
    for service in connected(held, tmp_path, api_key={"file": str(secret)}):
        with pytest.raises(ServiceDenied) as raised:
            service.introduce()
        assert "Invalid API key" in str(raised.value.data)
        assert "canary" not in f"{raised.value!r} {raised.value.data}"


def test_a_key_that_only_reads_cannot_write(tmp_path: Path) -> None:
    with standing("features", tmp_path, Wish(15, limits=(), options={"key": "read", "audit": "0"})) as reading:
        for service in connected(reading, tmp_path):
            assert items_of(service, "gates")
            with pytest.raises(ServiceDenied):
                writing.create(service.calls, "gates", {"name": "ny"})
            assert set(Tools(service).names().values()) == {True}


# list, create, update, delete and check of gates and the matching groups


@pytest.mark.parametrize("group", ["gates", "dynamic_configs", "segments", "experiments"])
def test_a_definition_is_made_changed_found_and_taken_away(features: Features, group: str) -> None:
    made = writing.create(features.calls, group, {"name": f"ny {group}", "description": "Ny"})
    one = str(made["id"])
    assert writing.update(features.calls, group, one, {"description": "Endret"})["description"] == "Endret"
    assert writing.update(features.calls, group, one, {"description": "Hel"}, whole=True)["description"] == "Hel"
    found = writing.get(features.calls, group, one)
    assert found is not None
    assert found["description"] == "Hel"
    assert one in {row["id"] for row in writing.find(features.calls, group)}
    with pytest.raises(ServiceRefused):  # names are unique
        writing.create(features.calls, group, {"name": f"ny {group}"})
    writing.delete(features.calls, group, one)
    assert writing.get(features.calls, group, one) is None


def test_what_is_asked_for_in_words_is_carried_out(features: Features) -> None:
    def done(verb: str, one: str = "", told_: dict[str, object] | None = None, group: str = "gates") -> list[str]:
        return [str(row.get("id") or row.get("name")) for row in writing.carry_out(features, group, verb, one, told_)]

    assert done("create", "i_ord", {"description": "Ny"}) == ["i_ord"]
    assert done("update", "i_ord", {"isEnabled": False}) == done("get", "i_ord") == ["i_ord"]
    assert "i_ord" in done("list")
    assert done("check", "i_ord", {"userID": "u1"}) == ["i_ord"]
    assert done("delete", "i_ord") == []
    with pytest.raises(ServiceRefused):
        done("get", "i_ord")
    wrong = (("check", "x", "segments"), ("check", "", "gates"), ("list", "", "keys"), ("steal", "", "gates"))
    for verb, one, group in wrong:
        with pytest.raises(UsageFault):
            done(verb, one, group=group)


def test_an_experiment_takes_groups_parameters_and_a_hypothesis_and_is_decided(features: Features) -> None:
    groups = [{"name": "A", "size": 50, "parameterValues": {"farge": "blå"}}]
    told_ = {"name": "nytt_forsok", "groups": groups, "hypothesis": "Blått virker"}
    made = writing.create(features.calls, "experiments", told_)
    assert (made["groups"], made["hypothesis"]) == (groups, "Blått virker")
    writing.act(features.calls, "experiments", "nytt_forsok", "start")
    decided = writing.act(
        features.calls, "experiments", "nytt_forsok", "make_decision", {"id": "A", "decisionReason": "Best"}
    )
    assert (decided["status"], decided["launchedGroupID"]) == ("decision_made", "A")
    assert any(":nytt_forsok:decision:" in item.key for item in items_of(features, "experiments"))
    writing.delete(features.calls, "experiments", "nytt_forsok")


def test_gates_are_enabled_launched_and_archived_and_nothing_else(features: Features) -> None:
    writing.create(features.calls, "gates", {"name": "bryter"})
    assert writing.act(features.calls, "gates", "bryter", "disable")["isEnabled"] is False
    assert writing.act(features.calls, "gates", "bryter", "launch")["status"] == "Launched"
    assert writing.act(features.calls, "gates", "bryter", "archive")["status"] == "Archived"
    for group, what in (("gates", "make_decision"), ("keys", "enable")):
        with pytest.raises(UsageFault):
            writing.act(features.calls, group, "bryter", what)
    writing.delete(features.calls, "gates", "bryter")


# POST {http_api_url}/v1/check_gate with service-api-key; POST /v1/webhooks/event_webhook with a server secret


def test_a_gate_is_checked_on_request_without_an_exposure(held: Standing, features: Features) -> None:
    names = [str(gate["id"]) for gate in list(features.calls.definitions("gates"))[:2]]
    before = held.control("counts")
    assert writing.check(features, names[0], {"userID": "u1"})["name"] == names[0]
    assert set(writing.check(features, names, {"userID": "u1"})) == set(names)
    after = held.control("counts")
    assert (int(str(after["checks"])) - int(str(before["checks"])), after["exposures"]) == (2, before["exposures"])
    writing.check(features, names, {"userID": "u1"}, exposed=True)
    assert int(str(held.control("counts")["exposures"])) == int(str(before["exposures"])) + 2
    for wrong in ([], [f"g{number}" for number in range(101)]):
        with pytest.raises(UsageFault):
            writing.check(features, wrong, {})


def test_an_event_is_told_with_the_servers_secret(held: Standing, features: Features, tmp_path: Path) -> None:
    before = int(str(held.control("counts")["events"]))
    writing.send_event(features, "sendt", {"userID": "u1"}, 1, {"kilde": "prøve"})
    assert held.control("counts")["events"] == before + 1
    for service in connected(held, tmp_path, http_api_url=""):
        with pytest.raises(ConfigFault):
            writing.send_event(service, "sendt", {})


# MCP at {http_api_url}/v1/mcp, read and write keys told apart


def test_tools_for_agents_are_listed_and_only_those_that_read_are_called(features: Features) -> None:
    tools = Tools(features)
    assert tools.names() == {
        "Get_List_of_Gates": True, "Get_Gate_Details_by_ID": True, "Get_Audit_Logs": True, "Create_Gate": False,
    }  # fmt: skip
    gate = str(next(features.calls.definitions("gates"))["id"])
    assert gate in tools.call("Get_Gate_Details_by_ID", {"id": gate})
    with pytest.raises(UsageFault):
        tools.call("Create_Gate", {"name": "nei"})
    with pytest.raises(UsageFault):  # a key is all there is
        open_login(features.to)


def test_a_person_consents_to_the_tools_where_the_owner_lets_them(held: Standing, tmp_path: Path) -> None:
    for service in connected(held, tmp_path, mcp_auth="oauth"):
        with pytest.raises(ConsentNeeded):
            Tools(service)
        login = open_login(service.to)
        consent = login.begin()
        answer = httpx.get(consent.url, follow_redirects=False, trust_env=False)
        login.finish(consent, code_of(answer.headers["location"], consent))
        login.close()
        assert "Get_List_of_Gates" in Tools(service).names()
        held.control("expire")
        assert "Get_List_of_Gates" in Tools(service).names()  # the token is renewed
        assert service.introduce().tenant  # and the console goes by its key


def test_an_owner_who_lets_nobody_have_a_key_is_told_plainly(tmp_path: Path) -> None:
    options = {"personal": "refused", "audit": "0"}
    with standing("features", tmp_path, Wish(15, limits=(), options=options)) as strict:
        login = open_login(strict.connection({"state": str(tmp_path / "s"), "mcp_auth": "oauth"}))
        consent = login.begin()
        answer = httpx.get(consent.url, follow_redirects=False, trust_env=False)
        with pytest.raises(ConsentNeeded):
            code_of(answer.headers["location"], consent)
        login.close()


# log exploration


def test_logs_are_explored_by_cursor_to_their_end(features: Features) -> None:
    found = list(features.calls.logs("sendt", 0, 1))
    assert len({row["id"] for row in found}) == len(found) == 250


# troubles


def test_a_creation_whose_answer_was_lost_is_looked_for_and_not_sent_again(held: Standing, tmp_path: Path) -> None:
    there: list[dict[str, object]] = []

    def answer(asked: Asked) -> Told:
        if asked.method == "POST":
            there.append({"id": "ny", "name": "ny"})
            return Told(None)
        return told({"data": there, "pagination": {"nextPage": None}})

    with serving(answer) as service:
        for found in scripted(held, tmp_path, service.url):
            assert writing.create(found.calls, "gates", {"name": "ny"})["id"] == "ny"
    assert sum(asked.method == "POST" for asked in service.asked) == 1


def test_a_creation_that_never_came_about_is_told(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        return Told(None) if asked.method == "POST" else told({"data": []})

    with serving(answer) as service:
        for found in scripted(held, tmp_path, service.url):
            with pytest.raises(ServiceAway):
                writing.create(found.calls, "gates", {"name": "ny"})


def test_a_page_that_comes_again_is_a_fault_and_a_foreign_next_page_is_not_followed(
    held: Standing, tmp_path: Path
) -> None:
    def answer(asked: Asked) -> Told:
        return told({"data": [{"id": "g1"}], "pagination": {"nextPage": "https://elsewhere.example/x?page=2"}})

    with serving(answer) as service:
        for found in scripted(held, tmp_path, service.url):
            with pytest.raises(ServiceStrange):
                list(found.calls.definitions("gates"))
    assert {asked.path for asked in service.asked} == {"/console/v1/gates"}


def test_a_list_that_is_shorter_than_it_says_is_a_fault(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        return told({"data": [{"id": "g1"}], "pagination": {"nextPage": None, "totalItems": 2}})

    with serving(answer) as service:
        for found in scripted(held, tmp_path, service.url):
            with pytest.raises(ServiceStrange):
                list(found.calls.definitions("gates"))


def test_too_many_requests_without_a_word_hold_back_ten_then_thirty_seconds(held: Standing, tmp_path: Path) -> None:
    held.control("trouble", path="/project", status=429, times=2, body="{}")
    clock = VirtualClock(datetime.now(UTC).timestamp())
    service = open_service(held.connection({"state": str(tmp_path / "s")}), Clock(clock.now_s, clock.sleep_s))
    assert service.calls.project()["id"]
    assert [round(slept) for slept in clock.slept if slept > 1][:2] == [10, 30]
    service.close()


@pytest.mark.parametrize("counted", [False, True])
def test_both_windows_are_kept_over_all_threads_in_real_time(tmp_path: Path, counted: bool) -> None:
    options = {"audit": "0", **({"reads": "counted"} if counted else {})}
    with standing("features", tmp_path, Wish(15, limits=((8, 0.3), (20, 1.5)), options=options)) as strict:
        service = open_service(strict.connection({"state": str(tmp_path / "s")}))

        def work(number: int) -> None:
            for place in range(8):
                if counted and place % 2:
                    service.calls.project()
                else:
                    writing.create(service.calls, "gates", {"name": f"g{number}-{place}"})

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        limits = strict.control("counts")["limits"]
        assert isinstance(limits, dict)
        assert (limits["calls"], limits["refused"]) == (32, 0)
        assert limits["most"][0] <= 8
        assert limits["most"][1] <= 20
        service.close()


def test_reads_share_the_windows_of_changes_unless_they_have_their_own(held: Standing, tmp_path: Path) -> None:
    for service in connected(held, tmp_path, read_rates=["shared"]):
        assert service.calls.reading.pace is service.calls.writing.pace
    for service in connected(held, tmp_path, read_rates=["5/s"]):
        assert service.calls.reading.pace is not service.calls.writing.pace


def test_what_is_made_while_a_list_is_read_makes_no_fault(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        page = int(asked.query["page"][0])
        rows = [{"id": f"g{number}"} for number in range(page * 2 - page, page * 2 - page + 2)]
        more = "?page=2" if page == 1 else None
        return told({"data": rows, "pagination": {"nextPage": more, "totalItems": 2 + page}})

    with serving(answer) as service:
        for found in scripted(held, tmp_path, service.url):
            assert [row["id"] for row in found.calls.definitions("gates")] == ["g1", "g2", "g3"]


def test_versions_that_cannot_be_had_are_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    with standing("features", tmp_path, Wish(15, limits=(), options={"audit": "0"})) as troubled:
        for service in connected(troubled, tmp_path):
            whole = len(items_of(service, "gates"))
            first = next(service.calls.definitions("gates"))
            troubled.control("trouble", path="/versions", status=404, times=1)
            found = all_of(service, "gates")
            (lost,) = [one for one in found if isinstance(one, NotFetched)]
            assert lost.key == f"{service.tenant}:gate:{quote(str(first['id']))}:versions"
            assert len(found) - 1 == whole - (int(str(first["version"])) - 1)


def test_a_definition_that_is_deleted_while_reviews_are_read_stops_nothing(held: Standing, features: Features) -> None:
    whole = len(items_of(features, "reviews"))
    held.control("trouble", path="/reviews", status=404, times=1)
    found = all_of(features, "reviews")
    assert sum(isinstance(one, NotFetched) and one.key.endswith(":reviews") for one in found) == 1
    assert whole - 2 <= sum(isinstance(one, Item) for one in found) <= whole


def test_a_service_that_stumbles_is_asked_again_and_one_that_breaks_is_told(held: Standing, features: Features) -> None:
    held.control("trouble", path="/layers", status=503, times=2)
    assert items_of(features, "layers")
    held.control("trouble", path="/layers", status=500, times=7)
    with pytest.raises(ServiceBroken):
        items_of(features, "layers")


# mutation limits 100/10 s and 900/15 min per project, both at once


def test_two_thousand_five_hundred_changes_never_pass_either_window(held: Standing, tmp_path: Path) -> None:
    clock = VirtualClock(0.0)
    settings = {"state": str(tmp_path / "s"), "rates": ["100/10s", "900/900s"], "read_rates": ["shared"]}
    service = open_service(held.connection(settings), Clock(clock.now_s, clock.sleep_s))
    sent = []
    for place in range(2_500):
        client = service.calls.reading if place % 5 == 0 else service.calls.writing
        with client.pace.call("features:standin"):
            sent.append(clock.now_s())
    service.close()
    for most, span in ((100, 10.0), (900, 900.0)):
        within = max(sum(1 for at in sent[place : place + most + 1] if at - sent[place] < span - 1e-6)
                     for place in range(len(sent)))  # fmt: skip
        assert within == most
    assert 1_855 < sent[-1] < 1_870


def test_the_default_limits_leave_room_for_people_in_the_console(held: Standing) -> None:
    found = read(Connection("features", "x", {"console_api_url": held.url}, {}))
    assert [(rate.calls, rate.seconds) for rate in found.rates] == [(90, 10.0), (850, 900.0)]
    assert found.read_rates is None


# outbound webhook of exposures and configuration changes, verified by X-Service-Signature


def vectors(reference: Path) -> list[tuple[bytes, str]]:
    """Messages and their signatures as the reference has them, of one secret and one time."""
    told_ = (reference / "appsec-and-features.md").read_text("utf-8")
    found = re.findall(r"`(\{\"data\":\[\{.*)`\s+→ `(v0=[0-9a-f]{64})`", told_)
    return [(body.replace("⏎", "\n").encode(), signature) for body, signature in found]


def test_messages_of_the_reference_are_proven_and_others_are_not(reference: Path) -> None:
    known = vectors(reference)
    assert len(known) == 2
    seal = Seal(
        "stamped",
        (Secret("another-secret-0123"), Secret("whsec_test_0123456789abcdef")),
        "x-service-signature",
        "x-service-request-timestamp",
    )
    for body, signature in known:
        headers = {"x-service-signature": signature, "x-service-request-timestamp": "1709660061500"}
        assert prove(seal, headers, body, 1_709_660_061.5).why == ""
        assert prove(seal, headers, body, 1_709_660_061.5 + 301).why == "stale"
        again = json.dumps(json.loads(body)).encode()
        assert prove(seal, headers, again, 1_709_660_061.5).why == "signature"


def test_a_webhook_is_set_up_and_changes_are_told_signed_and_kept_once(held: Standing, tmp_path: Path) -> None:
    kept = Inbox(tmp_path / "inbox.db")
    to = held.connection()
    (door,) = doors([to]).values()
    came = threading.Event()

    with TestClient(receiver({door.path: door}, kept)) as listening:

        def answer(asked: Asked) -> Told:
            found = [listening.post(door.path, content=asked.body, headers=dict(asked.headers)) for _ in range(2)]
            if "verification_code" not in found[0].text:
                came.set()
            return Told(found[0].status_code, found[0].content)

        with serving(answer) as service:
            assert held.control("webhook", url=service.url + door.path)["verified"] is True
            for made in connected(held, tmp_path):
                writing.create(made.calls, "gates", {"name": "blåbær_gate"})
                assert came.wait(10)
                writing.delete(made.calls, "gates", "blåbær_gate")
        hints = list(kept.hints(to.where))
        assert hints[0].event.endswith("::config_change")
        assert hints[0].ids == ("Gate:blåbær_gate",)
        assert len({hint.number for hint in hints}) == len(hints) <= 2
        for forged in (b"[]", b"{", b'{"data":[{"eventName":"x"}]}'):
            headers = {"X-Service-Signature": "v0=00", "X-Service-Request-Timestamp": str(int(time.time()))}
            assert listening.post(door.path, content=forged, headers=headers).status_code == 401
    kept.close()


def test_exposures_come_as_a_bare_list_and_only_what_they_are_about_is_kept(held: Standing, tmp_path: Path) -> None:
    heard: list[Asked] = []
    came = threading.Event()

    def answer(asked: Asked) -> Told:
        told_ = json.loads(asked.body)
        if isinstance(told_, dict):
            return told({"verification_code": told_["data"]["verification_code"]})
        heard.append(asked)
        came.set()
        return told({})

    with serving(answer) as service:
        held.control("webhook", url=service.url)
        user = {"userID": "u1", "email": "kari@etaten.example"}
        held.control("tell", message=[{"eventName": "service::gate_exposure", "userID": "u1", "user": user}])
        assert came.wait(10)
    (door,) = doors([held.connection()]).values()
    assert prove(door.seal, heard[0].headers, heard[0].body, time.time()).why == ""
    event, ids = read_hint("features", heard[0].headers, heard[0].body)
    assert (event, ids) == ("service::gate_exposure", ())
