"""`noarkit runs`: the runs in a folder, with what became of each; `runs merge` joins the parts of one, `runs forget`
removes the local data of those that no rule keeps."""

from __future__ import annotations

import sqlite3
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import click

from noarkit.api.merging import merge_runs
from noarkit.catalogue.moments import spoken
from noarkit.cli.exit_codes import ITEMS, state_of_exit
from noarkit.cli.forgetting import forget
from noarkit.cli.line_names import line_request
from noarkit.cli.next_command import next_command, next_rows, step_rows
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import RunSummary, print_summary, require_run, settings
from noarkit.errors import NoarkitError, PartNotReady, UsageFault
from noarkit.events import EventFields
from noarkit.loading.folder import RunFolder, runs_in
from noarkit.loading.next_step import steps_to_join
from noarkit.loading.numbers import Numbers
from noarkit.loading.part import parse_part
from noarkit.loading.state import read_state
from noarkit.reports.dashboard import write_dashboard
from noarkit.reports.deliveries import Delivery, deliveries_in
from noarkit.reports.verdict_words import verdict_sentence
from noarkit.settings import imprint
from noarkit.words.texts import grouped

EVENTS: EventFields = {
    "run": {
        "run": "text",
        "path": "text",
        "state": "text?",
        **dict.fromkeys((member.name for member in fields(Numbers)), "count?"),
        "found_wrong": "count?",
        "fault": "text?",
    }
}

_EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)


@command("runs", exits=(3, 4, 5, 9, 10))
@click.argument("places", metavar="[DIR | merge RUN [JOURNAL]... | forget DIR]", nargs=-1)
@option("--html", "html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@option("--keep-last", type=click.IntRange(1), metavar="N")
@option("--keep-within", metavar="SPAN")
@option("--keep-daily", type=click.IntRange(1), metavar="N")
@option("--keep-weekly", type=click.IntRange(1), metavar="N")
@option("--keep-monthly", type=click.IntRange(1), metavar="N")
@option("--keep-yearly", type=click.IntRange(1), metavar="N")
@option("--because", metavar="TEXT")
@option("--dry-run", is_flag=True)
def runs_command(session: Session, /, places: tuple[str, ...], *, html: Path | None, **forgetting: object) -> int:
    """A line a run, the oldest plan first; with `--html`, a page of all of them. `merge` joins parts, `forget` removes
    what no rule keeps."""
    verb = places[0] if places else ""
    if verb != "forget" and any(forgetting.values()):
        raise UsageFault(what="bad-value", where="--keep-…, --because, --dry-run", fix="runs forget", wrong="runs")
    if verb in ("merge", "forget"):
        if len(places) == 1 or html is not None:
            own = None if len(places) > 1 else "run" if verb == "merge" else "folder"
            raise UsageFault(what="missing-argument", where=f"noarkit runs {verb}", fix="", drop="--html", own=own)
        if verb == "merge":
            return _merge(session, Path(places[1]), places[2:])
        if len(places) > 2:
            raise UsageFault(what="too-many-places", where=places[2])
        return forget(session, Path(places[1]), forgetting)
    if len(places) > 1:
        raise UsageFault(what="too-many-places", where=places[1])
    _list(session, _EXISTING(places[0] if places else ".", None, click.get_current_context()), html)
    return 0


def _merge(session: Session, run: Path, journals: tuple[str, ...]) -> int:
    require_run(run)
    result = merge_runs(run, journals, settings=settings(session, None))
    texts = session.texts
    lines = [texts.say("runs.merged", parts=", ".join(result.parts))]
    if result.missing:
        absent = ", ".join(RunFolder(run, parse_part(part)).journal.name for part in result.missing)
        lines.append(texts.say("runs.missing", parts=", ".join(result.missing), journals=absent))
    if result.open_shards:
        shards = ", ".join(f"{part}: {grouped(count)}" for part, count in result.open_shards.items())
        lines.append(texts.say("runs.open-shards", shards=shards))
    session.console.show(result, "\n".join(lines))
    code = ITEMS if result.numbers.set_aside + result.numbers.refused else 0
    code = code if result.is_complete else PartNotReady.exit_code
    state = state_of_exit(code)
    if result.is_complete:
        rows = next_rows(session, result.folder)
    else:
        missing = (*result.open_shards, *result.missing)
        rows = step_rows(texts, tuple(steps_to_join(result.folder, missing, line_request())))
    meaning = "end.exit" if result.is_complete else "end.exit-parts"
    print_summary(session, result.folder, RunSummary(state, code, lines=rows, meaning=meaning), result.numbers)
    return code


def _list(session: Session, folder: Path, html: Path | None) -> None:
    run_paths = runs_in(folder)
    if not run_paths:
        session.console.notify("runs.none", where=folder)
    if html is not None:
        page_imprint = imprint(settings(session, None))
        packages = deliveries_in(folder)
        write_dashboard(run_paths, html, session.texts.lang, line_request(), imprint=page_imprint, packages=packages)
        session.console.result("report", session.texts.say("report.written", path=html), path=str(html))
        return
    for path in run_paths:
        try:
            _print_run(session, path)
        except (NoarkitError, OSError, sqlite3.Error) as error:
            fault = error.describe() if isinstance(error, NoarkitError) else str(error)
            session.console.result("run", f"{path}  {fault}", run=path.name, path=str(path), fault=fault)
    for delivery in deliveries_in(folder):
        _print_delivery(session, delivery)


def _print_delivery(session: Session, delivery: Delivery) -> None:
    """A package in the folder, judged by the facts beside it."""
    verdict = delivery.verdict
    if verdict is None:
        command = next_command("validate", delivery.package)
        sentence = session.texts.say("runs.not-judged", command=command)
    else:
        sentence = verdict_sentence(verdict, session.texts)
    session.console.show(delivery, f"{delivery.package!s:<32}  {sentence}")


def _print_run(session: Session, path: Path) -> None:
    run = RunFolder(path)
    state, texts = read_state(run), session.texts
    totals = state.numbers
    frozen = datetime.fromtimestamp(float(str(run.plan().get("frozen_at", 0))), UTC)
    parts = [
        f"{path!s:<32}",
        f"{texts.say(f'state.{state.word}'):<14}",
        spoken(frozen.isoformat(timespec="seconds"), session.config().zone),
        texts.say("end.records", count=totals.read),
    ]
    parts += [
        f"{texts.say(f'end.{name}')} {grouped(count)}"
        for name in ("archived", "set_aside", "refused", "open")
        if (count := getattr(totals, name))
    ]
    wrong = len(state.findings)
    if wrong:
        parts.append(texts.say("runs.wrong", count=wrong))
    facts = {"state": state.word, **totals.as_data(), "found_wrong": wrong}
    session.console.result("run", "  ".join(parts), run=run.name, path=str(path), **facts)
