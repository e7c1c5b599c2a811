"""All findings of a scan, proven complete: offsets may count rows or pages, and which of them is found out.

The second page is asked for as number 1. Where it repeats what the first one held, offsets count rows. In the end there
must be exactly as many as the service says, and none of them on two pages; else all of it is asked for again, and then
told as incomplete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from noarkit.connectors.canonical import canonical, fingerprint
from noarkit.errors import ServiceStrange

Finding = Mapping[str, object]
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Page:
    """Some findings, and how many the service says there are in all."""

    rows: Sequence[Finding]
    total: int


def all_findings(ask: Callable[[int, int], Page], limit: int, where: str) -> list[Finding]:
    """Every finding, in an order of our own. Raises `ServiceStrange` where that these are all cannot be proven."""
    for attempt in range(_TRIES):
        try:
            return sorted(_once(ask, limit, where), key=_order)
        except ServiceStrange as fault:
            if fault.data.get("why") != "list-incomplete" or attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


def key_of(finding: Finding) -> tuple[str, ...]:
    """What a finding is known by in its scan: its own id repeats where a weakness is in several packages."""
    data = finding.get("data")
    known = data if isinstance(data, Mapping) else {}
    names = ("packageIdentifier", "resultHash", "filename", "fileName", "line", "packageName", "packageVersion")
    return (
        str(finding.get("type")),
        str(finding.get("similarityId")),
        *(str(known[name]) if known.get(name) is not None else "" for name in names),
    )


def _once(ask: Callable[[int, int], Page], limit: int, where: str) -> list[Finding]:
    first = ask(0, limit)
    found, total = list(first.rows), first.total
    if len(found) == total:
        return found
    step = len(found)  # the service may give fewer than were asked for
    if not step or step > total:
        raise _incomplete(where, step, total)
    seen = {fingerprint(row) for row in found}
    second = ask(1, step)
    by_rows = any(fingerprint(row) in seen for row in second.rows)
    page, offset = (ask(step, step), step) if by_rows else (second, 1)
    while True:
        marks = {fingerprint(row) for row in page.rows}
        if not marks or marks & seen or page.total != total:
            raise _incomplete(where, len(found), page.total)
        seen |= marks
        found += page.rows
        if len(found) >= total:
            break
        offset += len(page.rows) if by_rows else 1
        page = ask(offset, step)
    if len(found) != total:
        raise _incomplete(where, len(found), total)
    return found


def _incomplete(where: str, found: int, total: int) -> ServiceStrange:
    return ServiceStrange(where=where, why="list-incomplete", found=found, total=total)


def _order(finding: Finding) -> tuple[tuple[str, ...], bytes]:
    return key_of(finding), canonical(finding)
