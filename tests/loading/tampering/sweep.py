"""Makes every change on a copy and says what verification made of it: `python -m tests.loading.tampering.sweep`."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from noarkit.server.areas import open_service
from tests.loading.journey import add_plain_account
from tests.loading.tampering.bases import Base, from_files, from_package, met_again
from tests.loading.tampering.changes import Tampering, tamperings
from tests.loading.tampering.unproven import reason_unproven

NAMES = ("files", "again", "package")
_EXCUSES = frozenset({"V105", "source_changed", "source_gone"})
_NAMED = frozenset({"V501", "V502", "V504", "V505", "V506"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a change: `how` is found, named, unproven (with the reason that the manual gives), refused by the
    archive itself, or missed."""

    tampering: Tampering
    how: str
    detail: str


def outcome_of(base: Base, tampering: Tampering) -> Outcome:
    """Makes a change on a copy of the base and verifies it."""
    place = Path(tempfile.mkdtemp(prefix="noarkit-tamper-"))
    try:
        copy = base.copy_to(place)
        if not tampering.step(copy):
            return Outcome(tampering, "refused", "")
        judged = copy.judge()
    finally:
        shutil.rmtree(place)
    detail = f"{judged.verdict} {' '.join(sorted(judged.codes))}"
    if judged.codes & _EXCUSES:
        return Outcome(tampering, "missed", detail)
    if judged.verdict not in ("verified", "in_part"):
        return Outcome(tampering, "found", detail)
    if judged.codes & _NAMED:
        return Outcome(tampering, "named", detail)
    reason = reason_unproven(base.name, tampering)
    return Outcome(tampering, "unproven" if reason else "missed", reason or detail)


def prepared(root: Path, names: tuple[str, ...] = NAMES) -> Iterator[Base]:
    """The archives that are tampered with, loaded."""
    template = root / "template"
    service = open_service(template)
    add_plain_account(service)
    service.close()
    files = from_files(_made(root / "files")) if {"files", "again"} & set(names) else None
    if files is not None and "files" in names:
        yield files
    if files is not None and "again" in names:
        yield met_again(files, _made(root / "again"))
    if "package" in names:
        yield from_package(template, _made(root / "package"))


def _made(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def main() -> int:
    """Sweeps over all changes, and prints what was missed and the counts; 1 where anything was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bases", nargs="*", default=NAMES)
    parser.add_argument("--every", type=int, default=1, help="only every n-th change")
    parser.add_argument("--all", action="store_true", help="print every change")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="noarkit-tamper-") as root:
        for base in prepared(Path(root), tuple(options.bases)):
            assert base.judge().verdict == "verified", base.judge()
            counts: Counter[str] = Counter()
            for tampering in tamperings(base)[:: options.every]:
                outcome = outcome_of(base, tampering)
                counts[outcome.how] += 1
                if options.all or outcome.how == "missed":
                    print(f"{base.name}: {outcome.how}: {tampering.title}: {outcome.detail}", flush=True)
            print(f"{base.name}: {dict(sorted(counts.items()))}", flush=True)
            total += counts
    print(f"all: {dict(sorted(total.items()))}")
    return 1 if total["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
