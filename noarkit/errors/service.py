"""Faults of the services that connectors read from and write to."""

from __future__ import annotations

from noarkit.errors.base import NoarkitError


class ServiceFault(NoarkitError):
    """The service. Data: where (service:name), status, why."""

    code = "F350"
    exit_code = 5


class ServiceAway(ServiceFault):
    """No connection, a time-out, or an answer that broke off."""

    code = "F351"
    transient = True


class ServiceBusy(ServiceFault):
    """It asks us to come later. Data: retry_after_s where it says when."""

    code = "F352"
    transient = True

    @property
    def retry_after_s(self) -> float | None:
        """How long it asks us to wait."""
        value = self.data.get("retry_after_s")
        return float(value) if isinstance(value, (int, float)) else None


class ServiceBroken(ServiceFault):
    """A fault of its own (500 and the like)."""

    code = "F353"
    transient = True


class AllowanceSpent(ServiceFault):
    """A day's credits, or a limit of ours on them, are used up."""

    code = "F354"
    exit_code = 11


class ServiceRefused(ServiceFault):
    """It will not do what was asked: the request is wrong, or the thing is not there."""

    code = "F360"
    exit_code = 4


class ServiceStrange(ServiceFault):
    """An answer that is none."""

    code = "F361"
    exit_code = 1


class ServiceDenied(ServiceFault):
    """The token or key was refused, or a right is missing."""

    code = "F362"
    exit_code = 6


class OtherTenant(ServiceFault):
    """The connection leads to another organisation than the one that its watermarks, or the run, are of. Data: where,
    expected, found; connection where its marks stand in the way, run where the plan is the other's."""

    code = "F364"
    exit_code = 2


class ConsentNeeded(ServiceFault):
    """Nobody has let us in yet, or the consent is used up: `connect … login` asks for it."""

    code = "F363"
    exit_code = 6
