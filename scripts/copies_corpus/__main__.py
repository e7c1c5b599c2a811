"""scripts/make-copies-corpus FOLDER [--each N] [--seed N] [--judge]

Writes FOLDER/documents, with FOLDER/expected.json beside.
With --judge copies are derived of all of it, and what became of each is held against what its kind says.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.copies_corpus.judging import judge
from scripts.copies_corpus.kinds import KINDS
from scripts.copies_corpus.writing import write_corpus


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/make-copies-corpus")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", type=int, default=1_000, help="at most so many documents of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--judge", action="store_true", help="derive copies of all, and compare")
    arguments = parser.parse_args()
    expected = write_corpus(arguments.folder, KINDS, most=arguments.each, seed=arguments.seed)
    if arguments.judge:
        return 0 if judge(arguments.folder, expected, KINDS) else 1
    print(f"{len(expected)} documents of {len(KINDS)} kinds in {arguments.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
