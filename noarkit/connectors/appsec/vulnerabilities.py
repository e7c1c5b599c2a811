"""The vulnerabilities of a scan: its findings gathered by what they are, with how many there are and how they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from noarkit.connectors.appsec.findings import Finding

GRAVEST = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO")


def vulnerabilities(findings: Sequence[Finding]) -> Iterator[Mapping[str, object]]:
    """One after another, gravest first: its name and kind, its severity, and its findings counted by their state."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        found.setdefault((str(one.get("type") or ""), _name(one)), []).append(one)
    for (kind, name), ones in sorted(found.items(), key=lambda each: (_grave(each[1]), each[0])):
        weaknesses = {cwe for one in ones if (cwe := str(_table(one.get("vulnerabilityDetails")).get("cweId") or ""))}
        severity = min((str(one.get("severity") or "").upper() for one in ones), key=_rank)
        states = Counter(str(one.get("state") or "") for one in ones)
        yield {
            "vulnerability": name,
            "type": kind,
            "severity": severity,
            "cwe": sorted({cwe.removeprefix("CWE-") for cwe in weaknesses}),
            "findings": len(ones),
            "states": dict(sorted(states.items())),
        }


def _name(finding: Finding) -> str:
    """What it is: a known vulnerability, else the rule that found it, else the finding itself."""
    known, told = _table(finding.get("vulnerabilityDetails")), _table(finding.get("data"))
    similarity = str(finding.get("similarityId") or "")
    named = known.get("cveName") or (similarity if similarity.startswith("CVE-") else "")
    return str(named or told.get("queryName") or told.get("ruleName") or similarity)


def _grave(findings: Sequence[Finding]) -> int:
    return min(_rank(str(one.get("severity") or "").upper()) for one in findings)


def _rank(severity: str) -> int:
    return GRAVEST.index(severity) if severity in GRAVEST else len(GRAVEST)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
