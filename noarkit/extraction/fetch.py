"""Metadata from the archive into the store: pages by ascending id, several types at a time, each going on where it was.

A whole archive is fetched type by type. A part of it is fetched from above: series, folders in them, folders in
folders, records, documents, versions, and what belongs to each, by the ids of what is above.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

from noarkit.archive.paging import pages
from noarkit.archive.port import Archive
from noarkit.archive.values import Page, Parameter, Query, SavedObject
from noarkit.events import Event, Listener
from noarkit.extraction.rows import CLASS, DOCUMENT, FOLDER, FONDS, RECORD, VERSION, row_of, table_of
from noarkit.extraction.selection import FOLDERS, RECORDS, ResolvedSelection
from noarkit.extraction.store import ExtractStore, Progress, Row, key_of
from noarkit.model import metamodel
from noarkit.model.own_marks import CHUNK_ANCHORS, ORIGIN_MARKS, OWN_SYSTEMS

PAGE_SIZE = 500
_AT_ONCE = 4
_WAITING_PAGES = 16
_PARENTS = 100

_STRUCTURE = ("Arkiv", "Arkivskaper", "Klassifikasjonssystem", "Arkivdel", "Klasse")
_MATERIAL = (RECORDS, "Dokument", "Dokumentversjon", "Korrespondansepart", FOLDERS)
_DOCUMENTS = (RECORDS, "Dokument", "Dokumentversjon", FOLDERS)
_PARTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Korrespondansepart": (("refRegistrering", RECORD),),
    "Sakspart": (("refMappe", FOLDER),),
    "Moetedeltaker": (("refMappe", FOLDER),),
    "Avskrivning": (("refJournalpost", RECORD),),
    "Dokumentflyt": (("refJournalpost", RECORD), ("refArkivnotat", RECORD)),
    "Noekkelord": (("refMappe", FOLDER), ("refRegistrering", RECORD)),
    "Merknad": (("refMappe", FOLDER), ("refRegistrering", RECORD), ("refDokument", DOCUMENT)),
    "NasjonalIdentifikator": (("refMappe", FOLDER), ("refRegistrering", RECORD)),
    "PersonIdentifikator": (("refMappe", FOLDER), ("refRegistrering", RECORD)),
    "Posisjon": (("refMappe", FOLDER), ("refRegistrering", RECORD)),
    "EksternId": (
        ("refMappe", FOLDER),
        ("refRegistrering", RECORD),
        ("refDokument", DOCUMENT),
        ("refDokumentversjon", VERSION),
    ),
}
_SOURCES: Mapping[str, tuple[str, str]] = {
    FONDS: ("unit", "kind = 'F'"),
    CLASS: ("unit", "kind = 'K'"),
    FOLDER: ("unit", "kind = 'M'"),
    RECORD: ("unit", "kind = 'R'"),
    DOCUMENT: ("document", "1"),
    VERSION: ("version", "1"),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One question to the archive, asked to its end; `name` is what its progress is kept under."""

    name: str
    type: str
    where: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


def fetch(
    archive: Archive,
    store: ExtractStore,
    selection: ResolvedSelection,
    *,
    emit: Listener,
    pause: Callable[[], None],
    run_tasks: Callable[[Iterable[Task]], None] | None = None,
) -> None:
    """Fetches all that belongs to the selection; `pause` is called between pages and may raise. `run_tasks` carries
    out tasks elsewhere."""
    run = _Fetch(archive, store, emit, pause, run_tasks)
    if selection.is_whole_archive:
        run.run_tasks(Task(kind, kind) for kind in _STRUCTURE)
        run.run_tasks(_whole_task(kind) for kind in dict.fromkeys((*_MATERIAL, *_PARTS)))
    else:
        _fetch_from_above(run, selection, _PARTS)


def fetch_versions(
    archive: Archive, store: ExtractStore, selection: ResolvedSelection, *, emit: Listener, pause: Callable[[], None]
) -> None:
    """Fetches the documents of the selection with their versions, and what says where they lie; nothing else."""
    run = _Fetch(archive, store, emit, pause)
    if selection.is_whole_archive:
        run.run_tasks(_whole_task(kind) for kind in _DOCUMENTS)
        run.run_tasks(
            Task(f"origins-{purpose}", "EksternId", "eksterntSystem = @s", {"@s": system})
            for purpose, system in ORIGIN_MARKS.items()
        )
    else:
        _fetch_from_above(run, selection, {"EksternId": (("refDokumentversjon", VERSION),)})


def _whole_task(kind: str) -> Task:
    if kind == "EksternId":
        return Task(kind, kind, "eksterntSystem != @chunk", {"@chunk": CHUNK_ANCHORS})
    return Task(kind, kind)


