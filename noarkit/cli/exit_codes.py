"""The exit code of a command, from the result of the function that it called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from noarkit.errors import VerifyMismatch, gravest
from noarkit.loading.findings import exit_code_of
from noarkit.loading.stopping import stop_fault

if TYPE_CHECKING:
    from noarkit.loading.engines.assembly import IngestResult
    from noarkit.loading.verification import VerifyResult

ITEMS = 3
STATES: Mapping[int, str] = {
    **dict.fromkeys((0, 3), "done"),
    # the same command goes on where it stopped, sooner or later, and nobody has to mend anything
    **dict.fromkeys((5, 11, 130, 143), "paused"),
    **dict.fromkeys((1, 2, 4, 6, 7, 8, 9, 10), "failed"),
}
"""What a command came to, in one word, by its exit code: in its last block, in --json, and for hooks and metrics."""


def state_of_exit(exit_code: int) -> str:
    """The word for an exit code: `done`, `paused` or `failed`."""
    return STATES.get(exit_code, "failed")


def ingest_exit_code(result: IngestResult) -> int:
    """The gravest of what stopped the run, what its workers met, what was left out and what is wrong in the archive."""
    stop_code = stop_fault(result.stopped_by).exit_code if result.stopped_by else 0
    items_code = ITEMS if result.numbers.set_aside + result.numbers.refused else 0
    fault_codes = [fault.exit_code for fault in result.faults]
    return gravest(*fault_codes, stop_code, items_code, exit_code_of(result.findings))


def verify_exit_code(result: VerifyResult) -> int:
    """7 if the run is not verified, 3 if something is missing, 0 if all that was asked for agrees."""
    if result.verdict == "not_verified":
        return VerifyMismatch.exit_code
    return 0 if result.good else ITEMS
