"""Makes archival copies of documents that are in an archive already, and plans them beside their originals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from noarkit.api.deriving import DeriveOptions, DeriveResult, derive_source
from noarkit.api.destination import destination, open_target
from noarkit.archive.port import Archive
from noarkit.copies.additions import AdditionMapper
from noarkit.copies.archived import ARCHIVE, ArchivedDocument, ArchivedDocuments, DocumentList
from noarkit.copies.lookup import StoreLookup
from noarkit.copies.planning import SourceWithCopies
from noarkit.copies.store import CopyStore
from noarkit.errors import NotAllowed
from noarkit.events import Event, Listener, ignore_event
from noarkit.extraction.fetch import fetch_versions
from noarkit.extraction.selection import Selection, resolve
from noarkit.extraction.store import FILE_NAME, ExtractStore
from noarkit.extraction.uncopied import uncopied_documents
from noarkit.graph.entity import Content
from noarkit.loading.closed_material import RIGHT, may_change_finalised
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.state import read_state
from noarkit.loading.stopping import StopRequest, stop_fault
from noarkit.model.own_marks import COPIES
from noarkit.reports import write_plan_facts, write_plan_pages
from noarkit.reports.plan_page import Context
from noarkit.results import Result, json_field
from noarkit.safe.workplace import temporary_folder
from noarkit.settings import Place, Settings, resolve_settings

ADDITIONS = "additions"
"""The folder in COPIES with the runs that add copies to archives, numbered from 1."""
_LIST = "documents.jsonl"


def _name_of(run: Path | None) -> str:
    return "" if run is None else str(run)


@dataclass(frozen=True, slots=True)
class DeriveArchiveResult(Result):
    """What was made of documents in an archive: `documents` lacked a copy, `finalised` of them are finalised. `run` is
    the planned run that adds `copies` to the archive; None where nothing is to be added."""

    EVENT: ClassVar = "additions"

    derived: DeriveResult
    documents: int
    finalised: int
    run: Path | None = field(default=None, metadata=json_field(form=_name_of))
    copies: int = 0


@dataclass(slots=True)
class _Counts:
    documents: int = 0
    finalised: int = 0


def derive_archive(
    copies: Place,
    selection: Selection | None = None,
    options: DeriveOptions | None = None,
    *,
    add: bool = False,
    archive: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> DeriveArchiveResult:
    """Makes copies of the documents of an archive that have none beside them; with `add` plans a run that uploads each
    as a version beside its original. The run is loaded by `ingest`, and proved by `verify`, as any other.

    A run that an earlier call planned and nobody loaded to its end is loaded first (`unfinished_addition`): what it has
    in the archive already would be planned again otherwise.

    Raises `NotAllowed` where documents are finalised and the account may not add to them, before anything is made;
    and what `derive` and `extract` raise.
    """
    final_settings, derive_options = resolve_settings(archive, settings), options or DeriveOptions()
    stop = StopRequest() if stop_request is None else stop_request
    where = destination(final_settings.config, final_settings.environment)
    with (
        temporary_folder("archived") as folder,
        open_target(where, reads=True) as target,
        closing(connect_archive(target.settings, emit=listener)) as connection,
    ):
        listener(Event("target", {"archive": target.name, "account": target.account}))
        counts = _Counts()
        documents = _list_documents(connection, folder, selection or Selection(), counts, listener, stop)
        if add and counts.finalised and not derive_options.dry_run:
            require_edit_right(connection, counts.finalised)
        source = ArchivedDocuments(documents, connection, target.name, folder)
        derived = derive_source(
            source, Path(copies), derive_options, final_settings, stop_request=stop, listener=listener
        )
        run, count = None, 0
        if add and not derive_options.dry_run and not derived.stopped_by and derived.made:
            run, count = _plan(documents, Path(copies), target.name, final_settings, listener)
    return DeriveArchiveResult(derived, counts.documents, counts.finalised, run, count)


def unfinished_addition(copies: Place) -> Path | None:
    """The run in a folder of copies that was planned and is not loaded to its end; None where there is none."""
    for run in _runs(Path(copies)):
        folder = RunFolder(run)
        if folder.is_planned and not read_state(folder).is_loaded:
            return run
    return None


def require_edit_right(archive: Archive, count: int) -> None:
    """Raises `NotAllowed` where the account may not add to `count` documents that are finalised."""
    if not may_change_finalised(archive):
        raise NotAllowed(description=f"«{RIGHT}» (Dokument: {count})", documents=count)


def _list_documents(
    archive: Archive, folder: Path, selection: Selection, counts: _Counts, emit: Listener, stop: StopRequest
) -> DocumentList:
    """Asks the archive which documents lack a copy, and writes them to a list."""

    def pause() -> None:
        if stop:
            raise stop_fault(stop.reason)

    with ExtractStore(folder / FILE_NAME) as store:
        fetch_versions(archive, store, resolve(archive, selection), emit=emit, pause=pause)

        def count_documents() -> Iterator[ArchivedDocument]:
            for document in uncopied_documents(store):
                counts.documents += 1
                counts.finalised += document.is_final
                yield document

        return DocumentList.write(folder / _LIST, count_documents())


def _plan(
    documents: DocumentList, copies: Path, archive: str, settings: Settings, emit: Listener
) -> tuple[Path | None, int]:
    """Plans a run that adds what was made; no run where that is nothing."""
    folder = _next_run(copies)
    folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    document_list = DocumentList.write(folder.path / _LIST, documents.documents())
    lookup = StoreLookup(copies)
    with CopyStore.open(copies) as store, closing(lookup):

        def sha256_of(content: Content) -> str | None:
            document = store.document(f"{ARCHIVE}:{archive}", content.locator)
            return None if document is None else document.sha256

        mapper = AdditionMapper(lookup, sha256_of)
        spec = PlanSpec(
            SourceWithCopies(document_list, copies, StoreLookup),
            mapper,
            "",
            COPIES,  # no other plan's keys are asked for
            settings.config.zone,
            close=False,
            describe=lambda draft: write_plan_facts(draft, Context(archive=archive, hashed=True)),
        )
        make_plan(spec, folder, emit, settings.now_s)
    write_plan_pages(folder, settings.config.lang)
    return folder.path, mapper.copies


def _runs(copies: Path) -> list[Path]:
    """The runs that add copies, the first one first."""
    folder = copies / ADDITIONS
    numbers = [int(path.name) for path in folder.iterdir() if path.name.isdecimal()] if folder.is_dir() else []
    return [folder / str(number) for number in sorted(numbers)]


def _next_run(copies: Path) -> RunFolder:
    """A folder for the next run: a new one, or the last where its plan was never finished."""
    runs = _runs(copies)
    if runs and not RunFolder(runs[-1]).is_planned:
        return RunFolder(runs[-1])
    return RunFolder(copies / ADDITIONS / str(int(runs[-1].name) + 1 if runs else 1))
