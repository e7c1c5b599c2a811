"""Groups the findings of a scan into vulnerabilities, with their number and states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from noarkit.services.appsec.findings import Finding

GRAVEST = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO")


def vulnerabilities(findings: Sequence[Finding]) -> Iterator[Mapping[str, object]]:
    """Yields the vulnerabilities, gravest first: name, kind, severity, and findings counted by state."""
    findings_by_name: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        findings_by_name.setdefault((str(finding.get("type") or ""), _name(finding)), []).append(finding)
    for (kind, name), group in sorted(findings_by_name.items(), key=lambda entry: (_worst_rank(entry[1]), entry[0])):
        weaknesses = {
            cwe for finding in group if (cwe := str(_table(finding.get("vulnerabilityDetails")).get("cweId") or ""))
        }
        severity = min((str(finding.get("severity") or "").upper() for finding in group), key=_rank)
        states = Counter(str(finding.get("state") or "") for finding in group)
        yield {
            "vulnerability": name,
            "type": kind,
            "severity": severity,
            "cwe": sorted({cwe.removeprefix("CWE-") for cwe in weaknesses}),
            "findings": len(group),
            "states": dict(sorted(states.items())),
        }


def _name(finding: Finding) -> str:
    """Names a finding: the CVE, else the rule that found it, else the finding's own id."""
    details, data = _table(finding.get("vulnerabilityDetails")), _table(finding.get("data"))
    similarity = str(finding.get("similarityId") or "")
    cve_name = details.get("cveName") or (similarity if similarity.startswith("CVE-") else "")
    return str(cve_name or data.get("queryName") or data.get("ruleName") or similarity)


def _worst_rank(findings: Sequence[Finding]) -> int:
    return min(_rank(str(finding.get("severity") or "").upper()) for finding in findings)


def _rank(severity: str) -> int:
    return GRAVEST.index(severity) if severity in GRAVEST else len(GRAVEST)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
