"""`noarkit retry`: takes up what was set aside or refused by the load, and loads it."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api.retrying import accept_losses, reopen, without_losses
from noarkit.cli.ingest import load_run
from noarkit.cli.line_names import line_request
from noarkit.cli.next_command import next_command, say_step
from noarkit.cli.option_values import options_of
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings, working
from noarkit.loading.approval import require_approval
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import replan_step
from noarkit.loading.numbers import count_needing_plan
from noarkit.loading.options import LOAD_ONLY, IngestOptions
from noarkit.loading.state import read_state

_OF_FINDINGS = ("F314", "F700")
_MOST_SHOWN = 20


@command("retry", exits=(3, 4, 5, 6, 7, 8, 9, 10, 11, 130, 143))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--fault", metavar="F###")
@option("--accept", metavar="KEY", multiple=True)
@options_of(options=IngestOptions, without=LOAD_ONLY)
def retry_command(
    session: Session, run: Path, *, fault: str | None, accept: tuple[str, ...], options: IngestOptions
) -> int:
    """Loads what was left out, and nothing else that is done."""
    folder = RunFolder(run)
    require_run(run)
    if options.approved_only:
        require_approval(folder)  # before anything is taken up
    code = fault.upper() if fault else None
    with working(session, drains=True) as work:
        final_settings = settings(session, None)
        losses = accept_losses(run, accept, settings=final_settings)
        remaining = without_losses(accept, losses)
        reopened_count = reopen(run, fault=code, accept=remaining, settings=final_settings)
        if losses:
            step = replan_step(folder, line_request())
            row = say_step(session.texts, step) if step.command else None
            session.console.notify("retry.accepted-gone", count=len(losses), row=row)
        asked_findings = [finding for finding in read_state(folder).differences if code in (None, *_OF_FINDINGS)]
        if reopened_count or not asked_findings:
            session.console.notify("retry.taken" if reopened_count else "retry.none", count=reopened_count, code=code)
        if asked_findings:
            session.console.notify("retry.wrong", count=len(asked_findings))
        by_plan = count_needing_plan(folder, code=code)
        if by_plan:
            step = replan_step(folder, line_request())
            session.console.notify(
                "retry.planned", count=by_plan, row=say_step(session.texts, step) if step.command else None
            )
        exit_code = load_run(work, folder, options)
        if asked_findings:
            _print_not_mended(session, folder, len(asked_findings))
        return exit_code


def _print_not_mended(session: Session, folder: RunFolder, asked_count: int) -> None:
    """What of that which is wrong in the archive was mended, and why the rest was not."""
    texts, remaining = session.texts, read_state(folder).differences
    session.console.notify("retry.mended", count=asked_count - len(remaining))
    for finding in remaining[:_MOST_SHOWN]:
        why = str(finding.data.get("why") or "")
        if why:
            reason = texts.say(
                f"retry.why-{why}",
                code=str(finding.data.get("code") or "") or None,
                command=next_command("retry", folder.path, "--accept", finding.key, run=folder),
            )
            session.console.notify("retry.not-mended", name=finding.key, kind=finding.kind, why=reason)
    if len(remaining) > _MOST_SHOWN:
        session.console.notify("retry.not-mended-more", count=len(remaining) - _MOST_SHOWN)
