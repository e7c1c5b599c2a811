"""Options that every command has, the session they make, and commands whose help comes from `words/`.

A command is a function of a `Session` and its own options; it returns an exit code or nothing, and raises faults.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec

import click
from click.core import ParameterSource

from noarkit.cli import project_line
from noarkit.cli.console import Console
from noarkit.cli.line_names import complete_remedy, names_at_hand
from noarkit.cli.operating import HOOK_MOMENTS, CommandStart, begin_operations, operations_flags
from noarkit.cli.terminal import COLORS
from noarkit.config import Config, Sources, configured_language, load
from noarkit.service_names import is_service
from noarkit.wings import require_wing
from noarkit.words.texts import SPOKEN, Texts, texts

Progress = Literal["auto", "bar", "plain", "none"]
P = ParamSpec("P")

_MASKS = {"0600": 0o077, "0640": 0o027, "0644": 0o022, "0660": 0o007, "0664": 0o002}
"""Who else may read (or write) what we write: the mode of new files, with the mask that makes it."""

PROGRESS: tuple[Progress, ...] = ("auto", "bar", "plain", "none")
PREFIX = "NOARKIT_"
_ON_LINE = "noarkit.on-line"
FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
OWNER_ALONE = 0o077
"""The mask under which every command runs: whatever the caller's was, new files are for their owner."""
GLOBAL_NAMES = (
    *("config", "profile", "lang", "json", "progress", "color", "log_file", "log_to", "metrics", "hook"),
    *("mode", "quiet", "verbose"),
)


@dataclass(slots=True)
class CommandLine:
    """One command line while it is read: `values` gathers the global options, wherever they stand."""

    console: Console
    environment: Mapping[str, str]
    values: dict[str, object] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)
    """The names of those that stood on the line itself."""


@dataclass(frozen=True, slots=True)
class Session:
    """What a command works with: its voice, its language and its settings."""

    console: Console
    environment: Mapping[str, str]
    progress: Progress
    sources: Sources

    @property
    def texts(self) -> Texts:
        """The language of this session."""
        return self.console.texts

    def config(self, flags: Mapping[str, str | None] | None = None) -> Config:
        """The settings, with `flags` of the command (`archive.url` → value) before all others."""
        overrides = {key: value for key, value in (flags or {}).items() if value is not None}
        base = self.sources
        return load(replace(base, flags={**base.flags, **overrides}))


class Option(click.Option):
    """An option whose help stands in `words/`: by its command, else among those of all commands."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option as it is written, and what it does."""
        record = super().get_help_record(ctx)
        if record is None or self.name is None:
            return record
        catalog = texts_in(ctx)
        command = ctx.command.name or ""
        key = (command, self.name) if catalog.has("options", command, self.name) else ("all", self.name)
        notes = [catalog.say("help.environment", name=variable(self))]
        default = self.get_default(ctx, call=False)
        if isinstance(default, (str, int)) and not isinstance(default, bool) and default not in ("", 0):
            notes.insert(0, catalog.say("help.default", value=default))
        return record[0], f"{catalog.text('options', *key)} [{'; '.join(notes)}]"


class HookOption(Option):
    """An option of two words; in its variable each line is a hook: its moment and its command."""

    def value_from_envvar(self, ctx: click.Context) -> Any:  # click says the same of it
        """The hooks of the variable."""
        lines = (self.resolve_envvar_value(ctx) or "").splitlines()
        return [line.split(None, 1) for line in lines if line.strip()] or None


