"""How figures are taken and told."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path

from scripts.benchmarks.measuring import Cost, Meter
from scripts.benchmarks.profiles import LineProfile

_costs: list[Cost] = []
_costs_beside: list[Cost] = []
_spreads: list[str] = []
_profile: LineProfile | None = None


def machine() -> str:
    """One line about where this ran."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}"


def seconds(act: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def processor_seconds(act: Callable[[], object]) -> float:
    """How much processor time one call takes, of this process and of its children that ended by then."""
    before = os.times()
    act()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def watch_with(profile: LineProfile | None) -> None:
    """Our rounds are watched by it from now on."""
    global _profile  # one for a whole run of benchmarks
    _profile = profile


@cache
def meter() -> Meter:
    """What measures since the last figure that was told."""
    return Meter()


def measured(act: Callable[[], float]) -> float:
    """One round of a figure; `tell` says what it cost."""
    meter().cost()
    with nullcontext() if _profile is None else _profile.watching():
        figure = act()
    _costs.append(meter().cost())
    return figure


def _measured_beside(act: Callable[[], float]) -> float:
    meter().cost()
    figure = act()
    _costs_beside.append(meter().cost())
    return figure


def processor_spread(things: int) -> tuple[float, float, float]:
    """The least, the median and the most µs of processor time a thing, over the rounds measured since `tell`."""
    values = [cost.processor_s / things * 1e6 for cost in _costs]
    return min(values), statistics.median(values), max(values)


def medians(rounds: int, ours: Callable[[], float], floor: Callable[[], float]) -> tuple[float, float, float]:
    """The medians of a figure and of its floor, taken in turn, and the median of their ratios pair by pair. `tell` adds
    the least and the most of each, and what the rounds of both cost."""
    pairs = []
    for _ in range(rounds):
        pairs.append((measured(ours), _measured_beside(floor)))
    mine, others = zip(*pairs, strict=True)
    ratios = [one / other for one, other in pairs]
    processor = [
        one.processor_s / other.processor_s
        for one, other in zip(_costs[-rounds:], _costs_beside[-rounds:], strict=True)
        if other.processor_s
    ]
    for name, values in (
        ("ours", mine),
        ("beside it", others),
        ("ratio", ratios),
        ("processor time of ours to that beside it", processor),
    ):
        if values:
            least, median, most = min(values), statistics.median(values), max(values)
            _spreads.append(f"{name} {least:,.2f} / {median:,.2f} / {most:,.2f}")
    return (
        statistics.median(one for one, _ in pairs),
        statistics.median(other for _, other in pairs),
        statistics.median(one / other for one, other in pairs),
    )


def tell(name: str, ours: float, unit: str, floor: float | None = None, what: str = "", ratio: float = 0.0) -> None:
    """One line of the table."""
    beside = f" | {floor:,.0f} {unit} | {ratio:.2f} | {what}" if floor is not None else f" | | | {what}"
    print(f"| {name} | {ours:,.0f} {unit}{beside} |", flush=True)
    costs = _costs or [meter().cost()]
    for number, cost in enumerate(costs, 1):
        of = f"round {number} of {len(costs)}" if len(costs) > 1 else "since the figure before"
        print(f"| ^ {of}: {cost.text()} | | | | |", flush=True)
    for number, cost in enumerate(_costs_beside, 1):
        print(f"| ^ beside it, round {number} of {len(_costs_beside)}: {cost.text()} | | | | |", flush=True)
    if _spreads:
        print(f"| ^ least / median / most: {'; '.join(_spreads)} | | | | |", flush=True)
    _costs.clear()
    _costs_beside.clear()
    _spreads.clear()
    meter().cost()


def peak_mb(pid: int) -> float:
    """The peak resident memory of a process, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0
