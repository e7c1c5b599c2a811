"""scripts/wheelhouse DIR [--extra NAME]... [--no-tests] [--platform NAME --python 3.N]: see `without-internet`."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.wheelhousing.bill import bill_of, licences_unknown
from scripts.wheelhousing.target import PLATFORMS, Index, Target, WheelMissing, gather
from scripts.wheelhousing.wheels import Wheel, closure, read_wheels

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
NAME = "noarkit"
TEST = "test"
_EPOCH = "1580601600"  # what is built here bears this time, so that the same input gives the same bytes
_GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_")
_TESTS = """\
| `requirements-test.txt` | all that the tests need beside |
| `{source}` | the source, with tests, samples and demo |

    tar xzf {source} && cd {folder}
    export NOARKIT_WHEELHOUSE={there}
    scripts/demo                    the whole journey on generated files
    scripts/test                    style, types and every test
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """What shall be built. `lock` and `source` name other pins and, in place of an index, a folder of wheels. `target`
    is another system than this one."""

    folder: Path
    extras: frozenset[str]
    with_tests: bool
    lock: Path
    source: Path | None
    target: Target | None = None


def main() -> int:
    """Builds the folder whole or not at all."""
    asked = _asked()
    if asked.folder.exists():
        sys.stderr.write(f"{asked.folder} is there already: name a new folder.\n")
        return 2
    asked.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".wheelhouse-", dir=asked.folder.parent) as place:
        made = Path(place) / "folder"
        try:
            build(asked, made, Path(place) / "gathered")
        except KeyError as missing:
            sys.stderr.write(f"{asked.lock} has no wheel of {missing.args[0]} for this system.\n")
            return 1
        except WheelMissing as missing_there:
            there = f"{asked.target.platform} and Python {asked.target.python}" if asked.target else ""
            sys.stderr.write(f"No wheel for {there} was found of: {missing_there}. Nothing was made.\n")
            return 1
        except subprocess.CalledProcessError as failed:
            sys.stderr.write(f"{' '.join(failed.cmd[:4])} … ended with {failed.returncode}; nothing was made.\n")
            return 1
        made.rename(asked.folder)
    sums = asked.folder / "SHA256SUMS"
    sys.stdout.write((asked.folder / "wheelhouse.toml").read_text(encoding="utf-8"))
    unknown = licences_unknown(asked.folder / "sbom.cdx.json")
    sys.stdout.write(f"Metadata name no licence for: {', '.join(unknown)}\n" if unknown else "")
    sys.stdout.write(f"{sums} has sha256 {hashlib.sha256(sums.read_bytes()).hexdigest()}\n")
    return 0


def build(asked: Asked, folder: Path, gathered: Path) -> None:
    """Gathers wheels, keeps those that are needed, and writes what stands beside them."""
    (folder / "wheels").mkdir(parents=True)
    gathered.mkdir()
    if asked.target is None:
        _gather(asked, gathered)
    source = _build_own(gathered)
    world = asked.target.world if asked.target else {}
    if asked.target is not None:
        root = read_wheels(gathered, world)[NAME]
        index = Index(_pip(gathered), _where(asked), asked.lock)
        gather(asked.target, root, asked.extras, index, gathered)
    everything = read_wheels(gathered, world)
    runtime = closure(everything, NAME, asked.extras)
    kept = dict(runtime)
    if asked.with_tests:
        kept |= closure(everything, NAME, _all_extras())
        _write(folder / "requirements-test.txt", "".join(f"{wheel.pin}\n" for wheel in kept.values()))
        shutil.copyfile(source, folder / source.name)
    for wheel in kept.values():
        shutil.copyfile(wheel.path, folder / "wheels" / wheel.path.name)
    _write(folder / "requirements.txt", "".join(f"{wheel.pin}\n" for wheel in runtime.values()))
    extras = _all_extras() if asked.with_tests else asked.extras
    _write(folder / "sbom.cdx.json", bill_of(kept, kept[NAME], runtime.keys(), extras))
    for name in ("install", "install.py"):
        shutil.copy(HERE / name, folder / name)
    _describe(asked, folder, kept, source.name if asked.with_tests else "")
    _write(folder / "SHA256SUMS", _sums(folder))


