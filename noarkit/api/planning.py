"""Plans a load: reads a source, maps, checks and cuts it, and freezes the plan. Sends nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from noarkit.airgap.receiving import read_plan_result
from noarkit.api.clustering import cluster_jobs, cluster_target
from noarkit.api.destination import Destination, archive_identity, destination, open_target
from noarkit.api.keys import trusted_keys
from noarkit.api.loaded_before import refuse_plan_of_loaded
from noarkit.api.origins import check_same_source, prepare_source
from noarkit.api.source_reading import find_asked, recipe_of, recipe_text, with_options, with_patterns
from noarkit.archive.port import Archive
from noarkit.documents.detect import emit_few_types
from noarkit.embedded import keep_services, starter_codes
from noarkit.errors import ArchiveFault, ConfigFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.noark5.source import ExtractSource, read_extract_recipe
from noarkit.graph.store import GraphStore
from noarkit.loading.engines import assembly, watermarks
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.follow_up import EarlierRun, check_same_archive, check_same_origin, read_earlier_run
from noarkit.loading.lookup import NumberBlock, first_free_numbers
from noarkit.loading.options import PlanKeywords, PlanOptions
from noarkit.loading.plan import Mapper, PlanResult, PlanSpec, known_elements, make_plan
from noarkit.loading.provenance import origin_label
from noarkit.loading.renamed_content import find_renamed_content
from noarkit.loading.request import RunRequest, check_same_request, run_request
from noarkit.loading.source_columns import ColumnWatch
from noarkit.option_fields import takes_options, values_given
from noarkit.recipes import Recipe, compile_recipe
from noarkit.records import HoldsCopies, Settling, Source, digest_of, fitted, released
from noarkit.reports import has_plan_page, write_plan_facts, write_plan_pages
from noarkit.reports.page import MOST_PLACES
from noarkit.reports.plan_page import Context
from noarkit.safe.event_log import log_run
from noarkit.service_names import is_connection_name
from noarkit.settings import Place, Settings, imprint, resolve_settings
from noarkit.wings import require_wing

if TYPE_CHECKING:
    from noarkit.copies.lookup import StoreLookup


@takes_options(PlanOptions)
def plan(
    source: Place | Source,
    run: Place,
    *,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
    **options: Unpack[PlanKeywords],
) -> PlanResult:
    """Reads, maps, checks and cuts a source; freezes the plan in the folder `run`. Sends nothing.

    `source` is a path, a URL, the name of a connection, or a source itself. A sealed bundle is not planned again: see
    `receive`.

    Options:
        recipe: a file or a `Recipe`; without one the source's own is used.
        source_kind: what a path is read as, whatever it looks like (`"files"`, or a form of package).
        hash_contents: computes the checksum of every document now, not when it is loaded.
        since: an earlier run of the same source, recipe and archive; records that came under another key are named.
        other_recipe: follows `since` although the recipe is another; what is there stays as that run made it.
        strict: takes a warning for a fault.
        accept_loss: elements whose loss is accepted, as `"utfoertKassasjon"`; the plan is refused otherwise.
        take_incomplete: loads records whose files are missing or damaged as metadata, and posts without a party.
        despite_damage: takes a bag or SIARD archive whose own checksums do not hold; it is refused otherwise.
        encoding: how names in an archive file are read that are not UTF-8 (`"cp1252"`).
        include: patterns of names and paths; of a folder of files, those that none takes in are left out (`"*.pdf"`).
        exclude: patterns of what is left out (`"*.tmp"`, `"Kladd/"`).
        shallow_root: the folder below which files outside of an E-ARK package are taken; they are set aside otherwise.
        carry: keeps what an extract tells and the archive has no field for in business-specific metadata.
        carry_dates: keeps the source's dates, years and numbers there too, for an account that may not set them.
        copies: a folder with archival copies of the documents; each is planned as a version beside its original.
        trust_key: public keys, one of which must have sealed the folder of copies.
        archive: the archive whose code lists apply, which must answer; without it that of the settings, if it answers.
        cluster: machines that hash (`Cluster`), with `hash_contents` and for a source that is a path.
        as_new: loads again what the archive has from another path.
        same_as: the run that loaded the same from another path, whose keys are taken.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `PlanFault`, `LossNotAccepted`, `SourceGone`, `PackageFault`, `UsageFault`, `LoadedBefore`; with a `cluster`
    also `EngineAway`, `EngineTrust`, `NoWorkers`, `OtherVersion`, `OtherSource` and `JobLost`.
    """
    return plan_with(
        source,
        RunFolder(Path(run)),
        PlanOptions(**options),
        resolve_settings(options.get("archive"), settings),
        listener,
    )


def plan_with(
    source: Place | Source, folder: RunFolder, options: PlanOptions, settings: Settings, emit: Listener
) -> PlanResult:
    """The same as `plan`, for a caller that has the options as one value."""
    if isinstance(source, str | Path) and folder.is_planned and not has_plan_page(folder):
        finish_plan(source, folder, options, settings)
        return read_plan_result(folder)
    options = replace(options, accept_loss=known_elements(options.accept_loss))
    earlier = read_earlier_run(RunFolder(Path(options.since))) if options.since is not None else None
    archive_place = destination(settings.config, settings.environment, earlier.archive if earlier else None)
    own_source = find_asked(source, options.reading, settings, archive_place.name, emit=emit)
    _refuse_engine(options, own_source)
    with keep_services():
        _check_archive(earlier, settings, emit)
        place = watermarks.drop_foreign_marks(own_source, partial(archive_identity, archive_place, emit), emit)
        prepare_source(place, folder.path)
        emit(Event("target", {"archive": archive_place.name}))
        codes = _archive_codes(
            archive_place, emit, must=options.archive is not None, may=settings.config.archive.url is not None
        )
    lookup = _lookup(options, settings)
    spec = _checked_spec(earlier, options, _with_keys(options, _plan_spec(options, place, codes)))
    if lookup is not None:
        spec = _with_copies(spec, lookup)
    spec = replace(
        spec,
        # a copy is found by the checksum of its document
        hash_contents=options.hash_contents or options.copies is not None,
        strict=options.strict,
        carries_values=options.carry_dates,
        accept_loss=tuple(options.accept_loss),
        accepted_by="{operator}@{machine}".format_map(imprint(settings).to_dict()),
        since=None if earlier is None else earlier.folder,
        same_as=None if options.same_as is None else RunFolder(Path(options.same_as)),
        codes=codes,
        archive=archive_place.name if archive_place.is_named or earlier is not None else None,
        free_numbers=None if codes is None else partial(_free_numbers, archive_place, emit),
        request=_request(source, options, archive_place, settings),
        made_from=_made_from(place, options, emit),
    )
    spec = _with_refusal(spec, options, archive_place, folder, emit)
    _refuse_planned(folder)
    closed = nullcontext() if lookup is None else closing(lookup)
    with released(place), closed, log_run(folder.path, emit, settings.now_s, "plan") as emit_logged:
        if not is_connection_name(str(source)):
            emit_few_types(emit_logged)
        hashing = nullcontext() if options.cluster is None else cluster_jobs(options.cluster)
        with watermarks.plan_with_watermarks(place, folder, emit_logged) as noticed, hashing as workers:

            def describe(draft: RunFolder) -> None:
                write_plan_facts(draft, _context(draft, spec, options, noticed, settings, archive_place.name))

            final_spec = replace(spec, job_workers=workers, describe=describe)
            result = make_plan(final_spec, folder, emit_logged, settings.now_s)
        write_plan_pages(folder, settings.config.lang)
    return result


def finish_plan(source: Place, folder: RunFolder, options: PlanOptions, settings: Settings) -> None:
    """Writes the pages of a plan that stands, where the command that made it could not: it had no room, or was killed.

    Raises `UsageFault` where the plan is of another source, or was asked for otherwise.
    """
    check_same_source(folder, source, options.source_kind)
    # the load asks the archive, and its machines are those that load
    check_same_request(folder, values_given(replace(options, archive=None, cluster=None)))
    if not has_plan_page(folder):
        write_plan_pages(folder, settings.config.lang)


def _context(
    folder: RunFolder,
    spec: PlanSpec,
    options: PlanOptions,
    noticed: watermarks.PlanningNotes,
    settings: Settings,
    archive: str,
) -> Context:
    """What the pages of a plan tell that it does not hold itself."""
    renamed, moved_count = _renamed_records(folder, spec.since)
    return Context(
        recipe=options.recipe.name if isinstance(options.recipe, Recipe) else str(options.recipe or ""),
        archive=archive,
        asked=spec.codes is not None,
        hashed=spec.hash_contents,
        since=str(options.since or ""),
        reappeared=renamed,
        reappeared_count=moved_count,
        hints=noticed.hints,
        drift=tuple((change.stream, change.field, change.kind) for change in noticed.changes()),
        imprint=imprint(settings),
    )


def _checked_spec(earlier: EarlierRun | None, options: PlanOptions, spec: PlanSpec) -> PlanSpec:
    """The plan as it was specified. Raises `UsageFault` where it cannot follow `earlier`."""
    if earlier is not None:
        recipe = earlier.recipe if options.other_recipe else spec.recipe
        chose_recipe = options.recipe is not None
        check_same_origin(earlier, spec.source.identity, spec.external_system, recipe, chose_recipe=chose_recipe)
    return spec


def _check_archive(earlier: EarlierRun | None, settings: Settings, emit: Listener) -> None:
    """Raises `UsageFault` where an option, the environment or the config says another archive than `earlier` is in."""
    place = destination(settings.config, settings.environment)
    if earlier is not None and (place.is_named or settings.config.archive.url is not None):
        check_same_archive(earlier, place.name, lambda: archive_identity(place, emit))


def _request(
    source: Place | Source, options: PlanOptions, archive_place: Destination, settings: Settings
) -> RunRequest:
    """How the plan is asked for, to be remembered. A key or a recipe that is no file cannot be named again."""
    values = values_given(replace(options, archive=archive_place.name if archive_place.is_named else None))
    return run_request("plan", source if isinstance(source, str | Path) else "", **values, **settings.explicit)


def _refuse_engine(options: PlanOptions, source: Source) -> None:
    """Raises `UsageFault` for an engine that would have nothing to do, or cannot open the source again."""
    if options.cluster is None:
        return
    cluster_target(options.cluster, dry_run=False, check_command=None)
    if not options.hash_contents:
        raise UsageFault(what="engine-no-hash", where="--engine", fix="--hash")
    if options.copies is not None:
        raise UsageFault(what="not-with-engine", where="--copies")
    if isinstance(source, Settling) or not Path(source.identity.where).exists():
        raise UsageFault(what="engine-source", where=source.identity.where)


def _archive_codes(
    archive_place: Destination, emit: Listener, *, must: bool, may: bool
) -> dict[str, frozenset[str]] | None:
    """The archive's code lists; None if there is none to ask, or none that must be asked and answers."""
    if not must and not may:
        return None
    if _is_new(archive_place):
        return starter_codes()
    try:
        with _connected(archive_place, emit) as connection:
            return assembly.code_lists(connection)
    except (ArchiveFault, ConfigFault):
        if must:
            raise
        return None


