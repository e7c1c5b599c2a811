"""`noarkit retry`: takes up what was set aside or refused by the load, and loads it."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api.retrying import reopen
from noarkit.cli.ingest import ingest_options, load_options, load_run
from noarkit.cli.line_names import free_name, planned_source
from noarkit.cli.next_command import next_command
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings, working
from noarkit.loading.approval import require_approval
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import count_planned_set_aside


@command("retry", exits=(3, 4, 5, 6, 7, 8, 9, 10, 11, 130, 143))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--fault", metavar="F###")
@option("--accept", metavar="KEY", multiple=True)
@load_options
def retry_command(session: Session, run: Path, *, fault: str | None, accept: tuple[str, ...], **wanted: object) -> int:
    """Loads what was left out, and nothing else that is done."""
    folder = RunFolder(run)
    require_run(run)
    options = ingest_options(wanted)
    if options.approved_only:
        require_approval(folder)  # before anything is taken up
    code = fault.upper() if fault else None
    with working(session, drains=True) as work:
        reopened_count = reopen(run, fault=code, accept=accept, settings=settings(session, None))
        session.console.notify("retry.taken" if reopened_count else "retry.none", count=reopened_count, code=code)
        by_plan = count_planned_set_aside(folder, code)
        if by_plan:
            source = planned_source(run) or "SOURCE"
            command = next_command(session, "plan", source, "-o", free_name(run), "--since", run)
            session.console.notify("retry.planned", count=by_plan, command=command)
        return load_run(work, folder, options)