def _fetch_from_above(
    run: _Fetch, selection: ResolvedSelection, parts: Mapping[str, tuple[tuple[str, str], ...]]
) -> None:
    fonds: dict[str, Parameter] = {"@f": key_of(selection.arkiv.id)}
    run.run_tasks(
        (
            Task("Arkiv", "Arkiv", "id = @f", fonds),
            Task("Arkivskaper", "Arkivskaper", "refArkiv.id = @f", fonds),
            Task("Klassifikasjonssystem", "Klassifikasjonssystem"),
            Task("Klasse", "Klasse"),
            _series(selection, fonds),
        )
    )
    if metamodel().family(selection.kind) == RECORDS:
        _records_and_their_folders(run, selection)
    else:
        run.run_tasks(_top_tasks(run.store, selection))
        run.fetch_below(FOLDERS, "refForelderMappe", FOLDER)
        run.fetch_below(RECORDS, "refMappe", FOLDER)
    run.fetch_below("Dokument", "refRegistrering", RECORD)
    run.fetch_below("Dokumentversjon", "refDokument", DOCUMENT)
    for kind, owners in parts.items():
        for reference, family in owners:
            run.fetch_below(kind, reference, family)


def _series(selection: ResolvedSelection, fonds: Mapping[str, Parameter]) -> Task:
    if not selection.series:
        return Task("Arkivdel", "Arkivdel", "refArkiv.id = @f", fonds)
    condition, parameters = _one_of("id", selection.series)
    return Task("Arkivdel", "Arkivdel", condition, parameters)


def _top_tasks(store: ExtractStore, selection: ResolvedSelection) -> Iterator[Task]:
    """The folders that lie directly in the series, and the records that do where no folders were asked for by name."""
    classes = _classes(store, selection)
    kinds = (FOLDERS, RECORDS) if selection.kind == FOLDERS else (selection.kind,)
    for (series,) in store.rows("SELECT id FROM unit WHERE kind = 'S' ORDER BY id"):
        for kind in kinds:
            for at, class_batch in enumerate(classes):
                conditions = [f"({selection.where})"] if selection.where else []
                among, parameters = _one_of("refPrimaerKlasse.id", class_batch) if class_batch else ("", {})
                condition = " && ".join(["refArkivdel.id = @d", *conditions, *([f"({among})"] if among else [])])
                yield Task(
                    f"{kind}/{series}/{at}", kind, condition, {"@d": series, **selection.parameters, **parameters}
                )


def _classes(store: ExtractStore, selection: ResolvedSelection) -> list[tuple[str, ...]]:
    """The class asked for and all below it, in portions; one empty portion where every class is meant."""
    if selection.klasse is None:
        return [()]
    below = (
        "WITH RECURSIVE below (id) AS (VALUES (?) UNION SELECT unit.id FROM unit JOIN below ON parent = below.id"
        " WHERE kind = 'K') SELECT id FROM below ORDER BY id"
    )
    return list(_batches(str(row[0]) for row in store.rows(below, (key_of(selection.klasse),))))


def _records_and_their_folders(run: _Fetch, selection: ResolvedSelection) -> None:
    """Records that a query found, and upwards the folders they lie in."""
    series = [str(row[0]) for row in run.store.rows("SELECT id FROM unit WHERE kind = 'S' ORDER BY id")]
    paths = ["", "refMappe.", *(("refMappe.refForelderMappe.",) if _lies_in_plain_folders(selection.kind) else ())]
    in_series = " || ".join(f"{path}refArkivdel.id = @d" for path in paths)
    for series_id in series:
        condition = f"({in_series})" + (f" && ({selection.where})" if selection.where else "")
        run.run_tasks(
            [
                Task(
                    f"{selection.kind}/{series_id}",
                    selection.kind,
                    condition,
                    {"@d": key_of(series_id), **selection.parameters},
                )
            ]
        )
    missing = (
        "SELECT DISTINCT parent FROM unit WHERE kind IN ('M', 'R') AND typeof(parent) = 'integer'"
        " AND parent NOT IN (SELECT id FROM unit WHERE kind = 'M') ORDER BY parent"
    )
    while missing_ids := [str(row[0]) for row in run.store.rows(missing)]:
        tasks = []
        for batch in _batches(iter(missing_ids)):
            condition, parameters = _one_of("id", batch)
            tasks.append(Task(f"above/{batch[0]}/{len(batch)}", FOLDERS, condition, parameters))
        before = len(missing_ids)
        run.run_tasks(tasks)
        if [str(row[0]) for row in run.store.rows(missing)] == missing_ids[:before]:
            return  # what lies above may not be read; the report of references to nothing names it


def _lies_in_plain_folders(kind: str) -> bool:
    """True for records that may lie in a folder that lies in another."""
    model = metamodel()
    targets = {
        target
        for concrete_type in model.concrete(kind)
        for target in model.types[concrete_type].references["refMappe"].targets
    }
    return "Mappe" in {concrete for target in targets for concrete in model.concrete(target)}


