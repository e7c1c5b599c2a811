"""The functions of the public API for ingest: scan, plan, ingest, write back, close, verify.

These are the functions of the public API, and the command line calls the same. They print nothing and never exit; what
happens is told as events, what goes wrong is raised as a fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from noarkit.airgap.receipt import is_fully_received, write_receipt
from noarkit.airgap.receiving import read_plan_result as planned_before
from noarkit.api import transfer
from noarkit.api.destination import Destination, destination, embedded_identity, open_target
from noarkit.api.origins import check_same_source, prepare_source, reopen_source, source_at, source_of
from noarkit.api.transfer import Trust
from noarkit.archive.retry import RetryPolicy
from noarkit.embedded import keep_services, starter_codes
from noarkit.errors import ArchiveFault, ConfigFault, PlanFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.noark5.source import ExtractSource, read_extract_recipe
from noarkit.graph.store import GraphStore
from noarkit.loading.close import CloseResult
from noarkit.loading.contents import no_gate
from noarkit.loading.coordinator import StopRequest
from noarkit.loading.engines import assembly, watermarks
from noarkit.loading.engines.assembly import IngestResult, LoadOptions
from noarkit.loading.engines.limits import parse_error_limit, parse_until
from noarkit.loading.engines.listing import compare_listing
from noarkit.loading.engines.runlog import log_run
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.gate import command_gate
from noarkit.loading.governor import Rate, read_rate
from noarkit.loading.numbers import archive_ids
from noarkit.loading.plan import PlanResult, PlanSpec, known_elements, make_plan
from noarkit.loading.renamed_content import find_renamed_content
from noarkit.loading.verification import Depth, Depths, VerifyResult
from noarkit.loading.verification import verify as verify_run
from noarkit.recipes import Recipe, check, compile_recipe, fits, read_recipe
from noarkit.records import Shallow, Source, accept_damage, fitted, released
from noarkit.reports import Context, write_certificate, write_plan_report, write_run_report
from noarkit.reports.lists import write_lists
from noarkit.reports.page import MOST_PLACES
from noarkit.safe.toml import read_text
from noarkit.services.source import ConnectorSource, is_connection_name
from noarkit.services.source.writeback import CASE_FILES, WriteBack
from noarkit.services.source.writeback import write_back as write_ids
from noarkit.settings import Place as Place
from noarkit.settings import Settings as Settings
from noarkit.settings import read_settings as read_settings
from noarkit.settings import resolve_settings
from noarkit.sources.scan import ScanResult
from noarkit.sources.scan import scan as scan_source

# a file that cannot be fetched is a finding; an archive that is away is waited for as long as ever
_FOR_ONE_FILE = RetryPolicy(patience_s=2.0)


def scan(
    source: Place | Source,
    *,
    source_kind: str | None = None,
    despite_damage: bool = False,
    encoding: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> ScanResult:
    """Reads a source and counts what it holds. Changes nothing. `source_kind` says what a path is to be read as,
    whatever it looks like (`files`, or a form of package). A bag or SIARD archive whose checksums of itself do not hold
    is refused, unless `despite_damage` counts what is there. Names in an archive file that are no UTF-8 are read in
    `encoding`. Raises `SourceGone`, `UsageFault`, `PackageFault`."""
    with released(source_at(source, settings, kind=source_kind, emit=listener, encoding=encoding)) as place:
        return scan_source(accept_damage(place, despite_damage=despite_damage), listener)


def plan(
    source: Place | Source,
    run: Place,
    *,
    recipe: Place | Recipe | None = None,
    source_kind: str | None = None,
    hash_contents: bool = False,
    since: Place | None = None,
    strict: bool = False,
    accept_loss: Sequence[str] = (),
    take_incomplete: bool = False,
    despite_damage: bool = False,
    encoding: str | None = None,
    shallow_root: Place | None = None,
    carry: bool = True,
    archive: str | None = None,
    pack: Place | None = None,
    seal_key: Place | None = None,
    trust_key: Trust = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> PlanResult:
    """Reads, maps, checks and cuts; freezes the plan in the folder `run`, with plan.html beside it. Sends nothing.

    `source` is a path, a URL, a name, or a source itself; `source_kind` says what a path is to be read as, whatever it
    looks like (`files`, or a form of package); names in an archive file that are no UTF-8 are read in `encoding`.
    `recipe` is a file or a value; without one the source's own is used. Codes are judged by the lists of `archive`
    (which must then answer), or of one in the settings that answers.

    A plan that would lose the grade of a record (`gradering`) or the proof of its disposal (`utfoertKassasjon`) is
    refused, unless `accept_loss` names that element. With `take_incomplete` records of an extract whose files are
    missing or damaged, and journal posts without a party, are loaded as metadata. A bag or SIARD archive whose
    checksums of itself do not hold is refused, unless `despite_damage` takes what is there. What an E-ARK package has
    outside of it is set aside, unless it lies below `shallow_root`. What an extract tells and the archive has no field
    for is kept in business-specific metadata, unless `carry` is False or the recipe says so.

    With `pack` the plan is sealed with its documents, signed with `seal_key`: a folder, zip or tar for the other side
    of an air gap. A run that stands already is packed as it is, and the same call again goes on. Where `source` is such
    a bundle, it is proven (one of `trust_key` must have sealed it) and `run` is made of it. Raises `PlanFault` for a
    recipe or plan that cannot work, `LossNotAccepted`, `SourceGone`, `UsageFault` where a plan stands already.
    """
    final_settings = resolve_settings(archive, settings)
    folder = RunFolder(Path(run))
    if trust_key is not None or transfer.is_bundle(source):
        return transfer.receive(source, folder, trust_key, final_settings, listener)
    options = _PlanOptions(recipe, hash_contents, since, strict, archive, known_elements(accept_loss), take_incomplete)
    options = replace(options, source_kind=source_kind, carry=carry, despite_damage=despite_damage)
    options = replace(options, encoding=encoding, shallow_root=shallow_root)
    if pack is None:
        return _plan(source, folder, options, final_settings, listener)
    signer = transfer.signer(final_settings, seal_key)
    if (folder.path / "plan.json").exists():
        if isinstance(source, str | Path) and Path(source) != folder.path:
            check_same_source(folder, source)
        earlier_plan = planned_before(folder)
    else:
        earlier_plan = _plan(source, folder, options, final_settings, listener)
    again = partial(reopen_source, folder, final_settings, None if isinstance(source, str | Path) else source)
    return transfer.pack(earlier_plan, again, Path(pack), signer, strict=strict, settings=final_settings, emit=listener)


@dataclass(frozen=True, slots=True)
class _PlanOptions:
    """How a plan is to be made."""

    recipe: Place | Recipe | None
    hash_contents: bool
    since: Place | None
    strict: bool
    archive: str | None
    accept_loss: tuple[str, ...] = ()
    take_incomplete: bool = False
    source_kind: str | None = None
    carry: bool = True
    despite_damage: bool = False
    encoding: str | None = None
    shallow_root: Place | None = None


def _plan(
    source: Place | Source, folder: RunFolder, options: _PlanOptions, settings: Settings, emit: Listener
) -> PlanResult:
    archive_place = destination(settings.config, settings.environment)
    own_source = source_at(source, settings, archive_place.name, options.source_kind, emit, encoding=options.encoding)
    with keep_services():
        place = watermarks.drop_foreign_marks(own_source, partial(embedded_identity, archive_place, emit), emit)
        prepare_source(place, folder.path)
        emit(Event("target", {"archive": archive_place.name}))
        codes = _archive_codes(
            archive_place, emit, must=options.archive is not None, may=settings.config.archive.url is not None
        )
    spec = replace(
        _plan_spec(options, place, codes),
        hash_contents=options.hash_contents,
        strict=options.strict,
        accept_loss=options.accept_loss,
        accepted_by="{user}@{machine}".format_map(assembly.describe_caller()),
        since=RunFolder(Path(options.since)) if options.since is not None else None,
        codes=codes,
    )
    _refuse_planned(folder)
    with released(place), log_run(folder.path, emit, settings.now_s, "plan") as emit_logged:
        with watermarks.plan_with_watermarks(place, folder, emit_logged) as noticed:
            result = make_plan(spec, folder, emit_logged, settings.now_s)
        renamed, moved_count = _renamed_records(folder, spec.since)
        context = Context(
            recipe=options.recipe.name if isinstance(options.recipe, Recipe) else str(options.recipe or ""),
            archive=archive_place.name,
            asked=codes is not None,
            hashed=options.hash_contents,
            since=str(options.since or ""),
            reappeared=renamed,
            reappeared_count=moved_count,
            hints=noticed.hints,
            drift=tuple((change.stream, change.field, change.kind) for change in noticed.changes),
        )
        write_plan_report(folder, settings.config.lang, context)
        write_lists(folder, settings.config.lang)
    return result


def ingest(
    run: Place,
    *,
    source: Source | None = None,
    output: Place | None = None,
    trust_key: Trust = None,
    archive: str | None = None,
    until: str | None = None,
    max_rate: str | None = None,
    max_errors: str | None = None,
    dry_run: bool = False,
    workers: int | None = None,
    check_command: str | None = None,
    todays_dates: bool = False,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> IngestResult:
    """Loads the plan in the folder `run` into an archive, and closes what it made. The same call again goes on.

    `until` is a time (`06:00`) or a moment, `max_rate` calls or bytes a second (`20/s`, `5MB/s`), `max_errors` a number
    or a share (`50`, `1%`). `check_command` sees every file before it is uploaded, and its refusal sets the item aside.
    `source` is the one that was planned, where its reader has no name that anybody registered. Where `run` is a sealed
    bundle, it is proven first (one of `trust_key` must have sealed it), and `output` becomes its run.
    Raises `SealBroken`, `RunLocked`, `PlanChanged`, `OtherArchive`, `SourceGone`, and faults of the archive.
    """
    final_settings = resolve_settings(archive, settings)
    folder = transfer.open_run(run, output, trust_key, final_settings, listener)
    read = reopen_source(folder, final_settings, source)
    options = LoadOptions(
        until=parse_until(until, datetime.fromtimestamp(final_settings.now_s(), UTC), _zone(folder)) if until else None,
        rate=read_rate(max_rate) if max_rate else Rate(),
        error_limit=parse_error_limit(max_errors) if max_errors else None,
        dry_run=dry_run,
        workers=workers,
        gate=command_gate(check_command) if check_command else no_gate,
        todays_dates=todays_dates,
    )
    archive_place = destination(final_settings.config, final_settings.environment, assembly.remembered_archive(folder))
    with ExitStack() as stack:
        stack.enter_context(released(read))
        emit_logged = stack.enter_context(log_run(folder.path, listener, final_settings.now_s, "ingest"))
        target = stack.enter_context(open_target(archive_place, rehearse=dry_run))
        emit_logged(Event("target", {"archive": target.name, "account": target.account}))
        watermarks.check_archive(folder, target, emit_logged)
        try:
            result = assembly.ingest_run(
                folder,
                read,
                target,
                options,
                stop_request=StopRequest() if stop_request is None else stop_request,
                emit=emit_logged,
                now_s=final_settings.now_s,
            )
            watermarks.keep_watermarks(read, result, final_settings.now_s())
            return result
        finally:
            if not dry_run:
                _report(folder, final_settings.config.lang)


def write_back(
    run: Place, field: str, *, settings: Settings | None = None, listener: Listener = ignore_event
) -> WriteBack:
    """Writes the archive's ids of a loaded run's case files into a field of the records they were made of.

    Undoes nothing where it fails; may be repeated. Raises `UsageFault` for a source that takes nothing from us.
    """
    final_settings = resolve_settings(None, settings)
    folder = RunFolder(Path(run))
    source = reopen_source(folder, final_settings)
    if not isinstance(source, ConnectorSource):
        raise UsageFault(what="bad-value", where="--write-back", do="noarkit ingest crm:main --write-back FIELD")
    with released(source), log_run(folder.path, listener, final_settings.now_s, "write-back") as emit_logged:
        return write_ids(source, folder.path, field, archive_ids(folder, *CASE_FILES), emit_logged)


def close(
    run: Place,
    *,
    archive: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> CloseResult:
    """Finalises everything that a run made, documents first. Raises `OtherArchive`, `RunLocked`, archive faults."""
    final_settings = resolve_settings(archive, settings)
    folder = RunFolder(Path(run))
    folder.plan()
    archive_place = destination(final_settings.config, final_settings.environment, assembly.remembered_archive(folder))
    with (
        log_run(folder.path, listener, final_settings.now_s, "close") as emit_logged,
        open_target(archive_place) as target,
    ):
        emit_logged(Event("target", {"archive": target.name, "account": target.account}))
        closed = assembly.close_run(
            folder,
            target,
            stop_request=StopRequest() if stop_request is None else stop_request,
            emit=emit_logged,
            now_s=final_settings.now_s,
        )
    _report(folder, final_settings.config.lang)
    return closed


def verify(
    run: Place,
    *,
    source: Source | None = None,
    depth: Depth | None = None,
    sample: float = 1.0,
    whole: bool = False,
    archive: str | None = None,
    receipt: Place | None = None,
    trust_key: Trust = None,
    receipt_out: Place | None = None,
    seal_key: Place | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> VerifyResult:
    """Walks the source again, asks the archive, and compares, to a depth of `counts`, `ids`, `fields` (the default) or
    `bytes`; `sample` is the share of files whose bytes are compared, `whole` also asks for every key a service lists.

    A run that came in a bundle is answered for with `receipt_out`: every byte is compared, and where all of the bundle
    is in this archive as it was sent, a receipt is made there, sealed with `seal_key`. A run that left in one is closed
    with `receipt`, which one of `trust_key` must have sealed: it is held against the plan and all that was sealed, and
    no archive is asked.
    `source` as for `ingest`. Changes nothing. Raises `SealBroken`, `OtherArchive`, `SourceGone`, and archive faults.
    """
    final_settings = resolve_settings(archive, settings)
    folder = RunFolder(Path(run))
    if receipt is not None:
        return _close_case(folder, receipt, trust_key, final_settings, listener)
    order = transfer.receipt_order(folder, receipt_out, seal_key, final_settings) if receipt_out is not None else None
    depths = transfer.receipt_depths(depth, sample) if order is not None else Depths(depth or "fields", sample)
    read = reopen_source(folder, final_settings, source)
    archive_place = destination(final_settings.config, final_settings.environment, assembly.remembered_archive(folder))
    with ExitStack() as stack:
        stack.enter_context(released(read))
        emit_logged = stack.enter_context(log_run(folder.path, listener, final_settings.now_s, "verify"))
        target = stack.enter_context(open_target(archive_place))
        emit_logged(Event("target", {"archive": target.name, "account": target.account}))
        assembly.check_reachable(target, emit_logged)
        connection = stack.enter_context(closing(connect_archive(target.settings, emit=emit_logged)))
        assembly.check_same_archive(folder, connection, target.name)
        began_s = final_settings.now_s()
        with closing(connect_archive(target.settings, policy=_FOR_ONE_FILE, emit=emit_logged)) as downloads:
            result = verify_run(folder, read, connection, depths, emit_logged, downloads=downloads)
        if whole:
            compare_listing(folder, read, connection, result, emit_logged)
        result.certificate = write_certificate(
            folder,
            result,
            final_settings.config.lang,
            archive=target.name,
            account=target.account,
            sample=depths.sample,
            began_s=began_s,
            ended_s=final_settings.now_s(),
        )
        if order is not None and is_fully_received(result):
            receipt_order_ = replace(order, archive=target.name, account=target.account)
            write_receipt(receipt_order_, result, connection, now_s=final_settings.now_s)
            result.receipt = order.target
        return result


def _close_case(
    folder: RunFolder, receipt: Place, trust_key: Trust, settings: Settings, emit: Listener
) -> VerifyResult:
    """The receipt that came back, held against the run; where it fits, a connection's next plan begins behind it."""
    result = transfer.close_case(folder, receipt, trust_key, settings, emit)
    if result.good and is_connection_name(source_of(folder).where):
        with suppress(ConfigFault):  # a connection that is configured no more has no next plan
            transfer.advance_watermarks(folder, reopen_source(folder, settings), settings)
    return result


