"""The interface of the feature-management service, clause by clause, over real sockets. What each of its parts comes to
in an archive, what is changed by words, tools, limits and messages have files of their own beside this one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.errors import ConfigFault, ServiceDenied, ServiceStrange
from noarkit.services.features import write_calls
from noarkit.services.features.commands import COMMANDS
from noarkit.services.features.service import Features
from noarkit.services.port import Item
from noarkit.services.standins.server import StandinSpec
from tests.services.features.asking import all_of, connected, items_of, scripted
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, standing

# GET and POST {console_api_url}/console/v1/gates: rules, status, permalink; paginated


def test_gates_are_read_with_rules_status_and_permalink(features: Features) -> None:
    gates = list(features.calls.definitions("gates"))
    assert all({"rules", "status", "permalink"} <= set(gate) for gate in gates)
    document = next(item.generated[1].data for item in items_of(features, "gates"))
    assert all(name in document for name in (b'"rules":', b'"status":', b'"permalink":'))


def test_gates_are_paginated_and_next_page_is_believed_only_to_say_that_there_is_more(
    held: Standing, tmp_path: Path
) -> None:
    with (
        standing("features", tmp_path, StandinSpec(570, limits=(), options={"audit": "0"})) as many,
        connected(many, tmp_path) as found,
    ):
        gates = list(found.calls.definitions("gates"))  # its nextPage is spelt in ways that lead anywhere
    assert len({gate["id"] for gate in gates}) == len(gates) > 200
    spellings = ["elsewhere.example/x", "https://elsewhere.example/y", "/console/v1/wrong?page=9", "?page=9", None]

    def answer(asked: Asked) -> Told:
        page = int(asked.query["page"][0])
        return told({"data": [{"id": f"g{page}"}], "pagination": {"nextPage": spellings[page - 1]}})

    with serving(answer) as service:
        with scripted(held, tmp_path, service.url) as found:
            assert [row["id"] for row in found.calls.definitions("gates")] == ["g1", "g2", "g3", "g4", "g5"]
        assert [asked.query["page"] for asked in service.asked] == [["1"], ["2"], ["3"], ["4"], ["5"]]
        assert {asked.path for asked in service.asked} == {"/console/v1/gates"}
        assert {asked.query["limit"][0] for asked in service.asked} == {"100"}


def test_a_list_ends_where_it_has_no_pagination_or_nothing_on_a_page(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        if asked.path.endswith("/layers"):
            return told({"data": [{"id": "l1"}]})
        page = int(asked.query["page"][0])
        rows = [{"id": "g1"}] if page == 1 else []
        return told({"data": rows, "pagination": {"nextPage": f"?page={page + 1}"}})

    with serving(answer) as service, scripted(held, tmp_path, service.url) as found:
        assert [row["id"] for row in found.calls.definitions("layers")] == ["l1"]
        assert [row["id"] for row in found.calls.definitions("gates")] == ["g1"]


def test_a_gate_is_made_with_its_rules(features: Features) -> None:
    rule = {"name": "Alle", "passPercentage": 100, "conditions": [{"type": "public"}]}
    made = write_calls.create(features.calls, "gates", {"name": "med_regler", "rules": [rule], "isEnabled": True})
    assert (made["rules"], made["status"]) == ([rule], "In Progress")
    write_calls.delete(features.calls, "gates", "med_regler")


# POST …/experiments: groups, parameters, hypothesis


def test_an_experiment_is_made_with_groups_parameters_and_a_hypothesis_and_archived_with_them(
    features: Features,
) -> None:
    groups = [
        {"name": "Kontroll", "size": 50, "parameterValues": {"farge": "grå"}},
        {"name": "Prøve", "size": 50, "parameterValues": {"farge": "blå", "antall": 12345678901234567890}},
    ]
    body = {"name": "blaa_knapp", "groups": groups, "hypothesis": "Blå knapp gir flere søknader"}
    made = write_calls.create(features.calls, "experiments", body)
    assert (made["groups"], made["hypothesis"]) == (groups, body["hypothesis"])
    (item,) = [one for one in items_of(features, "experiments") if ":blaa_knapp:" in one.key]
    assert str(body["hypothesis"]).encode() in item.generated[1].data
    assert b'"parameterValues":{"antall":12345678901234567890,"farge":"bl\xc3\xa5"}' in item.generated[1].data
    write_calls.delete(features.calls, "experiments", "blaa_knapp")


# dynamic configs, layers, metrics, segments, parameter stores, automated tuning


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        ("dynamic_configs", b'"defaultValue":'),
        ("layers", b'"parameters":[{'),
        ("metrics", b'"directionality":'),
        ("segments", b'"type":"rule_based"'),
        ("param_stores", b'"displayName":'),
        ("autotunes", b'"successEvent":'),
        ("holdouts", b'"passPercentage":'),
    ],
)
def test_each_kind_of_definition_is_read_with_what_it_has_of_its_own(
    features: Features, kind: str, member: bytes
) -> None:
    items = items_of(features, kind)
    assert items
    assert any(member in item.generated[1].data for item in items)
    assert {item.kind for item in items} == {"version"}


def test_the_ids_of_people_in_segments_are_never_asked_for_or_kept(held: Standing, tmp_path: Path) -> None:
    people = {"id": "s1", "name": "s1", "type": "id_list", "ids": ["user-1"], "id_list": ["user-2"], "count": 2}

    def answer(asked: Asked) -> Told:
        return told({"data": {"id": "p1"} if asked.path.endswith("/project") else [people]})

    with serving(answer) as service:
        with scripted(held, tmp_path, service.url) as found:
            (item,) = items_of(found, "segments")
        assert not [asked.path for asked in service.asked if "id_list" in asked.path]
    assert b"user-" not in item.generated[1].data
    assert "user-" not in str(item.fields)


# reviews, audit logs, log exploration


def test_reviews_are_read_of_gates_dynamic_configs_and_experiments(features: Features) -> None:
    reviews = items_of(features, "reviews")
    assert {item.fields["kind"] for item in reviews} == {"gate", "dynamic_config", "experiment"}
    assert all(item.kind == "review" and item.fields["state"] and item.fields["author"] for item in reviews)
    known = list(COMMANDS.run_on(features, ("gates", "reviews", str(reviews[0].fields["definition"])), {}))
    assert reviews[0].key.rsplit(":", 1)[1] in {review["review_id"] for review in known}


def test_the_audit_log_is_read_whole_and_by_days(features: Features) -> None:
    everything = [one for one in all_of(features, "audit") if isinstance(one, Item)]
    assert len(everything) >= 100
    day = datetime(2024, 6, 1, tzinfo=UTC)
    some = list(write_calls.audit(features.calls, {"from": "2024-06-01", "to": "2024-06-30"}))
    end = day + timedelta(days=30)
    assert len(some) == sum(item.modified is not None and day <= item.modified < end for item in everything) > 0


def test_logs_are_explored_by_cursor_to_their_end_and_no_stream_reads_them(features: Features) -> None:
    found = list(write_calls.logs(features, {"query": "sendt", "hours": 2}))
    assert len({row["id"] for row in found}) == len(found) == 250
    assert "logs" not in {stream.name for stream in features.streams()}


# header SERVICE-API-KEY (name configurable), optional SERVICE-API-VERSION: 20240601


def headers_of(held: Standing, folder: Path, **named: object) -> dict[str, str]:
    """The headers that a call bears."""
    with serving(lambda asked: told({"data": {"id": "p1", "name": "Prosjekt"}})) as service:
        with scripted(held, folder, service.url, **named) as found:
            assert found.introduce().tenant == "p1"
        return dict(service.asked[0].headers)


def test_the_key_goes_in_a_header_whose_name_is_a_setting(held: Standing, tmp_path: Path) -> None:
    usual = headers_of(held, tmp_path)
    assert usual["service-api-key"].startswith("console-read")
    other = headers_of(held, tmp_path, key_header="X-Own-Key")
    assert other["x-own-key"] == usual["service-api-key"]
    assert "service-api-key" not in other


def test_the_version_is_told_unless_it_is_set_to_none_and_its_header_is_a_setting(
    held: Standing, tmp_path: Path
) -> None:
    assert headers_of(held, tmp_path)["service-api-version"] == "20240601"
    other = headers_of(held, tmp_path, version_header="X-Own-Version", api_version="20990101")
    assert (other["x-own-version"], "service-api-version" in other) == ("20990101", False)
    assert "service-api-version" not in headers_of(held, tmp_path, api_version="")


def test_a_key_that_is_told_back_in_a_refusal_is_not_told_on(held: Standing, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("console-canary-0123456789\n")
    secret.chmod(0o600)
    with connected(held, tmp_path, api_key={"file": str(secret)}) as service:
        with pytest.raises(ServiceDenied) as raised:
            service.introduce()
        assert "Invalid API key" in str(raised.value.data)
        assert "canary" not in f"{raised.value!r} {raised.value.data}"


def test_a_key_that_only_reads_cannot_write_and_one_that_writes_is_shown_for_nothing_else(
    held: Standing, tmp_path: Path
) -> None:
    with (
        standing("features", tmp_path, StandinSpec(15, limits=(), options={"key": "read", "audit": "0"})) as reading,
        connected(reading, tmp_path) as service,
    ):
        assert items_of(service, "gates")
        with pytest.raises(ServiceDenied):
            write_calls.create(service.calls, "gates", {"name": "nytt"})

    def answer(asked: Asked) -> Told:
        return told({"data": {"id": "g1", "name": "g1"} if asked.method == "POST" else [{"id": "g1", "name": "g1"}]})

    with serving(answer) as server:
        with scripted(held, tmp_path, server.url) as service:
            list(service.calls.definitions("gates"))
            write_calls.create(service.calls, "gates", {"name": "gate2"})
        shown = [(asked.method, asked.headers["service-api-key"][:12]) for asked in server.asked]
    assert shown == [("GET", "console-read"), ("POST", "console-writ")]


# POST {http_api_url}/v1/check_gate with service-api-key, never called by an archive job; POST
# /v1/webhooks/event_webhook with a server secret


def test_a_gate_is_checked_with_the_servers_key_and_none_is_without_one(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        return told({"name": "g", "value": True, "rule_id": "r", "group_name": None})

    with serving(answer) as service:
        with scripted(held, tmp_path, service.url) as found:
            assert write_calls.check(found, "g", {"userID": "u1"})["value"] is True
        (asked,) = service.asked
    assert (asked.method, asked.path) == ("POST", "/v1/check_gate")
    assert asked.headers["service-api-key"].startswith("secret-")
    assert b'"exposureLoggingDisabled":true' in asked.body
    with connected(held, tmp_path, http_api_url="") as found, pytest.raises(ConfigFault):
        write_calls.check(found, "g", {})


def test_an_archive_job_never_checks_a_gate_reads_a_key_or_asks_for_people(held: Standing, features: Features) -> None:
    before = held.control("counts")
    for stream in features.streams():
        all_of(features, stream.name)
        all_of(features, stream.name, datetime(2024, 1, 1, tzinfo=UTC))
    after = held.control("counts")
    for name in ("checks", "exposures", "events", "keys_read", "people_read"):
        assert after[name] == before[name]


def test_an_event_goes_to_the_event_webhook_with_the_servers_secret(held: Standing, tmp_path: Path) -> None:
    with serving(lambda asked: told({"success": True}, 202)) as service:
        with scripted(held, tmp_path, service.url) as found:
            write_calls.send_event(found, "sendt", {"userID": "u1"}, 1, {"kilde": "prøve"})
        (asked,) = service.asked
    assert (asked.method, asked.path) == ("POST", "/v1/webhooks/event_webhook")
    assert asked.headers["service-api-key"].startswith("secret-")
    assert b'"event":"sendt"' in asked.body
    with (
        serving(lambda asked: told([])) as service,
        scripted(held, tmp_path, service.url) as found,
        pytest.raises(ServiceStrange),
    ):
        write_calls.send_event(found, "sendt", {})
