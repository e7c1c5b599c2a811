"""`noarkit ingest`: loads a plan, or makes one first; the same again goes on where the last stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from noarkit.api.ingesting import hold_run, ingest_with
from noarkit.api.planning import finish_plan, plan_with
from noarkit.api.writing_back import check_takes_ids
from noarkit.api.writing_back import write_back as write_ids_back
from noarkit.cli.exit_codes import ITEMS, ingest_exit_code, state_of_exit
from noarkit.cli.line_names import line_request
from noarkit.cli.next_command import next_command, next_steps, step_rows
from noarkit.cli.option_values import options_of
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.plan import is_received_bundle, print_plan, require_earlier_runs
from noarkit.cli.running import (
    CommandWork,
    RunSummary,
    print_summary,
    refuse_missing_run,
    report_failure,
    settings,
    working,
)
from noarkit.embedded import keep_services
from noarkit.errors import LimitReached, NoarkitError, Paused, RunLocked, UsageFault, gravest
from noarkit.events import Event, EventFields
from noarkit.loading.engines.assembly import IngestResult
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import propose_run
from noarkit.loading.options import IngestOptions, PlanOptions
from noarkit.loading.part import parse_part, shard_counts
from noarkit.loading.state import read_state
from noarkit.option_fields import names_remembered
from noarkit.places import is_run
from noarkit.settings import Settings

EVENTS: EventFields = {"written_back": {"field": "text"}}
_LIMITS = ("until", "max-errors")


@command("ingest", exits=(3, 4, 5, 6, 7, 8, 9, 10, 11, 130, 143))
@click.argument("place", metavar="RUN|SOURCE")
@option("-o", "--output", type=FOLDER, metavar="RUN")
@options_of(planning=PlanOptions, loading=IngestOptions)
@option("--write-back", metavar="FIELD")
def ingest_command(
    session: Session,
    place: str,
    *,
    output: Path | None,
    planning: PlanOptions,
    loading: IngestOptions,
    write_back: str | None,
) -> int:
    """Loads a run, or a source or a sealed bundle through a plan of its own."""
    part = parse_part(loading.shard) if loading.shard else None
    if part is not None and (write_back or not is_run(Path(place))):
        raise UsageFault(what="part-alone" if write_back else "part-of-run", where=f"--shard {loading.shard}")
    with working(session, drains=True) as work, keep_services():
        if is_received_bundle(place, planning):
            folder = _unpack_bundle(work, place, output, planning)
        else:
            folder = _find_or_plan(work, place, output, planning)
        if write_back:
            check_takes_ids(folder)
        return load_run(work, RunFolder(folder.path, part), loading, write_back=write_back)


def _plan_alone() -> list[str]:
    """The options on the line that concern the plan alone, and not the load; a variable may be there for a plan."""
    of_plan = set(names_remembered(PlanOptions)) - set(names_remembered(IngestOptions))
    return [f"--{name}" for name in line_request().values if name in of_plan]


def load_run(work: CommandWork, folder: RunFolder, options: IngestOptions, *, write_back: str | None = None) -> int:
    """Loads, and tells how it ended, whatever happened. The run is held to the end: what is told is how it is then."""
    try:
        with hold_run(folder, is_rehearsal=options.dry_run) as held_folder:
            return _load_held(work, held_folder, options, write_back)
    except RunLocked as fault:
        work.progress.close()
        return report_failure(work.session, folder, fault, folder.archive_name(), approved_only=options.approved_only)


def _load_held(work: CommandWork, folder: RunFolder, options: IngestOptions, write_back: str | None) -> int:
    session = work.session
    had_nothing_left = folder.part is None and _has_nothing_left(folder)
    try:
        own = settings(session, options.archive)
        result = ingest_with(folder, options, own, stop_request=work.stopping, emit=work.emit)
    except NoarkitError as fault:
        work.progress.close()
        return report_failure(session, folder, fault, folder.archive_name(), approved_only=options.approved_only)
    work.progress.close()
    for item_fault in result.faults:
        session.console.fault(item_fault)
    if result.stopped_by in _LIMITS:
        session.console.fault(LimitReached(limit=session.texts.say(f"stopped.{result.stopped_by}")))
    exit_code = ingest_exit_code(result)
    if write_back and result.state == "done" and not options.dry_run:
        is_complete = _write_back(work, folder, write_back, settings(session, options.archive))
        exit_code = exit_code if is_complete else gravest(exit_code, ITEMS)
    if result.state == "done" and (had_nothing_left or _is_empty_part(folder)):
        result = replace(result, stopped_by="nothing-left" if had_nothing_left else "empty-part")
    _print_result(session, folder, result, exit_code, approved_only=options.approved_only)
    return exit_code


def _has_nothing_left(folder: RunFolder) -> bool:
    """True for a run that an earlier call loaded to its end, and of which nothing is wrong."""
    if not folder.journal.exists():
        return False
    state = read_state(folder)
    return state.is_loaded and not state.differences


def _write_back(work: CommandWork, folder: RunFolder, field: str, own: Settings) -> bool:
    """Writes the archive's ids into the source's records; True if all of them have theirs."""
    session = work.session
    try:
        outcome = write_ids_back(folder.path, field, settings=own, listener=work.emit)
    except NoarkitError as fault:  # what is archived stays so, and the run says that this is left to do
        session.console.fault(fault)
        return False
    if outcome.fault is not None:
        session.console.fault(outcome.fault)
    refused_count = sum(outcome.refusals.values())
    line = session.texts.say(
        "ingest.written-back",
        field=field,
        written=outcome.written_count,
        same=outcome.same_count,
        refused=refused_count,
    )
    session.console.show(outcome, line, field=field)
    return outcome.is_complete


def _find_or_plan(work: CommandWork, place: str, output: Path | None, planning: PlanOptions) -> RunFolder:
    """The run that is meant: the one named, the one begun under that name, or a new one."""
    if is_run(Path(place)):
        if output is not None or _plan_alone():
            raise UsageFault(what="already-a-run", where=place)
        return RunFolder(Path(place))
    if output is None:
        refuse_missing_run(work.session, place, "ingest")
    require_earlier_runs(planning)
    folder, own = RunFolder(output), settings(work.session, planning.archive)
    if is_run(output):
        finish_plan(place, folder, planning, own)
        return folder

    def emit_or_pause(event: Event, /) -> None:
        if work.stopping:  # nothing of a plan is worth finishing
            raise Paused(signal=work.stopping.reason)
        work.emit(event)

    # the load asks the archive, and its machines are those that load
    planning = replace(planning, archive=None, cluster=None)
    result = plan_with(place, folder, planning, own, emit_or_pause)
    work.progress.close()
    if work.session.console.verbosity >= 0 or work.session.console.as_json:
        print_plan(work.session, result, loading=True)
    return folder


def _unpack_bundle(work: CommandWork, place: str, output: Path | None, planning: PlanOptions) -> RunFolder:
    """The run of a bundle, which is proven whole before it is one; the one begun under that name, where it stands."""
    for option_given in _plan_alone():
        raise UsageFault(what="options-of-a-source", where=option_given)
    if output is None:
        command = next_command("ingest", place, "-o", propose_run(place))
        raise UsageFault(what="run-wanted", where=place, do=command)
    from noarkit.api import bundles

    fresh, trust = not is_run(output), planning.trust_key or None
    result = bundles.receive(place, output, trust_key=trust, settings=settings(work.session, None), listener=work.emit)
    work.progress.close()
    if fresh:
        print_plan(work.session, result)
    return RunFolder(output)


def _print_result(
    session: Session, folder: RunFolder, result: IngestResult, exit_code: int, *, approved_only: bool
) -> None:
    """What became of a load; `folder` is the run, which is held until this is told."""
    texts = session.texts
    lines: dict[str, str] = {}
    if result.closed is not None:
        closed = sum(result.closed.closed.values()) - result.closed.refused_count
        lines[texts.say("end.closed")] = texts.say(
            "end.objects", count=closed, refused=result.closed.refused_count or None
        )
    if folder.part is not None:
        lines[texts.say("end.part")] = str(folder.part)
        session.console.count(part=str(folder.part), part_shards=shard_counts(folder.journal)[1])
    elif not result.dry_run:
        lines[texts.say("end.report")] = str(folder.path / "report.html")
    steps = next_steps(session, folder, is_rehearsal=result.dry_run, approved_only=approved_only)
    lines |= step_rows(texts, steps)
    is_part_done = any(step.name in ("parts", "merge") for step in steps)
    print_summary(
        session,
        folder,
        RunSummary(
            state_of_exit(exit_code),
            exit_code,
            result.archive,
            result.stopped_by,
            lines,
            result.dry_run,
            meaning="end.exit" if exit_code or not is_part_done else "end.exit-part",
        ),
        result.numbers,
    )


def _is_empty_part(folder: RunFolder) -> bool:
    """True for a part without a shard: the run has fewer shards than it was divided into parts."""
    return folder.part is not None and folder.part.count > 0 and shard_counts(folder.journal)[1] == 0