def _archive_codes(
    archive_place: Destination, emit: Listener, *, must: bool, may: bool
) -> dict[str, frozenset[str]] | None:
    """The archive's code lists; None where there is none to ask, or none that must be asked and answers."""
    if not must and not may:
        return None
    if archive_place.embedded is not None and not archive_place.embedded.exists():
        return starter_codes()
    try:
        with (
            open_target(archive_place) as target,
            closing(connect_archive(target.settings, emit=emit)) as connection,
        ):
            assembly.check_reachable(target, emit)
            return assembly.code_lists(connection)
    except (ArchiveFault, ConfigFault):
        if must:
            raise
        return None


def _refuse_planned(folder: RunFolder) -> None:
    if (folder.path / "plan.json").exists():
        raise UsageFault(what="plan-exists", where=str(folder.path))


def _renamed_records(folder: RunFolder, since: RunFolder | None) -> tuple[tuple[tuple[str, str], ...], int]:
    """The first records whose content is known under another key, and how many there are."""
    first: list[tuple[str, str]] = []
    count = 0
    for pair in find_renamed_content(folder, since) if since is not None else ():
        count += 1
        if count <= MOST_PLACES:
            first.append(pair)
    return tuple(first), count


def _report(folder: RunFolder, lang: str) -> None:
    """What a run came to, for people; also where it broke off. A run that never began has nothing to tell."""
    if folder.journal.exists():
        write_run_report(folder, lang)
        write_lists(folder, lang)


