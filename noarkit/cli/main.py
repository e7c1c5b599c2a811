"""The program: finds the command, and turns whatever comes of it into words and an exit code, nowhere else."""

from __future__ import annotations

import difflib
import importlib
import os
import secrets
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path

import click
from click.shell_completion import shell_complete

from noarkit.cli.console import Console, silence
from noarkit.cli.corrected_line import corrected_fault
from noarkit.cli.options import OWNER_ALONE, CommandLine, global_options, texts_in, write_block
from noarkit.cli.usage_faults import usage_fault
from noarkit.config import Sources, configured_language
from noarkit.errors import (
    AccessDenied,
    DiskFull,
    NoarkitError,
    Paused,
    SecretOnTheLine,
    UsageFault,
    causes,
    gravest,
)
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.disk import fault_of_disk
from noarkit.wings import require_wing_of
from noarkit.words.texts import SPOKEN, SentenceMissing, texts

# Each is a module beside this one with a command of its name, in the order in which a newcomer meets them.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "begin": ("deposit", "init", "doctor", "config", "serve", "backup", "scan", "recipe", "derive"),
    "load": ("plan", "estimate", "approve", "ingest", "status", "retry", "close", "retract"),
    "prove": ("verify", "validate", "compare", "report"),
    "deliver": ("extract", "convert", "key"),
    "look": ("browse", "search", "find-person", "ls", "show", "get", "codes", "groups"),
    "run": ("runs", "erase-traces", "scheduler", "worker", "connect", "listen", "mcp", "standin"),
    "learn": ("help", "man", "completion", "version"),
}
COMMANDS: tuple[str, ...] = tuple(chain.from_iterable(GROUPS.values()))
PROGRAM = "noarkit"
COMPLETION_VARIABLE = "_NOARKIT_COMPLETE"
Finder = Callable[[str], click.Command]
_VERSION = {"--version": "version", "-V": "version"}
_SECRET_OPTIONS = ("--client-secret", "--secret", "--password", "--token")


class Program(click.Group):
    """The group of all commands; each is imported when it is called, not before."""

    def __init__(self, find: Finder) -> None:
        super().__init__(PROGRAM, invoke_without_command=True, callback=_start, params=list(global_options()))
        self.context_settings = {"max_content_width": 100, "help_option_names": ["-h", "--help"]}
        self._find = find

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads what stands before the command; `--version` and `-V` there are the command `version`."""
        names = (place for place, argument in enumerate(args) if argument in COMMANDS)
        before = next(names, len(args))
        return super().parse_args(ctx, [_VERSION.get(word, word) for word in args[:before]] + args[before:])

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        return self._find(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the line asks for; a near miss is proposed."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            guess = {"fix": near[0], "wrong": args[0]} if near else {}
            raise UsageFault(what="no-such-command", where=f"{PROGRAM} {args[0]}", **guess)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One screen: the commands in groups, and where there is more."""
        catalog = texts_in(ctx)
        formatter.write_usage(PROGRAM, catalog.say("help.line"), catalog.say("help.usage"))
        formatter.write("\n")
        formatter.write_text(catalog.text("program", "long"))
        write_block(formatter, catalog.say("help.examples"), catalog.text("program", "examples"))
        with formatter.section(catalog.say("help.commands")):
            rows = [(catalog.say(f"help.group-{name}"), "  ".join(names)) for name, names in GROUPS.items()]
            formatter.write_dl(rows)
        write_block(formatter, catalog.say("help.more"), catalog.text("program", "more"))


def find_command(name: str) -> click.Command:
    """The command of that name, from its module."""
    function = name.replace("-", "_")
    module = f"noarkit.cli.{function}"
    require_wing_of(module)
    click_command = getattr(importlib.import_module(module), f"{function}_command")
    assert isinstance(click_command, click.Command)  # noqa: S101  # every module of COMMANDS holds one
    return click_command


def program(find: Finder = find_command) -> Program:
    """The whole command line."""
    return Program(find)


