"""Validates with the machines of a cluster: schema checks and the files of a package, read by workers.

The coordinator walks arkivstruktur and the folders, reads the journals (their rows would be too much for one answer)
and judges; workers read what is large. A worker reads the package at the same path, or where its source map says, and
proves that it is the same one: the description by its sha256, other XML by name and size, each document by its size.
What a worker may not read is read by the coordinator, so that findings never depend on who read it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

from noarkit.errors import OtherSource, UnsafePath
from noarkit.forms.findings import Hit
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.documents import row_of_entry, row_of_file, unreadable_row
from noarkit.forms.noark5.rules.formats import FormatIdentifier, format_identifier
from noarkit.forms.noark5.rules.jobs import JudgeJob, Work, Workers, make_workers, run_job
from noarkit.forms.noark5.rules.messages import Message, Rows, RuleHits, UnreadableFile
from noarkit.forms.noark5.rules.schemas import judging_files, schemas_for
from noarkit.forms.noark5.rules.store import Row
from noarkit.model.xml_model import Version
from noarkit.safe.beneath import ConfinedFolder
from noarkit.safe.digest import sha256_of
from noarkit.safe.paths import checked_parts, resolve_inside
from noarkit.safe.remote_jobs import Job, JobFunction, JobWorkers, RunningJobs
from noarkit.safe.tree import TreeEntry, walk_tree

JUDGE, READ = "noark5.judge", "noark5.read-files"
_MOST_FILES = 500
_MOST_BYTES = 64 * 1024 * 1024
_DESCRIPTION = f"{spec.DESCRIPTION}.xml"
_MARKING = (".xml", ".xsd")


@dataclass(frozen=True, slots=True)
class PackageMark:
    """What a worker knows a package by: its folder, sizes of the XML in it, sha256 of the description, and whether
    formats are identified by their bytes."""

    root: str
    sizes: tuple[tuple[str, int], ...]
    description: str
    by_bytes: bool


@dataclass(frozen=True, slots=True)
class JudgeOrder:
    """A document against its schemas: those of a version, with their sha256, and the package's own by namespace."""

    mark: PackageMark
    document: str
    version: str
    folder: str
    schemas: tuple[tuple[str, str], ...]
    own: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReadOrder:
    """Files to be read, by name, and the size of each."""

    mark: PackageMark
    files: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ReadReply:
    """The rows of files, and the names of those that could not be read."""

    rows: tuple[Row, ...]
    unread: tuple[str, ...]


KINDS = (PackageMark, JudgeOrder, ReadOrder, ReadReply, RuleHits, UnreadableFile, Hit)
"""The dataclasses that orders and replies consist of."""


@dataclass(frozen=True, slots=True)
class JudgingSchemas:
    """Which schemas judge: of which version, the folder of the user, and the package's own by namespace."""

    version: Version
    folder: Path | None
    own: Mapping[str, Path]


class _Formats:
    """What identifies formats, from the first time it is wanted."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._identifier: FormatIdentifier | None = None

    def identifier(self) -> FormatIdentifier:
        """It."""
        if self._identifier is None:
            self._identifier = self._stack.enter_context(format_identifier())
        return self._identifier

    def close(self) -> None:
        """Ends it."""
        self._stack.close()
        self._identifier = None


@dataclass(frozen=True, slots=True)
class PackageReader:
    """A worker's side. `relocate` says where a path of the coordinator is on this machine."""

    relocate: Callable[[str], str] = str
    _formats: _Formats = field(default_factory=_Formats)

    @property
    def functions(self) -> Mapping[str, JobFunction]:
        """What it does for others, by name."""
        return {JUDGE: self._judge, READ: self._read}

    def close(self) -> None:
        """Ends what identifies formats."""
        self._formats.close()

    def _judge(self, data: object) -> object:
        order = cast(JudgeOrder, data)
        root = self._package(order.mark)
        files = judging_files(cast(Version, order.version), Path(self.relocate(order.folder)) if order.folder else None)
        _compare(order.folder or "schemas", "other-schemas", order.schemas, _digests(files))
        own = {namespace: resolve_inside(root, name) for namespace, name in order.own}
        schemas = schemas_for(order.document, files, own)
        if schemas is None:
            raise OtherSource(where=order.document, why="other-schemas")
        return list(run_job(JudgeJob(root / f"{order.document}.xml", schemas)))

    def _read(self, data: object) -> object:
        order = cast(ReadOrder, data)
        root = self._package(order.mark)
        rows: list[Row] = []
        unread: list[str] = []
        with ConfinedFolder(root) as folder:
            for name, size in order.files:
                row = row_of_file(name, partial(_open, folder, name), self._formats.identifier())
                if row is None:
                    unread.append(name)
                    continue
                _compare(f"{root}/{name}", "other-size", size, row[2])
                rows.append(row)
        return ReadReply(tuple(rows), tuple(unread))

    def _package(self, mark: PackageMark) -> Path:
        """The folder of the package on this machine. Raises `OtherSource` where it is another one, or none."""
        root = Path(self.relocate(mark.root))
        if not root.is_dir():
            raise OtherSource(where=str(root), why="not-there")
        try:
            own = mark_of(root)
        except OSError as error:
            raise OtherSource(where=str(root), why="unreadable") from error
        _compare(str(root), "other-files", mark.sizes, own.sizes)
        _compare(str(root / _DESCRIPTION), "other-description", mark.description, own.description)
        _compare("pygfried", "other-formats", mark.by_bytes, own.by_bytes)
        return root


