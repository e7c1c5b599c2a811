"""python -m samples.packages.make OUT [--schemas DIR] [CODE ...]: writes good/ and bad/<CODE>-<what>/ into OUT.

DIR holds the official schemas in folders by version (5.0/arkivstruktur.xsd and so on); without it our own are packed,
and every package carries the warning N102 that says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from noarkit.model.xml_model import VERSIONS, Version
from samples.packages.bad import BAD
from samples.packages.describe import seal
from samples.packages.good import Draft, good_draft


def drafts_with(schemas: Path | None) -> Callable[[Version], Draft]:
    """Makes good packages with the schemas of a folder, or with ours."""
    return lambda version: good_draft(version, schemas / version if schemas is not None else None)


def write_good(folder: Path, version: Version, schemas: Path | None = None) -> None:
    """A package that keeps every rule."""
    draft = drafts_with(schemas)(version)
    seal(draft)
    draft.write(folder)


def main() -> None:
    """Writes them all, or those of some codes."""
    parser = argparse.ArgumentParser(prog="samples.packages.make", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("codes", nargs="*")
    parser.add_argument("--schemas", type=Path)
    asked = parser.parse_args()
    for version in VERSIONS:
        write_good(asked.out / "good" / version, version, asked.schemas)
    for bad in BAD:
        if (not asked.codes or bad.code in asked.codes) and (asked.schemas or not bad.official):
            schemas = None if bad.code == "N102" else asked.schemas
            bad.draft(drafts_with(schemas)).write(asked.out / "bad" / bad.name)


if __name__ == "__main__":
    main()
