"""Fetches an archive with the machines of a cluster: workers ask and download with their own account, and this machine
alone stores what they answer and puts the package together, as it does without them.

A worker that sees the work folder of the extract (at the same path, or where its source map says, proven by a word in
it) leaves each document there under a name of its own, and it is moved to its place here, so that nothing a lost worker
left is ever in the package. Other workers send documents back, small ones only; large ones are downloaded here.
The worker's account must be the extract's: what another may not read looks absent to it.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import cast

from noarkit.archive.port import Archive
from noarkit.errors import RunFault
from noarkit.events import Event, Listener
from noarkit.extraction.documents import FetchedFile, VersionFile, batches, download_version, store_fetched
from noarkit.extraction.fetch import Task, task_pages, task_rows
from noarkit.extraction.rows import table_of
from noarkit.extraction.store import ExtractStore, Progress, Row
from noarkit.safe.atomic import write_bytes, write_text
from noarkit.safe.fixity import BY_ARCHIVE, checked, refuse_differences, sha256_stated
from noarkit.safe.paths import resolve_inside
from noarkit.safe.remote_jobs import Job, JobFunction, JobWorkers, RunningJobs
from noarkit.safe.workplace import temporary_folder

FETCH, DOWNLOAD = "extract.fetch", "extract.download"
INCOMING = "incoming"
_PROOF = "proof"
_PAGES_AT_ONCE = 4
_MOST_SENT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ArchiveMark:
    """Which archive is meant, and as whom: its address as the coordinator knows it, its identity, the account."""

    address: str
    identity: str
    account: str


@dataclass(frozen=True, slots=True)
class FetchOrder:
    """Some pages of a question to the archive, after the last id that is there already."""

    archive: ArchiveMark
    task: Task
    last: str


@dataclass(frozen=True, slots=True)
class FetchReply:
    """Rows for the store, the last id among them, and whether that was the end."""

    rows: tuple[Row, ...]
    last: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class DownloadOrder:
    """Documents to be downloaded; `folder` is where they go if `proof` stands in it, else they are sent back."""

    archive: ArchiveMark
    folder: str
    proof: str
    files: tuple[VersionFile, ...]


@dataclass(frozen=True, slots=True)
class DownloadedFile:
    """A document that was downloaded and checked: its name in the folder, or its content."""

    fetched: FetchedFile
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class DownloadReply:
    """Documents, and the rows of those that would be too much to send."""

    files: tuple[DownloadedFile, ...]
    too_large: tuple[int, ...]


KINDS = (
    *(ArchiveMark, Task, FetchOrder, FetchReply),
    *(VersionFile, FetchedFile, DownloadOrder, DownloadedFile, DownloadReply),
)
"""The dataclasses that orders and replies consist of."""


@dataclass(frozen=True, slots=True)
class RemoteArchive:
    """What an extract needs for having others fetch: which archive, and how the workers are reached."""

    archive: ArchiveMark
    open_workers: Callable[[], AbstractContextManager[JobWorkers]]


class ArchiveReader:
    """A worker's side. `connect` opens an archive with this machine's own settings, and raises where it is another one
    or the account is; `relocate` says where a path of the coordinator is on this machine."""

    def __init__(self, connect: Callable[[ArchiveMark], Archive], relocate: Callable[[str], str]) -> None:
        self._connect = connect
        self._relocate = relocate
        self._mark: ArchiveMark | None = None
        self._archive: Archive | None = None

    @property
    def functions(self) -> Mapping[str, JobFunction]:
        """What it does for others, by name."""
        return {FETCH: self._fetch, DOWNLOAD: self._download}

    def close(self) -> None:
        """Ends the connection."""
        if self._archive is not None:
            self._archive.close()
        self._archive = self._mark = None

    def _fetch(self, data: object) -> object:
        order = cast(FetchOrder, data)
        archive = self._open(order.archive)
        rows: list[Row] = []
        last, is_done = order.last, True
        for page in islice(task_pages(archive, order.task, last), _PAGES_AT_ONCE):
            last = page.objects[-1].id if page.objects else last
            rows += task_rows(page)
            is_done = not page.has_more
        return FetchReply(tuple(rows), last, is_done)

    def _download(self, data: object) -> object:
        order = cast(DownloadOrder, data)
        archive = self._open(order.archive)
        folder = Path(self._relocate(order.folder))
        if _proof_in(folder) == order.proof:
            names = [uuid.uuid4().hex for _ in order.files]
            downloads = zip(order.files, names, strict=True)
            files = [
                DownloadedFile(download_version(archive, file, folder / name), name, b"") for file, name in downloads
            ]
            return DownloadReply(tuple(files), ())
        return _send_back(archive, order.files)

    def _open(self, mark: ArchiveMark) -> Archive:
        """The archive, kept open until another is asked for."""
        if self._archive is None or self._mark != mark:
            self.close()
            self._archive = self._connect(mark)
            self._mark = mark
        return self._archive


def _leave_in(folder: Path, archive: Archive, file: VersionFile) -> DownloadedFile:
    name = uuid.uuid4().hex
    return DownloadedFile(download_version(archive, file, folder / name), name, b"")


def _send_back(archive: Archive, files: Iterable[VersionFile]) -> DownloadReply:
    files_back: list[DownloadedFile] = []
    too_large: list[int] = []
    room_bytes = _MOST_SENT_BYTES
    with temporary_folder("download") as folder:
        for file in files:
            if not 0 <= file.size <= room_bytes:
                too_large.append(file.row)
                continue
            target = folder / "document"
            fetched = download_version(archive, file, target)
            files_back.append(DownloadedFile(fetched, "", target.read_bytes()))
            room_bytes -= fetched.size_bytes
    return DownloadReply(tuple(files_back), tuple(too_large))


def _proof_in(folder: Path) -> str:
    try:
        return (folder / _PROOF).read_text("utf-8")
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class RemoteFetch:
    """The coordinator's side: the store, the archive as this machine reaches it, and the workers."""

    mark: ArchiveMark
    archive: Archive
    store: ExtractStore
    workers: JobWorkers
    emit: Listener
    pause: Callable[[], None]

    def run_tasks(self, tasks: Iterable[Task]) -> None:
        """Has workers carry out tasks, each some pages at a time; rows and progress are stored together."""
        running = RunningJobs(self.workers, self._fetch_jobs(tasks))
        while not running.is_done:
            for job, result in running.take():
                task, reply = cast(FetchOrder, job.data).task, cast(FetchReply, result)
                progress = Progress(reply.last, reply.is_done)
                self.store.add({table_of(task.type): reply.rows}, task.name, progress)
                self.emit(Event("fetched", {"type": task.type, "count": len(reply.rows)}))
                if not reply.is_done:
                    running.add(Job(FETCH, FetchOrder(self.mark, task, reply.last)))
            self.pause()

    def fetch_files(self, files: Iterator[VersionFile], package: Path) -> None:
        """Has workers download documents; each is checked where it was downloaded, and moved to its place here."""
        folder = package.parent / INCOMING
        folder.mkdir(exist_ok=True)
        proof = secrets.token_hex(16)
        write_text(folder / _PROOF, proof, mode=0o600)
        orders = (DownloadOrder(self.mark, str(folder.absolute()), proof, tuple(batch)) for batch in batches(files))
        running = RunningJobs(self.workers, (Job(DOWNLOAD, order) for order in orders))
        while not running.is_done:
            for job, result in running.take():
                files_by_row = {file.row: file for file in cast(DownloadOrder, job.data).files}
                reply = cast(DownloadReply, result)
                fetched = [self._place(file, files_by_row[file.fetched.row], package, folder) for file in reply.files]
                for row in reply.too_large:
                    target = _target(package, files_by_row[row])
                    fetched.append(download_version(self.archive, files_by_row[row], target, durable=False))
                store_fetched(self.store, fetched, self.emit)
            self.pause()

    def _fetch_jobs(self, tasks: Iterable[Task]) -> Iterator[Job]:
        for task in tasks:
            progress = self.store.progress(task.name)
            if not progress.is_done:
                yield Job(FETCH, FetchOrder(self.mark, task, progress.last))

    def _place(self, file: DownloadedFile, version: VersionFile, package: Path, folder: Path) -> FetchedFile:
        target = _target(package, version)
        if file.name:
            source = resolve_inside(folder, file.name)
            try:
                size = source.stat().st_size
            except OSError as error:
                raise RunFault(where=str(source), why="not-shared") from error
            if size != file.fetched.size_bytes:
                raise RunFault(where=str(source), why="not-shared")
            source.replace(target)
        else:
            statements = sha256_stated(file.fetched.sha256, BY_ARCHIVE)
            refuse_differences(checked(BytesIO(file.content), *statements).read_through().differences(), version.path)
            write_bytes(target, file.content, sync=False)
        return file.fetched


def _target(package: Path, version: VersionFile) -> Path:
    target = package / version.path
    target.parent.mkdir(parents=True, exist_ok=True)
    return target
