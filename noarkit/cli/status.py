"""`noarkit status`: how far a run is, asked from outside while it works or afterwards."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import click

from noarkit.cli.options import Session, command, option
from noarkit.cli.plan import FOLDER
from noarkit.cli.running import Ending, require_run, tell_end
from noarkit.cli.runs import runs_in
from noarkit.errors import UsageFault, gravest
from noarkit.load.delivery import delivery_state
from noarkit.load.findings import exit_code_of
from noarkit.load.folder import RunFolder
from noarkit.load.journal import ArchiveFinding
from noarkit.load.numbers import Numbers, numbers
from noarkit.report.lists import DELIVERED
from noarkit.words.texts import grouped

_EVERY_S = 2.0
_SHOWN = 5


@command("status", exits=(3, 7))
@click.argument("run", metavar="[RUN]", type=FOLDER, required=False)
@option("--watch", is_flag=True)
def status_command(session: Session, run: Path | None, *, watch: bool) -> int:
    """Tells the numbers of a run as they are now."""
    folder = RunFolder(run if run is not None else _latest())
    require_run(folder.path)
    while True:
        counted, owner = numbers(folder), folder.owner()
        code = _tell(session, folder, counted, owner)
        if not watch or owner is None:
            return code
        time.sleep(_EVERY_S)


def _tell(session: Session, folder: RunFolder, counted: Numbers, owner: str | None) -> int:
    told = session.texts
    state = "running" if owner else "open" if counted.open or counted.in_doubt else "done"
    lines = {told.say("status.owner"): owner or told.say("status.nobody")}
    archive, wrong = None, list[ArchiveFinding]()
    if folder.journal.exists():
        with closing(folder.open_journal()) as journal:
            archive, chunks = journal.meta("where"), journal.chunk_counts()
            wrong = journal.findings()
        if wrong:
            shown = ", ".join(found.key for found in wrong[:_SHOWN])
            lines[told.say("status.wrong")] = told.say("status.wrong_keys", count=len(wrong), keys=shown)
        total = sum(chunks.values())
        lines[told.say("status.chunks")] = told.say(
            "status.chunk", done=grouped(chunks.get("done", 0)), total=grouped(total)
        )
    elif not owner:
        state = "planned"
        beyond = delivery_state(folder)
        if beyond is not None:  # what became of it is known by its receipt alone
            state, receipt = beyond
            if receipt is not None:
                counted, archive = receipt.numbers, receipt.archive
    code = 3 if state in ("done", "delivered") and counted.set_aside + counted.refused else 0
    code = gravest(code, exit_code_of(wrong))
    data = {name: number for name, number in counted.as_data().items()}
    if session.face.as_json:
        session.face.result("status", "", run=folder.name, state=state, owner=owner, archive=archive, **data)
    lists = DELIVERED if state == "delivered" else ""
    tell_end(session, folder, Ending(state, code, archive, lines=lines, lists=lists), counted)
    return code


def _latest() -> Path:
    found = runs_in(Path())
    if not found:
        raise UsageFault(what="no-run", where="noarkit status")
    return max(found, key=lambda one: max(file.stat().st_mtime_ns for file in one.iterdir()))
