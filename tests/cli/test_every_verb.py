"""Every verb of every service, on every module, register, group and kind, for a person and for a script: whatever a
service tells, it is shown. Decimals are shown as they were written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from noarkit.cli.console import to_json
from noarkit.cli.main import main
from noarkit.service_names import service_names
from noarkit.services.registry import verbs_of
from noarkit.services.standins.server import StandinSpec
from noarkit.words.texts import LANGUAGES
from tests.services.standing import Standing, standing

FREE = ((1_000_000, 60.0),)
Step = tuple[Sequence[str], dict[str, object]]
REGISTERS = ("tag-groups", "tags", "tax-codes", "vendors", "companies", "employees", "subscriptions", "accounts")
GROUPS = ("gates", "dynamic_configs", "segments", "experiments", "layers", "param_stores", "holdouts", "autotunes")
DENIED = ("Locking_Information__s",)  # listed there, and nobody is let in
USER: dict[str, object] = {"userID": "u-1"}


class Asking:
    """A person at a terminal, and then a script, who ask the same."""

    def __init__(self, held: Standing, capsys: pytest.CaptureFixture[str]) -> None:
        self._held = held
        self._capsys = capsys

    def say(self, *words: str, told: dict[str, object] | None = None, exit_code: int = 0) -> list[dict[str, object]]:
        """What is answered, asked as a script; a person reads it first where asking changes nothing."""
        line = ["connect", f"{self._held.service}:standin", *words, "--config", str(self._held.config)]
        line += ["--arguments", json.dumps(told)] if told is not None else []
        if words[1] in READING or words[-1] in READING:
            code = main(line, self._held.environment)
            shown = self._capsys.readouterr()
            assert code == exit_code, (words, shown.err)
            assert "F900" not in shown.err
            _parsed_one_after_another(shown.out)
        code = main([*line, "--json"], self._held.environment)
        shown = self._capsys.readouterr()
        assert code == exit_code, (words, shown.out)
        found = [json.loads(one, parse_float=Decimal) for one in shown.out.splitlines()]
        assert found[-1]["event"] == "summary"
        return [one["result"] for one in found if one["event"] == "tool_result"]


READING = frozenset(
    {
        "list",
        "tags",
        "last-scan",
        "branches",
        "get",
        "show",
        "count",
        "deleted",
        "related",
        "items",
        "wait",
        "reviews",
        "check",
    }
)


def _parsed_one_after_another(text: str) -> None:
    """Each answer that a person reads is JSON of its own."""
    decoder, place = json.JSONDecoder(), 0
    while place < len(text.rstrip()):
        _, place = decoder.raw_decode(text, place)
        while place < len(text) and text[place].isspace():
            place += 1


@pytest.fixture
def asking(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Asking]:
    """A service that may be changed."""
    wish = StandinSpec(6, limits=FREE, options={"auth": "key"} if request.param == "spend" else {})
    with standing(request.param, tmp_path, wish) as held:
        yield Asking(held, capsys)


@pytest.mark.parametrize("asking", ["crm"], indirect=True)
def test_a_crm_shows_every_module(asking: Asking) -> None:
    modules = [str(one["api_name"]) for one in asking.say("modules", "list")]
    assert len(modules) > 5
    decimals = 0
    for module in modules:
        if module in DENIED:
            asking.say("records", "list", module, exit_code=6)
            continue
        asking.say("fields", "list", module)
        records = asking.say("records", "list", module)
        decimals += any(isinstance(value, Decimal) for record in records for value in record.values())
        asking.say("records", "count", module)
        asking.say("records", "deleted", module)
        for record in records[:1]:
            one = str(record["id"])
            assert asking.say("records", "get", module, one)[0]["id"] == one
            asking.say("records", "related", module, one, "Notes")
    assert decimals, "amounts are decimal numbers"
    (made,) = asking.say("records", "create", "Deals", told={"records": [{"Deal_Name": "Ny", "Amount": 12.5}]})
    asking.say("records", "delete", "Deals", str(made["id"]))
    opened = asking.say("notifications", "open", "https://hooks.example.org", told={"events": ["Deals.edit"]})
    asking.say("notifications", "list")
    asking.say("notifications", "renew")
    asking.say("notifications", "close", str(opened[0].get("id") or opened[0].get("channel_id")))


@pytest.mark.parametrize("asking", ["spend"], indirect=True)
def test_a_spend_service_shows_every_register(asking: Asking) -> None:
    for register in REGISTERS:
        for row in asking.say(register, "list")[:1]:
            assert asking.say(register, "get", str(row["id"]))[0]["id"] == row["id"]
    (tax, *_) = asking.say("tax-codes", "list")
    assert isinstance(tax["rate"], Decimal)
    (changed,) = asking.say("tax-codes", "update", str(tax["id"]), told={"name": "Endret"})
    assert changed["rate"] == tax["rate"], "a decimal goes back as it came"
    assert asking.say("tax-codes", "archive", str(tax["id"]))[0]["archived"] is True
    asking.say("tax-codes", "delete", str(tax["id"]))
    (job, *_) = asking.say("jobs", "list")
    one = str(job["id"])
    for verb in ("get", "items", "wait"):
        items = asking.say("jobs", verb, one)
        if verb == "items":
            asking.say("entries", "get", str(items[0]["accountingEntryId"]))
    asking.say("installation", "show")
    asking.say("installation", "activate")


@pytest.mark.parametrize("asking", ["appsec"], indirect=True)
def test_a_security_service_shows_every_kind(asking: Asking) -> None:
    for kind in ("project", "application"):
        (made,) = asking.say(kind, "create", told={"name": f"ny {kind}"})
        one = str(made["id"])
        assert asking.say(kind, "get", one)[0]["id"] == one
        assert asking.say(kind, "set", one, told={"criticality": 5})[0]["criticality"] == 5
        assert one in {row["id"] for row in asking.say(kind, "list")}
        asking.say(kind, "delete", one)
    scan = str(next(row["id"] for row in asking.say("scan", "list") if row["status"] == "Completed"))
    asking.say("scan", "get", scan)
    asking.say("scan", "wait", scan)
    found = asking.say("results", "show", scan)[0]["results"]
    engines = {str(one["type"]) for one in found}  # type: ignore[attr-defined]  # a list of tables
    for engine in sorted(engines):
        kept = asking.say("results", "show", scan, engine)[0]["results"]
        assert kept and {one["type"] for one in kept} == {engine}  # type: ignore[attr-defined]  # the same
    asking.say("scan", "tags")
    asking.say("project", "tags")
    owner = str(asking.say("scan", "get", scan)[0]["projectId"])
    assert asking.say("project", "last-scan", owner)[0]["projectId"] == owner
    assert asking.say("project", "branches", owner)
    asking.say("vulnerability", "list", scan)
    (hook,) = asking.say("webhook", "create", told={"url": "https://hooks.example.org"})
    asking.say("webhook", "list")
    asking.say("webhook", "delete", str(hook["id"]))
    project = str(asking.say("project", "list")[0]["id"])
    (order,) = asking.say("scan", "create", project, told={"repoUrl": "https://git.example.org/x.git"})
    asking.say("scan", "cancel", str(order["id"]))
    asking.say("scan", "delete", str(order["id"]))


@pytest.mark.parametrize("asking", ["features"], indirect=True)
def test_a_feature_service_shows_every_group(asking: Asking) -> None:
    for group in (*GROUPS, "metrics"):
        for row in asking.say(group, "list")[:1]:
            one = str(row.get("id") or row["name"])
            if group != "metrics":
                asking.say(group, "get", one)
            if group in ("gates", "dynamic_configs", "experiments"):
                asking.say(group, "reviews", one)
            if group in ("gates", "dynamic_configs", "experiments", "segments"):
                asking.say(group, "check", one, told=USER)
    asking.say("audit", "list")
    asking.say("logs", "list")
    asking.say("events", "send", "sendt", told={"user": USER, "value": 12.5})


def test_decimals_are_written_as_they_came_and_no_text_becomes_a_number() -> None:
    told = {"a": Decimal("12.50"), "b": [Decimal("1E+3"), Decimal("-0.0001")], "c": "12.50", "d": Decimal("NaN")}
    assert to_json(told) == '{"a": 12.50, "b": [1E+3, -0.0001], "c": "12.50", "d": "NaN"}'
    assert '"a": 12.50' in to_json(told, indent=2)


@pytest.mark.parametrize("service", service_names())
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_help_of_connect_shows_every_verb_of_the_service_that_is_named(
    service: str, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["connect", f"{service}:main", "--help", "--lang", lang], {}) == 0
    shown = " ".join(capsys.readouterr().out.split())
    verbs = list(verbs_of(service))
    assert verbs
    assert [
        f"{resource} {verb.usage}" for resource, verb in verbs if verb.usage not in shown or resource not in shown
    ] == []
    assert main(["connect", "--help", "--lang", lang], {}) == 0
    assert f"noarkit connect {service} --help" in capsys.readouterr().out
