"""scripts/bench NAME [NAME …] [--rounds N] [--small]"""

from __future__ import annotations

import argparse
import importlib

NAMES = (
    "archive",
    "bags",
    "connectors",
    "copies",
    "database",
    "dias",
    "eark",
    "eark_validate",
    "ingest",
    "members",
    "extract",
    "read",
    "siard",
    "validate",
)
GROUPS = {"packages": ("bags", "dias", "eark", "eark_validate", "siard")}


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("names", nargs="+", choices=(*NAMES, *GROUPS))
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each figure; the median is told")
    parser.add_argument("--small", action="store_true", help="a tenth of the work: shows that it runs, measures little")
    parser.add_argument("--only", default="", help="only figures whose name holds this")
    arguments = parser.parse_args()
    for name in (each for asked in arguments.names for each in GROUPS.get(asked, (asked,))):
        module = importlib.import_module(f"scripts.benchmarks.{name}")
        module.run(arguments.rounds, small=arguments.small, only=arguments.only)


if __name__ == "__main__":
    main()