def _free_numbers(archive_place: Destination, emit: Listener, blocks: Sequence[NumberBlock]) -> list[int] | None:
    """The first free number of each block in the archive; None where it does not answer, and numbers units itself."""
    if _is_new(archive_place):
        return [block.after + 1 for block in blocks]
    try:
        with _connected(archive_place, emit) as connection:
            return first_free_numbers(connection, blocks)
    except (ArchiveFault, ConfigFault):
        return None


def _is_new(archive_place: Destination) -> bool:
    """True for an embedded archive that the load will make."""
    return archive_place.embedded is not None and not archive_place.embedded.exists()


@contextmanager
def _connected(archive_place: Destination, emit: Listener) -> Iterator[Archive]:
    """The archive, asked for as long as the block lasts."""
    with (
        open_target(archive_place) as target,
        closing(connect_archive(target.settings, emit=emit)) as connection,
    ):
        assembly.check_reachable(target, emit)
        yield connection


def _with_keys(options: PlanOptions, spec: PlanSpec) -> PlanSpec:
    """The plan with the keys of the run that it is the same as."""
    if options.same_as is None:
        return spec
    with closing(GraphStore.open(RunFolder(Path(options.same_as)).graph)) as graph:
        return replace(spec, external_system=graph.meta("external_system") or spec.external_system)


