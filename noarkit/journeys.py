"""The journeys of ingest, each from its first step to its last: scan, plan, ingest, close, verify.

These are the functions of the public API, and the command line calls the same. They print nothing and never exit; what
happens is told as events, what goes wrong is raised as a fault.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from noarkit import airgap
from noarkit.airgap import Trust
from noarkit.destination import Destination, destination, reached
from noarkit.engine import assembly, continuity
from noarkit.engine.assembly import IngestResult, LoadOptions
from noarkit.engine.limits import read_most_errors, read_until
from noarkit.engine.runlog import logged
from noarkit.engine.workshop import opened
from noarkit.errors import ArchiveFault, ConfigFault, PlanFault, UsageFault
from noarkit.events import Event, Listener, nobody
from noarkit.graph.store import GraphStore
from noarkit.load.close import Closed
from noarkit.load.contents import no_gate
from noarkit.load.coordinator import Stopping
from noarkit.load.folder import RunFolder
from noarkit.load.gate import command_gate
from noarkit.load.governor import Rate, read_rate
from noarkit.load.numbers import placed
from noarkit.load.plan import Plan, PlanResult
from noarkit.load.plan import plan as make_plan
from noarkit.load.reappeared import reappeared
from noarkit.load.receipt import write_receipt
from noarkit.load.receiving import is_received
from noarkit.load.receiving import planned as planned_before
from noarkit.load.verify import Depth, Depths, Verified
from noarkit.load.verify import verify as verify_run
from noarkit.report import Context, write_certificate, write_plan_report, write_run_report
from noarkit.report.lists import write_lists
from noarkit.report.page import MOST_PLACES
from noarkit.site import Place as Place
from noarkit.site import Site as Site
from noarkit.site import read_settings as read_settings
from noarkit.site import site as site
from noarkit.sources.connector import ConnectorSource, find_connection, names_connection, reopen_connection, standing
from noarkit.sources.connector.writeback import CASE_FILES, WriteBack
from noarkit.sources.connector.writeback import write_back as write_ids
from noarkit.sources.opening import open_source as find_source
from noarkit.sources.opening import reopen
from noarkit.sources.package import ExtractSource, read_terms
from noarkit.sources.port import Settling, Source, SourceIdentity, fitted, keyed, released
from noarkit.sources.recipe import Recipe, check, compile_recipe, fits, read_recipe
from noarkit.sources.scan import ScanReport
from noarkit.sources.scan import scan as scan_source


def scan(source: Place | Source, *, settings: Site | None = None, tell: Listener = nobody) -> ScanReport:
    """Reads a source and counts what it holds. Changes nothing. Raises `SourceGone`, `UsageFault`."""
    with released(source_at(source, settings)) as place:
        return scan_source(place, tell)


def plan(
    source: Place | Source,
    run: Place,
    *,
    recipe: Place | Recipe | None = None,
    hash_contents: bool = False,
    since: Place | None = None,
    strict: bool = False,
    archive: str | None = None,
    pack: Place | None = None,
    seal_key: Place | None = None,
    trust_key: Trust = None,
    settings: Site | None = None,
    tell: Listener = nobody,
) -> PlanResult:
    """Reads, maps, checks and cuts; freezes the plan in the folder `run`, with plan.html beside it. Sends nothing.

    `source` is a path, a URL, a name, or a source itself. `recipe` is a file or a value; without one the source's own
    is used. Codes are judged by the archive's own lists where `archive` names one (which must then answer), or where
    the settings name one that answers.

    With `pack` the plan is sealed with its documents, signed with `seal_key`: a folder, zip or tar for the other side
    of an air gap. A run that stands already is packed as it is, and the same call again goes on. Where `source` is such
    a bundle, it is proven (one of `trust_key` must have sealed it) and `run` is made of it.
    Raises `PlanFault` for a recipe or plan that cannot work, `SourceGone`, `UsageFault` where a plan stands already.
    """
    here = site(archive, settings)
    folder = RunFolder(Path(run))
    if trust_key is not None or airgap.is_bundle(source):
        return airgap.received(source, folder, trust_key, here, tell)
    wish = _Wish(recipe, hash_contents, since, strict, archive)
    if pack is None:
        return _plan(source, folder, wish, here, tell)
    signer = airgap.signer(here, seal_key)
    if (folder.path / "plan.json").exists():
        if isinstance(source, str | Path) and Path(source) != folder.path:
            same_source(folder, source)
        planned = planned_before(folder)
    else:
        planned = _plan(source, folder, wish, here, tell)
    given = None if isinstance(source, str | Path) else source
    again = partial(_reopened, folder, here, given)
    return airgap.pack(planned, again, Path(pack), signer, strict=strict, here=here, tell=tell)


@dataclass(frozen=True, slots=True)
class _Wish:
    """How a plan is to be made."""

    recipe: Place | Recipe | None
    hash_contents: bool
    since: Place | None
    strict: bool
    archive: str | None


def _plan(source: Place | Source, folder: RunFolder, wish: _Wish, here: Site, tell: Listener) -> PlanResult:
    where = destination(here.config, here.environment)
    place = source_at(source, here, where.name)
    settled(place, folder.path)
    tell(Event("target", {"archive": where.name}))
    codes = _codes(where, tell, must=wish.archive is not None, may=here.config.archive.url is not None)
    what = replace(
        _what(wish.recipe, place, codes),
        hash_contents=wish.hash_contents,
        strict=wish.strict,
        since=RunFolder(Path(wish.since)) if wish.since is not None else None,
        codes=codes,
    )
    _refuse_planned(folder)
    with released(place), logged(folder.path, tell, here.now_s, "plan") as told:
        with continuity.planning(place, folder, told) as noticed:
            planned = make_plan(what, folder, told, here.now_s)
        moved, moved_count = _moved(folder, what.since)
        context = Context(
            recipe=wish.recipe.name if isinstance(wish.recipe, Recipe) else str(wish.recipe or ""),
            archive=where.name,
            asked=codes is not None,
            hashed=wish.hash_contents,
            since=str(wish.since or ""),
            reappeared=moved,
            reappeared_count=moved_count,
            hints=noticed.hints,
            drift=tuple((one.stream, one.field, one.how) for one in noticed.changes),
        )
        write_plan_report(folder, here.config.lang, context)
        write_lists(folder, here.config.lang)
    return planned


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
    settings: Site | None = None,
    stopping: Stopping | None = None,
    tell: Listener = nobody,
) -> IngestResult:
    """Loads the plan in the folder `run` into an archive, and closes what it made. The same call again goes on.

    `until` is a time (`06:00`) or a moment, `max_rate` calls or bytes a second (`20/s`, `5MB/s`), `max_errors` a number
    or a share (`50`, `1%`). `check_command` sees every file before it is uploaded, and its refusal sets the item aside.
    `source` is the one that was planned, where its reader has no name that anybody registered. Where `run` is a sealed
    bundle, it is proven first (one of `trust_key` must have sealed it), and `output` becomes its run.
    Raises `SealBroken`, `RunLocked`, `PlanChanged`, `OtherArchive`, `SourceGone`, and faults of the archive.
    """
    here = site(archive, settings)
    folder = airgap.run_of(run, output, trust_key, here, tell)
    read = _reopened(folder, here, source)
    options = LoadOptions(
        until=read_until(until, datetime.fromtimestamp(here.now_s(), UTC), _zone(folder)) if until else None,
        rate=read_rate(max_rate) if max_rate else Rate(),
        most_errors=read_most_errors(max_errors) if max_errors else None,
        dry_run=dry_run,
        workers=workers,
        gate=command_gate(check_command) if check_command else no_gate,
        todays_dates=todays_dates,
    )
    where = destination(here.config, here.environment, assembly.remembered_archive(folder))
    with ExitStack() as stack:
        stack.enter_context(released(read))
        told = stack.enter_context(logged(folder.path, tell, here.now_s, "ingest"))
        way = stack.enter_context(reached(where, rehearse=dry_run))
        told(Event("target", {"archive": way.name, "account": way.account}))
        continuity.judge(folder, way, told)
        try:
            result = assembly.ingest_run(
                folder,
                read,
                way,
                options,
                stopping=Stopping() if stopping is None else stopping,
                tell=told,
                now_s=here.now_s,
            )
            continuity.keep(read, result, here.now_s())
            return result
        finally:
            if not dry_run:
                _report(folder, here.config.lang)


def write_back(run: Place, field: str, *, settings: Site | None = None, tell: Listener = nobody) -> WriteBack:
    """Writes the archive's ids of a loaded run's case files into a field of the records they were made of.

    Undoes nothing where it fails; may be repeated. Raises `UsageFault` for a source that takes nothing from us.
    """
    here = site(None, settings)
    folder = RunFolder(Path(run))
    source = _reopened(folder, here)
    if not isinstance(source, ConnectorSource):
        raise UsageFault(what="bad-value", where="--write-back", do="noarkit ingest crm:main --write-back FIELD")
    with released(source), logged(folder.path, tell, here.now_s, "write-back") as told:
        return write_ids(source, folder.path, field, placed(folder, *CASE_FILES), told)


def close(
    run: Place,
    *,
    archive: str | None = None,
    settings: Site | None = None,
    stopping: Stopping | None = None,
    tell: Listener = nobody,
) -> Closed:
    """Finalises everything that a run made, documents first. Raises `OtherArchive`, `RunLocked`, archive faults."""
    here = site(archive, settings)
    folder = RunFolder(Path(run))
    folder.plan()
    where = destination(here.config, here.environment, assembly.remembered_archive(folder))
    with logged(folder.path, tell, here.now_s, "close") as told, reached(where) as way:
        told(Event("target", {"archive": way.name, "account": way.account}))
        closed = assembly.close_run(
            folder, way, stopping=Stopping() if stopping is None else stopping, tell=told, now_s=here.now_s
        )
    _report(folder, here.config.lang)
    return closed


def verify(
    run: Place,
    *,
    source: Source | None = None,
    depth: Depth = "ids",
    sample: float = 1.0,
    archive: str | None = None,
    receipt: Place | None = None,
    trust_key: Trust = None,
    receipt_out: Place | None = None,
    seal_key: Place | None = None,
    settings: Site | None = None,
    tell: Listener = nobody,
) -> Verified:
    """Walks the source again, asks the archive, and compares; `sample` is the share of files whose bytes are compared.

    A run that came in a bundle is answered for with `receipt_out`: where nothing disagrees, a receipt is made there,
    sealed with `seal_key`. A run that left in one is closed with `receipt`, which one of `trust_key` must have sealed:
    it is held against the plan and all that was sealed, and no archive is asked.
    `source` as for `ingest`. Changes nothing. Raises `SealBroken`, `OtherArchive`, `SourceGone`, and archive faults.
    """
    here = site(archive, settings)
    folder = RunFolder(Path(run))
    if receipt is not None:
        result = airgap.close_case(folder, receipt, trust_key, here, tell)
        if result.good and names_connection(source_of(folder).where):
            with suppress(ConfigFault):  # a connection that is configured no more has no next plan
                airgap.move_marks(folder, _reopened(folder, here), here)
        return result
    order = airgap.receipt_order(folder, receipt_out, seal_key, here) if receipt_out is not None else None
    read = _reopened(folder, here, source)
    where = destination(here.config, here.environment, assembly.remembered_archive(folder))
    with ExitStack() as stack:
        stack.enter_context(released(read))
        told = stack.enter_context(logged(folder.path, tell, here.now_s, "verify"))
        way = stack.enter_context(reached(where))
        told(Event("target", {"archive": way.name, "account": way.account}))
        assembly.contact(way, told)
        asked = stack.enter_context(closing(opened(way.settings, tell=told)))
        assembly.same_archive(folder, asked, way.name)
        began_s = here.now_s()
        result = verify_run(folder, read, asked, Depths(depth, sample), told)
        result.certificate = write_certificate(
            folder,
            result,
            here.config.lang,
            archive=way.name,
            account=way.account,
            sample=sample,
            began_s=began_s,
            ended_s=here.now_s(),
        )
        if order is not None and result.good:
            wanted = replace(order, archive=way.name, account=way.account)
            write_receipt(wanted, result, asked, now_s=here.now_s)
            result.receipt = order.target
        return result


def source_of(folder: RunFolder) -> SourceIdentity:
    """The source that a run was planned from. Raises `JournalFault` where the folder holds no plan."""
    folder.plan()
    with closing(GraphStore.open(folder.graph)) as graph:
        kind, where = graph.meta("source_kind") or "", graph.meta("source_where") or ""
        found = json.loads(graph.meta("source_settings") or "{}")
    return SourceIdentity(kind, where, found)


def same_source(folder: RunFolder, source: Place) -> None:
    """Raises `UsageFault` where a run was planned from another source than this."""
    named = os.fspath(source) if isinstance(source, str | Path) else ""
    where = named if names_connection(named) else source_at(source, None).identity.where
    if source_of(folder).where != where:
        raise UsageFault(what="run-of-other-source", where=str(folder.path))


def recipe_text(path: Path) -> str:
    """The text of a recipe file. Raises `ConfigFault`."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigFault(where=str(path), why="not-utf-8") from error
    except OSError as error:
        raise ConfigFault(where=str(path), why="unreadable" if path.exists() else "not-there") from error


