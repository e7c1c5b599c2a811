"""The journeys of ingest, each from its first step to its last: scan, plan, ingest, close, verify.

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

from noarkit import airgap
from noarkit.airgap import Trust
from noarkit.archive.retry import Policy
from noarkit.destination import Destination, destination, identity_there, reached
from noarkit.engine import assembly, continuity
from noarkit.engine.assembly import IngestResult, LoadOptions
from noarkit.engine.limits import read_most_errors, read_until
from noarkit.engine.listing import compare_listing
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
from noarkit.load.plan import Plan, PlanResult, known_elements
from noarkit.load.plan import plan as make_plan
from noarkit.load.reappeared import reappeared
from noarkit.load.receipt import answers_for, write_receipt
from noarkit.load.receiving import planned as planned_before
from noarkit.load.verification import Depth, Depths, Verified
from noarkit.load.verification import verify as verify_run
from noarkit.origins import reopened, same_source, settled, source_at, source_of
from noarkit.report import Context, write_certificate, write_plan_report, write_run_report
from noarkit.report.lists import write_lists
from noarkit.report.page import MOST_PLACES
from noarkit.safe.toml import read_text
from noarkit.site import Place as Place
from noarkit.site import Site as Site
from noarkit.site import read_settings as read_settings
from noarkit.site import site as site
from noarkit.sources.connector import ConnectorSource, names_connection
from noarkit.sources.connector.writeback import CASE_FILES, WriteBack
from noarkit.sources.connector.writeback import write_back as write_ids
from noarkit.sources.package import ExtractSource, read_terms
from noarkit.sources.port import Damageable, Shallow, Source, fitted, released
from noarkit.sources.recipe import Recipe, check, compile_recipe, fits, read_recipe
from noarkit.sources.scan import ScanReport
from noarkit.sources.scan import scan as scan_source

# a file that cannot be fetched is a finding; an archive that is away is waited for as long as ever
_FOR_ONE_FILE = Policy(patience_s=2.0)


def scan(
    source: Place | Source, *, source_kind: str | None = None, settings: Site | None = None, tell: Listener = nobody
) -> ScanReport:
    """Reads a source and counts what it holds. Changes nothing. `source_kind` says what a path is to be read as,
    whatever it looks like (`files`, or a form of package). Raises `SourceGone`, `UsageFault`."""
    with released(source_at(source, settings, kind=source_kind, tell=tell)) as place:
        return scan_source(place, tell)


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
    shallow_root: Place | None = None,
    carry: bool = True,
    archive: str | None = None,
    pack: Place | None = None,
    seal_key: Place | None = None,
    trust_key: Trust = None,
    settings: Site | None = None,
    tell: Listener = nobody,
) -> PlanResult:
    """Reads, maps, checks and cuts; freezes the plan in the folder `run`, with plan.html beside it. Sends nothing.

    `source` is a path, a URL, a name, or a source itself; `source_kind` says what a path is to be read as, whatever it
    looks like (`files`, or a form of package). `recipe` is a file or a value; without one the source's own is used.
    Codes are judged by the lists of `archive` (which must then answer), or of one in the settings that answers.

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
    here = site(archive, settings)
    folder = RunFolder(Path(run))
    if trust_key is not None or airgap.is_bundle(source):
        return airgap.received(source, folder, trust_key, here, tell)
    accepted = known_elements(accept_loss)
    wish = _Wish(
        recipe, hash_contents, since, strict, archive, accepted, take_incomplete, source_kind, carry, despite_damage
    )
    wish = replace(wish, shallow_root=shallow_root)
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
    again = partial(reopened, folder, here, given)
    return airgap.pack(planned, again, Path(pack), signer, strict=strict, here=here, tell=tell)


@dataclass(frozen=True, slots=True)
class _Wish:
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
    shallow_root: Place | None = None


