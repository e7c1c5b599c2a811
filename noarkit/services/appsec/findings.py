"""Reads all findings of a scan and proves the list complete: offsets may count rows or pages, and which one is
detected.

The second page is requested as number 1. If it repeats rows of the first one, offsets count rows. In the end there must
be exactly as many findings as the service says, and none of them on two pages; otherwise all is read again, and then
reported as incomplete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from noarkit.errors import ServiceStrange
from noarkit.services.canonical import canonical, fingerprint

Finding = Mapping[str, object]
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Page:
    """A page of findings, with the total that the service reports."""

    rows: Sequence[Finding]
    total: int


def all_findings(ask: Callable[[int, int], Page], limit: int, location: str) -> list[Finding]:
    """Returns every finding in a stable order. Raises `ServiceStrange` if they cannot be proven complete."""
    for attempt in range(_TRIES):
        try:
            return sorted(_once(ask, limit, location), key=_order)
        except ServiceStrange as fault:
            if fault.data.get("why") != "list-incomplete" or attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


def key_of(finding: Finding) -> tuple[str, ...]:
    """Builds the key of a finding in its scan: its own id repeats where a weakness is in several packages."""
    data = finding.get("data")
    details = data if isinstance(data, Mapping) else {}
    names = ("packageIdentifier", "resultHash", "filename", "fileName", "line", "packageName", "packageVersion")
    return (
        str(finding.get("type")),
        str(finding.get("similarityId")),
        *(str(details[name]) if details.get(name) is not None else "" for name in names),
    )


def _once(ask: Callable[[int, int], Page], limit: int, location: str) -> list[Finding]:
    first = ask(0, limit)
    findings, total = list(first.rows), first.total
    if len(findings) == total:
        return findings
    step = len(findings)  # the service may give fewer than were asked for
    if not step or step > total:
        raise _incomplete(location, step, total)
    fingerprints = {fingerprint(row) for row in findings}
    second = ask(1, step)
    by_rows = any(fingerprint(row) in fingerprints for row in second.rows)
    page, offset = (ask(step, step), step) if by_rows else (second, 1)
    while True:
        page_prints = {fingerprint(row) for row in page.rows}
        if not page_prints or page_prints & fingerprints or page.total != total:
            raise _incomplete(location, len(findings), page.total)
        fingerprints |= page_prints
        findings += page.rows
        if len(findings) >= total:
            break
        offset += len(page.rows) if by_rows else 1
        page = ask(offset, step)
    if len(findings) != total:
        raise _incomplete(location, len(findings), total)
    return findings


def _incomplete(location: str, count: int, total: int) -> ServiceStrange:
    return ServiceStrange(where=location, why="list-incomplete", found=count, total=total)


def _order(finding: Finding) -> tuple[tuple[str, ...], bytes]:
    return key_of(finding), canonical(finding)
