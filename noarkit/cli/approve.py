"""`noarkit approve`: a person who looked at a plan says that it may be loaded, or takes that back."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api.approving import approve
from noarkit.catalogue.moments import spoken
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings
from noarkit.errors import UsageFault
from noarkit.loading.approval import Approval, approval_of, approvals
from noarkit.loading.folder import RunFolder


@command("approve", exits=(10,))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--by", metavar="NAME")
@option("--note", metavar="TEXT", default="")
@option("--withdraw", is_flag=True)
def approve_command(session: Session, run: Path, *, by: str | None, note: str, withdraw: bool) -> None:
    """Writes an approval or a withdrawal down; without a name, lists those that were written."""
    require_run(run)
    if by is None and (note or withdraw):
        raise UsageFault(what="no-approver", where=str(run), do="--by NAME")
    if by is None:
        _print_list(session, RunFolder(run))
        return
    approval = approve(run, by=by, note=note, withdraw=withdraw, settings=settings(session, None))
    _print_approval(session, run, approval)
    if not withdraw:
        session.console.notify("approve.next", run=run)


def _print_list(session: Session, folder: RunFolder) -> None:
    for approval in approvals(folder):
        _print_approval(session, folder.path, approval)
    if approval_of(folder) is None:
        session.console.notify("approve.nobody", run=folder.path)


def _print_approval(session: Session, run: Path, approval: Approval) -> None:
    key = "approve.withdrawn" if approval.withdrawn else "approve.done"
    at = spoken(approval.at, session.config().zone)
    data = {"by": approval.by, "account": approval.account, "at": at, "note": approval.note or None}
    line = session.texts.say(key, run=run, sha256=approval.plan_sha256[:16], **data)
    session.console.result("approval", line, run=run.name, **approval.to_dict())
