"""Loads with one protection taken out, to prove that the search would find what it is there for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from unittest import mock

from noarkit.loading import run
from noarkit.loading.clocks import Clocks
from noarkit.loading.engines.cluster.fence import LeaseFence
from noarkit.loading.journal import Journal
from noarkit.loading.lease import Guard
from noarkit.loading.settling import DoubtSettler
from scripts.simulation.machines import ClusterMachines


@contextmanager
def no_settling() -> Iterator[None]:
    """What got no answer is sent again, without being asked for; only the guard's version is read."""

    def not_there(settler: DoubtSettler, keys: Collection[str], *_: float) -> set[str]:
        state = settler._read_guard() if settler.guard is not None else None
        settler.guard = state[0] if state is not None else settler.guard
        return set()

    with (
        mock.patch.object(DoubtSettler, "landed_chunks", not_there),
        mock.patch.object(DoubtSettler, "landed_after_deadline", not_there),
    ):
        yield


@contextmanager
def no_deadline() -> Iterator[None]:
    """What got no answer is asked for at once, while the archive may still carry it out."""

    def at_once(settler: DoubtSettler, keys: Collection[str], *_: float) -> set[str]:
        return settler.landed_chunks(keys)

    with mock.patch.object(DoubtSettler, "landed_after_deadline", at_once):
        yield


@contextmanager
def no_guard() -> Iterator[None]:
    """No chunk carries the version of a guard, although the archive would honour it."""

    def none(*_: object) -> Callable[[int], Guard | None]:
        return lambda shard: None

    with mock.patch.object(run, "_guards", none):
        yield


@contextmanager
def no_lease_wait() -> Iterator[None]:
    """A shard is handed on before its lease has run out, and a worker whose lease has run out goes on."""

    def never(fence: LeaseFence) -> bool:
        return False

    def soon(machines: ClusterMachines) -> float:
        return 15.0

    def at_once(journal: Journal, clocks: Clocks) -> float:
        return clocks.steady_s()

    with (
        mock.patch.object(LeaseFence, "is_over", never),
        mock.patch.object(ClusterMachines, "hands_on_after_s", property(soon)),
        mock.patch.object(run, "latest_lease_end", at_once),
    ):
        yield


MUTANTS: Mapping[str, tuple[Callable[[], AbstractContextManager[None]], str]] = {
    "no-settling": (no_settling, "versions"),
    "no-deadline": (no_deadline, "no-versions"),
    "no-guard": (no_guard, "versions"),
    "no-lease-wait": (no_lease_wait, "no-versions"),
}
"""Each with the mode in which nothing else protects."""
