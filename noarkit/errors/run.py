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


class RunRetracted(RunFault):
    """A run whose objects were taken back out of the archive, all or in part; nothing is done with it any more.

    Data: where, count."""

    code = "F408"
    exit_code = 2


class WorkerLost(RunFault):
    """A process of ours died in the middle of its work; what it was at is settled before it goes on. Data: exit."""

    code = "F431"
    exit_code = 5


class ShardSetAside(RunFault):
    """A shard of a run lost its worker twice; what was not loaded of it is set aside. Data: shard, losses, exit."""

    code = "F432"
    exit_code = 3


class ShardNotLoaded(RunFault):
    """A shard that lost its worker twice, and can neither be loaded nor set aside. Data: shard, losses, exit, error."""

    code = "F433"
    exit_code = 5


class LeaseEnded(RunFault):
    """The lease of a worker ran out before it was renewed, so it sends nothing more."""

    code = "F441"
    exit_code = 5
    transient = True


class EngineAway(RunFault):
    """The scheduler cannot be reached, or was lost while the run was under way. Data: where, why."""

    code = "F442"
    exit_code = 5
    transient = True


class NoWorkers(RunFault):
    """No worker that could take a part of the run is at the scheduler. Data: where, seconds."""

    code = "F443"
    exit_code = 5
    transient = True


class OtherVersion(RunFault):
    """Two machines of a cluster run different versions of noarkit. Data: where, expected, found."""

    code = "F444"
    exit_code = 2


class EngineTrust(RunFault):
    """TLS between the machines of a cluster: one does not trust the other. Data: where, why, detail."""

    code = "F445"
    exit_code = 6


class OtherPlace(RunFault):
    """A worker that is set up for another account or archive than the run. Data: where, why, expected, found."""

    code = "F446"
    exit_code = 2


class LoadedBefore(RunFault):
    """The archive holds the same records already, under another root. Data: where, other, count,
    sampled, and as far as they are known: run, do, again."""

    code = "F330"
    exit_code = 2


class OtherSource(RunFault):
    """A worker does not read what this machine reads. Data: where, machine, why, expected, found."""

    code = "F448"
    exit_code = 2


class JobLost(RunFault):
    """Every worker that was given a part of some heavy work was lost. Data: where, job, losses."""

    code = "F447"
    exit_code = 5


class PartNotReady(RunFault):
    """A part of a run that cannot begin before another part is loaded. Data: where, why, parts."""

    code = "F451"
    exit_code = 5


class JournalsClash(RunFault):
    """Journals that are not of one run, or say different things of the same. Data: where, why, key."""

    code = "F452"
    exit_code = 4


class RunNotProven(RunFault):
    """The local data of a run is the only evidence there is, and is not removed. Data: where, why."""

    code = "F461"
    exit_code = 2


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


class NotApproved(PlanFault):
    """A plan that was to be loaded only if a person approved it, and nobody has. Data: where."""

    code = "F412"


class SourceValuesLost(PlanFault):
    """A load whose account may not set the dates, years and numbers of the plan, which the archive would replace by its
    own. Data: where, things, fields, years, today; carry and go_on are commands."""

    code = "F413"
