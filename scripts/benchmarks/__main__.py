"""scripts/bench [compare REV] NAME [NAME …] [--rounds N] [--small]"""

from __future__ import annotations

import argparse
import importlib
import sys

from scripts.benchmarks.compare import compare
from scripts.benchmarks.figures import meter

NAMES = (
    "archive",
    "bags",
    "browse",
    "cluster",
    "connectors",
    "copies",
    "database",
    "dias",
    "eark",
    "eark_validate",
    "estimate",
    "ingest",
    "members",
    "plan",
    "extract",
    "read",
    "siard",
    "text",
    "validate",
)
GROUPS = {"packages": ("bags", "dias", "eark", "eark_validate", "siard")}


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench")
    revision = None
    if sys.argv[1:2] == ["compare"]:
        revision = sys.argv[2] if len(sys.argv) > 2 else parser.error("compare what? compare REV NAME")
        del sys.argv[1:3]
    parser.add_argument("names", nargs="+", choices=(*NAMES, *GROUPS))
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each figure; the median is told")
    parser.add_argument("--small", action="store_true", help="a tenth of the work: shows that it runs, measures little")
    parser.add_argument("--only", default="", help="only figures whose name holds this")
    arguments = parser.parse_args()
    names = [each for asked in arguments.names for each in GROUPS.get(asked, (asked,))]
    if revision is not None:
        options = [*(["--small"] if arguments.small else []), *(["--only", arguments.only] if arguments.only else [])]
        compare(revision, names, arguments.rounds, options)
        return
    meter()
    for name in names:
        module = importlib.import_module(f"scripts.benchmarks.{name}")
        module.run(arguments.rounds, small=arguments.small, only=arguments.only)


if __name__ == "__main__":
    main()
