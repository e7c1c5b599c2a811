"""`noarkit ingest`: loads a plan, or makes one first; the same again goes on where the last stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click

from noarkit.api import ingesting, origins
from noarkit.api.clustering import Cluster, parse_cluster
from noarkit.api.origins import is_bundle
from noarkit.api.planning import plan
from noarkit.api.writing_back import check_takes_ids
from noarkit.api.writing_back import write_back as write_ids_back
from noarkit.cli.exit_codes import ITEMS, ingest_exit_code, state_of_exit
from noarkit.cli.form_choices import SOURCE_KINDS
from noarkit.cli.next_command import next_command, next_steps, step_rows
from noarkit.cli.options import FILE, FOLDER, Session, command, option
from noarkit.cli.plan import print_plan
from noarkit.cli.running import (
    CommandWork,
    RunSummary,
    print_summary,
    refuse_missing_run,
    report_failure,
    require_run,
    settings,
    working,
)
from noarkit.embedded import keep_services
from noarkit.errors import LimitReached, NoarkitError, Paused, UsageFault, gravest
from noarkit.events import Event
from noarkit.loading.engines.assembly import IngestResult
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import propose_run
from noarkit.loading.part import parse_part, shard_counts
from noarkit.loading.request import check_same_request, options_given
from noarkit.loading.state import read_state
from noarkit.places import is_run

_LIMITS = ("until", "max-errors")


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How a run is to be loaded, as the command line says it."""

    archive: str | None
    until: str | None
    max_rate: str | None
    max_errors: str | None
    workers: int | None
    check_command: str | None
    todays_dates: bool
    dry_run: bool = False
    approved_only: bool = False
    write_back: str | None = None
    cluster: Cluster | None = None
    shard: str | None = None
    as_new: bool = False


@dataclass(frozen=True, slots=True)
class Planning:
    """How a plan of its own is to be made, where there is none yet."""

    recipe: Path | None = None
    accept_loss: tuple[str, ...] = ()
    take_incomplete: bool = False
    despite_damage: bool = False
    source_kind: str | None = None
    encoding: str | None = None
    shallow_root: Path | None = None
    as_new: bool = False
    same_as: Path | None = None

    def as_options(self) -> dict[str, object]:
        """The options that were given, by their names."""
        return options_given(asdict(self))

    @property
    def options(self) -> tuple[str, ...]:
        """The options that were given, as they are written, but what a load takes as well."""
        return tuple(f"--{name}" for name in self.as_options() if name != "as-new")


