"""The clocks of a load: steady clocks, so that setting the wall clock of the machine changes no deadline.

Within one boot of the machine a steady clock counts, the same for all processes; across two, the archive's own clock,
as the Date of its answers tells it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Clocks:
    """`steady_s` counts within the boot that `boot` names ("" where nobody knows); `archive_s` is the archive's time,
    None if it told none."""

    steady_s: Callable[[], float]
    boot: str
    archive_s: Callable[[], float | None]


class ArchiveClock:
    """The archive's clock: the time of its last answer, carried on by our steady clock."""

    def __init__(self, steady_s: Callable[[], float] = time.monotonic) -> None:
        self._steady_s = steady_s
        self._heard: tuple[float, float] | None = None

    def set_from_date(self, date_s: float) -> None:
        """Sets the clock by the Date header of an answer."""
        self._heard = (date_s, self._steady_s())

    def now_s(self) -> float | None:
        """The archive's time now; None before its first answer."""
        return None if self._heard is None else self._heard[0] + self._steady_s() - self._heard[1]


def system_clocks(archive_s: Callable[[], float | None] = lambda: None) -> Clocks:
    """The clocks of this machine."""
    try:
        boot = _BOOT_ID.read_text("ascii").strip()
    except OSError:
        boot = ""
    return Clocks(time.monotonic, boot, archive_s)
