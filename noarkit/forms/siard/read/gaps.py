"""What an archive lacks, or holds otherwise than it says: told place by place, while everything else is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Why = Literal[
    "lob-not-there",
    "lob-unreadable",
    "lob-nested",
    "lob-digest",
    "stray-element",
    "table-not-there",
    "table-broken",
    "rows-differ",
    "key-broken",
    "unknown-sql-type",
    "message-digest",
]
LOST: frozenset[Why] = frozenset(
    {
        *("lob-not-there", "lob-unreadable", "lob-nested", "lob-digest", "stray-element"),
        *("table-not-there", "table-broken", "rows-differ"),
    }
)
"""Where a value is not there, or is not the one that was archived. What else is told was read all the same."""
RULES: dict[Why, str] = {
    "lob-not-there": "SIARD-T_6.4-5-FILE",
    "lob-unreadable": "SIARD-T_6.4-5-FILE",
    "lob-nested": "SIARD-T_6.4-5-FILE",
    "lob-digest": "SIARD-T_6.4-5-DIGEST",
    "stray-element": "SIARD-T_6.4-2",
    "table-not-there": "SIARD-P_4.3-1",
    "table-broken": "SIARD-T_6.0-1-XML",
    "rows-differ": "SIARD-P_4.3-10",
    "key-broken": "SIARD-M_5.8-1",
    "unknown-sql-type": "SIARD-M_5.6-1-TYPE",
    "message-digest": "SIARD-M_5.1-1-11",
}
"""The rule of the specification that each of them breaks."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One such place: the table as it is called, the row from 1 (0 for all of it), the column, and what it names."""

    table: str
    row: int
    column: str
    name: str
    why: Why

    @property
    def key(self) -> str:
        """The place in one word; no record of a table is called so."""
        return f"{self.table}#{self.row}:{self.column}" if self.row else f"{self.table}#{self.column or self.why}"


GapListener = Callable[[Gap], None]


def ignore_gap(gap: Gap) -> None:
    """For those who do not ask."""


class GapReporter:
    """Tells of the gaps of one table. Rows that are read again have their gaps told once."""

    def __init__(self, table: str, gaps: GapListener, *, withholds: bool) -> None:
        self.withholds = withholds
        self._table = table
        self._gaps = gaps
        self._known = 0
        self._seen = 0
        self._begun = 0
        self.row = 0

    def __call__(self, why: Why, column: str = "", name: str = "", *, row: int | None = None) -> None:
        """One gap, in the row that is being read or in another."""
        self._seen += 1
        if self._seen > self._known:
            self._known = self._seen
            self._gaps(Gap(self._table, self.row if row is None else row, column, name, why))

    def begin_rows(self) -> None:
        """Now come the rows."""
        self._begun = self._seen

    def restart_rows(self) -> None:
        """The rows are read from the first on once more."""
        self._seen, self.row = self._begun, 0
