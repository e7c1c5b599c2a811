"""`noarkit status`: how far a run is, asked from outside while it works or afterwards."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import click

from noarkit.airgap.delivery import delivery_state
from noarkit.cli.options import Session, command, option
from noarkit.cli.plan import FOLDER
from noarkit.cli.running import RunSummary, print_summary, require_run
from noarkit.cli.runs import runs_in
from noarkit.errors import UsageFault, gravest
from noarkit.loading.findings import exit_code_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import ArchiveFinding
from noarkit.loading.numbers import Numbers, numbers
from noarkit.reports.lists import DELIVERED
from noarkit.words.texts import grouped

_EVERY_S = 2.0
_SHOWN = 5


@command("status", exits=(3, 7))
@click.argument("run", metavar="[RUN]", type=FOLDER, required=False)
@option("--watch", is_flag=True)
def status_command(session: Session, run: Path | None, *, watch: bool) -> int:
    """Tells the numbers of a run as they are now."""
    folder = RunFolder(run if run is not None else _latest_run())
    require_run(folder.path)
    while True:
        totals, owner = numbers(folder), folder.owner()
        code = _print_status(session, folder, totals, owner)
        if not watch or owner is None:
            return code
        time.sleep(_EVERY_S)


def _print_status(session: Session, folder: RunFolder, totals: Numbers, owner: str | None) -> int:
    texts = session.texts
    state = "running" if owner else "open" if totals.open or totals.in_doubt else "done"
    lines = {texts.say("status.owner"): owner or texts.say("status.nobody")}
    archive, wrong = None, list[ArchiveFinding]()
    if folder.journal.exists():
        with closing(folder.open_journal()) as journal:
            archive, chunks = journal.meta("where"), journal.chunk_counts()
            wrong = journal.findings()
        if wrong:
            keys = ", ".join(finding.key for finding in wrong[:_SHOWN])
            lines[texts.say("status.wrong")] = texts.say("status.wrong_keys", count=len(wrong), keys=keys)
        total = sum(chunks.values())
        lines[texts.say("status.chunks")] = texts.say(
            "status.chunk", done=grouped(chunks.get("done", 0)), total=grouped(total)
        )
    elif not owner:
        state = "planned"
        beyond = delivery_state(folder)
        if beyond is not None:  # what became of it is known by its receipt alone
            state, receipt = beyond
            if receipt is not None:
                totals, archive = receipt.numbers, receipt.archive
    code = 3 if state in ("done", "delivered") and totals.set_aside + totals.refused else 0
    code = gravest(code, exit_code_of(wrong))
    data = {name: number for name, number in totals.as_data().items()}
    if session.console.as_json:
        session.console.result("status", "", run=folder.name, state=state, owner=owner, archive=archive, **data)
    lists = DELIVERED if state == "delivered" else ""
    print_summary(session, folder, RunSummary(state, code, archive, lines=lines, lists=lists), totals)
    return code


def _latest_run() -> Path:
    run_paths = runs_in(Path())
    if not run_paths:
        raise UsageFault(what="no-run", where="noarkit status")
    return max(run_paths, key=lambda one: max(file.stat().st_mtime_ns for file in one.iterdir()))
