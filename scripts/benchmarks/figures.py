"""How figures are taken and told."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path


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


def medians(rounds: int, ours: Callable[[], float], floor: Callable[[], float]) -> tuple[float, float, float]:
    """The medians of a figure and of its floor, taken in turn, and the median of their ratios pair by pair."""
    pairs = [(ours(), floor()) for _ in range(rounds)]
    return (
        statistics.median(one for one, _ in pairs),
        statistics.median(other for _, other in pairs),
        statistics.median(one / other for one, other in pairs),
    )


def tell(name: str, ours: float, unit: str, floor: float | None = None, what: str = "", ratio: float = 0.0) -> None:
    """One line of the table."""
    beside = f" | {floor:,.0f} {unit} | {ratio:.2f} | {what}" if floor is not None else f" | | | {what}"
    print(f"| {name} | {ours:,.0f} {unit}{beside} |", flush=True)


def peak_mb(pid: int) -> float:
    """The peak resident memory of a process, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0