def _plan_spec(options: _PlanOptions, place: Source, codes: Mapping[str, frozenset[str]] | None) -> PlanSpec:
    """What is planned by default: a recipe maps records, but what an extract holds is fixed."""
    if isinstance(place, ExtractSource):
        text, name = _recipe_text(options.recipe, place)
        extract_options = read_extract_recipe(text, name)
        extract = ExtractSource(
            place.place,
            extract_options.zone,
            take_incomplete=options.take_incomplete,
            carry=options.carry and extract_options.carry,
            accepted=options.accept_loss,
        )
        return PlanSpec(
            extract,
            extract.mapper(),
            text,
            extract_options.external_system,
            extract_options.zone,
            extract_options.close,
        )
    for option, wished in (("--take-incomplete", options.take_incomplete), ("--no-carry", not options.carry)):
        if wished:
            raise UsageFault(what="only-of-an-extract", where=option)
    place = accept_damage(place, despite_damage=options.despite_damage)
    if options.shallow_root is not None:
        if not isinstance(place, Shallow):
            raise UsageFault(what="only-of-an-eark-package", where="--shallow-root")
        place = place.reading_below(Path(options.shallow_root))
    text, recipe = _recipe(options.recipe, place, codes)
    place = fitted(place, recipe.data.get("source"))
    target = recipe.target
    mapper = compile_recipe(recipe)
    return PlanSpec(place, mapper, text, target.external_system, target.zone, target.close, follow=target.follow)


