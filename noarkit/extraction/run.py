"""The whole way from an archive to a package, resumable at any step: the same call goes on where the last one ended.

What is fetched and written lies in a work folder beside the package until all of it stands; then the package is synced
and gets its name in one step, and the work folder goes.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, cast

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.registers import ListedCodes
from noarkit.errors import ConfigFault, NotDepositable, OtherArchive, UsageFault
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.extraction import account, not_in_form
from noarkit.extraction.assemble import Assembly, AssemblyDeps, AssemblyPaths, assemble, is_system_named
from noarkit.extraction.carried_values import restore_above, restore_below
from noarkit.extraction.changes import CHANGED_MEANWHILE, ChangeLog, fetch_changes, merge_kept
from noarkit.extraction.copies import FormatCounts, deliver_copies, list_formats
from noarkit.extraction.creators import put_creators
from noarkit.extraction.documents import MISSING, fetch_documents, files_to_fetch
from noarkit.extraction.fetch import fetch
from noarkit.extraction.links import fetch_links
from noarkit.extraction.loads import LoadBehind, compare_loads
from noarkit.extraction.making_note import MakingNote
from noarkit.extraction.originals import fetch_originals
from noarkit.extraction.remote import RemoteArchive, RemoteFetch
from noarkit.extraction.renamed import NOARK
from noarkit.extraction.schema_files import schema_set
from noarkit.extraction.selection import Selection, resolve
from noarkit.extraction.store import FILE_NAME, ExtractStore
from noarkit.extraction.workers import PoolSize, WorkerPool
from noarkit.forms.metadata.facts import PackageFacts
from noarkit.forms.noark5.schemas import VsmField, VsmGroup
from noarkit.forms.noark5.write.content import Codes, xml_text
from noarkit.forms.noark5.write.packing import is_packed, pack
from noarkit.model import metamodel
from noarkit.model.mapping import mapping
from noarkit.model.own_marks import USUAL_UNIT
from noarkit.results import SPREAD, Result, json_field, json_value
from noarkit.safe.atomic import begin_sync, sweep, sync_folder, sync_tree
from noarkit.safe.locks import claimed
from noarkit.safe.memory import rare_collections
from noarkit.verdict import PERIOD_DERIVED, Load, Verdict

EVENTS: EventFields = {
    "fetching": {"whole": "flag"},
    "files_wanted": {"count": "count", "done": "count"},
    "assembling": {"where": "text"},
    "naming": {"where": "text"},
}

_PACKAGE = "package"
_OPEN = (
    "SELECT type, count(*) FROM (SELECT type FROM unit WHERE open = 1 UNION ALL"
    " SELECT 'Dokument' FROM document WHERE open = 1) GROUP BY type ORDER BY type"
)


def _no_pause() -> None:
    """The default pause: none."""


@dataclass(frozen=True, slots=True)
class ExtractSettings:
    """How an extract is made. `pause` is called often and may raise to end the run in good order; `pool_size` is who
    helps to write, `remote` the machines of a cluster that help to fetch."""

    selection: Selection = field(default_factory=Selection)
    facts: PackageFacts = field(default_factory=PackageFacts)
    schemas: Path | None = None
    include_open: bool = False
    refuse_empty: bool = False
    carry: bool = True
    kept_log: Path | None = None
    change_log: ChangeLog = "closing"
    zone: str = "Europe/Oslo"
    lang: str = "en"
    """The language of what is written for people beside the package."""
    account: str = ""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    pause: Callable[[], None] = _no_pause
    pool_size: PoolSize = field(default_factory=PoolSize)
    with_originals: bool = False
    with_access: bool = False
    originals: Path | None = None
    remote: RemoteArchive | None = None
    loads: tuple[LoadBehind, ...] = ()
    """The loads into the archive that are known."""
    keep_note: bool = False
    """True for a caller that goes on with the package, and calls `making_note.forget_note` when that is done."""

    @property
    def access_inside(self) -> bool:
        """True where copies to be read are among the documents of the extract; else they are a part of their own."""
        return self.with_access and self.originals is None


@dataclass(frozen=True, slots=True)
class ExtractResult(Result):
    """The package that was made. `verdict` says whether it is ready for deposit, None before it was judged; `flaws` are
    what its making knows of that. `errors` and `warnings` are what our own validator found in it, None if it was not
    asked. `carried` is how many values that the form has no element for stand in business-specific metadata, `beside`
    how many of them in the table beside the package alone. `restored` counts what got the dates, years and numbers of
    its source back. `copies` counts archival copies, which lie in the folder `copies_in` of the package, and the
    documents that they were made of in `originals_in`; where that is empty, `originals_left_out` of them are not
    delivered. `formats_not_taken` counts files in formats that no depot takes, listed beside the package. `loads` are
    those into the archive that are known, once it was judged."""

    EVENT: ClassVar = "extracted"

    package: Path
    report: Path
    units: dict[str, int]
    files: int
    bytes: int
    journal_entries: int
    changes: int
    defaults: int
    flaws: tuple[str, ...]
    errors: int | None = None
    warnings: int | None = None
    carried: int = 0
    beside: int = 0
    restored: int = 0
    formats_not_taken: int = field(default=0, metadata=json_field(optional=True))
    copies: int = field(default=0, metadata=json_field(optional=True))
    copies_in: str = field(default="", metadata=json_field(optional=True))
    originals_in: str = field(default="", metadata=json_field(optional=True))
    originals_left_out: int = field(default=0, metadata=json_field(optional=True))
    access_copies: int = field(default=0, metadata=json_field(optional=True))
    """Copies for reading that are a part of the package of their own, in its folder `access_in`."""
    access_in: str = field(default="", metadata=json_field(optional=True))
    access_left_out: int = field(default=0, metadata=json_field(optional=True))
    """Copies for reading that are not delivered."""
    loads: tuple[Load, ...] = field(default=(), metadata=json_field(optional=True))
    verdict: Verdict | None = field(default=None, metadata=SPREAD)

    @property
    @json_value()
    def depositable(self) -> bool:
        """True if it was judged, and nothing keeps it back."""
        return self.verdict is not None and self.verdict.is_ready


def extract(
    archive: Archive, target: Path, settings: ExtractSettings, *, emit: Listener = ignore_event
) -> ExtractResult:
    """Makes the package `target` from an archive.

    Raises `NotDepositable` for open units (unless included) and for schemas that are not the official ones,
    `ChecksumDiffers` for a file that is not what the archive says, `UsageFault` where `target` is there already.
    """
    work = work_folder(target)
    package = work / _PACKAGE
    last = work / target.name if is_packed(target) else package
    note = extraction_note(target, NOARK, settings)
    if os.path.lexists(target):
        if os.path.lexists(last) or note.result() is None:
            raise UsageFault(what="exists", where=str(target))
        return noted_result(note, settings)
    schemas = schema_set(settings.schemas)
    try:
        package.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigFault(where=str(work), why=error.strerror or "unreadable") from error
    with (
        rare_collections(),
        WorkerPool(settings.pool_size) as pool,
        _locked(work),
        ExtractStore(work / FILE_NAME) as store,
        _remote_fetch(archive, store, settings, emit) as remote,
    ):
        _sweep_leftovers(work, package)
        run = _Run(archive, store, settings, emit, remote)
        begun_at = store.remember("begun", settings.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"))
        rights = run.fetch()
        run.check_empty()
        run.check_open()
        put_creators(store, settings.facts.metadata.creators)
        deliver_copies(store, with_originals=settings.with_originals, with_access=settings.access_inside)
        business = _business(run.administration)
        deps = AssemblyDeps(
            settings.facts, run.codes, schemas, settings.zone, begun_at, business, settings.carry, settings.change_log
        )
        run.fetch_files(package)
        emit(Event("assembling", {"where": str(target)}))
        places = AssemblyPaths(store.path, package, not_in_form.table_path(target))
        assembly = assemble(places, deps, pool, settings.pause)
        flaws = _flaws(run, assembly, official=schemas.official)
        formats = list_formats(store, target, package, settings.lang)
        loads = compare_loads(store, settings.loads, is_whole=run.is_whole_archive())
        context = not_in_form.ReportContext(rights, flaws, run.open_units(), formats, loads, run.restored)
        report = not_in_form.write_report(store, target, assembly, context)
        extracted = _with_formats(_extracted(run, target, report, assembly, flaws), store, assembly, formats)
    if is_packed(target):
        pack(package, last)
    note.write(asdict(extracted))
    emit(Event("naming", {"where": str(target)}))
    _give_name(last, target)
    extracted = noted_result(note, settings)
    emit(Event("package_made", {"where": str(target), "files": extracted.files, "units": dict(assembly.tally.units)}))
    return extracted


def _sweep_leftovers(work: Path, package: Path) -> None:
    """Removes what a power cut left half written."""
    for folder in (work, package, *package.glob("*/*")):
        if folder.is_dir():
            sweep(folder)


def _with_formats(
    extracted: ExtractResult, store: ExtractStore, assembly: Assembly, formats: FormatCounts
) -> ExtractResult:
    """The result with what has no element of its own, and with what is delivered in which format."""
    return replace(
        extracted,
        carried=assembly.tally.carried_values,
        beside=sum(assembly.lost_counts.values()) - assembly.tally.carried_values,
        formats_not_taken=formats.not_taken,
        copies=store.number("SELECT count(*) FROM copy_of"),
        originals_left_out=formats.stood_for,
        access_left_out=formats.access_left_out,
    )


def extraction_note(target: Path, form: str, settings: ExtractSettings, mime_compat: bool = False) -> MakingNote:
    """The note on an extract, which another of the same selection in the same form goes on with."""
    form = f"{form} mime-compat" if mime_compat else form
    access = ("access",) if settings.with_access else ()
    options = (settings.include_open, settings.carry, settings.with_originals, settings.change_log, *access)
    return MakingNote(target, "extract", (form, dict(settings.selection.description), *options))


def noted_result(note: MakingNote, settings: ExtractSettings) -> ExtractResult:
    """The result of an extract as it was noted before its package got its name; its work is removed."""
    shutil.rmtree(work_folder(note.target), ignore_errors=True)
    values = note.read() or {}
    if not settings.keep_note:
        note.forget()
    paths = {"package": note.target, "report": Path(str(values["report"]))}
    flaws = tuple(cast("list[str]", values["flaws"]))
    return ExtractResult(**{**values, **paths, "flaws": flaws, "loads": ()})  # type: ignore[arg-type]  # as it was written


def work_folder(target: Path) -> Path:
    """Where an extract to `target` is under way."""
    return target.parent / f".{target.name}.noarkit-extract"


class _Run:
    """One extract at work."""

    def __init__(
        self,
        archive: Archive,
        store: ExtractStore,
        settings: ExtractSettings,
        emit: Listener,
        remote: RemoteFetch | None,
    ) -> None:
        self.archive = archive
        self.remote = remote
        self.store = store
        self.settings = settings
        self.emit = emit
        self.administration = Administration(archive)
        self.codes = read_codes(self.administration)
        self.restored = 0

    def fetch(self) -> account.AccountRights:
        """Fetches all metadata, if it is not there. Raises `UsageFault` where the store is of another extract."""
        settings, store = self.settings, self.store
        selection = resolve(self.archive, settings.selection)
        self._check_same(
            "selection",
            json.dumps({**settings.selection.description, "whole": selection.is_whole_archive}, sort_keys=True),
        )
        fonds = str(selection.arkiv.fields.get("uuid"))
        if store.remember("fonds", fonds) != fonds:
            raise OtherArchive(where=str(store.path.parent), expected=store.fact("fonds"), found=fonds)
        self.emit(Event("fetching", {"whole": selection.is_whole_archive}))
        run_tasks = None if self.remote is None else self.remote.run_tasks
        fetch(self.archive, store, selection, emit=self.emit, pause=settings.pause, run_tasks=run_tasks)
        store.index()
        self.restored = restore_below(store)
        if self.restored:
            restore_above(store)
        fetch_links(self.archive, store, settings.pause)
        fetch_changes(self.archive, store, self.codes, settings.pause)
        if settings.kept_log is not None:
            merge_kept(store, settings.kept_log, settings.zone)
        return account.read_account_rights(self.administration, settings.account)

    def fetch_files(self, package: Path) -> None:
        """Fetches all documents, if they are not there, and the originals of copies where they are wanted."""
        archive, store, settings = self.archive, self.store, self.settings
        files = files_to_fetch(store, package)
        total, missing = store.number("SELECT count(*) FROM version"), store.number(MISSING)
        self.emit(Event("files_wanted", {"count": total, "done": total - missing}))
        if self.remote is None:
            fetch_documents(archive, store, files, package, emit=self.emit, pause=settings.pause)
        else:
            self.remote.fetch_files(files, package)
        begin_sync()
        if settings.originals is not None:
            fetch_originals(archive, store, settings.originals, settings.pause, with_access=settings.with_access)

    def is_whole_archive(self) -> bool:
        """True if nothing was left out by selection."""
        return bool(json.loads(self.store.fact("selection") or "{}").get("whole"))

    def open_units(self) -> dict[str, int]:
        """How many units of each type are open."""
        return {str(kind): int(str(count)) for kind, count in self.store.rows(_OPEN)}

    def check_empty(self) -> None:
        """Raises `NotDepositable` where no folder and no record was selected, and that is to be refused."""
        if self.settings.refuse_empty and not self.store.number("SELECT count(*) FROM unit WHERE kind IN ('M', 'R')"):
            self._let_go()
            raise NotDepositable(why="nothing-in-it", allow="--allow-empty")

    def _let_go(self) -> None:
        self.store.close()
        shutil.rmtree(self.store.path.parent, ignore_errors=True)

    def check_open(self) -> None:
        """Raises `NotDepositable` for open units, unless they were asked for; what was fetched then is let go."""
        units = self.open_units()
        if units and not self.settings.include_open:
            self._let_go()
            unit_counts = ", ".join(f"{count} {kind}" for kind, count in units.items())
            raise NotDepositable(why="open-units", where=unit_counts, count=sum(units.values()))

    def _check_same(self, name: str, value: str) -> None:
        if self.store.remember(name, value) != value:
            raise UsageFault(what="other-extract", where=str(self.store.path.parent))


def _business(administration: Administration) -> tuple[VsmGroup, ...]:
    groups = sorted(administration.business_groups(), key=lambda group: group.id)
    return tuple(
        VsmGroup(
            group.id,
            group.name,
            tuple(
                VsmField(field.id, field.name, field.kind) for field in sorted(group.fields, key=lambda field: field.id)
            ),
        )
        for group in groups
    )


_NAMES_USUAL_UNIT = "SELECT 1 FROM unit WHERE kind = 'M' AND json_extract(data, '$.f.administrativEnhet') = ? LIMIT 1"


def _flaws(run: _Run, assembly: Assembly, *, official: bool) -> tuple[str, ...]:
    flaws = []
    if run.open_units():
        flaws.append("open-units")
    if not official:
        flaws.append("own-schemas")
    if run.restored:
        flaws.append("dates-restored")
    if run.store.fact(CHANGED_MEANWHILE) is not None:
        flaws.append("changed-meanwhile")
    metadata = run.settings.facts.metadata
    if assembly.is_period_derived:
        flaws.append(PERIOD_DERIVED)
    if not metadata.agreement:
        flaws.append("agreement-unnamed")
    if not metadata.description:
        flaws.append("origin-unstated")
    if not is_system_named(run.settings.facts):
        flaws.append("system-unnamed")
    if run.store.db.execute(_NAMES_USUAL_UNIT, (USUAL_UNIT,)).fetchone() is not None:
        flaws.append("unit-unnamed")
    if not assembly.creators:
        flaws.append("creator-unknown")
    if assembly.journals.outside_cases:
        flaws.append("posts-outside-cases")
    if assembly.log is not None:
        flaws.append(assembly.log)
    return tuple(flaws)


def _extracted(run: _Run, target: Path, report: Path, assembly: Assembly, flaws: tuple[str, ...]) -> ExtractResult:
    return ExtractResult(
        package=target,
        report=report,
        units=dict(assembly.tally.units),
        files=run.store.number("SELECT count(*) FROM version WHERE done = 1"),
        bytes=run.store.number("SELECT sum(size) FROM version WHERE done = 1"),
        journal_entries=assembly.journals.entries,
        changes=assembly.changes,
        defaults=sum(assembly.tally.defaults.values()),
        flaws=flaws,
        restored=run.restored,
    )


def _give_name(package: Path, target: Path) -> None:
    """The whole package on disk, then its name, in one step; nothing that exists is replaced."""
    sync_tree(package)
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))
    package.rename(target)
    sync_folder(target.parent)


@contextmanager
def _remote_fetch(
    archive: Archive, store: ExtractStore, settings: ExtractSettings, emit: Listener
) -> Iterator[RemoteFetch | None]:
    """The workers of a cluster, reached once the children here are made; None where none are wanted."""
    if settings.remote is None:
        yield None
        return
    with settings.remote.open_workers() as workers:
        yield RemoteFetch(settings.remote.archive, archive, store, workers, emit, settings.pause)


@contextmanager
def _locked(work: Path) -> Iterator[None]:
    """Holds the work folder for this process; the lock dies with it."""
    with claimed(work / "extract.lock", str(work)):
        yield


def read_codes(administration: Administration) -> Codes:
    """Asks the archive for its lists; a list it does not tell is as the model knows it."""
    return codes_of(administration.code_lists())


def codes_of(lists: tuple[ListedCodes, ...]) -> Codes:
    """The names of codes by field. Where the archive's name differs from the catalogue's word, that word is written."""
    names: dict[str, dict[str, str]] = {}
    authorities: dict[str, str] = {}
    for code_list in metamodel().code_lists.values():
        for _, field_name in code_list.used_by:
            names.setdefault(field_name, {}).update(
                {xml_text(code.code): xml_text(code.name) for code in code_list.codes}
            )
    for listed_codes in lists:
        names_by_code = names.setdefault(listed_codes.field, {})
        for value in listed_codes.values:
            names_by_code[xml_text(value.code)] = xml_text(value.name)
            if listed_codes.field == "skjerming" and value.authority:
                authorities[xml_text(value.code)] = xml_text(value.authority)
    for synonym in mapping().words.synonyms:
        names_by_code = names.get(synonym.code_list, {})
        if names_by_code.get(synonym.code) == synonym.name:
            names_by_code[synonym.code] = xml_text(synonym.text)
    return Codes(names, authorities)
