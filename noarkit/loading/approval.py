"""Approvals of a plan: who looked at it and let it be loaded, kept with the run as lines of JSON.

An approval names the sha256 of the plan that was looked at, so a plan that was made again needs a new one. Lines are
only added: a withdrawal is a line of its own, and takes back only what was approved under the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import orjson

from noarkit.errors import JournalFault, NotApproved, UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.results import Result, json_field
from noarkit.safe import atomic
from noarkit.safe.side_files import OTHERS_WRITE

FILE_NAME = "approvals.jsonl"


@dataclass(frozen=True, slots=True)
class Approval(Result):
    """One line: what a person decided of a plan. `by` is the name that they gave, `account` the user and machine that
    wrote it down, `at` the moment in UTC; `withdrawn` is True where an earlier approval was taken back."""

    EVENT: ClassVar = "approval"

    plan_sha256: str = field(metadata=json_field("plan"))
    by: str
    account: str
    at: str
    note: str = ""
    withdrawn: bool = False


def record_approval(folder: RunFolder, by: str, account: str, at: str, *, note: str = "") -> Approval:
    """Writes down that a person approved the plan as it is. Raises `PlanChanged`, `JournalFault`, `DiskFull`."""
    return _record(folder, Approval(_plan_sha256(folder), by, account, at, note))


def withdraw_approval(folder: RunFolder, by: str, account: str, at: str, *, note: str = "") -> Approval:
    """Writes down that a person takes back their own approval of the plan; those of other people stand.

    Raises `UsageFault` where the plan is not approved under that name, `PlanChanged`, `JournalFault`, `DiskFull`.
    """
    sha256 = _plan_sha256(folder)
    if not any(_name_key(approval.by) == _name_key(by) for approval in standing_approvals(folder)):
        raise UsageFault(what="not-approved-by", where=by)
    return _record(folder, Approval(sha256, by, account, at, note, withdrawn=True))


def approvals(folder: RunFolder) -> Iterator[Approval]:
    """Every line, the oldest first, of this plan and of earlier ones. Raises `JournalFault` for one that is damaged."""
    path = folder.path / FILE_NAME
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    for number, line in enumerate(lines, 1):
        try:
            data = orjson.loads(line)
            yield Approval(
                str(data["plan"]),
                str(data["by"]),
                str(data["account"]),
                str(data["at"]),
                str(data["note"]),
                bool(data["withdrawn"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise JournalFault(where=f"{path}:{number}", why="no-approval") from error


def approval_of(folder: RunFolder) -> Approval | None:
    """The newest approval of the plan that was not taken back; None if there is none."""
    standing = standing_approvals(folder)
    return standing[-1] if standing else None


def standing_approvals(folder: RunFolder) -> list[Approval]:
    """The approvals of the plan that nobody took back, the newest last: at most one for each name."""
    sha256 = str(folder.plan()["sha256"])
    standing: dict[str, Approval] = {}
    for approval in approvals(folder):
        if approval.plan_sha256 == sha256:
            standing.pop(_name_key(approval.by), None)
            if not approval.withdrawn:
                standing[_name_key(approval.by)] = approval
    return list(standing.values())


def require_approval(folder: RunFolder) -> Approval:
    """The approval that the plan has now. Raises `NotApproved` where it has none."""
    approval = approval_of(folder)
    if approval is None:
        raise NotApproved(where=str(folder.path))
    return approval


def _name_key(name: str) -> str:
    """A name as it is compared: "kari " is Kari."""
    return name.strip().casefold()


def _plan_sha256(folder: RunFolder) -> str:
    """The digest of the plan, proven to be that of what a person looked at."""
    folder.open_graph().close()
    return str(folder.plan()["sha256"])


def _record(folder: RunFolder, approval: Approval) -> Approval:
    path = folder.path / FILE_NAME
    try:
        atomic.append_line(path, orjson.dumps(approval.to_dict()), refused=OTHERS_WRITE)
    except OSError as error:
        raise JournalFault(where=str(path), why=error.strerror or type(error).__name__) from error
    return approval
