"""What is common to the commands of all services: which arguments they take, and what is said of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import UsageFault
from noarkit.service_names import BUILT_IN
from noarkit.services.commands import Closable, CommandTable, Verb
from noarkit.services.registry import find_kind
from noarkit.services.standins.server import StandinSpec
from tests.services.appsec.there import newest
from tests.services.standing import Standing, standing

Captured = pytest.CaptureFixture[str]
OBJECTS_OF_THE_SERVICE = {
    "create", "update", "check",  # definitions and rows of a register, and a user: the service judges their members
}  # fmt: skip


@pytest.fixture(scope="module")
def appsec(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing("appsec", tmp_path_factory.mktemp("appsec"), StandinSpec(60)) as found:
        yield found


@pytest.fixture(scope="module")
def crm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing("crm", tmp_path_factory.mktemp("crm"), StandinSpec(20, limits=())) as found:
        yield found


def exit_of(held: Standing, *words: str) -> int:
    """The exit code of a line."""
    line = ["connect", f"{held.service}:standin", *words, "--config", str(held.config), "--lang", "en"]
    return main(line, held.environment)


def verbs() -> Iterator[tuple[str, str, Verb[Closable]]]:
    """Every verb of every service of ours."""
    for service in BUILT_IN:
        table = find_kind(service).commands
        assert isinstance(table, CommandTable)
        for resource, entries in table.resources.items():
            yield from ((service, resource, verb) for verb in entries)


@pytest.mark.parametrize(
    ("service", "resource", "verb"),
    [pytest.param(*found, id=f"{found[0]} {found[1]} {found[2].name}") for found in verbs()],
)
def test_a_member_that_no_verb_reads_is_refused_and_those_it_takes_are_named(
    service: str, resource: str, verb: Verb[Closable]
) -> None:
    table = find_kind(service).commands
    assert table is not None
    words = (resource, verb.name, *("x" for _ in range(verb.least)))
    if verb.members is None:
        assert verb.name in OBJECTS_OF_THE_SERVICE
        table.find(words, {"no_such_member": 1})
        return
    table.find(words, dict.fromkeys(verb.members, "x"))
    with pytest.raises(UsageFault) as caught:
        table.find(words, {**dict.fromkeys(verb.members, "x"), "no_such_member": 1})
    assert caught.value.data["what"] == "unknown-member"
    assert caught.value.data["where"] == "--arguments: no_such_member"
    assert all(name in str(caught.value.data["do"]) for name in verb.members)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "It must be a JSON object"),
        ('"x"', "It must be a JSON object"),
        ("null", "It must be a JSON object"),
        ("{name: x}", "It is not JSON"),
    ],
)
def test_arguments_of_another_form_are_named_as_the_arguments(
    appsec: Standing, capsys: Captured, text: str, told: str
) -> None:
    for words in (("project", "create"), ("--mcp", "--call", "listProjects")):
        assert exit_of(appsec, *words, "--arguments", text) == 2
        shown = capsys.readouterr().err
        assert told in shown and "--arguments" in shown and "answer" not in shown


@pytest.mark.parametrize(
    ("words", "values", "told"),
    [
        (("scan", "create", "P"), {"upload": "x.zip", "scanners": "sast"}, "--arguments: scanners"),
        (("scan", "create", "P"), {"branch": "main"}, "--arguments: upload"),
        (("webhook", "create"), {"url": "https://a.example", "events": "all"}, "--arguments: events"),
    ],
)
def test_a_member_of_another_form_is_named(
    appsec: Standing, capsys: Captured, words: tuple[str, ...], values: dict[str, object], told: str
) -> None:
    assert exit_of(appsec, *words, "--arguments", json.dumps(values)) == 2
    assert told in capsys.readouterr().err


def test_an_object_within_the_arguments_is_named_too(tmp_path: Path, capsys: Captured) -> None:
    with standing("features", tmp_path, StandinSpec(10, limits=(), options={"audit": "0"})) as held:
        assert exit_of(held, "events", "send", "sendt", "--arguments", '{"user": []}') == 2
    shown = capsys.readouterr().err
    assert "--arguments: user" in shown and "It must be a JSON object" in shown


def test_what_was_not_done_for_a_record_is_told_and_does_not_end_well(crm: Standing, capsys: Captured) -> None:
    assert exit_of(crm, "records", "delete", "Deals", "999") == 4
    shown = capsys.readouterr()
    assert json.loads(shown.out)["done"] is False
    assert "it was not done for all records" in shown.err
    assert (
        exit_of(crm, "records", "create", "Deals", "--arguments", '{"records": [{"Deal_Name": "Ny"}, {"Stage": "x"}]}')
        == 4
    )
    assert '"done": true' in capsys.readouterr().out, "what was done stays done, and is told"
    assert exit_of(crm, "records", "create", "Deals", "--arguments", '{"records": [{"Deal_Name": "Ny"}]}') == 0


@pytest.mark.parametrize("words", [("results", "show"), ("vulnerability", "list")])
def test_a_scan_that_has_not_ended_or_has_no_findings_shows_no_empty_results(
    appsec: Standing, tmp_path: Path, capsys: Captured, words: tuple[str, ...]
) -> None:
    scans = appsec.control("counts")["scans"]
    assert isinstance(scans, list)
    running, out = newest(appsec)["id"], tmp_path / "out.sarif"
    failed = next(scan["id"] for scan in scans if scan["status"] == "Failed")
    forms = [[], ["--report-format", "sarif", "--output", str(out)]] if words[0] == "results" else [[]]
    for form in forms:
        for scan, code, told in ((running, 5, "has not ended"), (failed, 4, "failed or was cancelled")):
            assert exit_of(appsec, *words, scan, *form) == code
            shown = capsys.readouterr()
            assert told in shown.err and scan in shown.err
            assert shown.out == "" and not out.exists()
