"""Runs command lines one after the other in one process: JSON comes in, an exit code a line goes out.

[["scan", ["scan", "source"]], …]     a name to note traffic under, and the arguments
"""

from __future__ import annotations

import json
import os
import sys

from noarkit.cli.main import main


def run() -> None:
    """All that standard input asks for."""
    answers = os.fdopen(os.dup(1), "w")
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123  # a descriptor is wanted
        os.dup2(nowhere.fileno(), 1)
    for name, arguments in json.load(sys.stdin):
        os.environ["NOARKIT_TEST_COMMAND"] = name
        answers.write(f"{name} {main(arguments, dict(os.environ))}\n")
        answers.flush()


if __name__ == "__main__":
    run()
