"""Installs the lowest versions that pyproject.toml allows into an environment of its own, and runs the tests there."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "core": [
        "tests/archive",
        "tests/documents",
        "tests/graph",
        "tests/loading",
        "tests/safe",
        "tests/extraction",
        "tests/validation",
        "tests/cli",
    ],
    "postgresql": ["tests/sources/database"],
    "mysql": ["tests/sources/database"],
    "pronom": ["tests/sources/files"],
    "mcp": ["tests/assistant", "tests/services/mcp"],
    "seal": ["tests/airgap", "tests/forms/sealed", "tests/loading/test_sealing.py"],
    "cluster": ["tests/engine"],
}
ALWAYS = ("test", "seal")
"""Extras that the tests themselves need."""


def requirements(names: Iterable[str]) -> list[str]:
    """The requirements of these extras as pyproject.toml states them; `core` stands for those of the project itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    known = {"core": project["dependencies"], **project["optional-dependencies"]}
    return [line for name in names for line in known[name]]


def lowest(requirement: str) -> str:
    """The same requirement, held to its lower bound; unbounded ones stay as they are."""
    return re.sub(r">=\s*([0-9][0-9a-z.]*)", r"==\1", requirement, count=1)


def run(extra: str) -> int:
    """Installs and tests one extra; the exit code of the tests."""
    print(f"== {extra}: lowest versions", flush=True)
    also = ("postgresql", "mysql") if extra in ("postgresql", "mysql") else ()
    others = set(requirements(("core", *ALWAYS, *also))) - set(requirements([extra]))
    with tempfile.TemporaryDirectory(prefix="noarkit-lowest-") as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        pinned = [lowest(line) for line in requirements([extra])]
        subprocess.run([*pip, "hatchling", "editables", *pinned, *sorted(others)], check=True)  # our own words
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)], check=True)  # as above
        tests = [path for path in TESTS[extra] if (ROOT / path).exists()]
        words = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        return subprocess.run(words, cwd=ROOT).returncode  # as above


def main(wanted: list[str]) -> int:
    """Every extra that is named, or all of them; 1 where one fails."""
    unknown = set(wanted) - TESTS.keys()
    if unknown:
        print(f"There is no extra named {', '.join(sorted(unknown))}; there are {', '.join(TESTS)}.", file=sys.stderr)
        return 2
    failed = [extra for extra in wanted or TESTS if run(extra) != 0]
    print(
        f"failed at the lowest versions: {', '.join(failed)}" if failed else "every extra passes at its lowest versions"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
