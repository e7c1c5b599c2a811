"""What a run says of workers on other machines, whichever engine brings them: where they meet, and which run it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a lease lasts without renewal, how often it is renewed, and how often a worker says that it is there.

    `margin_s` is what the coordinator waits beyond the lease, for clocks that do not run equally fast.
    """

    lease_s: float = 60.0
    renew_s: float = 10.0
    beat_s: float = 2.0
    margin_s: float = 2.0


@dataclass(frozen=True, slots=True)
class ClusterTarget:
    """Where the scheduler is, and with which certificates we come; how patient we are where no worker is there; whether
    we ship contents."""

    address: str
    tls: Path | None
    timing: Timing = field(default_factory=Timing)
    patience_s: float = 60.0
    ships: bool = False


@dataclass(frozen=True, slots=True)
class RunReference:
    """Which run a lease is of: a name that no other has, its folder on the coordinator's machine, the sha256 of its
    plan, its archive by address and identity, and our account there. Where it `ships`, workers ask the coordinator for
    contents and need no source."""

    name: str
    folder: str
    plan: str
    archive: str
    identity: str
    account: str
    ships: bool = False