def _plan(source: Place | Source, folder: RunFolder, wish: _Wish, here: Site, tell: Listener) -> PlanResult:
    where = destination(here.config, here.environment)
    found = source_at(source, here, where.name, wish.source_kind, tell)
    place = continuity.of_that_archive(found, partial(identity_there, where, tell), tell)
    settled(place, folder.path)
    tell(Event("target", {"archive": where.name}))
    codes = _codes(where, tell, must=wish.archive is not None, may=here.config.archive.url is not None)
    what = replace(
        _what(wish, place, codes),
        hash_contents=wish.hash_contents,
        strict=wish.strict,
        accept_loss=wish.accept_loss,
        accepted_by="{user}@{machine}".format_map(assembly.who()),
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
    read = reopened(folder, here, source)
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
    source = reopened(folder, here)
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
    depth: Depth | None = None,
    sample: float = 1.0,
    whole: bool = False,
    archive: str | None = None,
    receipt: Place | None = None,
    trust_key: Trust = None,
    receipt_out: Place | None = None,
    seal_key: Place | None = None,
    settings: Site | None = None,
    tell: Listener = nobody,
) -> Verified:
    """Walks the source again, asks the archive, and compares, to a depth of `counts`, `ids`, `fields` (the default) or
    `bytes`; `sample` is the share of files whose bytes are compared, `whole` also asks for every key a service lists.

    A run that came in a bundle is answered for with `receipt_out`: every byte is compared, and where all of the bundle
    is in this archive as it was sent, a receipt is made there, sealed with `seal_key`. A run that left in one is closed
    with `receipt`, which one of `trust_key` must have sealed: it is held against the plan and all that was sealed, and
    no archive is asked.
    `source` as for `ingest`. Changes nothing. Raises `SealBroken`, `OtherArchive`, `SourceGone`, and archive faults.
    """
    here = site(archive, settings)
    folder = RunFolder(Path(run))
    if receipt is not None:
        return _close_case(folder, receipt, trust_key, here, tell)
    order = airgap.receipt_order(folder, receipt_out, seal_key, here) if receipt_out is not None else None
    depths = airgap.receipt_depths(depth, sample) if order is not None else Depths(depth or "fields", sample)
    read = reopened(folder, here, source)
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
        with closing(opened(way.settings, policy=_FOR_ONE_FILE, tell=told)) as downloads:
            result = verify_run(folder, read, asked, depths, told, downloads=downloads)
        if whole:
            compare_listing(folder, read, asked, result, told)
        result.certificate = write_certificate(
            folder,
            result,
            here.config.lang,
            archive=way.name,
            account=way.account,
            sample=depths.sample,
            began_s=began_s,
            ended_s=here.now_s(),
        )
        if order is not None and answers_for(result):
            wanted = replace(order, archive=way.name, account=way.account)
            write_receipt(wanted, result, asked, now_s=here.now_s)
            result.receipt = order.target
        return result


def _close_case(folder: RunFolder, receipt: Place, trust_key: Trust, here: Site, tell: Listener) -> Verified:
    """The receipt that came back, held against the run; where it fits, a connection's next plan begins behind it."""
    result = airgap.close_case(folder, receipt, trust_key, here, tell)
    if result.good and names_connection(source_of(folder).where):
        with suppress(ConfigFault):  # a connection that is configured no more has no next plan
            airgap.move_marks(folder, reopened(folder, here), here)
    return result


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


def _what(wish: _Wish, place: Source, codes: Mapping[str, frozenset[str]] | None) -> Plan:
    """What is planned by default: a recipe maps records, but what an extract holds is fixed."""
    if isinstance(place, ExtractSource):
        text, name = _recipe_text(wish.recipe, place)
        terms = read_terms(text, name)
        extract = ExtractSource(
            place.place,
            terms.zone,
            take_incomplete=wish.take_incomplete,
            carry=wish.carry and terms.carry,
            accepted=wish.accept_loss,
        )
        return Plan(extract, extract.mapper(), text, terms.external_system, terms.zone, terms.close)
    for option, wished in (("--take-incomplete", wish.take_incomplete), ("--no-carry", not wish.carry)):
        if wished:
            raise UsageFault(what="only-of-an-extract", where=option)
    if wish.despite_damage and isinstance(place, Damageable):
        place = place.despite_damage()
    if wish.shallow_root is not None:
        if not isinstance(place, Shallow):
            raise UsageFault(what="only-of-an-eark-package", where="--shallow-root")
        place = place.reading_below(Path(wish.shallow_root))
    text, chosen = _recipe(wish.recipe, place, codes)
    place = fitted(place, chosen.data.get("source"))
    target = chosen.target
    mapper = compile_recipe(chosen)
    return Plan(place, mapper, text, target.external_system, target.zone, target.close, follow=target.follow)


def _recipe_text(given: Place | Recipe | None, source: Source) -> tuple[str, str]:
    """The text of a recipe, and what it is called."""
    if isinstance(given, Recipe):
        return given.text, given.name
    return (read_text(Path(given)), str(given)) if given is not None else (source.default_recipe(), "default recipe")


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