def _with_refusal(
    spec: PlanSpec, options: PlanOptions, archive_place: Destination, folder: RunFolder, emit: Listener
) -> PlanSpec:
    """The plan that is refused where the archive holds the same from another root, unless somebody said that it may."""
    request = spec.request
    if options.as_new or options.same_as is not None or request is None:
        return spec
    return replace(
        spec,
        before_freeze=lambda graph: refuse_plan_of_loaded(archive_place, graph, spec.source, folder, request, emit),
    )


def _refuse_planned(folder: RunFolder) -> None:
    if folder.is_planned:
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


def _plan_spec(options: PlanOptions, place: Source, codes: Mapping[str, frozenset[str]] | None) -> PlanSpec:
    """What is planned by default: a recipe maps records, but what an extract holds is fixed."""
    if isinstance(place, ExtractSource):
        text, name = recipe_text(options.recipe, place)
        extract_options = read_extract_recipe(text, name)
        extract = ExtractSource(
            place.place,
            extract_options.zone,
            take_incomplete=options.take_incomplete,
            carry=options.carry and extract_options.carry,
            accepted=options.accept_loss,
        )
        with_patterns(extract, options.reading)
        return PlanSpec(
            extract,
            extract.mapper(),
            text,
            extract_options.external_system,
            extract_options.zone,
            extract_options.close,
        )
    if not options.carry:
        raise UsageFault(what="only-of-an-extract", where="--no-carry")
    place = with_options(place, options.reading)
    recipe = recipe_of(options.recipe, place, codes)
    place = with_patterns(fitted(place, recipe.source_settings(place.identity.kind)), options.reading)
    target = recipe.target
    mapper = _with_own_copies(place, compile_recipe(recipe))
    return PlanSpec(
        place,
        mapper,
        recipe.text,
        target.external_system,
        target.zone,
        target.close,
        dates=recipe.dates,
        watch=ColumnWatch(recipe, place.identity.kind),
        origin=origin_label(place.identity.kind, target.external_system),
        follow=target.follow,
    )


