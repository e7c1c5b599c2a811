"""How fast an archive, a source and this machine are: what each kind of work takes, with the range that is sure.

Figures are measured by a probe, or they are the defaults that the manual documents.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from noarkit.loading.estimation.demand import Work

Level = Literal["low", "likely", "high"]
LEVELS: tuple[Level, ...] = ("low", "likely", "high")
"""The quickest that is to be expected, what is likely, and the slowest."""


@dataclass(frozen=True, slots=True)
class Figure:
    """How long something takes, in seconds: at best, likely, at worst."""

    low: float
    likely: float
    high: float

    def at(self, level: Level) -> float:
        """The figure at one end of its range."""
        return float(getattr(self, level))

    def scaled(self, factor: float) -> Figure:
        """The figure of something that takes `factor` times as long."""
        return Figure(self.low * factor, self.likely * factor, self.high * factor)


def figure_of(seconds: list[float]) -> Figure:
    """The figure that several measurements give: their median, between the quartiles."""
    ordered = sorted(seconds)
    quarter = len(ordered) // 4
    return Figure(ordered[quarter], ordered[len(ordered) // 2], ordered[-1 - quarter])


def widened(likely: float, factor: float) -> Figure:
    """A figure that may be wrong by a factor either way."""
    return Figure(likely / factor, likely, likely * factor)


@dataclass(frozen=True, slots=True)
class Figures:
    """What each kind of work takes one worker that works alone.

    `here` and `here_entity` are what the coordinator does before the first shard and after the last: reading the plan,
    starting workers, writing reports. `archive_share` is how much of each request the archive works on it alone, so
    that further workers wait for each other; `processor_share` how much this machine's processors work. The remainder
    is waiting, which workers do side by side. `concurrency`: how many requests the archive takes at once, None where
    nobody met a limit.
    """

    query: Figure
    upload: Figure
    byte: Figure
    transaction: Figure
    action: Figure
    source_open: Figure
    source_byte: Figure
    entity: Figure
    here: Figure
    here_entity: Figure
    journal_entity: Figure
    archive_share: Figure
    processor_share: Figure
    concurrency: int | None = None

    def seconds(self, work: Work, level: Level = "likely") -> float:
        """How long one worker takes for some work, alone."""
        return self.archive_seconds(work, level) + self.source_seconds(work, level) + self.client_seconds(work, level)

    def archive_seconds(self, work: Work, level: Level = "likely") -> float:
        """How long one worker waits for the archive."""
        return (
            work.queries * self.query.at(level)
            + work.uploads * self.upload.at(level)
            + (work.bytes - work.paired_bytes / 2) * self.byte.at(level)
            + work.transactions * self.transaction.at(level)
            + work.actions * self.action.at(level)
        )

    def source_seconds(self, work: Work, level: Level = "likely") -> float:
        """How long one worker waits for the source."""
        return work.uploads * self.source_open.at(level) + (work.bytes - work.paired_bytes / 2) * self.source_byte.at(
            level
        )

    def client_seconds(self, work: Work, level: Level = "likely") -> float:
        """How long one worker computes for itself."""
        return work.entities * self.entity.at(level)

    def as_data(self) -> dict[str, object]:
        """The figures as plain JSON values: low, likely, high, in seconds."""
        ranges = {
            member.name: [value.low, value.likely, value.high]
            for member in fields(self)
            if isinstance(value := getattr(self, member.name), Figure)
        }
        return {**ranges, "concurrency": self.concurrency}


# An archive on a network, as the manual says; a figure may be wrong by three either way.
DEFAULTS = Figures(
    query=widened(0.020, 3),
    upload=widened(0.025, 3),
    byte=widened(1 / 50e6, 3),
    transaction=widened(0.050, 3),
    action=widened(0.000_10, 3),
    source_open=widened(0.000_5, 3),
    source_byte=widened(1 / 300e6, 3),
    entity=widened(0.000_03, 2),
    here=widened(0.3, 2),
    here_entity=widened(0.000_03, 2),
    journal_entity=widened(0.000_015, 2),
    archive_share=Figure(0.02, 0.05, 0.15),
    processor_share=Figure(0.02, 0.05, 0.15),
)
"""The figures that are used where nothing was measured."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Figures, and how they came to be: `probe` (measured now), `run` (what an earlier load took), `default`.

    `calls` and `seconds` say what measuring cost; `fresh` and `honours_versions` what the archive is like,
    `writes` whether the account may write at all; `where` names the run.
    """

    figures: Figures = DEFAULTS
    origin: Literal["probe", "run", "default"] = "default"
    calls: int = 0
    seconds: float = 0.0
    fresh: bool = True
    honours_versions: bool = True
    where: str = ""
    writes: bool = True