def _codes(where: Destination, tell: Listener, *, must: bool, may: bool) -> dict[str, frozenset[str]] | None:
    """The archive's code lists; None where there is none to ask, or none that must be asked and answers."""
    if not must and not may:
        return None
    try:
        with reached(where, rehearse=True) as way, closing(opened(way.settings, tell=tell)) as asked:
            assembly.contact(way, tell)
            return assembly.code_lists(asked)
    except (ArchiveFault, ConfigFault):
        if must:
            raise
        return None


def _refuse_planned(folder: RunFolder) -> None:
    if (folder.path / "plan.json").exists():
        raise UsageFault(what="plan-exists", where=str(folder.path))


def _moved(folder: RunFolder, since: RunFolder | None) -> tuple[tuple[tuple[str, str], ...], int]:
    """The first records whose content is known under another key, and how many there are."""
    first: list[tuple[str, str]] = []
    count = 0
    for pair in reappeared(folder, since) if since is not None else ():
        count += 1
        if count <= MOST_PLACES:
            first.append(pair)
    return tuple(first), count


def _report(folder: RunFolder, lang: str) -> None:
    """What a run came to, for people; also where it broke off. A run that never began has nothing to tell."""
    if folder.journal.exists():
        write_run_report(folder, lang)
        write_lists(folder, lang)