class _Fetch:
    """Tasks at work: threads ask, this one stores."""

    def __init__(
        self,
        archive: Archive,
        store: ExtractStore,
        emit: Listener,
        pause: Callable[[], None],
        run_elsewhere: Callable[[Iterable[Task]], None] | None = None,
    ) -> None:
        self._archive = archive
        self._run_elsewhere = run_elsewhere
        self.store = store
        self._emit = emit
        self._pause = pause

    def fetch_below(self, kind: str, reference: str, family: str) -> None:
        """All objects of a kind whose reference leads to what the store holds of a family, also to what this adds."""
        table, condition = _SOURCES[family]
        last_row = 0
        while True:
            new_rows = self.store.rows(
                f"SELECT rowid, id FROM {table} WHERE {condition} AND rowid > ? ORDER BY rowid LIMIT ?",  # noqa: S608  # our own names
                (last_row, _PARENTS * _WAITING_PAGES),
            )
            rows = list(new_rows)
            if not rows:
                return
            last_row = int(str(rows[-1][0]))
            tasks = []
            for batch in _batches(str(row[1]) for row in rows):
                restriction, parameters = _one_of(f"{reference}.id", batch)
                tasks.append(Task(f"{kind}/{reference}/{batch[0]}/{len(batch)}", kind, restriction, parameters))
            self.run_tasks(tasks)

    def run_tasks(self, tasks: Iterable[Task]) -> None:
        """Carries tasks out, several at a time; a fault of one ends all."""
        if self._run_elsewhere is not None:
            self._run_elsewhere(tasks)
            return
        waiting = [(task, progress.last) for task in tasks if not (progress := self.store.progress(task.name)).is_done]
        results: queue.Queue[_StoredPage | BaseException] = queue.Queue(_WAITING_PAGES)
        stop_event = threading.Event()
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="noarkit-fetch") as threads:
            try:
                for task, last in waiting:
                    threads.submit(self._fetch_task, task, last, results, stop_event)
                self._store(results, len(waiting))
            finally:
                stop_event.set()
                _drain(results)

    def _store(self, results: queue.Queue[_StoredPage | BaseException], running: int) -> None:
        while running:
            portion = results.get()
            if isinstance(portion, BaseException):
                raise portion
            self.store.add({portion.table: portion.rows}, portion.task, portion.progress)
            self._emit(Event("fetched", {"type": portion.type, "count": len(portion.rows)}))
            running -= portion.progress.is_done
            self._pause()

    def _fetch_task(
        self, task: Task, last: str, results: queue.Queue[_StoredPage | BaseException], stop_event: threading.Event
    ) -> None:
        if stop_event.is_set():
            return
        try:
            table = table_of(task.type)
            for page in task_pages(self._archive, task, last):
                if stop_event.is_set():
                    return
                last = page.objects[-1].id if page.objects else last
                results.put(
                    _StoredPage(task.name, task.type, table, task_rows(page), Progress(last, not page.has_more))
                )
        except BaseException as fault:  # noqa: BLE001  # carried to the thread that waits, which raises it
            results.put(fault)


def task_pages(archive: Archive, task: Task, last: str) -> Iterator[Page]:
    """The pages of a task, after the last id that is there already."""
    condition, parameters = task.where, dict(task.parameters)
    if last:
        condition = f"({condition}) && id = {{@last:@open]" if condition else "id = {@last:@open]"
        parameters |= {"@last": key_of(last), "@open": "*"}
    return pages(archive, Query(task.type, condition, parameters, order=(("id", "asc"),), limit=PAGE_SIZE))


def task_rows(page: Page) -> list[Row]:
    """The rows of a page, for the store."""
    return [row_of(entity) for entity in page.objects if _is_not_own(entity)]


@dataclass(frozen=True, slots=True)
class _StoredPage:
    task: str
    type: str
    table: str
    rows: Sequence[Row]
    progress: Progress


def _drain(results: queue.Queue[_StoredPage | BaseException]) -> None:
    """Lets threads that wait for room go on, so that they see that it is over."""
    while True:
        try:
            results.get_nowait()
        except queue.Empty:
            return


def _is_not_own(entity: SavedObject) -> bool:
    """False for what our own loads leave behind for themselves."""
    system = str(entity.fields.get("eksterntSystem", "")) if entity.type == "EksternId" else ""
    return system in ORIGIN_MARKS.values() or not system.startswith(OWN_SYSTEMS)


def _one_of(path: str, ids: Sequence[str]) -> tuple[str, dict[str, Parameter]]:
    parameters: dict[str, Parameter] = {f"@p{at}": key_of(object_id) for at, object_id in enumerate(ids)}
    return " || ".join(f"{path} = {name}" for name in parameters), parameters


def _batches(ids: Iterable[str]) -> Iterator[tuple[str, ...]]:
    id_iterator = iter(ids)
    while batch := tuple(islice(id_iterator, _PARENTS)):
        yield batch
