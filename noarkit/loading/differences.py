"""What a verification found in the archive: remembered in the run until `retry` mended it or a person accepted it.

A difference is a finding whose kind is its code (V204). It is taken back by a verification that looks as deep as it
takes to see it, and does not see it any more; nothing else makes it go away but mending and accepting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing

import orjson

from noarkit.loading.findings import is_of_verification
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import CHECKSUM
from noarkit.loading.verification.outcome import ACCEPTED_BY_SENDER, DEPTHS, Depth, Finding, VerifyResult

_SEEN_AT: Mapping[str, Depth] = {
    **dict.fromkeys(("V100", "V201", "V202", "V208"), "counts"),
    **dict.fromkeys(("V203", "V204", "V205", "V206", "V207", "V220", "V221"), "ids"),
    **dict.fromkeys(("V210", "V211", "V212", "V213", "V214", "V215", "V231", "V233"), "fields"),
}
"""How deep a verification must look to see a difference; all others are seen by comparing every byte."""
_OF_SOURCE, _OF_LISTING = "V303", "V102"
_MOST_DETAILS = 20


def remember_differences(folder: RunFolder, result: VerifyResult, at: float, *, whole: bool) -> bool:
    """Keeps what a verification found, and settles what it sees no more; True if anything changed.

    Raises `RunLocked` while another process loads the run.
    """
    if not result.began:
        return False
    with folder.locked(), closing(folder.open_journal()) as journal, closing(folder.graph_store()) as graph:
        by_place = {(finding.kind, finding.key): finding for finding in journal.findings("open", "asked", "accepted")}
        differences = _grouped(result.findings)
        damaged = {finding.key for finding in journal.findings() if finding.kind == CHECKSUM}
        kept_count = 0
        with journal.change() as db:
            for (code, key), details in differences.items():
                if key in damaged and code in ("V232", "V302"):
                    continue  # the load found this itself
                before = by_place.get((code, key))
                accepted_details = before.data.get("details") if before else None
                if before is not None and isinstance(accepted_details, list):
                    details = [*details, *(detail for detail in accepted_details if detail not in details)]
                data = {"details": details[:_MOST_DETAILS], "depth": result.depth}
                row = (code, key, graph.number_of(key), orjson.dumps(data).decode())
                db.execute(_KEEP, row)
                kept_count += 1
        if result.differences > len(result.findings):
            return bool(kept_count)  # not all of them are named: nothing can be said to be gone
        settled_findings = [
            finding
            for finding in journal.findings()
            if (finding.kind, finding.key) not in differences and _would_be_seen(finding.kind, result, whole=whole)
        ]
        accepted_places = _accepted_by_sender(result)
        for finding in settled_findings:
            if result.sender is not None and (finding.kind, finding.key) in accepted_places:
                journal.settle(finding.kind, finding.key, "accepted", at, result.sender.by)
            else:
                journal.settle(finding.kind, finding.key, "mended", at, "noarkit verify")
    return bool(kept_count or settled_findings)


def _grouped(findings: Collection[Finding]) -> dict[tuple[str, str], list[list[str]]]:
    """The details of differences by code and key; what concerns no key of the plan bears its code."""
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.key or finding.code), []).append([finding.detail, finding.actual])
    return groups


def _accepted_by_sender(result: VerifyResult) -> set[tuple[str, str]]:
    """Code and key of what was met and accepted by the sender of the bundle."""
    return {
        (finding.code, finding.key or finding.code)
        for finding in (result.sender.findings if result.sender is not None else ())
        if result.accepted_keys.get(finding.key) == ACCEPTED_BY_SENDER
    }


def _would_be_seen(kind: str, result: VerifyResult, *, whole: bool) -> bool:
    """True if a verification like this one would see a difference of the kind."""
    if kind == _OF_LISTING:
        return whole
    if kind != CHECKSUM and not is_of_verification(kind):
        return False
    if result.depth not in DEPTHS or (kind == _OF_SOURCE and result.source != "read"):
        return False
    least_depth = _SEEN_AT.get(kind, "bytes")
    is_deep = DEPTHS.index(result.depth) >= DEPTHS.index(least_depth)
    return is_deep and (least_depth != "bytes" or result.sample >= 1)


_KEEP = (
    "INSERT INTO finding (kind, key, entity, data, state) VALUES (?, ?, ?, ?, 'open') ON CONFLICT (kind, key)"
    " DO UPDATE SET data = excluded.data, entity = excluded.entity, state = 'open'"
)