def load_options(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """The options that every command which loads takes."""
    for decorator in reversed(
        (
            option("--archive", metavar="URL", variable=None),
            option("--until", metavar="TIME"),
            option("--max-rate", metavar="RATE"),
            option("--max-errors", metavar="N|P%"),
            option("--workers", type=click.IntRange(0, 256), metavar="N"),
            option("--engine", metavar="dask://HOST:PORT"),
            option("--tls", type=FOLDER, metavar="DIR"),
            option("--ship", is_flag=True),
            option("--check-command", metavar="COMMAND"),
            option("--todays-dates", is_flag=True),
            option("--approved-only", is_flag=True),
        )
    ):
        function = decorator(function)
    return function


@command("ingest", exits=(3, 4, 5, 6, 7, 8, 9, 10, 11, 130, 143))
@click.argument("place", metavar="RUN|SOURCE")
@option("-o", "--output", type=FOLDER, metavar="RUN")
@option("--recipe", type=FILE, metavar="FILE")
@option("--source-kind", type=SOURCE_KINDS)
@option("--accept-loss", metavar="FIELD", multiple=True)
@option("--take-incomplete", is_flag=True)
@option("--despite-damage", is_flag=True)
@option("--encoding", metavar="NAME")
@option("--shallow-root", type=FOLDER, metavar="DIR")
@option("--as-new", is_flag=True)
@option("--same-as", type=FOLDER, metavar="RUN")
@option("--dry-run", is_flag=True)
@option("--shard", metavar="spine|K/N|links")
@option("--write-back", metavar="FIELD")
@option("--trust-key", type=FILE, metavar="FILE", multiple=True, variable=None)
@load_options
def ingest_command(
    session: Session,
    place: str,
    *,
    output: Path | None,
    recipe: Path | None,
    source_kind: str | None,
    accept_loss: tuple[str, ...],
    take_incomplete: bool,
    despite_damage: bool,
    encoding: str | None,
    shallow_root: Path | None,
    as_new: bool,
    same_as: Path | None,
    dry_run: bool,
    shard: str | None,
    write_back: str | None,
    trust_key: tuple[Path, ...],
    **wanted: object,
) -> int:
    """Loads a run, or a source or a sealed bundle through a plan of its own."""
    options = replace(ingest_options(wanted, dry_run=dry_run), write_back=write_back, shard=shard, as_new=as_new)
    part = parse_part(shard) if shard else None
    if part is not None and (write_back or not is_run(Path(place))):
        raise UsageFault(what="part-alone" if write_back else "part-of-run", where=f"--shard {shard}")
    planning = Planning(recipe, accept_loss, take_incomplete, despite_damage, source_kind, encoding, shallow_root)
    planning = replace(planning, as_new=as_new, same_as=same_as)
    with working(session, drains=True) as work, keep_services():
        if trust_key or is_bundle(place):
            folder = _unpack_bundle(work, place, output, planning, trust_key)
        else:
            folder = _find_or_plan(work, place, output, planning, options)
        if write_back:
            check_takes_ids(folder)
        return load_run(work, RunFolder(folder.path, part), options)


def ingest_options(values: dict[str, object], *, dry_run: bool = False) -> IngestOptions:
    """The options of a command line as one value."""
    workers, tls = values["workers"], values["tls"]

    def text(name: str) -> str | None:
        value = values[name]
        return None if value is None else str(value)

    return IngestOptions(
        archive=text("archive"),
        until=text("until"),
        max_rate=text("max_rate"),
        max_errors=text("max_errors"),
        workers=workers if isinstance(workers, int) else None,
        check_command=text("check_command"),
        todays_dates=bool(values["todays_dates"]),
        dry_run=dry_run,
        approved_only=bool(values["approved_only"]),
        cluster=parse_cluster(text("engine"), tls if isinstance(tls, Path) else None, ship=bool(values["ship"])),
    )


def load_run(work: CommandWork, folder: RunFolder, options: IngestOptions) -> int:
    """Loads, and tells how it ended, whatever happened."""
    session = work.session
    before = read_state(folder)
    had_nothing_left = folder.part is None and before.is_loaded and not before.differences
    try:
        result = ingesting.ingest(
            folder.path,
            until=options.until,
            max_rate=options.max_rate,
            max_errors=options.max_errors,
            dry_run=options.dry_run,
            workers=options.workers,
            check_command=options.check_command,
            todays_dates=options.todays_dates,
            approved_only=options.approved_only,
            shard=options.shard,
            cluster=options.cluster,
            as_new=options.as_new,
            settings=settings(session, options.archive),
            stop_request=work.stopping,
            listener=work.emit,
        )
    except NoarkitError as fault:
        work.progress.close()
        return report_failure(session, folder, fault, folder.archive_name(), approved_only=options.approved_only)
    work.progress.close()
    for item_fault in result.faults:
        session.console.fault(item_fault)
    if result.stopped_by in _LIMITS:
        session.console.fault(LimitReached(limit=session.texts.say(f"stopped.{result.stopped_by}")))
    exit_code = ingest_exit_code(result)
    if options.write_back and result.state == "done" and not options.dry_run and not _write_back(work, folder, options):
        exit_code = gravest(exit_code, ITEMS)
    if result.state == "done" and (had_nothing_left or _is_empty_part(folder)):
        result = replace(result, stopped_by="nothing-left" if had_nothing_left else "empty-part")
    _print_result(session, result, exit_code, approved_only=options.approved_only)
    return exit_code


def _write_back(work: CommandWork, folder: RunFolder, options: IngestOptions) -> bool:
    """Writes the archive's ids into the source's records; True if all of them have theirs."""
    session, field = work.session, options.write_back or ""
    try:
        outcome = write_ids_back(folder.path, field, settings=settings(session, options.archive), listener=work.emit)
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
    session.console.result(
        "written_back",
        line,
        field=field,
        **outcome.to_dict(),
    )
    return outcome.is_complete


def _find_or_plan(
    work: CommandWork, place: str, output: Path | None, planning: Planning, options: IngestOptions
) -> RunFolder:
    """The run that is meant: the one named, the one begun under that name, or a new one."""
    if is_run(Path(place)):
        if output is not None or planning.options:
            raise UsageFault(what="already-a-run", where=place)
        return RunFolder(Path(place))
    if output is None:
        refuse_missing_run(work.session, place, "ingest")
    if planning.same_as is not None:
        require_run(planning.same_as)
    folder = RunFolder(output)
    if is_run(output):
        origins.check_same_source(folder, place, planning.source_kind)
        check_same_request(folder, planning.as_options())
        return folder

    def emit_or_pause(event: Event, /) -> None:
        if work.stopping:  # nothing of a plan is worth finishing
            raise Paused(signal=work.stopping.reason)
        work.emit(event)

    result = plan(
        place,
        output,
        recipe=planning.recipe,
        source_kind=planning.source_kind,
        accept_loss=planning.accept_loss,
        take_incomplete=planning.take_incomplete,
        despite_damage=planning.despite_damage,
        encoding=planning.encoding,
        shallow_root=planning.shallow_root,
        as_new=planning.as_new,
        same_as=planning.same_as,
        settings=settings(work.session, options.archive),
        listener=emit_or_pause,
    )
    work.progress.close()
    if work.session.console.verbosity >= 0 or work.session.console.as_json:
        print_plan(work.session, result, loading=True)
    return folder


def _unpack_bundle(
    work: CommandWork, place: str, output: Path | None, planning: Planning, trust_key: tuple[Path, ...]
) -> RunFolder:
    """The run of a bundle, which is proven whole before it is one; the one begun under that name, where it stands."""
    for option_given in planning.options:
        raise UsageFault(what="options-of-a-source", where=option_given)
    if output is None:
        command = next_command("ingest", place, "-o", propose_run(place))
        raise UsageFault(what="run-wanted", where=place, do=command)
    from noarkit.api import bundles

    fresh = not is_run(output)
    result = bundles.receive(
        place, output, trust_key=trust_key or None, settings=settings(work.session, None), listener=work.emit
    )
    work.progress.close()
    if fresh:
        print_plan(work.session, result)
    return RunFolder(output)


def _print_result(session: Session, result: IngestResult, exit_code: int, *, approved_only: bool) -> None:
    texts, folder = session.texts, result.folder
    lines: dict[str, str] = {}
    if result.closed is not None:
        closed = sum(result.closed.closed.values()) - result.closed.refused_count
        lines[texts.say("end.closed")] = texts.say(
            "end.objects", count=closed, refused=result.closed.refused_count or None
        )
    if result.folder.part is not None:
        lines[texts.say("end.part")] = str(result.folder.part)
        session.console.count(part=str(result.folder.part), part_shards=shard_counts(folder.journal)[1])
    elif not result.dry_run:
        lines[texts.say("end.report")] = str(folder.path / "report.html")
    steps = next_steps(session, result.folder, is_rehearsal=result.dry_run, approved_only=approved_only)
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
