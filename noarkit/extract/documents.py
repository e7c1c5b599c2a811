"""The files of the document versions: downloaded several at a time into the package that is being made, each checked.

A version is done once its file stands whole under its name; a file that a power cut may have left short is taken anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.errors import ChecksumDiffers, PackageFault
from noarkit.events import Event, Listener
from noarkit.extract.store import ExtractStore
from noarkit.safe.digest import hash_of

_AT_ONCE = 8
_WAITING = 64
_BATCH = 500
_ALGORITHMS = {"MD5": "md5", "SHA1": "sha1", "SHA384": "sha384", "SHA512": "sha512"}

_LEFT_OUT = (
    "UPDATE version SET done = 2 WHERE parent IN (SELECT d.id FROM document d JOIN unit r ON r.id = d.parent"
    " LEFT JOIN unit m ON m.id = r.parent AND m.kind = 'M'"
    " WHERE json_extract(d.data, '$.f.kassertDato') IS NOT NULL"
    " OR json_extract(r.data, '$.f.journalstatus') = 'U' OR json_extract(m.data, '$.f.saksstatus') = 'U')"
)


@dataclass(frozen=True, slots=True)
class _Wanted:
    row: int
    file: str
    path: str
    sha256: str | None
    algorithm: str
    checksum: str
    size: int


@dataclass(frozen=True, slots=True)
class _Got:
    """A file that is there; `as_measured` where the archive's own facts of it are not what the package tells."""

    row: int
    sha256: str
    size_bytes: int
    as_measured: bool


def fetch_documents(
    archive: Archive, store: ExtractStore, package: Path, *, tell: Listener, pause: Callable[[], None]
) -> None:
    """Downloads every file that is not there yet. Raises `ChecksumDiffers` for one that is not what it should be."""
    if store.fact("left-out") is None:
        store.db.execute(_LEFT_OUT)
        store.remember("left-out", "1")
    _distrust(store, package)
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="download") as threads:
        running: set[Future[_Got]] = set()
        got: list[_Got] = []
        try:
            for wanted in _wanted(store):
                running.add(threads.submit(_download, archive, wanted, package))
                while len(running) >= _WAITING:
                    running = _taken(running, got)
                if len(got) >= _BATCH:
                    _note(store, got, tell)
                    pause()
            while running:
                running = _taken(running, got)
        finally:
            for one in running:
                one.cancel()
            _note(store, got, tell)


def _taken(running: set[Future[_Got]], got: list[_Got]) -> set[Future[_Got]]:
    done, left = wait(running, return_when=FIRST_COMPLETED)
    got.extend(one.result() for one in done)
    return left


def _note(store: ExtractStore, got: list[_Got], tell: Listener) -> None:
    store.db.execute("BEGIN")
    rows = [(one.sha256, one.size_bytes, one.row) for one in got]
    store.db.executemany("UPDATE version SET sha256 = ?, size = ?, done = 1 WHERE rowid = ?", rows)
    told = [(one.sha256, one.size_bytes, one.row) for one in got if one.as_measured]
    store.db.executemany(
        "UPDATE version SET data = json_set(data, '$.f.sjekksum', ?, '$.f.sjekksumAlgoritme', 'SHA-256',"
        " '$.f.filstoerrelse', ?) WHERE rowid = ?",
        told,
    )
    store.db.execute("COMMIT")
    if got:
        tell(Event("extract.documents", {"count": len(got), "bytes": sum(one.size_bytes for one in got)}))
    got.clear()


def _wanted(store: ExtractStore) -> Iterator[_Wanted]:
    sql = (
        "SELECT rowid, file, path, sha256, coalesce(json_extract(data, '$.f.sjekksumAlgoritme'), ''),"
        " coalesce(json_extract(data, '$.f.sjekksum'), ''), size FROM version WHERE done = 0 AND rowid > ?"
        " ORDER BY rowid LIMIT 1000"
    )
    last = 0
    while rows := list(store.rows(sql, (last,))):
        for row, file, path, sha256, algorithm, checksum, size in rows:
            expected = None if sha256 is None else str(sha256)
            told = (str(algorithm), str(checksum), int(str(size)))
            yield _Wanted(int(str(row)), str(file), str(path), expected, *told)
        last = int(str(rows[-1][0]))


def _download(archive: Archive, wanted: _Wanted, package: Path) -> _Got:
    if not wanted.file:
        raise PackageFault(where=wanted.path, why="version-without-file")
    target = package / wanted.path
    target.parent.mkdir(parents=True, exist_ok=True)
    found = archive.download(wanted.file, target, expected_sha256=wanted.sha256, durable=False)
    name = _ALGORITHMS.get(wanted.algorithm.upper().replace("-", ""))
    if wanted.sha256 is None and name is not None and wanted.checksum:
        ours = hash_of(target, name)
        if ours != wanted.checksum.lower():
            target.unlink()
            raise ChecksumDiffers(key=wanted.path, ours=ours, theirs=wanted.checksum)
    told = wanted.algorithm == "SHA-256" and wanted.checksum == found.sha256 and wanted.size == found.size_bytes
    return _Got(wanted.row, found.sha256, found.size_bytes, not told)


def _distrust(store: ExtractStore, package: Path) -> None:
    """Asks again for files that are not there with the size that was noted."""
    missing = []
    for row, path, size in store.rows("SELECT rowid, path, size FROM version WHERE done = 1"):
        file = package / str(path)
        if not file.is_file() or file.stat().st_size != size:
            missing.append((row,))
    store.db.executemany("UPDATE version SET done = 0 WHERE rowid = ?", missing)
