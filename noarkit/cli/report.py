"""`noarkit report`: writes the reports and lists of a run again, in the language asked for."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.cli.options import Session, command
from noarkit.cli.plan import FOLDER
from noarkit.cli.running import require_run
from noarkit.loading.folder import RunFolder
from noarkit.reports import write_reports


@command("report", exits=(9, 10))
@click.argument("run", metavar="RUN", type=FOLDER)
def report_command(session: Session, run: Path) -> None:
    """Writes, and names what was written."""
    require_run(run)
    for path in write_reports(RunFolder(run), session.texts.lang):
        session.console.result("report", session.texts.say("report.written", path=path), path=str(path))
