"""python -m samples.packages.make_dias OUT [CODE ...]: writes DIAS packages, good and one broken way for each rule."""

from __future__ import annotations

import argparse
from pathlib import Path

from samples.packages.dias import good_dias
from samples.packages.dias_aic import BAD_AIC, write_aic
from samples.packages.dias_bad import BAD_DIAS


def main() -> None:
    """Writes them all, or those of some codes."""
    parser = argparse.ArgumentParser(prog="samples.packages.make_dias", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("codes", nargs="*")
    asked = parser.parse_args()
    for type_ in ("SIP", "AIP"):
        good_dias(type_).write(asked.out / "good" / f"dias-{type_.lower()}")
    write_aic(asked.out / "good" / "dias-aic")
    for bad in BAD_DIAS:
        if not asked.codes or bad.code in asked.codes:
            bad.draft().write(asked.out / "bad" / bad.name)
    for broken in BAD_AIC:
        if not asked.codes or broken.code in asked.codes:
            broken.write(asked.out / "bad" / broken.name)


if __name__ == "__main__":
    main()
