"""`noarkit report`: writes the reports and lists of a run again, in the language asked for."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api.reporting import report
from noarkit.cli.options import Session, command
from noarkit.cli.plan import FOLDER
from noarkit.cli.running import require_run, settings


@command("report", exits=(9, 10))
@click.argument("run", metavar="RUN", type=FOLDER)
def report_command(session: Session, run: Path) -> None:
    """Writes, and names what was written."""
    require_run(run)
    for path in report(run, lang=session.texts.lang, settings=settings(session, None)):
        session.console.result("report", session.texts.say("report.written", path=path), path=str(path))
