"""Approves a plan: a person who looked at it says that it may be loaded."""

from __future__ import annotations

from pathlib import Path

from noarkit.errors import UsageFault
from noarkit.loading.approval import Approval, record_approval, withdraw_approval
from noarkit.loading.engines.assembly import describe_caller
from noarkit.loading.folder import RunFolder
from noarkit.reports import write_approval
from noarkit.safe.clocks import iso_seconds
from noarkit.settings import Place, Settings, resolve_settings


def approve(
    run: Place, *, by: str, note: str = "", withdraw: bool = False, settings: Settings | None = None
) -> Approval:
    """Writes down that `by` approves the plan in the folder `run` as it is now. Sends nothing.

    The approval holds for this plan alone, by its sha256; `noarkit.ingest(…, approved_only=True)` demands it.
    The reports of the run are written again, and say so.

    Options:
        by: the name of the person who approves.
        note: what they want to have written beside it, such as the number of a case.
        withdraw: takes back the approval given under the same name instead; those of others stand.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.

    Raises `PlanChanged` where the plan is not what was locked, `JournalFault` where `run` is no run, `UsageFault`
    without a name, or where there is nothing to take back under it.
    """
    if not by.strip():
        raise UsageFault(what="no-approver", where=str(run), fix="--by", own="name")
    account = "{user}@{machine}".format_map(describe_caller())
    record = withdraw_approval if withdraw else record_approval
    resolved, folder = resolve_settings(None, settings), RunFolder(Path(run))
    now = iso_seconds(resolved.now_s())
    approval = record(folder, by.strip(), account, now, note=note.strip())
    write_approval(folder, resolved.config.lang)
    return approval
