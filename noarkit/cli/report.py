"""`noarkit report`: writes the reports and lists of a run again, in the language asked for."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api.reporting import report
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings
from noarkit.events import EventFields

EVENTS: EventFields = {"report": {"path": "text"}}


@command("report", exits=(9, 10))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--premis", is_flag=True)
def report_command(session: Session, run: Path, *, premis: bool) -> None:
    """Writes, and names what was written."""
    require_run(run)
    for path in report(run, lang=session.texts.lang, premis=premis, settings=settings(session, None)):
        session.console.result("report", session.texts.say("report.written", path=path), path=str(path))