def _recipe_text(recipe: Place | Recipe | None, source: Source) -> tuple[str, str]:
    """The text of a recipe, and what it is called."""
    if isinstance(recipe, Recipe):
        return recipe.text, recipe.name
    return (read_text(Path(recipe)), str(recipe)) if recipe is not None else (source.default_recipe(), "default recipe")


def _recipe(
    recipe_or_path: Place | Recipe | None, source: Source, codes: Mapping[str, frozenset[str]] | None
) -> tuple[str, Recipe]:
    """The text of the recipe, and the recipe; the first fault that stops it is raised as a `PlanFault`."""
    text, name = _recipe_text(recipe_or_path, source)
    recipe = read_recipe(text, name)
    wrong = [problem for problem in check(recipe, code_lists=codes) if not problem.warning]
    if wrong:
        first = wrong[0]
        details = {key: value for key, value in first.data.items() if key not in ("where", "why", "line", "count")}
        raise PlanFault(where=name, line=first.line, why=first.key, count=len(wrong), **details)
    if not fits(recipe, source.identity.kind):
        raise PlanFault(where=name, why="recipe-for-other-source")
    return text, recipe


def _zone(folder: RunFolder) -> ZoneInfo:
    with closing(GraphStore.open(folder.graph)) as graph:
        return ZoneInfo(graph.meta("zone") or "UTC")