def run() -> None:
    """The entry point of `noarkit`."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # both are text files here
    sys.exit(main(sys.argv[1:], os.environ))


def main(arguments: Sequence[str], environment: Mapping[str, str], find: Finder = find_command) -> int:
    """Runs one command line and returns its exit code. Nothing it does raises."""
    console = Console(texts(_language(arguments, environment)), as_json=_wants_json(arguments, environment))
    console.correct = partial(_corrected, arguments=arguments, find=find)
    mask = os.umask(OWNER_ALONE)  # what we write is its owner's alone, unless --mode says otherwise
    try:
        code = _outcome(arguments, environment, console, find)
        code = _end_operations(console, code)
    finally:
        os.umask(mask)
    try:
        console.finish(code)
    except DiskFull as fault:
        code = _report_fault(console, fault)
    console.close()
    return code


def _corrected(fault: NoarkitError, *, arguments: Sequence[str], find: Finder) -> NoarkitError:
    """A fault of use with the whole line as its remedy."""
    name, command = next((word for word in arguments if word in COMMANDS), None), None
    if name is not None and isinstance(fault, UsageFault):
        with suppress(NoarkitError):  # of a wing that is not there, which is the fault that is told
            command = find(name)
    return corrected_fault(fault, arguments, command)


def _outcome(arguments: Sequence[str], environment: Mapping[str, str], console: Console, find: Finder) -> int:
    """The exit code of a command line, whatever comes of it; faults are told."""
    try:
        return _call(program(find), list(arguments), environment, console)
    except NoarkitError as fault:
        return _report_fault(console, fault_of_disk(fault) or fault)
    except click.ClickException as error:
        command = next((word for word in arguments if word in COMMANDS), "")
        return _report_fault(console, usage_fault(error, console.texts, command))
    except (KeyboardInterrupt, click.Abort):
        return _report_fault(console, Paused(signal="SIGINT"))
    except BrokenPipeError:
        return _close_broken_pipe()
    except PermissionError as error:
        return _report_fault(console, AccessDenied(where=os.fsdecode(error.filename or "")))
    except Exception as error:  # noqa: BLE001  # the last door: whatever comes here was not foreseen, and is told as that
        disk = fault_of_disk(error)
        return _report_fault(console, disk) if disk is not None else _unexpected_fault(console, error)


def _end_operations(console: Console, code: int) -> int:
    """Tells whoever watches how the command ended; its exit code stays what it is, unless the output itself is full."""
    try:
        console.end_operations(code)
    except KeyboardInterrupt:  # whoever waits for a hook does so no longer
        return code
    except DiskFull as full:
        with suppress(DiskFull):
            console.fault(full)
        return gravest(code, full.exit_code)
    return code


def _open_streams() -> None:
    """Opens to nowhere what was closed at the start: the next file opened would take its number, and its output."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            open_descriptor(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


@click.pass_context
def _start(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _call(root_command: Program, arguments: list[str], environment: Mapping[str, str], console: Console) -> int:
    _refuse_secrets(arguments)
    instruction = environment.get(COMPLETION_VARIABLE)
    if instruction:
        return shell_complete(
            root_command, {"obj": CommandLine(console, environment)}, PROGRAM, COMPLETION_VARIABLE, instruction
        )
    try:
        # the line is at hand before anything on it is read: even --help and a wrong option must know the language
        with root_command.make_context(PROGRAM, arguments, obj=CommandLine(console, environment)) as ctx:
            return int(root_command.invoke(ctx) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code


def _language(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The language asked for, known before the line is parsed, so that even a fault of parsing is told in it."""
    lang = _option_value(arguments, "--lang") or environment.get("NOARKIT_LANG")
    if lang in SPOKEN:
        return lang
    file, profile = _option_value(arguments, "--config"), _option_value(arguments, "--profile")
    return configured_language(Sources(environment=environment, file=Path(file) if file else None, profile=profile))


def _wants_json(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    return "--json" in _before_end(arguments) or environment.get("NOARKIT_JSON", "") not in ("", "0", "false")


def _option_value(arguments: Sequence[str], name: str) -> str | None:
    before = _before_end(arguments)
    for at, argument in enumerate(before):
        if argument == name and at + 1 < len(before):
            return before[at + 1]
        if argument.startswith(name + "="):
            return argument.partition("=")[2]
    return None


def _before_end(arguments: Sequence[str]) -> list[str]:
    return list(arguments[: arguments.index("--")] if "--" in arguments else arguments)


def _refuse_secrets(arguments: Sequence[str]) -> None:
    for argument in _before_end(arguments):
        if argument.partition("=")[0] in _SECRET_OPTIONS:
            raise SecretOnTheLine(where=argument.partition("=")[0])


def _report_fault(console: Console, fault: NoarkitError) -> int:
    try:
        console.fault(fault)
    except DiskFull as full:  # the output itself is full: what is not written there is told where it still can be
        with suppress(DiskFull):
            console.fault(full)
        return gravest(fault.exit_code, full.exit_code)
    return fault.exit_code


def _close_broken_pipe() -> int:
    """Whoever read our results has seen enough (`… | head`); what is still in the pipe is nobody's."""
    silence(sys.stdout)
    return 0


def _frames(error: BaseException) -> Iterator[str]:
    """Where it came from and what kind it is, causes first. What an exception says may be a name or a secret."""
    for cause in reversed(list(causes(error))):
        yield from traceback.format_tb(cause.__traceback__)
        yield f"{type(cause).__name__}\n"


def _unexpected_fault(console: Console, error: Exception) -> int:
    error_id = secrets.token_hex(4)
    trace = "".join(_frames(error))
    console.log("trace", {"error_id": error_id, "trace": trace})
    frame = traceback.extract_tb(error.__traceback__)[-1:]
    where = f"{os.path.basename(frame[0].filename)}:{frame[0].lineno}" if frame else None  # noqa: PTH119  # a name, no file
    if isinstance(error, SentenceMissing):
        where = str(error.args[0])
    return _report_fault(
        console, NoarkitError(error=type(error).__name__, error_id=error_id, where=where, log_file=console.log_path)
    )
