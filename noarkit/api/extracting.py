"""Extracts a package from an archive, or from a part of it, or one of each of its fonds."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import get_args

from noarkit.api.clustering import cluster_jobs, cluster_target
from noarkit.api.converting import mime_compat_option
from noarkit.api.destination import destination, open_target
from noarkit.api.heavy_jobs import archive_identity
from noarkit.api.validating import validate
from noarkit.archive.port import Archive
from noarkit.errors import NoarkitError, PackageFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.extraction.changes import ChangeLog
from noarkit.extraction.convert import NOARK, ConvertOptions, refuse_unfit
from noarkit.extraction.delivery import deliver, delivery_folder
from noarkit.extraction.making_note import forget_note, note_path
from noarkit.extraction.remote import ArchiveMark, RemoteArchive
from noarkit.extraction.run import ExtractResult, ExtractSettings
from noarkit.extraction.run import extract as extract_package
from noarkit.extraction.selection import Selection, all_fonds
from noarkit.forms.metadata.facts import own_facts, read_facts
from noarkit.forms.registry import known_forms
from noarkit.loading.engines.assembly import ArchiveTarget
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder, runs_in
from noarkit.loading.load_proof import LoadedRun, as_told_last, loaded_into
from noarkit.loading.options import Cluster, parse_cluster
from noarkit.loading.stopping import StopRequest, stop_fault
from noarkit.option_fields import option
from noarkit.reports.deliveries import judged_facts, note_verdict
from noarkit.results import Result
from noarkit.safe.csv_files import write_csv
from noarkit.safe.event_log import log_if_watched
from noarkit.settings import Place, Settings, resolve_settings

EXTRACTS = "extracts.csv"
_COLUMNS = ("arkiv", "tittel", "package", "state", "folders", "records", "files", "errors", "warnings", "flaws")


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """What an extract shall be: which part of the archive, and how it is delivered.

    `package` names a `package.toml`; without one, that of the working folder is read where there is one. `schemas` is a
    folder with the official schemas. `include_open` takes open units too. What the form has no element for goes into
    business-specific metadata, unless `carry` is False. `kept_log` is a change log that a load kept beside its run;
    `change_log` says which change log the package gets. A document that has an archival copy is delivered as the copy;
    with `with_originals` also as it is, where its own format is taken for deposit. Copies for reading are left out,
    unless `with_access_copies` is True. `cluster` are machines that fetch
    too; the package is the same. What holds no folders and no records is refused, unless `allow_empty`.
    With `mime_compat` METS of E-ARK says of a file no media type but what IANA's lists have by its name.
    `runs` are run folders of loads into this archive; those in the working folder and beside the package are found.
    """

    selection: Selection = option(Selection, parts=Selection)
    package: Path | None = option(kind="file", must_exist=True, metavar="FILE")
    schemas: Path | None = option(kind="folder", metavar="DIR")
    include_open: bool = option(False, kind="flag")
    carry: bool = option(True, flag="--no-carry-in-vsm", kind="negated")
    kept_log: Path | None = option(kind="file", must_exist=True, metavar="FILE")
    change_log: ChangeLog = option("closing", choices=lambda: get_args(ChangeLog))
    with_originals: bool = option(False, kind="flag")
    with_access_copies: bool = option(False, kind="flag")
    cluster: Cluster | None = option(parts=Cluster, without=("ship",), make=parse_cluster)
    allow_empty: bool = option(False, kind="flag")
    mime_compat: bool = mime_compat_option()
    runs: tuple[Path, ...] = option((), flag="--run", kind="folder", must_exist=True, is_multiple=True, metavar="RUN")


def extract(
    target: Place,
    options: ExtractOptions | None = None,
    *,
    form: str = "noark5",
    archive: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> ExtractResult:
    """Makes a package of an archive, or of a part of it; the same call again goes on where it was stopped.

    `target` is the package to be made; `options` says which part of the archive, and how it is delivered.

    Options:
        form: the form of the package (`noark5`, or one that packs an extract, such as `eark-sip`).
        archive: the address of the archive, or `embedded:DIR`; without it that of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `NotDepositable` for open units, `PackageFault`, `ChecksumDiffers`, `UsageFault` where `target` exists
    already, `SourceGone` where an embedded archive does not, `Paused` or `LimitReached` where `stop_request` asked
    for it, and faults of the archive.
    """
    resolved = resolve_settings(archive, settings)
    result = make_extract(
        Path(target),
        options or ExtractOptions(),
        form=form,
        settings=resolved,
        stop_request=StopRequest() if stop_request is None else stop_request,  # one that nobody asked yet is false
        listener=listener,
    )
    forget_note(result.package, "extract")
    return result


def make_extract(
    target: Path,
    options: ExtractOptions,
    *,
    form: str,
    settings: Settings,
    stop_request: StopRequest,
    listener: Listener,
) -> ExtractResult:
    """As `extract`, for a caller that still has to tell what came of it: the same call comes to the same end until the
    note on it is removed (`forget_note`)."""
    known_forms().product(form, "extract", "package")
    with log_if_watched(target, listener, settings.now_s, "extract") as emit:
        return _extract(target, options, form, settings, stop_request, emit=emit)


def _extract(
    target: Path,
    options: ExtractOptions,
    form: str,
    resolved: Settings,
    stop_request: StopRequest,
    *,
    emit: Listener,
) -> ExtractResult:
    package_file = options.package or own_facts()
    facts = read_facts(package_file)
    convert_options = ConvertOptions(form, package_file, mime_compat=options.mime_compat)
    refuse_unfit(convert_options)
    where = destination(resolved.config, resolved.environment)
    if options.cluster is not None:
        cluster_target(options.cluster, dry_run=False, check_command=None)
        if where.embedded is not None:
            raise UsageFault(what="engine-embedded", where=where.name, do="noarkit serve")

    with open_target(where, reads=True) as opened, closing(connect_archive(opened.settings)) as connection:
        emit(Event("target", {"archive": opened.name, "account": opened.account}))
        extract_settings = ExtractSettings(
            selection=options.selection,
            facts=facts,
            schemas=options.schemas,
            include_open=options.include_open,
            refuse_empty=not options.allow_empty,
            keep_note=True,
            carry=options.carry,
            with_originals=options.with_originals,
            with_access=options.with_access_copies,
            kept_log=options.kept_log,
            change_log=options.change_log,
            zone=resolved.config.zone,
            lang=resolved.config.lang,
            account=opened.account,
            now=lambda: datetime.fromtimestamp(resolved.now_s(), UTC),
            pause=partial(_raise_if_asked, stop_request),
            remote=_remote_archive(options, opened, connection),
            loads=_loads_into(archive_identity(connection, opened.name), options.runs, target),
        )
        if form == NOARK:
            extracted = extract_package(connection, target, extract_settings, emit=emit)
        else:
            extracted = deliver(connection, target, convert_options, extract_settings, emit=emit)
    # who makes a package is the first to hold it to the rules
    report = validate(extracted.package, schemas=options.schemas, listener=emit)
    facts_known = judged_facts(report, extracted.package)
    if report.verdict is not None and facts_known is not None:
        note_verdict(extracted.package, report.verdict, facts_known)
    return replace(
        extracted,
        errors=report.number("error"),
        warnings=report.number("warning"),
        verdict=report.verdict,
        loads=() if facts_known is None else facts_known.loads,
    )


def _remote_archive(options: ExtractOptions, opened: ArchiveTarget, connection: Archive) -> RemoteArchive | None:
    """The workers of a cluster for this archive, where they are wanted. Raises `UsageFault`."""
    if options.cluster is None:
        return None
    mark = ArchiveMark(opened.name, archive_identity(connection, opened.name), opened.settings.credentials.client_id)
    return RemoteArchive(mark, partial(cluster_jobs, options.cluster))


def _loads_into(identity: str, runs: Sequence[Path], target: Path) -> tuple[LoadedRun, ...]:
    """The runs that loaded into an archive: those that are named, and those that lie in the working folder or beside
    the package. Raises `JournalFault` for one that is named and cannot be read."""
    loads = {run.resolve(): loaded_into(RunFolder(run), identity) for run in runs}
    for run in (*runs_in(Path()), *runs_in(target.absolute().parent)):
        if run.resolve() not in loads:
            with suppress(NoarkitError, sqlite3.Error, OSError):  # nobody named it, and `noarkit runs` tells its fault
                loads[run.resolve()] = loaded_into(RunFolder(run), identity)
    return as_told_last([load for load in loads.values() if load is not None])


def _raise_if_asked(stop_request: StopRequest) -> None:
    if stop_request:
        raise stop_fault(stop_request.reason)


@dataclass(frozen=True, slots=True)
class FondsResult(Result):
    """What became of one fonds of an archive: the package that was made, that stood there before (neither `extracted`
    nor `fault`), or why there is none."""

    id: str
    title: str
    package: Path
    extracted: ExtractResult | None = None
    fault: PackageFault | None = None


def extract_each(
    target: Place,
    options: ExtractOptions | None = None,
    *,
    form: str = "noark5",
    archive: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> Iterator[FondsResult]:
    """Makes a package of each fonds below the folder `target`, and `extracts.csv` there, with a line for each.

    A `target` that ends with .zip, .tar or .tar.gz packs each of them, in a folder without that ending. A fonds that
    cannot be extracted is returned with its fault, and the others go on; a package that exists is left as it is.

    Options:
        form: the form of the packages, as for `extract`.
        archive: the address of the archive, or `embedded:DIR`; without it that of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises what `extract` raises for all of them.
    """
    resolved = resolve_settings(archive, settings)
    asked = StopRequest() if stop_request is None else stop_request
    for result in make_each_extract(
        Path(target), options or ExtractOptions(), form=form, settings=resolved, stop_request=asked, listener=listener
    ):
        yield result
        forget_note(result.package, "extract")


def make_each_extract(
    target: Path,
    options: ExtractOptions,
    *,
    form: str,
    settings: Settings,
    stop_request: StopRequest,
    listener: Listener,
) -> Iterator[FondsResult]:
    """As `extract_each`, for a caller that still has to tell what came of them all, as with `make_extract`."""
    if options.selection.arkiv or options.selection.arkivdel or options.selection.klasse:
        raise UsageFault(what="bad-value", where="--each")
    with (
        open_target(destination(settings.config, settings.environment)) as archive_target,
        closing(connect_archive(archive_target.settings)) as connection,
    ):
        fonds = [(entry.id, str(entry.fields.get("tittel", ""))) for entry in all_fonds(connection)]
    suffix = next((entry for entry in (".tar.gz", ".zip", ".tar") if str(target).endswith(entry)), "")
    folder = Path(str(target).removesuffix(suffix))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    results: list[FondsResult] = []
    for number, title in fonds:
        package = folder / f"{number}-{_plain_name(title)}{suffix}".replace("-.", ".")
        entry = FondsResult(number, title, package)
        if not package.exists() or note_path(package, "extract").is_file() or delivery_folder(package).exists():
            part = replace(options, selection=replace(options.selection, arkiv=number))
            try:
                extracted = make_extract(
                    package, part, form=form, settings=settings, stop_request=stop_request, listener=listener
                )
                entry = replace(entry, extracted=extracted)
            except PackageFault as fault:
                entry = replace(entry, fault=fault)
        results.append(entry)
        write_csv(folder / EXTRACTS, _COLUMNS, map(_row_of, results))
        yield entry


def _plain_name(title: str) -> str:
    """A title as part of a file's name: letters, digits and strokes."""
    return re.sub(r"[^\w]+", "-", title).strip("-_")[:60]


def _row_of(result: FondsResult) -> tuple[str | int | None, ...]:
    if result.extracted is None:
        state = result.fault.code if result.fault is not None else "already-there"
        return (result.id, result.title, result.package.name, state, "", "", "", "", "", "")
    units = result.extracted.units
    counts = (units.get("mappe", 0), units.get("registrering", 0), result.extracted.files)
    state = "depositable" if result.extracted.depositable else "made"
    verdict = (result.extracted.errors, result.extracted.warnings, " ".join(result.extracted.flaws))
    return (result.id, result.title, result.package.name, state, *counts, *verdict)