def settled(source: Source, folder: Path) -> Source:
    """The source, told where the run lies that it is read for."""
    if isinstance(source, Settling):
        source.settle(folder)
    return source


def open_source(place: Place, *, settings: Site | None = None) -> Source:
    """The source behind a path, URL or name, as a value: to ask for a recipe, or to give to `scan` and `plan`.

    Raises `SourceGone`, `UsageFault`, `ConfigFault`.
    """
    return source_at(place, settings)


def source_at(source: Place | Source, here: Site | None, archive: str | None = None) -> Source:
    """The source that is meant: one given, a connection (read from its marks for that archive), or a place."""
    if not isinstance(source, str | Path):
        if not hasattr(source, "identity"):
            raise UsageFault(
                what="reader-bare", where=type(source).__name__, do="noarkit.from_reader(reader, 'my-system')"
            )
        return source
    where = os.fspath(source)
    if names_connection(where):
        here = here or site()
        now = datetime.fromtimestamp(here.now_s(), UTC)
        found = find_connection(where, here.config, here.environment, now)
        if found is not None:
            return standing.from_marks(found, archive)
    found_there = find_source(where)
    return found_there if here is None else keyed(found_there, here.config.connections)


def _reopened(folder: RunFolder, here: Site, given: Source | None = None) -> Source:
    """The source of a run: the one given, which must be that one, or what is found where the plan says; the bundle
    for a run that came in one."""
    if is_received(folder):
        return airgap.bundle_of(folder)
    identity = source_of(folder)
    if given is not None:
        found = source_at(given, here)
        if (found.identity.kind, found.identity.where) != (identity.kind, identity.where):
            raise UsageFault(what="run-of-other-source", where=str(folder.path))
        return settled(found, folder.path)
    service = reopen_connection(identity, here.config, here.environment, folder.path)
    return settled(service or keyed(reopen(identity), here.config.connections), folder.path)


