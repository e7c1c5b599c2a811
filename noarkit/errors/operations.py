"""Faults of who is told how a command goes: hooks, metrics, logs of the system, the health check."""

from __future__ import annotations

from noarkit.errors.base import NoarkitError


class OperationsFault(NoarkitError):
    """Hooks, metrics, system logs and the health check. Data: where, why."""

    code = "F470"
    exit_code = 2


class HookRefused(OperationsFault):
    """A hook at the start failed, so nothing was done. Data: where, why, status, limit."""

    code = "F471"


class HookPostponed(OperationsFault):
    """A hook at the start asked for a later time (exit code 75), so nothing was done. Data: where."""

    code = "F472"
    exit_code = 5
    transient = True


class NotTold(OperationsFault):
    """A hook, health check, metrics file or log that could not be told; the work goes on. Data: where, why, status."""

    code = "F473"
    exit_code = 0
