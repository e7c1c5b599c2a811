"""The command line as it was typed, with its correction in it: the remedy of a fault of use, ready to be pasted.

A fault says in `fix` what the line should have: options with their values (`--depth bytes`), or an option that stands
last without one, whose value its reader adds. `wrong` is the word in whose place it stands,
`drop` names options that go, `gone` an argument, and `value` which of several values of an option is meant.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from noarkit.errors import NoarkitError, UsageFault
from noarkit.loading.request import may_hold_secret

_PROGRAM = "noarkit"
_SETTINGS_OF = "connect"
"""A command whose `--set` may hold a secret that was not meant to stand there."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What changes in a line."""

    fix: Sequence[str] = ()
    drop: Sequence[str] = ()
    wrong: str | None = None
    gone: str | None = None
    value: str | None = None


def corrected_fault(fault: NoarkitError, arguments: Sequence[str], command: click.Command | None) -> NoarkitError:
    """The same fault, whose remedy is the whole command line; as it was where the line must not be shown again."""
    if not isinstance(fault, UsageFault):
        return fault
    if fault.data.get("fix") is None:
        name = command.name if command is not None else None
        return type(fault)(**{"command": name, **fault.data})
    texts = {name: _text(fault, name) for name in ("wrong", "gone", "value")}
    correction = Correction(shlex.split(str(fault.data["fix"])), (_text(fault, "drop") or "").split(), **texts)
    line = corrected_line(arguments, command, correction)
    if _may_hold_secret(line, command):
        return fault
    return type(fault)(**{**fault.data, "fix": shlex.join([_PROGRAM, *line])})


def corrected_line(arguments: Sequence[str], command: click.Command | None, correction: Correction) -> list[str]:
    """The words of a line with the correction in them.

    >>> verify = click.Command("verify", params=[click.Option(["--depth"])])
    >>> corrected_line(["verify", "run", "--depth", "ids", "--json"], verify, Correction(["--depth", "bytes"]))
    ['verify', 'run', '--json', '--depth', 'bytes']
    >>> corrected_line(["verify", "run", "--dept=ids"], verify, Correction(["--depth"], wrong="--dept"))
    ['verify', 'run', '--depth=ids']
    """
    if correction.wrong is not None:
        return list(_replaced(arguments, correction.wrong, correction.fix))
    words = list(_without(arguments, command, correction))
    if correction.gone in words:
        words.reverse()  # it stands behind the names of command and verb, which may be the same
        words.remove(correction.gone)
        words.reverse()
    end = words.index("--") if "--" in words else len(words)
    return [*words[:end], *correction.fix, *words[end:]]


def format_of(path: Path, formats: Sequence[str]) -> str:
    """The format that the name of a file asks for, or the first there is."""
    return next((name for name in formats if path.suffix == f".{name}"), formats[0])


def _replaced(arguments: Sequence[str], wrong: str, fix: Sequence[str]) -> Iterator[str]:
    words = iter(arguments)
    for word in words:
        name, sign, value = word.partition("=")
        if wrong in (word, name):
            yield from fix[:-1]
            yield fix[-1] if word == wrong else f"{fix[-1]}{sign}{value}"
            yield from words
        else:
            yield word


def _without(arguments: Sequence[str], command: click.Command | None, correction: Correction) -> Iterator[str]:
    """The words of a line but for the options that the correction has, and those that go, with their values."""
    names = {*correction.drop, *(word for word in correction.fix if word.startswith("-"))}
    options = [option for option in (command.params if command else ()) if isinstance(option, click.Option)]
    dropped_options = {name: option for option in options if names & {*option.opts} for name in option.opts}
    words = iter(arguments)
    for word in words:
        name, sign, value = word.partition("=")
        option = dropped_options.get(name)
        if word == "--":
            yield word
            yield from words
        elif option is None:
            yield word
        elif not option.is_flag:
            values = [value] if sign else [text for _ in range(option.nargs) if (text := next(words, None)) is not None]
            if correction.value is not None and correction.value not in values:
                yield from ([word] if sign else [word, *values])


def _may_hold_secret(line: Sequence[str], command: click.Command | None) -> bool:
    has_address = any("://" in word and may_hold_secret(word.partition("=")[2] or word) for word in line)
    is_setting = command is not None and command.name == _SETTINGS_OF
    # the last word is the one whose value is still to be added
    return has_address or (is_setting and any(word.partition("=")[0] == "--set" for word in line[:-1]))


def _text(fault: UsageFault, name: str) -> str | None:
    return None if fault.data.get(name) is None else str(fault.data[name])
