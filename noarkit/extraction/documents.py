"""The files of the document versions: downloaded several at a time into the package that is being made, each checked.

A version is done once its file stands whole under its name; a file that a power cut may have left short is taken anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.errors import PackageFault
from noarkit.events import Event, EventFields, Listener
from noarkit.extraction.store import ExtractStore
from noarkit.safe.fixity import BY_ARCHIVE, Fixity, algorithm_of, differences_of_file, refuse_differences

EVENTS: EventFields = {"files_fetched": {"count": "count", "bytes": "count"}}
_DOWNLOADS_AT_ONCE = 4
_IN_A_PORTION = 32
MISSING = "SELECT count(*) FROM version WHERE done = 0"
"""Counts the documents that are not there yet."""

_LEFT_OUT = (
    "UPDATE version SET done = 2 WHERE parent IN (SELECT d.id FROM document d JOIN unit r ON r.id = d.parent"
    " LEFT JOIN unit m ON m.id = r.parent AND m.kind = 'M'"
    " WHERE json_extract(d.data, '$.f.kassertDato') IS NOT NULL"
    " OR json_extract(r.data, '$.f.journalstatus') = 'U' OR json_extract(m.data, '$.f.saksstatus') = 'U')"
)


@dataclass(frozen=True, slots=True)
class VersionFile:
    """A document of the archive as it is to be downloaded: its row, file, path in the package, and what the archive
    says of it; -1 where it tells no size."""

    row: int
    file: str
    path: str
    sha256: str | None
    algorithm: str
    checksum: str
    size: int


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A downloaded file; `as_measured` where the package gives our measurements instead of the archive's facts."""

    row: int
    sha256: str
    size_bytes: int
    as_measured: bool


def files_to_fetch(store: ExtractStore, package: Path) -> Iterator[VersionFile]:
    """The documents that belong to the package and are not there yet, or not whole."""
    if store.fact("left-out") is None:
        store.db.execute(_LEFT_OUT)
        store.remember("left-out", "1")
    _recheck_files(store, package)
    return _missing_files(store)


def fetch_documents(
    archive: Archive,
    store: ExtractStore,
    files: Iterator[VersionFile],
    package: Path,
    *,
    emit: Listener,
    pause: Callable[[], None],
) -> None:
    """Downloads the files that are not there yet. Raises `ChecksumDiffers` for one that is not what it should be."""
    folders: set[Path] = set()
    with ThreadPoolExecutor(_DOWNLOADS_AT_ONCE, thread_name_prefix="noarkit-download") as threads:
        running: deque[Future[list[FetchedFile]]] = deque()
        try:
            for batch in batches(files):
                _make_folders(batch, package, folders)
                running.append(threads.submit(_download_all, archive, batch, package))
                if len(running) > _DOWNLOADS_AT_ONCE * 2:
                    store_fetched(store, running.popleft().result(), emit)
                    pause()
            while running:
                store_fetched(store, running.popleft().result(), emit)
        finally:
            for running_download in running:
                running_download.cancel()


def batches(files: Iterator[VersionFile]) -> Iterator[list[VersionFile]]:
    """A few at a time: enough that handing them over costs nothing, and few large ones wait for each other."""
    while batch := list(islice(files, _IN_A_PORTION)):
        yield batch


def _make_folders(batch: list[VersionFile], package: Path, made_folders: set[Path]) -> None:
    for folder in {(package / file.path).parent for file in batch} - made_folders:
        folder.mkdir(parents=True, exist_ok=True)
        made_folders.add(folder)


def _download_all(archive: Archive, batch: list[VersionFile], package: Path) -> list[FetchedFile]:
    return [download_version(archive, file, package / file.path, durable=False) for file in batch]


def store_fetched(store: ExtractStore, fetched_files: list[FetchedFile], emit: Listener) -> None:
    """Notes that documents are there, with what was measured."""
    store.db.execute("BEGIN")
    rows = [(file.sha256, file.size_bytes, file.row) for file in fetched_files]
    store.db.executemany("UPDATE version SET sha256 = ?, size = ?, done = 1 WHERE rowid = ?", rows)
    measured_rows = [(file.sha256, file.size_bytes, file.row) for file in fetched_files if file.as_measured]
    store.db.executemany(
        "UPDATE version SET data = json_set(data, '$.f.sjekksum', ?, '$.f.sjekksumAlgoritme', 'SHA-256',"
        " '$.f.filstoerrelse', ?) WHERE rowid = ?",
        measured_rows,
    )
    store.db.execute("COMMIT")
    emit(Event("files_fetched", {"count": len(fetched_files), "bytes": sum(file.size_bytes for file in fetched_files)}))


def _missing_files(store: ExtractStore) -> Iterator[VersionFile]:
    """The documents that are not there yet."""
    sql = (
        "SELECT rowid, file, path, sha256, coalesce(json_extract(data, '$.f.sjekksumAlgoritme'), ''),"
        " coalesce(json_extract(data, '$.f.sjekksum'), ''), size FROM version WHERE done = 0 AND rowid > ?"
        " ORDER BY rowid LIMIT 1000"
    )
    last = 0
    while rows := list(store.rows(sql, (last,))):
        for row, file, path, sha256, algorithm, checksum, size in rows:
            expected = None if sha256 is None else str(sha256)
            archive_facts = (str(algorithm), str(checksum), int(str(size)))
            yield VersionFile(int(str(row)), str(file), str(path), expected, *archive_facts)
        last = int(str(rows[-1][0]))


def download_version(archive: Archive, version: VersionFile, target: Path, *, durable: bool = True) -> FetchedFile:
    """Downloads a document to `target`, and checks it against what the archive says of it."""
    if not version.file:
        raise PackageFault(where=version.path, why="version-without-file")
    downloaded = archive.download(version.file, target, expected_sha256=version.sha256, durable=durable)
    statement = Fixity(algorithm_of(version.algorithm), version.checksum, by=BY_ARCHIVE)
    if version.sha256 is None and statement.has_checksum:
        differences = differences_of_file(target, statement)
        if differences:
            target.unlink()
        refuse_differences(differences, version.path)
    as_archive_says = (
        version.algorithm == "SHA-256"
        and version.checksum == downloaded.sha256
        and version.size == downloaded.size_bytes
    )
    return FetchedFile(version.row, downloaded.sha256, downloaded.size_bytes, not as_archive_says)


def _recheck_files(store: ExtractStore, package: Path) -> None:
    """Asks again for files that are not there with the size that was noted."""
    missing = []
    for row, path, size in store.rows("SELECT rowid, path, size FROM version WHERE done = 1"):
        file = package / str(path)
        if not file.is_file() or file.stat().st_size != size:
            missing.append((row,))
    store.db.executemany("UPDATE version SET done = 0 WHERE rowid = ?", missing)
