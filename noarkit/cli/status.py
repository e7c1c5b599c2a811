"""`noarkit status`: how far a run is, asked from outside while it works or afterwards."""

from __future__ import annotations

import time
from pathlib import Path

import click

from noarkit.api.status import StatusResult, status
from noarkit.cli.next_command import next_rows
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import RunSummary, print_summary, require_run
from noarkit.errors import UsageFault
from noarkit.loading.folder import RunFolder, runs_in
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
        result = status(folder.path)
        code = _print_status(session, result)
        if not watch or result.owner is None:
            return code
        time.sleep(_EVERY_S)


def _print_status(session: Session, result: StatusResult) -> int:
    texts, folder, totals, findings = session.texts, result.folder, result.numbers, result.findings
    lines = {texts.say("status.owner"): result.owner or texts.say("status.nobody")}
    if findings:
        keys = ", ".join(finding.key for finding in findings[:_SHOWN])
        lines[texts.say("status.wrong")] = texts.say("status.wrong_keys", count=len(findings), keys=keys)
    for part in result.parts:
        counts = {"done": grouped(part.done), "total": grouped(part.shards)}
        owner = part.owner or texts.say("status.nobody")
        lines[texts.say("status.part", part=part.part)] = texts.say("status.part_shards", owner=owner, **counts)
    if any(result.losses.values()):
        lines[texts.say("status.lost")] = texts.say("status.lost_shards", **result.losses)
    if result.retracted:
        counts = {name: grouped(result.retracted.get(name, 0)) for name in ("gone", "absent", "kept")}
        lines[texts.say("status.retracted")] = texts.say("status.retracted_objects", **counts)
    if folder.journal.exists():
        total = sum(result.chunks.values())
        lines[texts.say("status.chunks")] = texts.say(
            "status.chunk", done=grouped(result.chunks.get("done", 0)), total=grouped(total)
        )
    if result.owner is None:
        lines |= next_rows(session, folder)
    code = result.exit_code
    if session.console.as_json:
        session.console.show(result, "")
    lists = DELIVERED if result.state == "delivered" else ""
    # what is still to be done is told by the state: «done, everything» would be said of this command alone
    meaning = "end.exit" if code or result.state in ("done", "delivered") else "end.exit-status"
    summary = RunSummary(result.state, code, result.archive, lines=lines, lists=lists, meaning=meaning)
    print_summary(session, folder, summary, totals)
    return code


def _latest_run() -> Path:
    run_paths = runs_in(Path())
    if not run_paths:
        raise UsageFault(what="no-run", where="noarkit status")
    return max(run_paths, key=lambda one: max(file.stat().st_mtime_ns for file in one.iterdir()))
