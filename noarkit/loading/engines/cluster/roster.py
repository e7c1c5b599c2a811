"""Which workers are there, by their own word, and which of them may be given a lease."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from noarkit.errors import OtherVersion
from noarkit.loading.engines.cluster.messages import Beat
from noarkit.version import __version__


@dataclass(frozen=True, slots=True)
class Member:
    """A worker as it was last heard of, and when."""

    beat: Beat
    heard_s: float


class Roster:
    """The workers that said something lately. Heard in one thread, asked in another."""

    def __init__(self, fresh_s: float, now_s: Callable[[], float]) -> None:
        self._fresh_s = fresh_s
        self._now_s = now_s
        self._members: dict[str, Member] = {}
        self._ended: set[str] = set()
        self._lock = threading.Lock()

    def hear(self, beat: Beat) -> bool:
        """Keeps what a worker said; True where it was not known before."""
        with self._lock:
            is_new = beat.worker not in self._members
            self._ended.update(beat.ended)
            self._members[beat.worker] = Member(beat, self._now_s())
            for name in self._ended & self._members.keys():
                del self._members[name]
            return is_new

    def finish(self, worker: str, key: str) -> None:
        """Takes a worker for idle that reported the end of its lease, before its next beat."""
        with self._lock:
            member = self._members.get(worker)
            if member is not None and member.beat.key == key:
                self._members[worker] = replace(member, beat=replace(member.beat, key=""))

    def idle(self, busy: Collection[str]) -> list[Member]:
        """The workers that could take a lease now, those heard of last first; `busy` are at work on one."""
        with self._lock:
            fit = [
                member
                for name, member in self._members.items()
                if name not in busy
                and not member.beat.is_leaving
                and not member.beat.key
                and member.beat.version == __version__
                and self._now_s() - member.heard_s <= self._fresh_s
            ]
        return sorted(fit, key=lambda member: -member.heard_s)

    def is_leaving(self, worker: str) -> bool:
        """True if it said that it takes no more leases, or is gone."""
        with self._lock:
            member = self._members.get(worker)
        return member is None or member.beat.is_leaving

    def has_ended(self, worker: str) -> bool:
        """True if its machine said that it is gone for certain."""
        with self._lock:
            return worker in self._ended

    def stamp(self, worker: str) -> float | None:
        """The worker's own clock when it was last heard of."""
        with self._lock:
            member = self._members.get(worker)
        return None if member is None else member.beat.stamp

    def check_versions(self) -> None:
        """Raises `OtherVersion` where a worker has another version than we have."""
        with self._lock:
            others = [member.beat for member in self._members.values() if member.beat.version != __version__]
        if others:
            raise OtherVersion(where=others[0].machine, expected=__version__, found=others[0].version)
