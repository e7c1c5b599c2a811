"""scripts/bench [profile] NAME [NAME …] [--rounds N] [--small]
scripts/bench compare REV [NAME …], without a name all but runs and the scale table
scripts/bench scale [--upto 5] [--results FILE]
scripts/bench runs [--records 100000] [--only SERVICE]"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from scripts.benchmarks.compare import compare
from scripts.benchmarks.figures import meter, watch_with
from scripts.benchmarks.profiles import LineProfile

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
    "runs",
    "scale",
    "siard",
    "text",
    "validate",
)
GROUPS = {"packages": ("bags", "dias", "eark", "eark_validate", "siard")}


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench")
    revision = None
    profile = sys.argv[1:2] == ["profile"]
    if profile:
        del sys.argv[1]
    if sys.argv[1:2] == ["compare"]:
        revision = sys.argv[2] if len(sys.argv) > 2 else parser.error("compare what? compare REV")
        del sys.argv[1:3]
    parser.add_argument("names", nargs="*" if revision else "+", choices=(*NAMES, *GROUPS))
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each figure; the median is told")
    parser.add_argument("--small", action="store_true", help="a tenth of the work: shows that it runs, measures little")
    parser.add_argument("--only", default="", help="only figures whose name holds this")
    parser.add_argument("--upto", type=int, default=6, help="scale: ten to the largest size; 7 takes an hour")
    parser.add_argument(
        "--results", type=Path, help="scale: a file that keeps what was measured; its sizes are skipped"
    )
    parser.add_argument("--records", type=int, default=100_000, help="runs: so many records, and a tenth of them")
    arguments = parser.parse_args()
    names = [each for asked in arguments.names for each in GROUPS.get(asked, (asked,))]
    if revision is not None:
        names = names or [name for name in NAMES if name not in ("runs", "scale")]
        options = [*(["--small"] if arguments.small else []), *(["--only", arguments.only] if arguments.only else [])]
        compare(revision, names, arguments.rounds, options)
        return
    meter()
    lines = LineProfile() if profile else None
    watch_with(lines)
    for name in names:
        module = importlib.import_module(f"scripts.benchmarks.{name}")
        more = {
            "runs": {"records": arguments.records},
            "scale": {"upto": arguments.upto, "results": arguments.results},
        }
        module.run(arguments.rounds, small=arguments.small, only=arguments.only, **more.get(name, {}))
    if lines is not None:
        print("", *lines.rows(), sep="\n")


if __name__ == "__main__":
    main()