def mark_of(root: Path) -> PackageMark:
    """What a package is known by."""
    sizes = sorted(
        (entry.name, entry.stat().st_size)
        for entry in root.iterdir()
        if entry.suffix in _MARKING and entry.is_file() and not entry.is_symlink()
    )
    description = root / _DESCRIPTION
    has_description = description.is_file() and not description.is_symlink()
    by_bytes = importlib.util.find_spec("pygfried") is not None
    return PackageMark(str(root), tuple(sizes), sha256_of(description) if has_description else "", by_bytes)


class RemoteWorkers:
    """Shares the work of a validation with the workers of a cluster; a `Workers` like any."""

    def __init__(self, work: Work, schemas: JudgingSchemas, workers: JobWorkers) -> None:
        self._root = work.root.absolute()
        self._mark = mark_of(self._root)
        self._local_rows: list[Row] = []
        self._formats = _Formats()
        judge_jobs = [job for job in work.jobs if isinstance(job, JudgeJob)]
        own = tuple(job for job in work.jobs if not isinstance(job, JudgeJob))
        self._local: Workers = make_workers(Work(work.root, own, with_files=False), 0)
        self._running = RunningJobs(workers, self._jobs(judge_jobs, schemas))

    def ready(self) -> Iterator[Message]:
        """What has been done meanwhile."""
        yield from self._take(0.0)

    def remaining(self) -> Iterator[Message]:
        """First what is read here, while the others go on; then all else."""
        for message in self._local.remaining():
            yield message
            yield from self._take(0.0)
        while not self._running.is_done:
            yield from self._take(0.5)

    def close(self) -> None:
        """Lets go of what identifies formats here."""
        self._local.close()
        self._formats.close()

    def _take(self, patience_s: float) -> Iterator[Message]:
        results = self._running.take(patience_s)
        if self._local_rows:
            yield Rows("files", tuple(self._local_rows))
            self._local_rows.clear()
        for job, result in results:
            if job.name == JUDGE:
                yield from cast(list[Message], result)
            else:
                reply = cast(ReadReply, result)
                yield Rows("files", reply.rows)
                if reply.unread:
                    yield Rows("files", tuple(self._rows_read_here(reply.unread)))

    def _jobs(self, judge_jobs: list[JudgeJob], schemas: JudgingSchemas) -> Iterator[Job]:
        home = self._root.resolve()
        own = tuple((namespace, path.relative_to(home).as_posix()) for namespace, path in schemas.own.items())
        folder = str(schemas.folder.absolute()) if schemas.folder is not None else ""
        digests = _digests(judging_files(schemas.version, schemas.folder))
        for job in judge_jobs:
            document = job.path.stem
            used = own if document == spec.STRUCTURE else ()
            yield Job(JUDGE, JudgeOrder(self._mark, document, schemas.version, folder, digests, used))
        for portion in self._portions():
            yield Job(READ, ReadOrder(self._mark, portion))

    def _portions(self) -> Iterator[tuple[tuple[str, int], ...]]:
        """The files, some at a time; what no worker can be asked for is read here."""
        portion: list[tuple[str, int]] = []
        size_bytes = 0
        for entry in walk_tree(self._root):
            size = _askable_size(entry)
            if size is None:
                row = row_of_entry(entry, self._formats.identifier())
                self._local_rows += [] if row is None else [row]
                continue
            portion.append((entry.name, size))
            size_bytes += size
            if len(portion) >= _MOST_FILES or size_bytes >= _MOST_BYTES:
                yield tuple(portion)
                portion, size_bytes = [], 0
        if portion:
            yield tuple(portion)

    def _rows_read_here(self, names: tuple[str, ...]) -> Iterator[Row]:
        identifier = self._formats.identifier()
        with ConfinedFolder(self._root) as folder:
            for name in names:
                yield row_of_file(name, partial(_open, folder, name), identifier) or unreadable_row(name)


def _open(folder: ConfinedFolder, name: str) -> int:
    try:
        return folder.open(name)
    except UnsafePath as error:
        raise OSError(str(error)) from error


def _askable_size(entry: TreeEntry) -> int | None:
    """The size of a file that a worker can be asked for; None for what is none, is gone, or has a doubtful name."""
    try:
        if entry.kind == "file" and "/".join(checked_parts(entry.name)) == entry.name:
            return entry.size()
    except (UnsafePath, OSError):
        return None  # it is read here, which says what is to be said of it
    return None


def _digests(files: Mapping[str, Path]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, sha256_of(path)) for name, path in files.items()))


def _compare(where: str, why: str, expected: object, actual: object) -> None:
    if expected != actual:
        simple = isinstance(expected, str | int) and isinstance(actual, str | int)
        raise OtherSource(where=where, why=why, **({"expected": str(expected), "found": str(actual)} if simple else {}))
