"""How the values of settings are read: text from a variable or an option, or a value of TOML.

Each reader takes the value and the place where it stands, and raises `ConfigFault` for what cannot be used.
"""

from __future__ import annotations

import os
import zoneinfo
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.errors import ConfigFault, SecretOnTheLine
from noarkit.safe.commands import split_command
from noarkit.words.texts import SPOKEN


def read_text(value: object, location: str) -> str:
    """Text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ConfigFault(where=location, why="not-text")
    return value.strip()


def read_address(value: object, location: str) -> str:
    """An `http` or `https` address without a password in it, or `embedded:DIR`."""
    text = read_text(value, location)
    if text.startswith("embedded:"):
        return text
    try:
        split = urlsplit(text)
        _ = split.port
    except ValueError as error:
        raise ConfigFault(where=location, why="not-an-address") from error
    if split.username is not None or split.password is not None:
        raise SecretOnTheLine(where=location)
    if split.scheme not in ("http", "https") or not split.hostname:
        raise ConfigFault(where=location, why="not-an-address")
    return text.rstrip("/")


def read_names(value: object, location: str) -> tuple[str, ...]:
    """Names in a list; in a variable they have commas between them."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ConfigFault(where=location, why="not-a-list")
    return tuple(part.strip() for part in parts if part.strip())


def read_path(value: object, location: str) -> Path:
    """A path; `~` is the home folder."""
    return Path(os.path.expanduser(read_text(value, location)))  # noqa: PTH111  # a ~ nobody knows stays as it stands


def read_paths(value: object, location: str) -> tuple[Path, ...]:
    """A list of paths; in a variable they stand apart as in PATH."""
    if isinstance(value, str):
        value = [part for part in value.split(os.pathsep) if part]
    if not isinstance(value, list) or not value:
        raise ConfigFault(where=location, why="not-text")
    return tuple(read_path(path, location) for path in value)


def read_seconds(value: object, location: str) -> float:
    """Seconds, from 0."""
    return _read_amount(value, location, "not-seconds")


def read_price(value: object, location: str) -> float:
    """A price, from 0."""
    return _read_amount(value, location, "not-a-number")


def _read_amount(value: object, location: str, why: str) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError
        amount = float(value)
        if not 0 <= amount < 1e9:
            raise ValueError
    except ValueError as error:
        raise ConfigFault(where=location, why=why) from error
    return amount


def read_whole_number(value: object, location: str) -> int:
    """A whole number from 1 to 9999."""
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdecimal() or not 0 < int(text) < 10_000:
        raise ConfigFault(where=location, why="not-a-number")
    return int(text)


def read_isolation(value: object, location: str) -> str:
    """`auto` or `required`."""
    name = read_text(value, location)
    if name not in ("auto", "required"):
        raise ConfigFault(where=location, why="not-one-of", proposal="auto, required")
    return name


def read_yes_or_no(value: object, location: str) -> bool:
    """True or false; in a variable also 1 or 0."""
    values_by_word = {True: True, False: False, "true": True, "1": True, "false": False, "0": False}
    if not isinstance(value, (bool, str)) or value not in values_by_word:
        raise ConfigFault(where=location, why="not-yes-or-no")
    return values_by_word[value]


def read_zone(value: object, location: str) -> str:
    """The name of a time zone."""
    name = read_text(value, location)
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigFault(where=location, why="no-such-zone") from error
    return name


def read_language(value: object, location: str) -> str:
    """A language that noarkit speaks."""
    name = read_text(value, location)
    if name not in SPOKEN:
        raise ConfigFault(where=location, why="no-such-language")
    return name


def read_commands(value: object, location: str) -> tuple[str, ...]:
    """Commands, each split into words without a shell: one, a list, or in a variable one a line."""
    lines = value.splitlines() if isinstance(value, str) else value
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ConfigFault(where=location, why="not-a-list")
    commands = tuple(line.strip() for line in lines if line.strip())
    for command in commands:
        try:
            split_command(command)
        except ValueError as error:
            raise ConfigFault(where=location, why="not-a-command") from error
    return commands


def read_log_targets(value: object, location: str) -> tuple[str, ...]:
    """Where log lines go: `journald`, `syslog`, either with `:/SOCKET`, `udp://`, `tcp://` or `tls://HOST:PORT`."""
    targets = read_names(value, location)
    for target in targets:
        kind, _, place = target.partition(":")
        if kind in ("journald", "syslog") and (place.startswith("/") or target == kind):
            continue
        try:
            split = urlsplit(target)
            good = split.scheme in ("udp", "tcp", "tls") and bool(split.hostname and split.port)
        except ValueError:
            good = False
        if not good:
            raise ConfigFault(where=location, why="not-a-log-target")
    return targets


def read_exit_codes(value: object, location: str) -> tuple[int, ...]:
    """Exit codes in a list; in a variable they have commas between them."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not parts or any(isinstance(part, bool) for part in parts):
        raise ConfigFault(where=location, why="not-a-list")
    texts = [str(part).strip() for part in parts]
    if not all(text.isascii() and text.isdecimal() and int(text) < 256 for text in texts):
        raise ConfigFault(where=location, why="not-a-number")
    return tuple(int(text) for text in texts)
