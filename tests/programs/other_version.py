"""noarkit of another version: `python -m tests.programs.other_version ...`."""

from __future__ import annotations

import sys

import noarkit.loading.engines.cluster.worker as worker
from noarkit.cli.main import run

if __name__ == "__main__":
    vars(worker)["__version__"] = "9.9.9"
    sys.argv[0] = "noarkit"
    run()
