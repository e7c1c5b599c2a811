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
from noarkit.errors import ChecksumDiffers, PackageFault
from noarkit.events import Event, Listener
from noarkit.extract.store import ExtractStore
from noarkit.safe.digest import hash_of

_AT_ONCE = 4
_IN_A_PORTION = 32
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
    folders: set[Path] = set()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="noarkit-download") as threads:
        running: deque[Future[list[_Got]]] = deque()
        try:
            for some in _portions(_wanted(store)):
                _make_folders(some, package, folders)
                running.append(threads.submit(_download_all, archive, some, package))
                if len(running) > _AT_ONCE * 2:
                    _note(store, running.popleft().result(), tell)
                    pause()
            while running:
                _note(store, running.popleft().result(), tell)
        finally:
            for one in running:
                one.cancel()


def _portions(wanted: Iterator[_Wanted]) -> Iterator[list[_Wanted]]:
    """A few at a time: enough that handing them over costs nothing, and few large ones wait for each other."""
    while some := list(islice(wanted, _IN_A_PORTION)):
        yield some


def _make_folders(some: list[_Wanted], package: Path, known: set[Path]) -> None:
    for folder in {(package / one.path).parent for one in some} - known:
        folder.mkdir(parents=True, exist_ok=True)
        known.add(folder)


def _download_all(archive: Archive, some: list[_Wanted], package: Path) -> list[_Got]:
    return [_download(archive, one, package) for one in some]


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
    tell(Event("files_fetched", {"count": len(got), "bytes": sum(one.size_bytes for one in got)}))


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
