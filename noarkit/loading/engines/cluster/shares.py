"""One governor for all workers: each gets a share of the rate; all shares are halved while the archive is busy, and
grow back slowly."""

from __future__ import annotations

from collections.abc import Callable

from noarkit.loading.governor import Rate

_LEAST = 1 / 64
_GROWTH = 1.25
_HALVED_EACH_S = 1.0
_GROWN_EACH_S = 10.0


class RateShares:
    """The shares of a rate. 429 and 503 are one busy spell where several workers meet them within a second."""

    def __init__(self, rate: Rate, now_s: Callable[[], float]) -> None:
        self._rate = rate
        self._now_s = now_s
        self._part = 1.0
        self._changed_s = -_GROWN_EACH_S

    def share(self, workers: int) -> Rate:
        """The share of each of so many workers now."""
        if self._part < 1.0 and self._now_s() - self._changed_s >= _GROWN_EACH_S:
            self._part = min(1.0, self._part * _GROWTH)
            self._changed_s = self._now_s()
        share = self._rate.share(workers)
        return Rate(
            share.calls_per_s * self._part if share.calls_per_s else None,
            share.bytes_per_s * self._part if share.bytes_per_s else None,
        )

    def heard_busy(self) -> bool:
        """Halves all shares; False where that was done just now."""
        if self._now_s() - self._changed_s < _HALVED_EACH_S and self._part < 1.0:
            return False
        self._part = max(_LEAST, self._part / 2)
        self._changed_s = self._now_s()
        return True
