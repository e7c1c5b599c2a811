"""Runs a program on somebody else's document where it can do no harm: no network, no foreign file, limits, no survivor.

Bubblewrap gives the walls where the system lets it: a file system of its own with the programs and fonts to read, one
folder of inputs to read, one of outputs to write, nobody's rights and no network. Where it is missing or refused,
limits and the end of every process remain, `Sandbox.isolated` is False, and whoever calls must say so.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from noarkit.safe.errand import Account, Errand, run_errand
from noarkit.safe.owners import give_to, is_root, take_over
from noarkit.safe.workplace import temporary_folder

NOBODY = 65534
MOST_PROCESSES = 64
"""More than any converter starts; what starts more is a fork bomb."""

_READABLE = (
    *("/usr", "/etc/fonts", "/etc/libreoffice", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
    *("/etc/alternatives", "/var/cache/fontconfig", "/var/lib/libreoffice", "/var/lib/ghostscript", "/etc/papersize"),
)
_PLACES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_WALLS = (
    *("--unshare-all", "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox"),
    *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv", "--proc", "/proc", "--dev", "/dev"),
)
_NO_MEMORY = (
    "bad_alloc",
    "Cannot allocate memory",
    "out of memory",
    "Out of memory",
    "memory exhausted",
    "MemoryError",
)
"""Where Python itself may need its libraries from; the command does not see it."""

_LITTLE_ROOM = 4 * 1024 * 1024


class Stopped(StrEnum):
    """Why a program was stopped, or fell."""

    TIMED_OUT = "timed-out"
    CRASHED = "crashed"
    MEMORY = "memory"
    TOO_LARGE = "too-large"
    DISK_FULL = "disk-full"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one task may use. Over it, the tool is stopped with all it started."""

    cpu_s: float
    wall_s: float
    memory_bytes: int = 4 * 1024**3
    output_bytes: int = 1024**3


