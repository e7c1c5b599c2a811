"""Faults of a run: its folder, its journal, its limits."""

from __future__ import annotations

from noarkit.errors.base import NoarkitError


class RunFault(NoarkitError):
    """The run folder and its journal."""

    code = "F400"


class JournalFault(RunFault):
    """The journal cannot be written or read; the run stops at once."""

    code = "F401"


class PlanChanged(RunFault):
    """graph.db is not what was frozen. Data: where, frozen, found."""

    code = "F402"
    exit_code = 2


class RunLocked(RunFault):
    """Another process holds the run or the archive folder. Data: where, owner."""

    code = "F403"
    exit_code = 9


class OtherArchive(RunFault):
    """The run belongs to another archive. Data: where, expected, found."""

    code = "F404"
    exit_code = 2


class DiskFull(RunFault):
    """No room. Data: where."""

    code = "F405"
    exit_code = 10


class LimitReached(RunFault):
    """A limit of ours stopped the run. Data: limit."""

    code = "F406"
    exit_code = 11


class WorkerLost(RunFault):
    """A process of ours died in the middle of its work; what it was at is settled before it goes on. Data: exit."""

    code = "F431"
    exit_code = 5


class Paused(RunFault):
    """A signal asked for a tidy stop. Data: signal."""

    code = "F407"

    def __init__(self, **data: object) -> None:
        super().__init__(**data)
        self.exit_code = 143 if data.get("signal") == "SIGTERM" else 130


class PlanFault(RunFault):
    """A plan or recipe that cannot work as a whole. Data: where, why."""

    code = "F410"
    exit_code = 4


class LossNotAccepted(PlanFault):
    """A plan would lose what nobody may lose unknowingly, and no person accepted it. Data: where, options."""

    code = "F411"
