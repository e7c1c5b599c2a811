"""Extracts a package from an archive, or from a part of it, or one of each of its fonds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from noarkit.api.clustering import Cluster, cluster_jobs, cluster_target
from noarkit.api.destination import destination, open_target
from noarkit.archive.port import Archive
from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.extraction.changes import ChangeLog
from noarkit.extraction.convert import NOARK, ConvertOptions
from noarkit.extraction.delivery import deliver
from noarkit.extraction.remote import ArchiveMark, RemoteArchive
from noarkit.extraction.run import ExtractResult, ExtractSettings
from noarkit.extraction.run import extract as extract_package
from noarkit.extraction.selection import Selection, all_fonds
from noarkit.forms.metadata.facts import own_facts, read_facts
from noarkit.forms.registry import known_forms
from noarkit.forms.validation import validate
from noarkit.loading.engines.assembly import ArchiveTarget
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.stopping import StopRequest, stop_fault
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
    with `with_originals` also as it is, where its own format is taken for deposit. `cluster` are machines that fetch
    too; the package is the same.
    """

    selection: Selection = field(default_factory=Selection)
    package: Path | None = None
    schemas: Path | None = None
    include_open: bool = False
    carry: bool = True
    kept_log: Path | None = None
    change_log: ChangeLog = "from-archive"
    with_originals: bool = False
    cluster: Cluster | None = None


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
    known_forms().product(form, "extract", "package")
    resolved = resolve_settings(archive, settings)
    with log_if_watched(Path(target), listener, resolved.now_s, "extract") as emit:
        return _extract(
            Path(target),
            options or ExtractOptions(),
            form,
            resolved,
            StopRequest() if stop_request is None else stop_request,  # one that nobody asked yet is false
            emit=emit,
        )


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
            carry=options.carry,
            with_originals=options.with_originals,
            kept_log=options.kept_log,
            change_log=options.change_log,
            zone=resolved.config.zone,
            lang=resolved.config.lang,
            account=opened.account,
            now=lambda: datetime.fromtimestamp(resolved.now_s(), UTC),
            pause=partial(_raise_if_asked, stop_request),
            remote=_remote_archive(options, opened, connection),
        )
        if form == NOARK:
            extracted = extract_package(connection, target, extract_settings, emit=emit)
        else:
            convert_options = ConvertOptions(form, package_file)
            extracted = deliver(connection, target, convert_options, extract_settings, emit=emit)
    # who makes a package is the first to hold it to the rules
    report = validate(extracted.package, schemas=options.schemas, listener=emit)
    return replace(extracted, errors=report.number("error"), warnings=report.number("warning"))


def _remote_archive(options: ExtractOptions, opened: ArchiveTarget, connection: Archive) -> RemoteArchive | None:
    """The workers of a cluster for this archive, where they are wanted. Raises `UsageFault`."""
    if options.cluster is None:
        return None
    from noarkit.api.heavy_jobs import archive_identity

    mark = ArchiveMark(opened.name, archive_identity(connection, opened.name), opened.settings.credentials.client_id)
    return RemoteArchive(mark, partial(cluster_jobs, options.cluster))


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

    def to_dict(self) -> dict[str, object]:
        """The fonds with its package, or the code of the fault."""
        return {
            "id": self.id,
            "title": self.title,
            "package": str(self.package),
            "extracted": None if self.extracted is None else self.extracted.to_dict(),
            "fault": None if self.fault is None else self.fault.code,
        }


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
    extract_options = options or ExtractOptions()
    if extract_options.selection.arkiv or extract_options.selection.arkivdel or extract_options.selection.klasse:
        raise UsageFault(what="bad-value", where="--each")
    resolved = resolve_settings(archive, settings)
    with (
        open_target(destination(resolved.config, resolved.environment)) as archive_target,
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
        if not package.exists():
            part = replace(extract_options, selection=replace(extract_options.selection, arkiv=number))
            try:
                extracted = extract(
                    package,
                    part,
                    form=form,
                    archive=archive,
                    settings=settings,
                    stop_request=stop_request,
                    listener=listener,
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
