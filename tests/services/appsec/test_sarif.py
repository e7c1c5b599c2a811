"""SARIF as we write it: valid by the official schema for all that a service may hold, and by our own rules."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator  # type: ignore[import-untyped]  # it has no types

from noarkit.services.appsec.sarif import ScanOrigin, write_sarif
from noarkit.services.appsec.standin.data import Store
from tests.services.appsec.sarif_rules import problems

SCANNED = ScanOrigin("11111111-2222-4333-8444-555555555555", True, "https://kode.example/a b.git", "main", "abc")
TEXTS = st.text(st.characters(exclude_categories=[]), max_size=20)
VALUES = st.one_of(TEXTS, st.integers(), st.none(), st.booleans(), st.lists(TEXTS, max_size=2))
NODES = st.fixed_dictionaries({}, optional={"fileName": VALUES, "line": VALUES, "column": VALUES})
FINDINGS = st.fixed_dictionaries(
    {"type": VALUES, "similarityId": VALUES},
    optional={
        "severity": st.one_of(VALUES, st.sampled_from(["HIGH", "low"])),
        "state": st.one_of(VALUES, st.sampled_from(["NOT_EXPLOITABLE", "PROPOSED_NOT_EXPLOITABLE"])),
        "status": st.one_of(VALUES, st.sampled_from(["NEW", "FIXED"])),
        "description": VALUES,
        "data": st.fixed_dictionaries({}, optional={"queryId": VALUES, "nodes": st.lists(NODES, max_size=3)}),
        "vulnerabilityDetails": st.fixed_dictionaries({}, optional={"cweId": VALUES, "cveName": VALUES}),
    },
)


@pytest.fixture(scope="module")
def official(reference: Path) -> Draft4Validator:
    """The schema of those who made SARIF."""
    return Draft4Validator(json.loads((reference / "xsd/sarif/sarif-schema-2.1.0.json").read_text("utf-8")))


def sample() -> dict[str, Any]:
    """All that the stand-in holds, as SARIF."""
    store = Store(300, 1, {})
    findings = [one for scan in store.scans() for one in store.results(scan["id"])]
    assert len(findings) > 150
    found: dict[str, Any] = json.loads(write_sarif(SCANNED, findings))
    return found


def test_all_that_a_service_holds_is_valid_sarif(official: Draft4Validator) -> None:
    found = sample()
    assert list(official.iter_errors(found)) == []
    assert list(problems(json.dumps(found).encode())) == []
    assert {run["tool"]["driver"]["name"] for run in found["runs"]} >= {"sast", "sca", "kics"}


def test_a_scan_that_found_nothing_has_a_run_without_results(official: Draft4Validator) -> None:
    found = json.loads(write_sarif(SCANNED, []))
    assert found["runs"][0]["results"] == []
    assert list(official.iter_errors(found)) == []


@settings(max_examples=60, deadline=None)
@given(findings=st.lists(FINDINGS, max_size=4))
def test_hostile_findings_are_valid_sarif_too(official: Draft4Validator, findings: list[dict[str, object]]) -> None:
    data = write_sarif(SCANNED, findings)
    assert list(problems(data)) == []
    assert list(official.iter_errors(json.loads(data))) == []


def test_fingerprints_and_decisions_are_kept() -> None:
    finding = {
        "type": "sast",
        "similarityId": "-17",
        "state": "NOT_EXPLOITABLE",
        "status": "RECURRENT",
        "severity": "CRITICAL",
        "data": {"queryId": 1234567890123456789, "queryName": "X", "nodes": [{"fileName": "/a b.py", "line": 3}]},
    }
    run = json.loads(write_sarif(SCANNED, [finding]))["runs"][0]
    (result,) = run["results"]
    assert result["partialFingerprints"]["similarityId/v1"] == "-17"
    assert result["suppressions"] == [{"kind": "external", "status": "accepted"}]
    assert (result["baselineState"], result["level"], result["ruleId"]) == ("unchanged", "error", "1234567890123456789")
    assert result["properties"]["state"] == "NOT_EXPLOITABLE"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.py"
    assert run["automationDetails"]["correlationGuid"] == SCANNED.scan
    assert run["tool"]["driver"]["rules"][0]["properties"]["security-severity"] == "9.0"


WRONG: list[tuple[tuple[str | int, ...], object]] = [
    (("version",), "2.0.0"),
    (("runs",), {}),
    (("extra",), 1),
    (("runs", 0, "extra"), 1),
    (("runs", 0, "tool"), None),
    (("runs", 0, "tool", "driver", "name"), 7),
    (("runs", 0, "results", 0, "message"), {}),
    (("runs", 0, "results", 0, "level"), "fatal"),
    (("runs", 0, "results", 0, "kind"), "x"),
    (("runs", 0, "results", 0, "baselineState"), "gone"),
    (("runs", 0, "results", 0, "suppressions"), [{"kind": "mine"}]),
    (("runs", 0, "results", 0, "suppressions"), [{"status": "accepted"}]),
    (("runs", 0, "results", 0, "guid"), "x"),
    (("runs", 0, "results", 0, "ruleIndex"), -2),
    (("runs", 0, "results", 0, "state"), "mine"),
    (("runs", 0, "results", 0, "codeFlows"), [{}]),
    (("runs", 0, "results", 0, "locations"), [{"physicalLocation": {"region": {"startLine": 0}}}]),
    (("runs", 0, "results", 0, "locations"), [{"physicalLocation": {"artifactLocation": {"path": "x"}}}]),
    (("runs", 0, "invocations"), [{}]),
    (("runs", 0, "invocations"), [{"executionSuccessful": "yes"}]),
    (("runs", 0, "versionControlProvenance"), [{}]),
    (("runs", 0, "redactionTokens"), ["a", "a"]),
    (("runs", 0, "automationDetails", "guid"), "11111111-2222-9333-8444-555555555555"),
    (("runs", 0, "tool", "driver", "rules"), [{"name": "x"}]),
    (("runs", 0, "properties"), "x"),
]


@pytest.mark.parametrize(("place", "value"), WRONG)
def test_what_the_official_schema_refuses_our_rules_refuse(
    official: Draft4Validator, place: tuple[str | int, ...], value: object
) -> None:
    findings = [{"type": "sast", "similarityId": "1", "data": {"nodes": [{"fileName": "a", "line": 1}]}}]
    good = json.loads(write_sarif(SCANNED, findings))
    broken = copy.deepcopy(good)
    inner: Any = broken
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    assert list(official.iter_errors(good)) == list(problems(json.dumps(good).encode())) == []
    assert list(official.iter_errors(broken)) != []
    assert list(problems(json.dumps(broken).encode())) != []
