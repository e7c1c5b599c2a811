"""The result of a verification: rows of numbers, findings, and the verdict that follows from the rows.

Everything of a kind is counted once: it agrees, it differs, or it was not compared, and then for a stated reason. The
verdict is made of these rows and nothing else, so a page that prints the rows prints the reasons of its verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from noarkit.loading.numbers import Numbers
from noarkit.results import Result

Depth = Literal["counts", "ids", "fields", "bytes"]
Proof = Literal["counts", "ids", "fields", "bytes", "receipt"]
Verdict = Literal["verified", "in_part", "not_verified"]
DEPTHS: tuple[Depth, ...] = ("counts", "ids", "fields", "bytes")

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
        "no_content",
        "no_checksum",
        "other_run",
        "earlier_version",
        "earlier_run",
        "not_there",
    }
)
"""Nothing to compare with: it takes nothing away from the verdict."""
_MOST_FINDINGS = 100_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: its code (see `noarkit.loading.verification`), the key it concerns, and details where they help."""

    code: str
    key: str
    detail: str = ""


@dataclass(slots=True)
class Row:
    """All of one kind: how many agree, how many differ, and how many were not compared, by reason."""

    name: str
    agree: int = 0
    differ: int = 0
    not_compared: Counter[str] = field(default_factory=Counter)

    @property
    def compared_count(self) -> int:
        """How many were held against what they should be."""
        return self.agree + self.differ

    @property
    def all(self) -> int:
        """How many there are."""
        return self.compared_count + self.not_compared.total()

    @property
    def comparable(self) -> int:
        """How many could have been compared: all but those that there is nothing to compare with."""
        return self.all - sum(count for reason, count in self.not_compared.items() if reason in NOT_COMPARABLE)

    def as_data(self) -> dict[str, object]:
        """The row as JSON values."""
        return {
            "name": self.name,
            "all": self.all,
            "comparable": self.comparable,
            "compared": self.compared_count,
            "agree": self.agree,
            "differ": self.differ,
            "not_compared": {reason: count for reason, count in sorted(self.not_compared.items()) if count},
        }


@dataclass(slots=True)
class VerifyResult(Result):
    """What was compared, and what did not agree.

    `findings` are the first of the differences, `notices` the first of what is worth naming but is none (a source
    item that is gone, a change that another user made since). `differences` counts all. `left_behind` is how many
    values of the source, of `left_behind_fields` fields, the archive has no place for: they are in no row, since they
    were never sent. `certificate` is the page that says so, where one was written; `receipt` what was made for the
    sending side.
    """

    depth: Proof
    numbers: Numbers
    sample: float = 1.0
    began: bool = True
    rows: dict[str, Row] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    notices: list[Finding] = field(default_factory=list)
    differences: int = 0
    changes: int = 0
    bytes_compared: int = 0
    left_behind: int = 0
    left_behind_fields: int = 0
    source_new: int = 0
    source_gone: int = 0
    source_changed: int = 0
    certificate: Path | None = None
    receipt: Path | None = None

    @property
    def verdict(self) -> Verdict:
        """`verified` where everything was compared and agrees, `in_part` where something named is missing,
        `not_verified` where something differs or nothing was compared."""
        rows = self.rows.values()
        if not self.began or any(row.differ for row in rows) or self._nothing_compared():
            return "not_verified"
        return "in_part" if self.missing or self.left_by_choice or not self._records() else "verified"

    @property
    def missing(self) -> dict[str, int]:
        """What keeps the verdict from being a full one, beside what was not asked for: reason and count, of the kind
        that has most of it."""
        return self._count_left(lambda reason: reason not in ASKED_FOR and reason not in NOT_COMPARABLE)

    @property
    def left_by_choice(self) -> dict[str, int]:
        """What whoever asked chose not to compare: reason and count."""
        return self._count_left(lambda reason: reason in ASKED_FOR)

    @property
    def good(self) -> bool:
        """True if everything that was asked for was compared, and agrees."""
        if self.verdict == "not_verified":
            return False
        return self.verdict == "verified" or bool(self._records() and not self.missing)

    @property
    def is_complete(self) -> bool:
        """True if everything there is was compared, every byte, and agrees."""
        return self.verdict == "verified"

    @property
    def compared_counts(self) -> Mapping[str, tuple[int, int]]:
        """By kind: how many were compared, and how many of them agree."""
        return {
            name: (row.compared_count, row.agree)
            for name, row in self.rows.items()
            if row.compared_count or "depth" not in row.not_compared
        }

    def to_dict(self) -> dict[str, object]:
        """The verdict with its figures, as `noarkit verify --json` has it."""
        return {
            "depth": self.depth,
            "good": self.good,
            "compared": {
                name: {"planned": expected, "there": actual}
                for name, (expected, actual) in self.compared_counts.items()
            },
            "differences": self.differences,
            "certificate": None if self.certificate is None else str(self.certificate),
            "receipt": None if self.receipt is None else str(self.receipt),
            "verdict": self.verdict,
            "rows": [row.as_data() for row in self.rows.values()],
            "missing": self.missing,
            "left_by_choice": self.left_by_choice,
            "changes": self.changes,
            "not_in_archive": {"values": self.left_behind, "fields": self.left_behind_fields},
        }

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

    def differ(self, name: str, code: str, key: str, detail: str = "") -> None:
        """One of a kind is not as it should be."""
        self.row(name).differ += 1
        self.differences += 1
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding(code, key, detail))

    def notice(self, code: str, key: str, detail: str = "") -> None:
        """Names something that is no difference."""
        if len(self.notices) < _MOST_FINDINGS:
            self.notices.append(Finding(code, key, detail))

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
        """True if there is something to compare, and none of it was."""
        records = self.rows.get(RECORDS)
        return (
            records is not None
            and records.compared_count == 0
            and records.not_compared.total()
            > sum(records.not_compared[reason] for reason in ("set_aside", "refused", "skipped"))
        )


@dataclass(frozen=True, slots=True)
class Depths:
    """How deep to look. `sample` is the share of versions whose bytes are compared, 0 to 1."""

    depth: Depth = "fields"
    sample: float = 1.0

    def reaches(self, depth: Depth) -> bool:
        """True if this looks as deep as that."""
        return DEPTHS.index(self.depth) >= DEPTHS.index(depth)
