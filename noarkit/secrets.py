"""Secrets: held so that no log, trace, report or pickle can show them, and read only from where they may lie.

A config names where a secret lies (`SecretSource`), never the secret; `read` fetches it when it is needed.
"""

from __future__ import annotations

import hmac
import os
import stat
import subprocess  # a command of the site's own may give a secret
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import Literal

from noarkit.errors import SecretFault, UnsafePath
from noarkit.safe.children import foreign_environment
from noarkit.safe.owners import is_open_to_others, is_trusted_owner
from noarkit.safe.paths import checked_parts

MAX_SECRET_BYTES = 64 * 1024
COMMAND_TIMEOUT_S = 60.0

SecretKind = Literal["file", "command", "credential", "env"]
KINDS: tuple[SecretKind, ...] = ("file", "command", "credential", "env")


class Secret:
    """A value that prints as ***, is compared in constant time, and cannot be pickled but for a child of this process
    that is being spawned, which gets it through a pipe that nobody else has."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the one call that sends it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    def __format__(self, specification: str) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    __hash__ = None  # type: ignore[assignment]  # a hash would be a way to guess

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        if get_spawning_popen() is None:
            raise TypeError("a secret is not passed on; pass where it lies")
        return Secret, (self._value,)


@dataclass(frozen=True, slots=True)
class SecretSource:
    """Where a secret lies: `command` has its words in `value`, the others one name; `where` is the config line."""

    kind: SecretKind
    value: tuple[str, ...]
    where: str = ""

    def read(self, environment: Mapping[str, str]) -> Secret:
        """Fetches the secret; `SecretFault` where it cannot be had, is empty, or lies open to others."""
        if self.kind == "file":
            text = _read_file(Path(self.value[0]).expanduser())
        elif self.kind == "command":
            text = _run(self.value, self.where)
        elif self.kind == "credential":
            text = _read_credential(self.value[0], environment)
        else:
            text = _read_variable(self.value[0], environment)
        if not text:
            raise SecretFault(where=self.description, why="secret-empty")
        return Secret(text)

    @property
    def description(self) -> str:
        """How a person is told where it lies; the words of a command stay hidden but its name."""
        return f"{self.kind} {self.value[0]}"


def read_private_file(path: Path, environment: Mapping[str, str]) -> bytes:
    """All of a file that holds a private key; `SecretFault` where it is not there, or others may read it.

    What the service manager keeps for us alone may have any mode.
    """
    credentials_folder = environment.get("CREDENTIALS_DIRECTORY")
    try:
        with path.open("rb") as file:
            if not (credentials_folder and path.parent.resolve() == Path(credentials_folder).resolve()):
                _refuse_open_to_others(os.fstat(file.fileno()), path)
            return file.read(MAX_SECRET_BYTES)
    except OSError as error:
        raise SecretFault(where=str(path), why="not-there" if _is_missing(error) else "unreadable") from error


def secret_source(entry: object, location: str) -> SecretSource:
    """Reads a config entry such as `{ file = "…" }`; `SecretFault` for a secret that stands in the config itself."""
    if isinstance(entry, str):
        raise SecretFault(where=location, why="secret-inline")
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise SecretFault(where=location, why="secret-form")
    ((kind, value),) = entry.items()
    words = tuple(value) if isinstance(value, list) else (value,)
    if not words or not words[0] or not all(isinstance(word, str) for word in words):
        raise SecretFault(where=location, why="secret-form")
    for secret_kind in KINDS:
        if kind == secret_kind and (kind == "command") == isinstance(value, list):
            return SecretSource(secret_kind, words, location)
    raise SecretFault(where=location, why="secret-form")


def _read_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            _refuse_open_to_others(os.fstat(file.fileno()), path)
            content = file.read(MAX_SECRET_BYTES)
    except OSError as error:
        raise SecretFault(where=str(path), why="not-there" if _is_missing(error) else "unreadable") from error
    return _text(content, str(path))


def _refuse_open_to_others(status: os.stat_result, path: Path) -> None:
    if is_open_to_others(status) or not is_trusted_owner(status):
        raise SecretFault(where=str(path), why="secret-open", mode=f"{stat.S_IMODE(status.st_mode):04o}")


def _read_credential(name: str, environment: Mapping[str, str]) -> str:
    folder = environment.get("CREDENTIALS_DIRECTORY")
    if not folder:
        raise SecretFault(where=f"credential {name}", why="no-credentials-directory")
    try:
        if len(checked_parts(name)) != 1:
            raise UnsafePath(where=name, why="climbs")
        # the service manager keeps this folder for us alone, whatever the modes of its files say
        return _text(Path(folder, name).read_bytes()[:MAX_SECRET_BYTES], name)
    except (OSError, UnsafePath) as error:
        raise SecretFault(where=f"credential {name}", why="not-there") from error


def _run(words: tuple[str, ...], location: str) -> str:
    try:
        completed = subprocess.run(  # noqa: S603  # the command stands in the site's own config
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
            env=foreign_environment(),
        )
    except FileNotFoundError as error:
        raise SecretFault(where=f"command {words[0]}", why="not-there") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        # chained without its words: a fault of the system repeats the whole command
        raise SecretFault(where=f"command {words[0]}", why="command-failed", detail=type(error).__name__) from None
    if completed.returncode != 0:
        raise SecretFault(where=f"command {words[0]}", why="command-failed", detail=f"exit {completed.returncode}")
    return _text(completed.stdout[:MAX_SECRET_BYTES], location)


def _read_variable(name: str, environment: Mapping[str, str]) -> str:
    try:
        return environment[name].strip()
    except KeyError as error:
        raise SecretFault(where=f"env {name}", why="not-set") from error


def _text(content: bytes, location: str) -> str:
    """The first line: what an editor or an echo puts after it is no part of a secret."""
    try:
        return content.decode("utf-8").split("\n", 1)[0].strip()
    except UnicodeDecodeError:
        # not chained: the system's fault would repeat the bytes
        raise SecretFault(where=location, why="not-text") from None


def _is_missing(error: OSError) -> bool:
    return isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError))
