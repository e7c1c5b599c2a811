"""What is wrong with a command line, in the language of its reader: click says it in English alone."""

from __future__ import annotations

import difflib
import re

import click

from noarkit.errors import ConfigFault, NoarkitError, UsageFault
from noarkit.words.texts import Texts

_SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), f"usage.{name}")
    for pattern, name in (
        (r"'(?P<value>.*)' is not one of (?P<choices>.*)\.", "not-one-of"),
        (r"'(?P<value>.*)' is not a valid (?:integer|float)(?: range)?\.", "no-number"),
        (r"(?P<value>\S+) is not in the range (?P<least>\S+?)<=x<=(?P<most>\S+?)\.", "not-between"),
        (r"(?P<value>\S+) is not in the range x>=(?P<least>\S+?)\.", "too-small"),
        (r"(?:File|Directory|Path) '(?P<value>.*)' does not exist\.", "not-there"),
        (r"(?:File|Directory|Path) '(?P<value>.*)' is a file\.", "is-file"),
        (r"(?:File|Directory|Path) '(?P<value>.*)' is a directory\.", "is-folder"),
        (r"(?:File|Directory|Path) '(?P<value>.*)' is not readable\.", "not-readable"),
        (r"Option '.*' requires an argument\.", "wants-value"),
        (r"Option '.*' requires (?P<count>\d+) arguments\.", "wants-values"),
        (r"Option '.*' does not take a value\.", "takes-no-value"),
        (r"Argument '.*' takes (?P<count>\d+) values\.", "wants-values"),
        (r"'(?P<value>.*)' does not match the formats? .*\.", "no-day"),
        (r"Got unexpected extra arguments? \((?P<value>.*)\)", "too-many"),
    )
)
"""What click says, as it is at hand here. What it says otherwise stands as it is."""
_NO_CHOICE = re.compile(r"'(?P<value>[^']*)' is not one of ")
_OPTION = re.compile(r"Option '(?P<name>.*?)'")


def usage_fault(error: click.ClickException, texts: Texts, command: str = "") -> NoarkitError:
    """The fault that an error of the command line is; `command` is the one on the line, if the error names none."""
    ctx = getattr(error, "ctx", None)
    if isinstance(ctx, click.Context):
        command = ctx.command_path.partition(" ")[2].strip()
    command_path = f"noarkit {command}".strip()
    if isinstance(error, click.NoSuchOption):
        near = error.possibilities or []
        guess = {"fix": near[0], "wrong": error.option_name} if near else {}
        return UsageFault(what="no-such-option", where=error.option_name, **guess)
    if isinstance(error, click.FileError):
        return ConfigFault(where=error.filename, why=error.message)
    if isinstance(error, click.MissingParameter):
        what = "missing-option" if isinstance(error.param, click.Option) else "missing-argument"
        return UsageFault(what=what, where=f"{command_path} {_hint(error)}", command=command or None)
    name = _hint(error) if isinstance(error, click.BadParameter) else ""
    message = " ".join(error.message.split())
    if not name and (option := _OPTION.match(message)):
        name = option["name"]
    where = f"{f'{command_path} {name}'.strip()}: {_sentence(message, texts)}"
    return UsageFault(what="bad-value", where=where, **(_nearest(error) or {"command": command or None}))


def _nearest(error: click.ClickException) -> dict[str, object]:
    """The choice that is nearest to what was written, as the correction of the line; empty where none is near."""
    parameter = getattr(error, "param", None)
    match = _NO_CHOICE.match(error.message)
    if match is None or parameter is None or not isinstance(parameter.type, click.Choice):
        return {}
    near = difflib.get_close_matches(match["value"], [str(choice) for choice in parameter.type.choices], 1)
    if near and isinstance(parameter, click.Option):
        return {"fix": f"{parameter.opts[0]} {near[0]}", "value": match["value"], "is_guess": True}
    return {"fix": near[0], "wrong": match["value"]} if near else {}


def _hint(error: click.BadParameter) -> str:
    """The option or argument that is meant, as it is written on the line."""
    if error.param is None:
        return str(error.param_hint or "")
    return error.param.opts[0] if isinstance(error.param, click.Option) else error.param.make_metavar(_context(error))


def _context(error: click.BadParameter) -> click.Context:
    return error.ctx if error.ctx is not None else click.Context(click.Command("noarkit"))


def _sentence(message: str, texts: Texts) -> str:
    for pattern, key in _SENTENCES:
        if match := pattern.fullmatch(message):
            return texts.say(key, **match.groupdict())
    return message
