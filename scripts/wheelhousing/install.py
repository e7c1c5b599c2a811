"""Installs noarkit from the folder this file lies in, with nothing but Python and no network.

    ./install [DIR]      a new environment in DIR (default: noarkit); then DIR/bin/noarkit

Every file of the folder is held to SHA256SUMS first, and every wheel to its hash again by pip.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUMS = "SHA256SUMS"


def main() -> int:
    """Checks the folder, makes the environment, installs, and shows the version."""
    parser = argparse.ArgumentParser(prog="install", description="Installs noarkit from this folder alone.")
    parser.add_argument("target", metavar="DIR", nargs="?", default="noarkit", type=Path)
    parser.add_argument("--tests", action="store_true", help="also what the tests need")
    parser.add_argument("--fits", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    wrong = misfit()
    if asked.fits:
        return 1 if wrong else 0
    wanted = HERE / ("requirements-test.txt" if asked.tests else "requirements.txt")
    wrong = wrong or damage() or _no_place(asked.target) or ("" if wanted.exists() else f"{wanted.name} is not here.")
    if wrong:
        sys.stderr.write(f"{wrong} Nothing was installed.\n")
        return 1
    sys.stdout.write(f"{SUMS} of this folder has sha256 {_sha256(HERE / SUMS)}\n")
    return _install(asked.target, wanted)


def misfit() -> str:
    """Why these wheels are not for this Python or this system; nothing where they are."""
    made_for = tomllib.loads((HERE / "wheelhouse.toml").read_text(encoding="utf-8"))
    python, platform = ".".join(map(str, sys.version_info[:2])), sysconfig.get_platform()
    if (python, platform) == (made_for["python"], made_for["platform"]):
        return ""
    return f"The wheels are for Python {made_for['python']} on {made_for['platform']}; this is {python} on {platform}."


def damage() -> str:
    """What is not as it was when the folder was made; nothing where all is."""
    lines = (line.partition("  ") for line in (HERE / SUMS).read_text(encoding="utf-8").splitlines())
    told = {name: digest for digest, _, name in lines}
    there = {str(path.relative_to(HERE).as_posix()) for path in HERE.rglob("*") if not path.is_dir()} - {SUMS}
    for what, names in (("is missing", told.keys() - there), ("is not of this folder", there - told.keys())):
        if names:
            return f"{min(names)} {what}."
    changed = [name for name, digest in told.items() if _sha256(HERE / name) != digest]
    return f"{changed[0]} was changed since the folder was made." if changed else ""


def _no_place(target: Path) -> str:
    return f"{target} is there already: name a new folder." if target.exists() else ""


def _install(target: Path, wanted: Path) -> int:
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    settings["PIP_CONFIG_FILE"] = os.devnull
    try:
        venv.create(target, symlinks=os.name != "nt", with_pip=True)
        binaries = target / ("Scripts" if os.name == "nt" else "bin")
        pip = [str(binaries / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-index"]
        pip += ["--disable-pip-version-check", "--find-links", str(HERE / "wheels"), "--only-binary", ":all:"]
        subprocess.run([*pip, "--require-hashes", "--requirement", str(wanted)], env=settings, check=True)
        subprocess.run([str(binaries / "noarkit"), "version"], env=settings, check=True)
    except subprocess.CalledProcessError as error:
        shutil.rmtree(target, ignore_errors=True)
        told = error.stdout.decode(errors="replace") if error.stdout else ""
        sys.stderr.write(
            f"{told}It came to nothing: {error.cmd[0]} ended with {error.returncode}. {target} is removed.\n"
        )
        return 1
    sys.stdout.write(f"Installed: {binaries / 'noarkit'}\n")
    return 0


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
