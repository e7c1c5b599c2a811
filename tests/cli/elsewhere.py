"""Commands in processes of their own, in a folder of their own, with nobody's own config."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = [sys.executable, "-c", "from noarkit.cli.main import run; run()"]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What such a process sees: no more than it needs, and where coverage and compiled modules are kept."""
    measured = {name: value for name, value in os.environ.items() if name.startswith(("COVERAGE", "PYTHONPYCACHE"))}
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder), **measured, **more}