def _with_own_copies(place: Source, mapper: Mapper) -> Mapper:
    """A mapper that plans the copies in a package beside their originals; the same mapper where there are none."""
    copies = place.copies_inside() if isinstance(place, HoldsCopies) else None
    if not copies:
        return mapper
    require_wing("copies")
    from noarkit.copies.inside import with_own_copies

    return with_own_copies(copies, mapper)


def _lookup(options: PlanOptions, settings: Settings) -> StoreLookup | None:
    """What finds the archival copies that lie in a folder, whose seal is proven where keys are trusted. Raises
    `UsageFault` where none are there, `SealBroken`."""
    if options.copies is None:
        return None
    require_wing("copies")
    from noarkit.copies.lookup import StoreLookup
    from noarkit.copies.sealing import prove_seal
    from noarkit.copies.store import CopyStore

    with CopyStore.open(Path(options.copies)) as store:
        if options.trust_key:
            prove_seal(store, trusted_keys(settings, options.trust_key))
    return StoreLookup(Path(options.copies))


def _made_from(place: Source, options: PlanOptions, emit: Listener) -> dict[str, str]:
    """Checksums of the source and of the copies, so that one can see later whether either is another."""
    digests = {"source": digest_of(place, emit)}
    if options.copies is not None:
        from noarkit.copies.store import CopyStore

        with CopyStore.open(Path(options.copies)) as store:
            digests["copies"] = store.digest()
    return {name: digest for name, digest in digests.items() if digest}


def _with_copies(spec: PlanSpec, lookup: StoreLookup) -> PlanSpec:
    """The plan with the copies of a folder beside their documents."""
    from noarkit.copies.lookup import StoreLookup
    from noarkit.copies.planning import with_copies

    source, mapper = with_copies(spec.source, spec.mapper, lookup.folder, lookup, StoreLookup)
    return replace(spec, source=source, mapper=mapper)