def _what(recipe: Place | Recipe | None, place: Source, codes: Mapping[str, frozenset[str]] | None) -> Plan:
    """What is planned by default: a recipe maps records, but what an extract holds is fixed."""
    if isinstance(place, ExtractSource):
        text, name = _recipe_text(recipe, place)
        terms = read_terms(text, name)
        extract = ExtractSource(place.place, terms.zone)
        return Plan(extract, extract.mapper(), text, terms.external_system, terms.zone, terms.close)
    text, chosen = _recipe(recipe, place, codes)
    place = fitted(place, chosen.data.get("source"))
    target = chosen.target
    return Plan(place, compile_recipe(chosen), text, target.external_system, target.zone, target.close)


def _recipe_text(given: Place | Recipe | None, source: Source) -> tuple[str, str]:
    """The text of a recipe, and what it is called."""
    if isinstance(given, Recipe):
        return given.text, given.name
    return (recipe_text(Path(given)), str(given)) if given is not None else (source.default_recipe(), "default recipe")


def _recipe(
    given: Place | Recipe | None, source: Source, codes: Mapping[str, frozenset[str]] | None
) -> tuple[str, Recipe]:
    """The text of the recipe, and the recipe; the first fault that stops it is raised as a `PlanFault`."""
    text, name = _recipe_text(given, source)
    recipe = read_recipe(text, name)
    wrong = [problem for problem in check(recipe, code_lists=codes) if not problem.warning]
    if wrong:
        first = wrong[0]
        told = {key: value for key, value in first.data.items() if key not in ("where", "why", "line", "count")}
        raise PlanFault(where=name, line=first.line, why=first.key, count=len(wrong), **told)
    if not fits(recipe, source.identity.kind):
        raise PlanFault(where=name, why="recipe-for-other-source")
    return text, recipe


def _zone(folder: RunFolder) -> ZoneInfo:
    with closing(GraphStore.open(folder.graph)) as graph:
        return ZoneInfo(graph.meta("zone") or "UTC")
