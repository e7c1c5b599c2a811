"""Findings of a run in the archive: each stays open, and every command reports it, until it is mended (`mending`) or
accepted by name.
"""

from __future__ import annotations

from collections.abc import Sequence

from noarkit.errors import ChecksumDiffers, NoarkitError, UsageFault, VerifyMismatch
from noarkit.graph.store import GraphStore
from noarkit.loading.journal import CHECKSUM, NOT_CLOSED, ArchiveFinding, Journal

LOST = frozenset({"V201", "V204"})
"""Kinds of what is not in the archive any more, and is made again."""
OF_FILES = frozenset({CHECKSUM, "V231", "V232", "V233", "V301", "V302", "V304", "V305"})
"""Kinds of what is wrong with the bytes of a version, which are sent again."""
_ITEMS_EXIT = 3


def is_difference(finding: ArchiveFinding) -> bool:
    """True for what is in the archive otherwise than it was loaded, and not only open there."""
    return finding.kind != NOT_CLOSED


def exit_code_of(findings: Sequence[ArchiveFinding]) -> int:
    """The exit code of findings: 7 where the archive differs, 3 where something could not be closed."""
    if any(is_difference(finding) for finding in findings):
        return ChecksumDiffers.exit_code
    return _ITEMS_EXIT if findings else 0


def is_of_verification(kind: str) -> bool:
    """True for the kind of a difference that a verification found: its code."""
    return kind[:1] == "V" and kind[1:].isdigit()


def accepted_differences(journal: Journal) -> dict[tuple[str, str], list[list[str]]]:
    """The details of differences that a named person accepted, by code and key."""
    return {
        (finding.kind, finding.key): [list(map(str, detail)) for detail in details]
        for finding in journal.findings("accepted")
        if is_of_verification(finding.kind) and isinstance(details := finding.data.get("details"), list)
    }


def faults_of(findings: Sequence[ArchiveFinding], where: str) -> tuple[NoarkitError, ...]:
    """The faults that findings stand for: each document whose checksum is wrong, and once all that a verification
    found."""
    damaged = [
        ChecksumDiffers(**{"key": finding.key, **finding.data}) for finding in findings if finding.kind == CHECKSUM
    ]
    count = sum(is_of_verification(finding.kind) for finding in findings)
    return (*damaged, *((VerifyMismatch(where=where, count=count),) if count else ()))


def accept(journal: Journal, graph: GraphStore, keys: Sequence[str], at: float, author: str) -> None:
    """Accepts the findings with these keys, those of a record with all that belongs to it. Raises `UsageFault`."""
    findings = journal.findings()
    for key in keys:
        matches = [finding for finding in findings if covers(graph, key, finding.key, finding.entity)]
        if not matches:
            raise UsageFault(what="bad-value", where=f"--accept {key}")
        for finding in matches:
            journal.settle(finding.kind, finding.key, "accepted", at, author)


def covers(graph: GraphStore, key: str, finding_key: str, entity: int | None) -> bool:
    """True if a finding is of this key, or of what belongs to the record that has it."""
    bundle = graph.number_of(key)
    return finding_key == key or bool(bundle and entity is not None and graph.entity(entity).bundle == bundle)
