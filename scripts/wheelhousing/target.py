"""Wheels for another system than this one: only what is needed there, as the lock pins it, each held to its hash."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name

from scripts.wheelhousing.wheels import Wheel, read_wheel

PLATFORMS = {"win_amd64": "AMD64", "win_arm64": "ARM64"}
_LINE = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>\S+)(?: ; (?P<marker>[^\\\n]+?))?(?P<hashes>(?: *\\\n +--hash=\S+)*)$",
    re.MULTILINE,
)


class WheelMissing(Exception):
    """There are no wheels for that system of some packages; nobody can build them here."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = tuple(names)


@dataclass(frozen=True, slots=True)
class Target:
    """A system and a version of Python."""

    platform: str
    python: str

    @property
    def world(self) -> dict[str, str]:
        """What the markers of requirements ask of it."""
        return {
            "os_name": "nt",
            "sys_platform": "win32",
            "platform_system": "Windows",
            "platform_machine": PLATFORMS[self.platform],
            "platform_release": "",
            "platform_version": "",
            "platform_python_implementation": "CPython",
            "implementation_name": "cpython",
            "implementation_version": f"{self.python}.0",
            "python_version": self.python,
            "python_full_version": f"{self.python}.0",
        }

    @property
    def system(self) -> str:
        """How the Python of that system names it."""
        return self.platform.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Index:
    """Where wheels come from: pip with its options, and the pins with their hashes."""

    pip: Sequence[str]
    where: Sequence[str]
    lock: Path


def gather(target: Target, root: Wheel, extras: Collection[str], index: Index, folder: Path) -> None:
    """Puts the wheels that `root` needs there into `folder`. Raises `WheelMissing`, naming all that are lacking."""
    lines = _lines(index.lock, target.world)
    waiting = [(root, frozenset(extras))]
    done: set[tuple[str, frozenset[str]]] = set()
    wheels: dict[str, Wheel | None] = {root.name: root}
    while waiting:
        wheel, wanted = waiting.pop()
        if (wheel.name, wanted) in done:
            continue
        done.add((wheel.name, wanted))
        for need in wheel.needed(wanted):
            name = canonicalize_name(need.name)
            if name not in wheels:
                wheels[name] = _fetch(target, name, lines.get(name, ""), index, folder)
            needed = wheels[name]
            if needed is not None:
                waiting.append((needed, frozenset(need.extras)))
    if missing := sorted(name for name, wheel in wheels.items() if wheel is None):
        raise WheelMissing(missing)


def _lines(lock: Path, world: Mapping[str, str]) -> dict[str, str]:
    """The pins of the lock that are meant for the target, without their markers, which pip would ask of this system."""
    matches = list(_LINE.finditer(lock.read_text("utf-8")))
    return {
        canonicalize_name(match["name"]): f"{match['name']}=={match['version']}{match['hashes']}\n"
        for match in matches
        if match["marker"] is None or Marker(match["marker"]).evaluate(dict(world))
    }


def _fetch(target: Target, name: str, line: str, index: Index, folder: Path) -> Wheel | None:
    """One wheel; what is published as a source alone is built here if no system matters to it. None: not to be had."""
    if not line:
        return None
    place = folder / f".{name}"
    place.mkdir()
    wanted = place / "wanted.txt"
    wanted.write_text(line, "utf-8")
    common = ["-qq", "--disable-pip-version-check", "--no-deps", "--require-hashes", *index.where, "-r", str(wanted)]
    there = ["--platform", target.platform, "--python-version", target.python, "--implementation", "cp"]
    download = [*index.pip, "download", "--only-binary=:all:", *there, *common, "-d", str(place)]
    build = [*index.pip, "wheel", *common, "-w", str(place)]
    try:
        for command in (download, build):
            finished = subprocess.run(command, capture_output=True, check=False)  # pip, words made here
            wheels = [read_wheel(path, target.world) for path in place.glob("*.whl")] if not finished.returncode else []
            # what was built here is of use there only if it is for every system
            if wheels and (command is download or wheels[0].is_for_all):
                path = wheels[0].path.rename(folder / wheels[0].path.name)
                return read_wheel(path, target.world)
        return None
    finally:
        for path in place.iterdir():
            path.unlink()
        place.rmdir()
