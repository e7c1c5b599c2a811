"""`noarkit approve`: a person who looked at a plan says that it may be loaded, or takes that back; or accepts what the
receiver of a bundle found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from noarkit.api import bundles
from noarkit.api.approving import approve
from noarkit.catalogue.moments import spoken
from noarkit.cli.next_command import is_within_project, next_command
from noarkit.cli.options import FILE, FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings
from noarkit.errors import UsageFault
from noarkit.events import EventFields
from noarkit.loading.approval import Approval, approval_of, approvals
from noarkit.loading.folder import RunFolder
from noarkit.loading.verification import Finding

_PLACE = click.Path(path_type=Path)

EVENTS: EventFields = {
    "approval": {"run": "text"},
    "finding_for_sender": {**dict.fromkeys(("run", "code", "key", "detail", "actual"), "text"), "accepted": "flag"},
}


@command("approve", exits=(4, 10))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--by", metavar="NAME")
@option("--note", metavar="TEXT", default="")
@option("--withdraw", is_flag=True)
@option("--request", type=_PLACE, metavar="FILE")
@option("--accept", metavar="KEY", multiple=True)
@option("-o", "--output", type=_PLACE, metavar="FILE")
@option("--seal-key", type=FILE, metavar="FILE", variable=None)
@option("--trust-key", type=FILE, metavar="FILE", multiple=True, variable=None)
def approve_command(
    session: Session,
    run: Path,
    *,
    by: str | None,
    note: str,
    withdraw: bool,
    request: Path | None,
    accept: tuple[str, ...],
    output: Path | None,
    seal_key: Path | None,
    trust_key: tuple[Path, ...],
) -> None:
    """Writes an approval or a withdrawal down, or what was accepted; without a name, lists what there is."""
    require_run(run)
    if request is not None:
        if withdraw or bool(accept) != (output is not None) or (not accept and (by or note)):
            raise UsageFault(what="bad-value", where="--request", **_request_fix(withdraw=withdraw, accept=accept))
        final_settings = settings(session, None)
        findings = bundles.answer_request(
            run,
            request,
            output,
            accept=accept,
            by=by or "",
            note=note,
            seal_key=seal_key,
            trust_key=trust_key or None,
            settings=final_settings,
        )
        _print_findings(session, run, findings, output)
        return
    for name, value in (("--accept", accept), ("--output", output), ("--seal-key", seal_key)):
        if value:
            raise UsageFault(what="bad-value", where=name, fix="--request", own="file")
    if by is None and (note or withdraw):
        raise UsageFault(what="no-approver", where=str(run), fix="--by", own="name")
    if by is None:
        _print_list(session, RunFolder(run))
        return
    approval = approve(run, by=by, note=note, withdraw=withdraw, settings=settings(session, None))
    _print_approval(session, run, approval)
    if not withdraw and not is_within_project(session):
        session.console.notify(
            "approve.next", command=next_command("ingest", run, "--approved-only", run=RunFolder(run))
        )


def _request_fix(*, withdraw: bool, accept: Sequence[str]) -> dict[str, str]:
    """What makes the options go together that answer a request: what is accepted, by whom, and into which file."""
    if withdraw:
        return {"fix": "", "drop": "--withdraw"}
    return {"fix": "-o", "own": "file"} if accept else {"fix": "--accept", "own": "finding"}


def _print_findings(session: Session, run: Path, findings: Sequence[Finding], acceptance: Path | None) -> None:
    """The findings that the receiver asks of, or those that were accepted."""
    texts, console = session.texts, session.console
    for finding in findings:
        line = texts.say(
            "approve.finding",
            name=finding.key or finding.code,
            code=finding.code,
            what=texts.text("codes", finding.code),
            detail=finding.detail or None,
        )
        data = {"code": finding.code, "key": finding.key, "detail": finding.detail, "actual": finding.actual}
        console.result("finding_for_sender", line, run=run.name, accepted=acceptance is not None, **data)
    if acceptance is not None:
        console.notify("approve.accepted", path=acceptance, count=len(findings))
    else:
        console.notify("approve.asked", count=len(findings))


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
    session.console.show(approval, line, run=run.name)
