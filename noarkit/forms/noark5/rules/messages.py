"""The messages of a job to the validating process: rows for the store, findings, counts. Plain values, picklable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.findings import KEPT, Hit
from noarkit.forms.noark5.rules.store import Row


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one table."""

    table: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class RuleHits:
    """Hits of one rule: the first ones, and how many there were in all."""

    code: str
    hits: tuple[Hit, ...]
    count: int


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Numbers by rule and labels."""

    numbers: Mapping[tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a journal, as it is written, and what was seen of its entries.

    `at` is its number among the elements, `newer_at` that of the first group that holds a field which the first edition
    of 5.0 does not know. `rises` = every entry has a higher year or number than the one before. `creators` = whose
    journal it is.
    """

    journal: int
    values: Mapping[str, str]
    at: int
    entries: int
    newer_at: int | None = None
    rises: bool = False
    creators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file that cannot be read, or is hostile. `by_schema` = reported by the job that checks its schema."""

    hit: Hit
    by_schema: bool = False


Message = Rows | RuleHits | RuleCounts | Head | UnreadableFile


class Notes:
    """Collects the hits of one job until they are sent."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._hits: dict[str, list[Hit]] = {}
        self._counts: dict[str, int] = {}

    def hit(self, code: str, number: int | None = None, system_id: str | None = None, **data: str) -> None:
        """One hit at an element of the file."""
        self.take(Hit(code, self._file, number, None, system_id, {name: text[:200] for name, text in data.items()}))

    def take(self, hit: Hit) -> None:
        """One hit as it is."""
        self._counts[hit.code] = self._counts.get(hit.code, 0) + 1
        kept_hits = self._hits.setdefault(hit.code, [])
        if len(kept_hits) < KEPT:
            kept_hits.append(hit)

    def line(self, code: str, line: int | None, **data: str) -> None:
        """One hit on a line of the file."""
        self.take(Hit(code, self._file, None, line, None, {name: text[:400] for name, text in data.items()}))

    def messages(self) -> Iterator[Message]:
        """All of it."""
        for code, count in self._counts.items():
            yield RuleHits(code, tuple(self._hits[code]), count)


def refusal(file: str, fault: PackageFault | UnsafeXml | OSError) -> Hit:
    """The hit that a file makes which cannot be read, or must not be."""
    if isinstance(fault, OSError):
        return Hit("N007", file, data={"why": fault.strerror or type(fault).__name__})
    line = fault.data.get("line")
    code = "N006" if isinstance(fault, UnsafeXml) else "N007"
    reason = str(fault.data.get("detail") or fault.data.get("why") or "")
    return Hit(code, file, None, line if isinstance(line, int) and line > 0 else None, None, {"why": reason[:200]})
