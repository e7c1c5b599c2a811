"""Who is told how a long command goes: `--metrics`, `--hook`, `--log-to`, and the `[operations]` of the settings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from noarkit.cli.console import Console
from noarkit.config import OperationsConfig
from noarkit.errors import UsageFault
from noarkit.operations.job import Job
from noarkit.operations.systemd import service_manager

SERVERS = frozenset({"serve", "listen"})
"""Commands that are ready only when somebody can reach them, and alive as long as their loop turns."""
WATCHED = SERVERS | {
    *("scan", "plan", "derive", "ingest", "retry", "close", "retract", "verify"),
    *("extract", "convert", "validate", "compare", "connect", "runs", "backup", "find-person", "erase-traces"),
}
"""The long commands that end by themselves, and the servers; nobody watches the others."""
OPTION_NAMES = ("metrics", "hook", "log_to")
HOOK_MOMENTS = ("start", "success", "failure", "each")
_PLACES = ("output", "run", "place", "package", "pkg", "source", "data", "connection")
_MAX_NAME = 128


def operations_flags(values: Mapping[str, object]) -> dict[str, str]:
    """The settings that the options of a command line stand for."""
    flags: dict[str, str] = {}
    if values.get("metrics"):
        flags["operations.metrics"] = str(values["metrics"])
    targets = values.get("log_to")
    if isinstance(targets, tuple) and targets:
        flags["operations.log_to"] = ",".join(targets)
    hooks = values.get("hook")
    for moment in HOOK_MOMENTS:
        commands = [command for when, command in hooks if when == moment] if isinstance(hooks, tuple) else []
        if commands:
            flags[f"operations.hook_{moment}"] = "\n".join(commands)
    return flags


@dataclass(frozen=True, slots=True)
class CommandStart:
    """A command that begins: its voice, its environment, and the options that stood on the line itself."""

    console: Console
    environment: Mapping[str, str]
    typed: frozenset[str]


def begin_operations(start: CommandStart, ctx: click.Context, read_config: Callable[[], OperationsConfig]) -> None:
    """Begins to tell, where this command is a long one and anybody is to be told.

    Raises `UsageFault` where options for it stand on the line of another command, and what `Operations.begin` raises.
    """
    name = ctx.command.name or ""
    if name not in WATCHED:
        for option in OPTION_NAMES:
            if option in start.typed:
                raise UsageFault(what="not-watched", where=f"--{option.replace('_', '-')}", command=name)
        return
    config = read_config()
    if config == OperationsConfig() and service_manager(start.environment) is None:
        return
    from noarkit.operations.watch import Operations, WatchDeps

    console = start.console
    job = Job(name, _place(ctx), time.time())
    deps = WatchDeps(console.texts, start.environment, console.fault)
    console.operations = Operations(config, job, deps, serves=name in SERVERS)
    console.operations.begin()


def _place(ctx: click.Context) -> str:
    """What the command works with, as its user named it: the last part of the run, package, folder or connection."""
    arguments = [parameter.name for parameter in ctx.command.params if isinstance(parameter, click.Argument)]
    for name in (*_PLACES[:1], *arguments, *_PLACES):
        value = ctx.params.get(name or "")
        if isinstance(value, tuple):
            value = value[0] if value else None
        if isinstance(value, (str, Path)) and str(value):
            text = str(value)
            if "://" in text:  # an address may hold a user; its last part says enough
                text = text.split("?")[0].rsplit("@", 1)[-1]
            return os.path.basename(text.rstrip("/\\"))[:_MAX_NAME]  # noqa: PTH119  # a name, no file
    return ""
