"""Writes findings as SARIF 2.1.0: a run for each scanner, with fingerprints and decisions.

`write_sarif` is deterministic: the same findings give the same file. Redacted values appear as SARIF redaction tokens.
Paths of findings are relative to the scanned source.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from noarkit.services.appsec.findings import Finding, key_of
from noarkit.services.canonical import canonical, fingerprint

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MEDIA_TYPE = "application/sarif+json"
REDACTED = "[REDACTED sha256:"
_LEVELS = {"CRITICAL": "error", "HIGH": "error", "MEDIUM": "warning", "LOW": "note", "INFO": "note"}
_SCORES = {"CRITICAL": "9.0", "HIGH": "7.0", "MEDIUM": "4.0", "LOW": "2.0", "INFO": "1.0"}
_BASELINES = {"NEW": "new", "RECURRENT": "unchanged", "FIXED": "absent"}
_SUPPRESSIONS = {"NOT_EXPLOITABLE": "accepted", "PROPOSED_NOT_EXPLOITABLE": "underReview"}
_PROPERTY_NAMES = ("state", "status", "severity", "similarityId", "firstFoundAt", "foundAt", "firstScanId")


@dataclass(frozen=True, slots=True)
class ScanOrigin:
    """The scan that SARIF describes: its id, whether it completed, and where its source came from."""

    scan: str
    successful: bool
    repository: str = ""
    branch: str = ""
    commit: str = ""


def write_sarif(origin: ScanOrigin, findings: Sequence[Finding]) -> bytes:
    """Writes findings as a SARIF file."""
    kinds = sorted({str(finding.get("type") or "unknown") for finding in findings}) or ["none"]
    runs = [
        _run(origin, kind, [finding for finding in findings if str(finding.get("type") or "unknown") == kind])
        for kind in kinds
    ]
    return canonical({"$schema": SCHEMA, "version": "2.1.0", "runs": runs})


def _run(origin: ScanOrigin, kind: str, findings: Sequence[Finding]) -> dict[str, object]:
    rules: dict[str, dict[str, object]] = {}
    places: dict[str, int] = {}
    results = []
    for finding in findings:
        rule = _rule(finding)
        name = str(rule["id"])
        rules.setdefault(name, rule)
        results.append(_result(finding, name, places.setdefault(name, len(places))))
    about: dict[str, object] = {"id": f"{origin.scan}/{kind}"}
    if _is_uuid(origin.scan):
        about["correlationGuid"] = origin.scan  # what the runs of one scan share
    run: dict[str, object] = {
        "tool": {"driver": {"name": kind, "rules": list(rules.values())}},
        "automationDetails": about,
        "invocations": [{"executionSuccessful": origin.successful}],
        "results": results,
    }
    if origin.repository:
        source = {"repositoryUri": _uri(origin.repository), "branch": origin.branch, "revisionId": origin.commit}
        run["versionControlProvenance"] = [{name: value for name, value in source.items() if value}]
    tokens = sorted(set(_tokens(findings)))
    return {**run, "redactionTokens": tokens} if tokens else run


def _rule(finding: Finding) -> dict[str, object]:
    data, details = _table(finding.get("data")), _table(finding.get("vulnerabilityDetails"))
    name = str(data.get("queryName") or data.get("ruleName") or details.get("cveName") or finding.get("type") or "")
    rule_id = data.get("queryId") or data.get("ruleId") or details.get("cveName") or finding.get("similarityId") or name
    rule: dict[str, object] = {"id": str(rule_id), "name": name or str(rule_id)}
    severity = str(finding.get("severity") or "").upper()
    if severity in _SCORES:
        rule["properties"] = {"security-severity": _SCORES[severity]}
    if details.get("cweId") is not None:
        tag = str(details["cweId"])
        properties = _table(rule.get("properties"))
        rule["properties"] = {**properties, "tags": ["security", tag if tag.startswith("CWE") else f"CWE-{tag}"]}
    return rule


def _result(finding: Finding, rule: str, place: int) -> dict[str, object]:
    severity, state = str(finding.get("severity") or "").upper(), str(finding.get("state") or "").upper()
    result: dict[str, object] = {
        "ruleId": rule,
        "ruleIndex": place,
        "level": _LEVELS.get(severity, "warning"),
        "message": {"text": str(finding.get("description") or rule)},
        "partialFingerprints": {
            "similarityId/v1": str(finding.get("similarityId") or ""),
            "finding/v1": fingerprint(list(key_of(finding))),
        },
        "properties": {name: finding[name] for name in _PROPERTY_NAMES if finding.get(name) is not None},
    }
    baseline = _BASELINES.get(str(finding.get("status") or "").upper())
    if baseline:
        result["baselineState"] = baseline
    if state in _SUPPRESSIONS:
        result["suppressions"] = [{"kind": "external", "status": _SUPPRESSIONS[state]}]
    locations = list(_locations(_table(finding.get("data"))))
    if locations:
        result["locations"] = locations[:1]
    if len(locations) > 1:
        flow = [{"location": location} for location in locations]
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return result


def _locations(data: Mapping[str, object]) -> Iterator[dict[str, object]]:
    nodes = data.get("nodes")
    places = [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, list) else []
    for place in places or [data]:
        name = place.get("fileName") or place.get("filename")
        if not isinstance(name, str) or not name:
            continue
        physical: dict[str, object] = {"artifactLocation": {"uri": _uri(name.lstrip("/"))}}
        line, column = place.get("line"), place.get("column")
        if _is_place(line):
            physical["region"] = {"startLine": line, **({"startColumn": column} if _is_place(column) else {})}
        yield {"physicalLocation": physical}


def _tokens(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.startswith(REDACTED):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _tokens(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for inner in value:
            yield from _tokens(inner)


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_uuid(text: str) -> bool:
    try:
        value = uuid.UUID(text)
    except ValueError:
        return False
    return str(value) == text and value.version in (1, 2, 3, 4, 5)


def _uri(text: str) -> str:
    return quote(text, safe="/:@?&=#~+,;!$'()*-._%" if "://" in text else "/@~+,;!$'()*-._", errors="replace")


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
