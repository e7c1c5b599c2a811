"""What is made, changed, taken away, acted on and checked, from Python and on the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noarkit.errors import (
    ConfigFault,
    ServiceAway,
    ServiceRefused,
    UsageFault,
)
from noarkit.services.features import write_calls
from noarkit.services.features.commands import COMMANDS
from noarkit.services.features.service import Features
from tests.services.features.asking import connected, items_of, scripted
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing

WHOLE: dict[str, dict[str, object]] = {
    "gates": {"isEnabled": True, "rules": []},
    "dynamic_configs": {"isEnabled": True, "rules": []},
    "experiments": {
        "allocation": 50, "bonferroniCorrection": False, "defaultConfidenceInterval": "95", "groups": [],
        "hypothesis": "", "idType": "userID", "status": "setup", "targetingGateID": None,
    },
}  # fmt: skip


@pytest.mark.parametrize("group", sorted(WHOLE))
def test_a_definition_is_made_changed_found_and_taken_away(features: Features, group: str) -> None:
    made = write_calls.create(features.calls, group, {"name": f"ny {group}", "description": "Ny"})
    one = str(made["id"])
    assert write_calls.update(features.calls, group, one, {"description": "Endret"})["description"] == "Endret"
    told_ = {**WHOLE[group], "description": "Hel"}
    assert write_calls.update(features.calls, group, one, told_, replace_all=True)["description"] == "Hel"
    found = write_calls.get(features.calls, group, one)
    assert found is not None
    assert found["description"] == "Hel"
    assert one in {row["id"] for row in write_calls.find(features.calls, group)}
    with pytest.raises(ServiceRefused):  # names are unique
        write_calls.create(features.calls, group, {"name": f"ny {group}"})
    write_calls.delete(features.calls, group, one)
    assert write_calls.get(features.calls, group, one) is None


def test_of_a_segment_its_rules_or_its_people_are_changed_and_nothing_else(features: Features) -> None:
    made = write_calls.create(features.calls, "segments", {"name": "nytt segment", "type": "rule_based"})
    one = str(made["id"])
    rule = {"name": "Alle", "passPercentage": 100, "conditions": []}
    assert write_calls.update(features.calls, "segments", one, {"rules": [rule]})["rules"] == [rule]
    assert write_calls.update(features.calls, "segments", one, {"ids": ["u1"]})["id"] == one
    for wrong in ({}, {"description": "Endret"}, {"rules": "alle"}, {"rules": [], "description": "x"}):
        with pytest.raises(UsageFault):
            write_calls.update(features.calls, "segments", one, wrong)
    write_calls.act(features.calls, "segments", one, "archive")
    write_calls.delete(features.calls, "segments", one)
    assert write_calls.get(features.calls, "segments", one) is None


def test_what_is_asked_for_in_words_is_carried_out(features: Features) -> None:
    def done(verb: str, one: str = "", told_: dict[str, object] | None = None, group: str = "gates") -> list[str]:
        return [
            str(row.get("id") or row.get("name") or row.get("deleted"))
            for row in COMMANDS.run_on(features, (group, verb, one) if one else (group, verb), told_ or {})
        ]

    assert done("create", "i_ord", {"description": "Ny"}) == ["i_ord"]
    assert done("update", "i_ord", {"isEnabled": False}) == done("get", "i_ord") == ["i_ord"]
    assert "i_ord" in done("list")
    assert done("check", "i_ord", {"userID": "u1"}) == ["i_ord"]
    assert done("delete", "i_ord") == ["i_ord"]
    with pytest.raises(ServiceRefused):
        done("get", "i_ord")
    wrong = (("check", "x", "layers"), ("check", "", "gates"), ("list", "", "keys"), ("steal", "x", "gates"),
             ("create", "x", "metrics"), ("start", "x", "gates"), ("reviews", "x", "segments"))  # fmt: skip
    for verb, one, group in wrong:
        with pytest.raises(UsageFault):
            done(verb, one, group=group)


def test_an_experiment_takes_groups_parameters_and_a_hypothesis_and_is_decided(features: Features) -> None:
    groups = [{"name": "A", "size": 50, "parameterValues": {"farge": "blå"}}]
    told_ = {"name": "nytt_forsok", "groups": groups, "hypothesis": "Blått virker"}
    made = write_calls.create(features.calls, "experiments", told_)
    assert (made["groups"], made["hypothesis"]) == (groups, "Blått virker")
    write_calls.act(features.calls, "experiments", "nytt_forsok", "start")
    decided = write_calls.act(
        features.calls, "experiments", "nytt_forsok", "make_decision", {"id": "A", "decisionReason": "Best"}
    )
    assert (decided["status"], decided["launchedGroupID"]) == ("decision_made", "A")
    assert any(":nytt_forsok:decision:" in item.key for item in items_of(features, "experiments"))
    write_calls.delete(features.calls, "experiments", "nytt_forsok")


@pytest.mark.parametrize("missing", ["name", "size", "parameterValues"])
def test_the_stand_in_refuses_groups_that_lack_what_every_group_has(features: Features, missing: str) -> None:
    whole = {"name": "A", "size": 50, "parameterValues": {"farge": "blå"}}
    name = f"lacks_{missing.casefold()}"
    wrong = {"groups": [whole, {key: value for key, value in whole.items() if key != missing}]}
    with pytest.raises(ServiceRefused, match=re.escape(f"groups[1].{missing} is required")):
        write_calls.create(features.calls, "experiments", {"name": name, **wrong})
    write_calls.create(features.calls, "experiments", {"name": name, "groups": [whole]})
    with pytest.raises(ServiceRefused, match=re.escape(f"groups[1].{missing} is required")):
        write_calls.update(features.calls, "experiments", name, wrong)


def test_gates_are_enabled_launched_and_archived_and_nothing_else(features: Features) -> None:
    write_calls.create(features.calls, "gates", {"name": "bryter"})
    assert write_calls.act(features.calls, "gates", "bryter", "disable")["isEnabled"] is False
    assert write_calls.act(features.calls, "gates", "bryter", "launch")["status"] == "Launched"
    assert write_calls.act(features.calls, "gates", "bryter", "archive")["status"] == "Archived"
    for group, what in (("gates", "make_decision"), ("keys", "enable")):
        with pytest.raises(UsageFault):
            write_calls.act(features.calls, group, "bryter", what)
    write_calls.delete(features.calls, "gates", "bryter")


def test_a_gate_is_checked_on_request_without_an_exposure(held: Standing, features: Features) -> None:
    names = [str(gate["id"]) for gate in list(features.calls.definitions("gates"))[:2]]
    before = held.control("counts")
    assert write_calls.check(features, names[0], {"userID": "u1"})["name"] == names[0]
    assert set(write_calls.check(features, names, {"userID": "u1"})) == set(names)
    after = held.control("counts")
    assert (int(str(after["checks"])) - int(str(before["checks"])), after["exposures"]) == (2, before["exposures"])
    write_calls.check(features, names, {"userID": "u1"}, with_exposure=True)
    assert int(str(held.control("counts")["exposures"])) == int(str(before["exposures"])) + 2
    for wrong in ([], [f"g{number}" for number in range(101)]):
        with pytest.raises(UsageFault):
            write_calls.check(features, wrong, {})


def test_an_event_is_told_with_the_servers_secret(held: Standing, features: Features, tmp_path: Path) -> None:
    before = int(str(held.control("counts")["events"]))
    write_calls.send_event(features, "sendt", {"userID": "u1"}, 1, {"kilde": "prøve"})
    assert held.control("counts")["events"] == before + 1
    with connected(held, tmp_path, http_api_url="") as service, pytest.raises(ConfigFault):
        write_calls.send_event(service, "sendt", {})


def test_a_creation_whose_answer_was_lost_is_looked_for_and_not_sent_again(held: Standing, tmp_path: Path) -> None:
    there: list[dict[str, object]] = []

    def answer(asked: Asked) -> Told:
        if asked.method == "POST":
            there.append({"id": "ny", "name": "ny"})
            return Told(None)
        return told({"data": there, "pagination": {"nextPage": None}})

    with serving(answer) as service, scripted(held, tmp_path, service.url) as found:
        assert write_calls.create(found.calls, "gates", {"name": "ny"})["id"] == "ny"
    assert sum(asked.method == "POST" for asked in service.asked) == 1


def test_a_creation_that_never_came_about_is_told(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        return Told(None) if asked.method == "POST" else told({"data": []})

    with serving(answer) as service, scripted(held, tmp_path, service.url) as found, pytest.raises(ServiceAway):
        write_calls.create(found.calls, "gates", {"name": "ny"})
