"""python -m samples.packages.make_eark OUT [CODE ...]: writes good/eark-… and bad/<CODE>-<what> into OUT.

Each holds one E-ARK package: a folder, or an archive file where the rule is about one. The good twin of what was asked
for by its code stands beside it, in twin/<CODE>-<what>. `--table` prints which rule is broken by which package.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from samples.packages.eark import OBJID, PROFILES, Draft, good, write_folder, write_tar, write_zip
from samples.packages.eark_bad import BAD_PACKAGES
from samples.packages.eark_table import lines


def place(draft: Draft, above: Path, packed: str = "folder") -> Path:
    """Writes a package as a folder, or as the archive file that `packed` names by its tail or whole name."""
    if packed == "folder":
        return write_folder(draft, above)
    above.mkdir(parents=True, exist_ok=True)
    name = packed if packed.startswith("other") else f"{OBJID}.{packed}"
    return write_zip(draft, above / name) if name.endswith("zip") else write_tar(draft, above / name)


def main() -> None:
    """Writes them all, or those of some codes."""
    parser = argparse.ArgumentParser(prog="samples.packages.make_eark", description=__doc__)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("codes", nargs="*")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        print(*lines(), sep="\n")
    if asked.out is None:
        return
    for kind, version in PROFILES:
        place(good(kind, version), asked.out / "good" / f"eark-{kind.lower()}-{version}")
    for bad in BAD_PACKAGES:
        if not asked.codes or bad.code in asked.codes:
            place(bad.draft(), asked.out / "bad" / bad.name, bad.packed)
        if bad.code in asked.codes:
            place(bad.twin(), asked.out / "twin" / bad.name, bad.twin_packed)


if __name__ == "__main__":
    main()