@dataclass(frozen=True, slots=True)
class Completed:
    """What became of a command. `reason` is why it was stopped or fell; None where it ended by itself."""

    exit_code: int
    reason: Stopped | None
    stdout: str
    stderr: str
    cpu_s: float
    wall_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Progress:
    """A batch: new files in `folder`, one for each document. Times are then allowed to each document, not to all."""

    folder: Path
    files: int


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A place for converters to run in. `bubblewrap` names its program; empty means without it."""

    bubblewrap: str = "bwrap"

    @property
    def isolated(self) -> bool:
        """True where programs run without network and without a view of other files. Tried once, by running one."""
        return bool(self.bubblewrap) and _walls_of(self.bubblewrap) is not None

    def run(
        self,
        command: Sequence[str],
        *,
        inputs: Path,
        outputs: Path,
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        readable: Sequence[Path] = (),
        progress: Progress | None = None,
    ) -> Completed:
        """Runs a command to its end, or to that of its limits; nothing that it started is left.

        `inputs` can be read and `outputs` written, under their own names; `readable` names other folders that the
        program itself needs. Nothing of our environment is handed on but a language and a path.
        """
        inputs, outputs = inputs.resolve(), outputs.resolve()
        walls = _walls_of(self.bubblewrap) if self.bubblewrap else None
        with tempfile.TemporaryDirectory(prefix=".scratch-", dir=outputs.parent, ignore_cleanup_errors=True) as name:
            scratch = Path(name)
            if walls is not None:
                settings = {**_environment(Path("/tmp")), **(environment or {})}  # noqa: S108  # the sandbox's own
                folders = [*_binds(inputs, outputs, scratch, readable), *_variables(settings)]
                wrapped = [*walls, *folders, "--chdir", "/tmp", "--", *command]  # noqa: S108
                errand = _errand(wrapped, outputs, scratch, limits, progress)
                return _completed(run_errand(errand), errand, outputs)
            with _folders_for_nobody(inputs, outputs, scratch) as (place, renames):
                settings = {**_environment(place.scratch), **(environment or {})}
                errand = _errand(
                    [_renamed(word, renames) for word in command],
                    place.outputs,
                    place.scratch,
                    limits,
                    progress and Progress(Path(_renamed(str(progress.folder), renames)), progress.files),
                )
                errand["environment"] = {name: _renamed(text, renames) for name, text in settings.items()}
                errand["user"] = NOBODY if _is_root() else None
                return _completed(run_errand(errand), errand, outputs)


def walls_around(readable: Sequence[Path], variables: Mapping[str, str], program: str = "bwrap") -> list[str] | None:
    """The beginning of a command that is asked for more than one document, and ends with whoever started it: without
    network, with the system and `readable` folders to read, and a folder `/tmp` of its own in memory. None where this
    system has no such walls."""
    walls = _walls_of(program)
    if walls is None:
        return None
    folders = [word for path in readable for word in ("--ro-bind", str(path), str(path))]
    settings = {**_environment(Path("/tmp")), **variables}  # noqa: S108  # the sandbox's own
    return [*walls, "--tmpfs", "/tmp", *folders, *_variables(settings), "--chdir", "/tmp", "--"]  # noqa: S108


def _is_root() -> bool:
    return is_root()


@dataclass(frozen=True, slots=True)
class _Place:
    outputs: Path
    scratch: Path


@contextmanager
def _folders_for_nobody(inputs: Path, outputs: Path, scratch: Path) -> Iterator[tuple[_Place, Mapping[str, str]]]:
    """The folders a command without walls works in: our own, but where we are root, copies that nobody may reach."""
    if not _is_root():
        yield _Place(outputs, scratch), {}
        return
    with temporary_folder("sandbox") as home:
        home.chmod(0o711)
        theirs = {inputs: home / "inputs", outputs: home / "outputs", scratch: home / "scratch"}
        for own, copy in theirs.items():
            shutil.copytree(own, copy, symlinks=True)
            _hand_over(copy)
        try:
            yield _Place(theirs[outputs], theirs[scratch]), {str(own): str(copy) for own, copy in theirs.items()}
        finally:
            _take_back(theirs[outputs], outputs)


def _hand_over(folder: Path) -> None:
    give_to(NOBODY, folder)
    for path in folder.rglob("*"):
        give_to(NOBODY, path)


def _take_back(theirs: Path, own: Path) -> None:
    """Moves what was made into our own folder: plain files and folders, and no links."""
    for path in sorted(theirs.rglob("*")):
        target = own / path.relative_to(theirs)
        if path.is_symlink():
            continue
        take_over(path)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        elif path.is_file():
            shutil.copyfile(path, target)


def _renamed(word: str, renames: Mapping[str, str]) -> str:
    for own, copy in renames.items():
        word = word.replace(own, copy)
    return word


def _errand(command: list[str], outputs: Path, scratch: Path, limits: Limits, progress: Progress | None) -> Errand:
    return Errand(
        command=command,
        environment={"PATH": _PATH},
        folder=str(scratch),
        user=None,
        cpu_s=limits.cpu_s,
        wall_s=limits.wall_s,
        memory_bytes=limits.memory_bytes,
        output_bytes=limits.output_bytes,
        processes=MOST_PROCESSES,
        counted=[str(outputs), str(scratch)],
        progress=str(progress.folder) if progress else None,
        most_files=progress.files if progress else 1,
    )


_PATH = "/usr/local/bin:/usr/bin:/bin"


def _environment(home: Path) -> dict[str, str]:
    return {
        "PATH": _PATH,
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def _variables(environment: Mapping[str, str]) -> Iterator[str]:
    for name, text in environment.items():
        yield from ("--setenv", name, text)


def _binds(inputs: Path, outputs: Path, scratch: Path, readable: Sequence[Path]) -> Iterator[str]:
    yield from ("--bind", str(scratch), "/tmp")  # noqa: S108
    for path in readable:
        yield from ("--ro-bind", str(path), str(path))
    yield from ("--ro-bind", str(inputs), str(inputs), "--bind", str(outputs), str(outputs))


def _system() -> Iterator[str]:
    """The parts of the file system that programs need, to read; merged folders stay the links they are."""
    for path in _READABLE:
        yield from ("--ro-bind-try", path, path)
    for name in _PLACES:
        place = Path(name)
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), name)
        elif place.is_dir():
            yield from ("--ro-bind", name, name)


@cache
def _walls_of(program: str) -> tuple[str, ...] | None:
    """The beginning of a command that runs within walls; None where this system does not let us have them."""
    path = shutil.which(program)
    if path is None or not sys.platform.startswith("linux"):
        return None
    # without namespaces of its own inside, where this bubblewrap knows how
    for more in (("--disable-userns",), ()):
        walls = (path, *_WALLS, *more, *_system())
        with tempfile.TemporaryDirectory(prefix="noarkit-probe-") as folder:
            limits = Limits(cpu_s=5, wall_s=20)
            errand = _errand([*walls, "--", "/usr/bin/true"], Path(folder), Path(folder), limits, None)
            if run_errand(errand)["exit_code"] == 0:
                return walls
    return None


def _completed(account: Account, errand: Errand, outputs: Path) -> Completed:
    return Completed(
        exit_code=account["exit_code"],
        reason=_reason(account, errand, outputs),
        stdout=account["stdout"],
        stderr=account["stderr"],
        cpu_s=account["cpu_s"],
        wall_s=account["wall_s"],
        peak_bytes=account["peak_bytes"],
    )


_STOPPED = {
    "cpu": Stopped.TIMED_OUT,
    "wall": Stopped.TIMED_OUT,
    "memory": Stopped.MEMORY,
    "output": Stopped.TOO_LARGE,
    "processes": Stopped.CRASHED,
}


def _reason(account: Account, errand: Errand, outputs: Path) -> Stopped | None:
    if shutil.disk_usage(outputs).free < _LITTLE_ROOM:
        return Stopped.DISK_FULL
    if account["stopped"] is not None:
        return _STOPPED.get(account["stopped"], Stopped.CRASHED)
    if account["exit_code"] == 0:
        return None
    # bubblewrap tells a signal as the shell does
    number = account["exit_code"] - 128 if account["exit_code"] > 128 else -account["exit_code"]
    if number == 25:  # SIGXFSZ
        return Stopped.TOO_LARGE
    if number == 24:  # SIGXCPU
        return Stopped.TIMED_OUT
    if any(sign in account["stderr"] for sign in _NO_MEMORY):
        return Stopped.MEMORY
    if account["peak_virtual_bytes"] > errand["memory_bytes"] * 0.9:
        return Stopped.MEMORY
    return Stopped.CRASHED if number in (4, 6, 7, 8, 9, 11) or account["exit_code"] < 0 else None