class Command(click.Command):
    """A command whose help begins with examples and ends with exit codes."""

    exits: tuple[int, ...] = (0, 1, 2)
    more_help: Callable[[Texts, Sequence[str]], Iterator[tuple[str, list[str]]]] | None = None
    """Titles and lines that stand before the options, by the language and what stands on the line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keeps what stands on the line, for the help of what it names."""
        ctx.meta[_ON_LINE] = tuple(args)
        takes_project = self.name in project_line.COMMANDS and not ctx.resilient_parsing
        return super().parse_args(ctx, project_line.with_project(self, ctx, args) if takes_project else args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """What stands behind the name of the command, options in the language of the session."""
        options, *arguments = super().collect_usage_pieces(ctx)
        return [texts_in(ctx).say("help.options-mark") if options == self.options_metavar else options, *arguments]

    def get_short_help_str(self, limit: int = 45) -> str:
        """One line, in the language of the session."""
        ctx = click.get_current_context(silent=True)
        catalog = texts_in(ctx) if ctx is not None else texts("en")
        return catalog.text("commands", self.name or "", "short")

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Usage, purpose, examples, options, exit codes."""
        catalog = texts_in(ctx)
        name = self.name or ""
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), catalog.say("help.usage"))
        formatter.write("\n")
        formatter.write_text(catalog.text("commands", name, "short") + ".")
        write_block(formatter, catalog.say("help.examples"), catalog.text("commands", name, "examples"))
        if catalog.has("commands", name, "long"):
            formatter.write("\n")
            formatter.write_text(catalog.text("commands", name, "long"))
        if self.more_help is not None:
            for title, lines in self.more_help(catalog, ctx.meta.get(_ON_LINE, ())):
                write_block(formatter, title, "\n".join(lines))
        own = [
            option for option in self.get_params(ctx) if isinstance(option, Option) and option.name not in GLOBAL_NAMES
        ]
        write_options(ctx, formatter, catalog.say("help.options"), own)
        formatter.write("\n")
        names = [option.opts[0] for option in global_options() if option.name is not None]
        formatter.write_text(f"{catalog.say('help.globals')}: {' '.join(names)}")
        with formatter.section(catalog.say("help.exits")):
            formatter.write_dl([(str(code), catalog.text("exits", str(code))) for code in self.exits])


def command(
    name: str, *, exits: Sequence[int] = (), wing: str | None = None
) -> Callable[[Callable[Concatenate[Session, P], int | None]], Command]:
    """Makes a command of a function; `exits` are its exit codes beside 0, 1 and 2. It cannot do without its `wing`."""

    def make(function: Callable[Concatenate[Session, P], int | None]) -> Command:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> int | None:
            ctx = click.get_current_context()
            session = session_of(ctx)
            start = CommandStart(session.console, session.environment, frozenset(_line(ctx).typed))
            begin_operations(start, ctx, lambda: session.config().operations)
            if wing is not None:
                require_wing(wing)
            return function(session, *args, **kwargs)

        click_command = click.command(name, cls=Command)(call)
        click_command.exits = tuple(sorted({0, 1, 2, *exits}))
        if name in project_line.COMMANDS:
            names = (f"--{project_line.NAME}",)
            click_command.params.append(Option(names, expose_value=False, envvar=variable_of(names), metavar="PROJECT"))
        click_command.params.extend(_hidden_globals())
        return click_command

    return make


def option(
    *names: str, variable: str | None = "", **more: object
) -> Callable[[Callable[P, int | None]], Callable[P, int | None]]:
    """An option of a command, also taken from `NOARKIT_<OPTION>`; with `variable=None` the config reads that itself."""
    envvar = variable_of(names) if variable == "" else variable
    return click.option(*names, cls=Option, envvar=envvar, **more)


def variable_of(names: Sequence[str]) -> str:
    """The environment variable of an option written so."""
    longest = max((name.split("/")[0] for name in names), key=len)
    return PREFIX + longest.strip("-").replace("-", "_").upper()


def variable(option: click.Option) -> str:
    """The environment variable of an option."""
    return variable_of(option.opts)


def global_options() -> list[click.Option]:
    """The options of the whole program, as the group takes them."""
    return [
        _global("--config", type=click.Path(path_type=Path), metavar="FILE"),
        _global("--profile", metavar="NAME"),
        _global("--lang", type=click.Choice(SPOKEN)),
        _global("--json", is_flag=True),
        _global("--progress", type=click.Choice(PROGRESS)),
        _global("--color", type=click.Choice(COLORS)),
        _global("--log-file", type=click.Path(path_type=Path), metavar="FILE"),
        _global("--log-to", multiple=True, envvar=None, metavar="TARGET"),
        _global("--metrics", type=click.Path(path_type=Path), envvar=None, metavar="FILE"),
        _global(
            "--hook",
            cls=HookOption,
            type=(click.Choice(HOOK_MOMENTS), str),
            multiple=True,
            metavar="WHEN COMMAND",
        ),
        _global("--mode", type=click.Choice(tuple(_MASKS)), metavar="MODE"),
        _global("-q", "--quiet", is_flag=True),
        _global("-v", "--verbose", count=True),
    ]


def session_of(ctx: click.Context) -> Session:
    """The session that the global options make, wherever on the line they stood."""
    line = _line(ctx)
    console, values = line.console, line.values
    lang = values.get("lang")
    file, profile, log_file = values.get("config"), values.get("profile"), values.get("log_file")
    sources = Sources(
        flags={**({"lang": str(lang)} if lang else {}), **operations_flags(values)},
        environment=line.environment,
        file=file if isinstance(file, Path) else None,
        profile=str(profile) if profile else None,
        is_service=is_service,
    )
    console.color = next((color for color in COLORS if color == values.get("color")), "auto")
    console.environment = line.environment
    console.names, console.complete = names_at_hand, complete_remedy
    console.verbosity = -1 if values.get("quiet") else int(str(values.get("verbose", 0)))
    if isinstance(log_file, Path) and console.log_path != log_file:
        console.open_log(log_file)
    if not lang:
        console.texts = texts(configured_language(sources))
    os.umask(_MASKS.get(str(values.get("mode")), OWNER_ALONE))
    progress_mode = values.get("progress", "auto")
    return Session(console, line.environment, next(word for word in PROGRESS if word == progress_mode), sources)


def texts_in(ctx: click.Context) -> Texts:
    """The language that this command line speaks."""
    return _line(ctx).console.texts


def write_block(formatter: click.HelpFormatter, title: str, text: str) -> None:
    """A titled block whose lines stand as they are written."""
    with formatter.section(title):
        for line in text.strip().splitlines():
            formatter.write(f"  {line}\n" if line else "\n")


def write_options(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, options: Sequence[click.Option]
) -> None:
    """A titled list of options; nothing where there are none."""
    records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


def _line(ctx: click.Context) -> CommandLine:
    line = ctx.obj
    return line if isinstance(line, CommandLine) else CommandLine(Console(texts("en")), os.environ)


def _global(*names: str, cls: type[Option] = Option, **more: object) -> Option:
    defaults = {"envvar": variable_of(names), "expose_value": False, "callback": _store_option, "is_eager": True}
    return cls(list(names), **{**defaults, **more})  # type: ignore[arg-type]  # click takes many kinds


def _hidden_globals() -> list[click.Option]:
    """The same options once more, for those who write them after the command; the environment was read before."""
    options = global_options()
    for item in options:
        item.envvar = None
        item.hidden = True
    return options


def _store_option(ctx: click.Context, parameter: click.Parameter, value: object) -> object:
    name = parameter.name or ""
    source = ctx.get_parameter_source(name)
    if source is not ParameterSource.DEFAULT:
        line = _line(ctx)
        line.values[name] = value
        if source is ParameterSource.COMMANDLINE:
            line.typed.add(name)
    return value
