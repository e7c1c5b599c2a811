"""A second opinion on a bag: runs bagit-python on it in a child process.

It validates folders; a packed bag is unpacked through `safe` into a temporary folder. A bag with unsafe paths is not
given to it, because it would follow them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from noarkit.forms.findings import Opinion, ValidateResult
from noarkit.safe.children import child_environment
from noarkit.safe.unpack import LIMITS, UnpackLimits, unpack_to
from noarkit.safe.workplace import temporary_folder

TOOL = "bagit-python"
_UNSAFE = frozenset({"BAGIT-5.1-PATH", "BAGIT-2.1.2-ODD"})
_SCRIPT = """
import json, logging, sys, bagit
logging.disable(logging.INFO)
heard = []
class Listen(logging.Handler):
    def emit(self, record):
        heard.append(record.getMessage())
logging.getLogger("bagit").addHandler(Listen())
logging.getLogger("bagit").propagate = False
try:
    bagit.Bag(sys.argv[1]).validate(processes=int(sys.argv[2]))
    valid = True
except bagit.BagError as error:
    valid = False
    heard.append(str(error))
print(json.dumps([valid, heard[:100]]))
"""


def second_opinion(
    path: Path, report: ValidateResult | None = None, *, processes: int = 1, limits: UnpackLimits = LIMITS
) -> Opinion:
    """What bagit-python says of the bag at `path`; `report` is what we said of it, where it is at hand."""
    if report is not None and not _UNSAFE.isdisjoint(report.codes):
        return Opinion(TOOL, False, False, ())
    if path.is_dir():
        return _ask(path, processes)
    with temporary_folder("second") as folder:
        unpack_to(path, folder, limits=limits)
        tops = list(folder.iterdir())
        return _ask(tops[0], processes) if len(tops) == 1 else Opinion(TOOL, False, False, ())


def _ask(path: Path, processes: int) -> Opinion:
    command = [sys.executable, "-c", _SCRIPT, str(path), str(processes)]
    completed = subprocess.run(  # noqa: S603  # our interpreter and words
        command, capture_output=True, check=False, text=True, env=child_environment()
    )
    try:
        valid, messages = json.loads(completed.stdout)
    except ValueError:
        last = completed.stderr.strip().splitlines()[-1:]
        return Opinion(TOOL, True, False, tuple(last))
    known_reasons = ("percent-encoding",) if not valid and _holds_percent(path) else ()
    return Opinion(TOOL, True, bool(valid), tuple(map(str, messages)), known_reasons)


def _holds_percent(path: Path) -> bool:
    """It never decodes the percent sign in a manifest: such a bag is wrong to it alone."""
    for manifest in path.glob("*manifest-*.txt"):
        with manifest.open("rb") as file:
            if any(b"%25" in line for line in file):
                return True
    return False
