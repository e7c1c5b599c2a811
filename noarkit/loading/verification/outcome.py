"""The result of a verification: rows of numbers, findings, and the verdict that follows from the rows.

Everything of a kind is counted once: it agrees, it differs, or it was not compared, and then for a stated reason. The
verdict is made of these rows and nothing else, so a page that prints the rows prints the reasons of its verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from noarkit.loading.numbers import Numbers
from noarkit.results import HIDDEN, JsonObject, Result, json_field, json_value

Depth = Literal["counts", "ids", "fields", "bytes"]
Proof = Literal["counts", "ids", "fields", "bytes", "receipt"]
Verdict = Literal["verified", "in_part", "not_verified"]
SourceState = Literal["read", "gone", "plan"]
"""Whether the source was read, is gone, or was left out: then the plan and its checksums stand in its place."""
DEPTHS: tuple[Depth, ...] = ("counts", "ids", "fields", "bytes")


def is_as_deep(depth: str, least: str) -> bool:
    """True if one depth compares all that another does; what is none compares nothing."""
    ranks: dict[str, int] = {name: rank for rank, name in enumerate(DEPTHS, 1)}
    return ranks.get(depth, 0) >= ranks.get(least, 0)


RECORDS, KEYS, SUMS, BELOW, LINKS, ORDER, FIELDS, FILES = (
    "source records",
    "keys",
    "sums",
    "below",
    "links",
    "order",
    "fields",
    "files",
)

ASKED_FOR = frozenset({"depth", "sample"})
"""Left out because whoever asked wanted no more: what was compared is proven, and the verdict says what was not."""
NOT_COMPARABLE = frozenset(
    {
        "skipped",
        "by_rule",
        "set_by_archive",
        "no_right",
        "no_field",
        "no_content",
        "no_checksum",
        "other_run",
        "earlier_version",
        "earlier_run",
        "not_there",
    }
)
"""Nothing to compare with: it takes nothing away from the verdict."""
MOST_FINDINGS = 100_000
ACCEPTED = "accepted"
"""The reason why what a named person took as it is was not compared."""
ACCEPTED_BY_SENDER = "accepted_by_sender"
"""The same, of a run that came in a bundle: by the owner of the key that sealed it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: its code (see `noarkit.loading.verification`), the key it concerns, and details where they help.

    `actual` tells by a checksum what the archive has, so that what is accepted is accepted as it is.
    """

    code: str
    key: str
    detail: str = ""
    actual: str = ""


@dataclass(frozen=True, slots=True)
class SenderAcceptance:
    """What the owner of the key that sealed a bundle accepted, and under which name: just these findings."""

    id: str
    by: str
    findings: frozenset[Finding]


def _without_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}


@dataclass(frozen=True, slots=True)
class ComparedCounts(JsonObject):
    """How many of a kind were planned or in the source, and how many of them are as they should be."""

    planned: int
    there: int


@dataclass(slots=True)
class Row(JsonObject):
    """All of one kind: how many agree, how many differ, and how many were not compared, by reason."""

    name: str
    agree: int = 0
    differ: int = 0
    not_compared: Counter[str] = field(default_factory=Counter, metadata=json_field(form=_without_zeros))

    @property
    @json_value("compared")
    def compared_count(self) -> int:
        """How many were held against what they should be."""
        return self.agree + self.differ

    @property
    @json_value()
    def all(self) -> int:
        """How many there are."""
        return self.compared_count + self.not_compared.total()

    @property
    @json_value()
    def comparable(self) -> int:
        """How many could have been compared: all but those that there is nothing to compare with."""
        return self.all - sum(count for reason, count in self.not_compared.items() if reason in NOT_COMPARABLE)


def _in_order(rows: Mapping[str, Row]) -> list[Row]:
    return list(rows.values())


def _by_kind(counts: Mapping[str, tuple[int, int]]) -> dict[str, ComparedCounts]:
    return {name: ComparedCounts(planned, there) for name, (planned, there) in counts.items()}


def _name_of(sender: SenderAcceptance | None) -> str | None:
    return None if sender is None else sender.by


@dataclass(slots=True)
class VerifyResult(Result):
    """What was compared, and what did not agree.

    `findings` are the first of the differences, `notices` the first of what is worth naming but is none (a source
    item that is gone, a change that another user made since). `differences` counts all. `left_behind` is how many
    values of the source, of `left_behind_fields` fields, the archive has no place for: they are in no row, since they
    were never sent. `certificate` is the page that says so, where one was written; `receipt` what was made for the
    sending side. `accepted` are the differences that a named person accepted, by code and key; `accepted_keys` the keys
    of those that were met, with the reason why they were not compared. `sender` is what the sender of the bundle
    accepted; `accepted_by_sender` counts what of it was met, and `for_sender` are the first of the findings that only
    the sender could accept. `request` is the file that asks for it.
    """

    EVENT: ClassVar = "verified"

    depth: Proof = field(metadata=json_field(closed=True))
    numbers: Numbers = field(metadata=HIDDEN)
    sample: float = field(default=1.0, metadata=HIDDEN)
    began: bool = field(default=True, metadata=HIDDEN)
    rows: dict[str, Row] = field(default_factory=dict, metadata=json_field(form=_in_order))
    findings: list[Finding] = field(default_factory=list, metadata=HIDDEN)
    notices: list[Finding] = field(default_factory=list, metadata=HIDDEN)
    differences: int = 0
    changes: int = 0
    bytes_compared: int = field(default=0, metadata=HIDDEN)
    left_behind: int = field(default=0, metadata=HIDDEN)
    left_behind_fields: int = field(default=0, metadata=HIDDEN)
    source: SourceState = "read"
    source_new: int = 0
    source_late: int = 0
    source_gone: int = field(default=0, metadata=HIDDEN)
    source_changed: int = field(default=0, metadata=HIDDEN)
    certificate: Path | None = None
    receipt: Path | None = None
    accepted: Mapping[tuple[str, str], list[list[str]]] = field(default_factory=dict, metadata=HIDDEN)
    accepted_keys: dict[str, str] = field(default_factory=dict, metadata=HIDDEN)
    sender: SenderAcceptance | None = field(default=None, metadata=json_field(form=_name_of))
    accepted_by_sender: int = 0
    for_sender: list[Finding] = field(default_factory=list, metadata=HIDDEN)
    _met_findings: set[Finding] = field(default_factory=set)
    request: Path | None = None

    @property
    @json_value(closed=True)
    def verdict(self) -> Verdict:
        """`verified` where everything was compared and agrees, `in_part` where something named is missing,
        `not_verified` where something differs or nothing was compared."""
        rows = self.rows.values()
        if not self.began or any(row.differ for row in rows) or self._nothing_compared():
            return "not_verified"
        if self.missing or self.left_by_choice or self.accepted_by_sender or not self._records():
            return "in_part"
        return "verified"

    @property
    @json_value()
    def missing(self) -> dict[str, int]:
        """What keeps the verdict from being a full one, beside what was not asked for: reason and count, of the kind
        that has most of it."""
        expected_reasons = {*ASKED_FOR, *NOT_COMPARABLE, ACCEPTED_BY_SENDER}
        return self._count_left(lambda reason: reason not in expected_reasons)

    @property
    @json_value()
    def left_by_choice(self) -> dict[str, int]:
        """What whoever asked chose not to compare: reason and count."""
        return self._count_left(lambda reason: reason in ASKED_FOR)

    @property
    @json_value()
    def good(self) -> bool:
        """True if everything that was asked for was compared, and agrees, or was accepted by the sender."""
        if self.verdict == "not_verified":
            return False
        return self.verdict == "verified" or bool(self._records() and not self.missing)

    @property
    def is_complete(self) -> bool:
        """True if everything there is was compared, every byte, and agrees."""
        return self.verdict == "verified"

    @property
    @json_value("compared", _by_kind)
    def compared_counts(self) -> Mapping[str, tuple[int, int]]:
        """By kind: how many were compared, and how many of them agree."""
        return {
            name: (row.compared_count, row.agree)
            for name, row in self.rows.items()
            if row.compared_count or "depth" not in row.not_compared
        }

    @property
    @json_value(optional=True)
    def not_in_archive(self) -> Mapping[str, int]:
        """How many values of the source the archive has no place for, and of how many fields."""
        return {"values": self.left_behind, "fields": self.left_behind_fields}

    def row(self, name: str) -> Row:
        """The row of a kind, made when first asked for."""
        return self.rows.setdefault(name, Row(name))

    def agree(self, name: str, count: int = 1) -> None:
        """So many of a kind are as they should be."""
        self.row(name).agree += count

    def leave(self, name: str, reason: str, count: int = 1) -> None:
        """So many of a kind were not compared, for a reason."""
        if count:
            self.row(name).not_compared[reason] += count

    def differ(self, name: str, code: str, key: str, detail: str = "", *, actual: str = "") -> None:
        """One of a kind is not as it should be, and nobody has accepted it as it is."""
        finding = Finding(code, key, detail, actual)
        if [detail, actual] in self.accepted.get((code, key or code), ()):
            self.take_accepted(name, finding)
        elif not self._accepted_by_sender(name, finding):
            self.row(name).differ += 1
            self.differences += 1
            if len(self.findings) < MOST_FINDINGS:
                self.findings.append(finding)

    def take_accepted(self, name: str, finding: Finding) -> None:
        """One of a kind is as somebody on this side accepted it; the sender of a bundle may have accepted it too."""
        if not self._accepted_by_sender(name, finding):
            self._leave_accepted(name, finding, ACCEPTED)

    def report_change(self, name: str, reason: str, finding: Finding) -> None:
        """One of a kind was changed since, which is no difference, but not compared either, for a reason."""
        if not self._accepted_by_sender(name, finding):
            self.leave(name, reason)
            self.notice(finding.code, finding.key, finding.detail)

    def notice(self, code: str, key: str, detail: str = "") -> None:
        """Names something that is no difference."""
        if len(self.notices) < MOST_FINDINGS:
            self.notices.append(Finding(code, key, detail))

    def _accepted_by_sender(self, name: str, finding: Finding) -> bool:
        if self.sender is not None and finding in self.sender.findings:
            self.accepted_by_sender += finding not in self._met_findings
            self._met_findings.add(finding)
            self._leave_accepted(name, finding, ACCEPTED_BY_SENDER)
            return True
        if len(self.for_sender) < MOST_FINDINGS:
            self.for_sender.append(finding)
        return False

    def _leave_accepted(self, name: str, finding: Finding, reason: str) -> None:
        self.accepted_keys[finding.key] = reason
        self.leave(name, reason)
        self.notice("V503", finding.key, finding.detail)

    def _count_left(self, wanted_reasons: object) -> dict[str, int]:
        counts: dict[str, int] = {}
        for row in self.rows.values():
            for reason, count in row.not_compared.items():
                if count and callable(wanted_reasons) and wanted_reasons(reason):
                    counts[reason] = max(counts.get(reason, 0), count)
        return counts

    def _records(self) -> int:
        return self.rows[RECORDS].compared_count if RECORDS in self.rows else 0

    def _nothing_compared(self) -> bool:
        """True if there is something to compare, and none of it was. Of a source that is gone, the archive can be
        held against the plan all the same."""
        records = self.rows.get(RECORDS)
        told_reasons = ("set_aside", "refused", "skipped", "earlier_run", *(("source_gone",) if self._keys() else ()))
        return (
            records is not None
            and records.compared_count == 0
            and records.not_compared.total() > sum(records.not_compared[reason] for reason in told_reasons)
        )

    def _keys(self) -> int:
        return self.rows[KEYS].compared_count if KEYS in self.rows else 0


@dataclass(frozen=True, slots=True)
class Depths:
    """How deep to look. `sample` is the share of versions whose bytes are compared, 0 to 1."""

    depth: Depth = "fields"
    sample: float = 1.0

    def reaches(self, depth: Depth) -> bool:
        """True if this looks as deep as that."""
        return is_as_deep(self.depth, depth)