def _asked() -> Asked:
    parser = argparse.ArgumentParser(prog="scripts/wheelhouse", description="A folder to install noarkit from.")
    known = sorted(_all_extras() - {TEST})
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--extra", metavar="NAME", action="append", default=[], choices=[*known, "all"])
    parser.add_argument("--no-tests", action="store_true", help="without source, and without what tests need")
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements.lock", help="other pins with hashes")
    parser.add_argument("--from", dest="source", type=Path, help="a folder of wheels, in place of the package index")
    parser.add_argument("--platform", choices=sorted(PLATFORMS), help="for another system, without what tests need")
    parser.add_argument("--python", metavar="3.N", help="the version of Python there; with --platform")
    told = parser.parse_args()
    if bool(told.platform) != bool(told.python) or (
        told.python and not re.fullmatch(r"3\.(1[1-9]|[2-9]\d)", told.python)
    ):
        parser.error("--platform and --python (3.11 or newer) go together")
    target = Target(told.platform, told.python) if told.platform else None
    extras = frozenset(known if "all" in told.extra else told.extra)
    with_tests = not told.no_tests and target is None
    return Asked(told.folder.absolute(), extras, with_tests, told.lock, told.source, target)


def _all_extras() -> frozenset[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return frozenset(project["optional-dependencies"])


def _gather(asked: Asked, gathered: Path) -> None:
    """All of the lock as wheels, each held to its hash; what comes as a source alone is built here."""
    command = [*_pip(gathered), "wheel", "-qq", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    command += [*_where(asked), "--requirement", str(asked.lock), "--wheel-dir", str(gathered)]
    subprocess.run(command, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": _EPOCH})


def _pip(gathered: Path) -> list[str]:
    """The command of pip, of an environment of its own where this one has none."""
    pip = [sys.executable, "-m", "pip"]
    if not subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        return pip
    home = gathered.parent / "pip"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    return [str(home / "bin" / "python"), "-m", "pip"]


def _where(asked: Asked) -> list[str]:
    return ["--no-index", "--find-links", str(asked.source)] if asked.source else []


def _build_own(gathered: Path) -> Path:
    """noarkit's own wheel beside the others; gives its source archive."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(gathered)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": _EPOCH})
    (source,) = gathered.glob(f"{NAME}-*.tar.gz")
    return source


def _describe(asked: Asked, folder: Path, kept: Mapping[str, Wheel], source: str) -> None:
    version, target = kept[NAME].version, asked.target
    python = target.python if target else ".".join(map(str, sys.version_info[:2]))
    platform, glibc = target.system if target else sysconfig.get_platform(), _least_glibc(kept)
    extras = sorted(asked.extras)
    lines = [f'noarkit = "{version}"', f'python = "{python}"', f'platform = "{platform}"']
    lines += [f'glibc = "{glibc}"  # this one or a newer'] if glibc else []
    lines += [f"extras = {extras}".replace("'", '"'), f"tests = {str(asked.with_tests).lower()}"]
    _write(folder / "wheelhouse.toml", "\n".join(lines) + "\n")
    text = (HERE / "README.in.md").read_text(encoding="utf-8")
    told = _TESTS.format(source=source, folder=source.removesuffix(".tar.gz"), there="/where/this/folder/is")
    about = {
        "version": version,
        "python": python,
        "platform": platform,
        "libc": f" with glibc {glibc} or newer" if glibc else "",
        "extras": ", ".join(extras) or "none",
        "count": len(kept),
        "native": sum(not wheel.is_for_all for wheel in kept.values()),
        "more": told if source else "",
    }
    _write(folder / "README.md", text.format(**about).rstrip() + "\n")


def _least_glibc(wheels: Mapping[str, Wheel]) -> str:
    """The glibc that the most demanding wheel wants, by the least that each is content with; empty where none says."""
    least = [
        min((int(major), int(minor)) for tag in wheel.tags for major, minor in _GLIBC.findall(tag))
        for wheel in wheels.values()
        if any(_GLIBC.search(tag) for tag in wheel.tags)
    ]
    return ".".join(map(str, max(least))) if least else ""


def _sums(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = ((path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files)
    return "".join(f"{digest}  {name}\n" for name, digest in names)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
