"""The folder in which documents lie while they are looked at, and the sandbox in which they are read.

The folder is ours alone, and gone with its owner. Documents lie there whole, so that parts of them can be had in any
order; the one that was not looked at for longest goes first when there are too many bytes. What the child leaves behind
is taken as hostile too: plain files by their names, no links.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from noarkit.reading_room.viewers.child import ANSWER, PART
from noarkit.reading_room.viewers.job import Job
from noarkit.reading_room.viewers.port import Answer, DocumentSource, Note
from noarkit.reading_room.viewers.signs import text_of
from noarkit.reading_room.viewers.wire import WireFault, pack, unpack
from noarkit.safe.atomic import no_room
from noarkit.safe.descriptors import NO_FOLLOW, NO_WAITING, open_descriptor
from noarkit.safe.digest import BLOCK_BYTES, sha256_of
from noarkit.safe.fixity import Difference, Fixity, checked
from noarkit.safe.sandbox import Limits, Sandbox, Stopped
from noarkit.safe.workplace import folder_for_owner

LIMITS = Limits(cpu_s=20, wall_s=30, memory_bytes=1536 * 1024 * 1024, output_bytes=1024 * 1024 * 1024)
_PROGRAM = "from noarkit.reading_room.viewers.child import main; main()"
_MEMORY_OF_PRONOM = 4 * 1024**3
_NOT_STARTED = (126, 127)
_MOST_ANSWER = 64 * 1024 * 1024
_MOST_RESULTS = 40
_DOCUMENT, _OUTPUTS = "document", "out"
DocumentKey = tuple[str | int, ...]
"""The key of a source, and the numbers that lead to a document within it."""


@dataclass(frozen=True, slots=True)
class WorkroomLimits:
    """How many bytes of documents lie in the room, how many documents are read at once, and what each may use."""

    total_bytes: int = 8 * 1024**3
    documents: int = 200
    at_once: int = 2
    child: Limits = LIMITS


@dataclass(slots=True)
class LaidOut:
    """A document in the room: its bytes, what was counted of them, and the folders of what was made of it."""

    folder: Path
    path: Path
    size_bytes: int = 0
    sha256: str = ""
    name: str = ""
    """What it is called by whoever has it, or in the document that it was taken out of."""
    stated_type: str = ""
    statements: tuple[Fixity, ...] = ()
    differences: tuple[Difference, ...] = ()
    """What is stated of the bytes, or of those that they were taken out of, and what of that is not so."""
    results: OrderedDict[Job, Path] = field(default_factory=OrderedDict)
    """The folders of answers, the one that was asked for longest ago first."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_ready: bool = False
    readers: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """What the child made: its answer, and the folder with the files that it wrote."""

    answer: Answer
    folder: Path


class Workroom:
    """Documents while they are looked at. Serves many threads; `close` removes everything."""

    def __init__(self, sandbox: Sandbox | None = None, limits: WorkroomLimits | None = None) -> None:
        self._sandbox = sandbox or Sandbox()
        self._limits = limits or WorkroomLimits()
        self._folder = folder_for_owner(self, "viewers")
        self._documents: OrderedDict[DocumentKey, LaidOut] = OrderedDict()
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(self._limits.at_once)
        self._count = 0

    def close(self) -> None:
        """Removes all that lies in the room."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def isolated(self) -> bool:
        """True where documents are read without network and without a view of other files."""
        return self._sandbox.isolated

    def lay_out(self, source: DocumentSource) -> LaidOut:
        """The bytes of a document, read from its place where they are not here yet. Raises what the place raises."""

        def fetch(document: LaidOut) -> None:
            with source.open() as stream, no_room(document.path), document.path.open("xb") as file:
                reader = checked(stream, sha256=True)
                while block := reader.read(BLOCK_BYTES):
                    if block.count(0) == len(block):
                        file.seek(len(block), os.SEEK_CUR)  # a hole stays one
                    else:
                        file.write(block)
                file.truncate(file.tell())
            document.name, document.stated_type = source.name, source.stated_type
            document.sha256, document.size_bytes = reader.sha256, reader.size_bytes
            document.statements, document.differences = reader.statements, reader.differences()

        return self._laid_out((source.key,), fetch)

    def lay_out_part(self, outer: LaidOut, key: DocumentKey, number: int) -> LaidOut | Note:
        """The bytes of a document within another, or why they cannot be had."""
        refused: list[Note] = []

        def take_out(document: LaidOut) -> None:
            result = self.read(outer, Job("part", "", "", number=number))
            if result.answer.refused is not None:
                refused.append(result.answer.refused)
                return
            source = result.folder / PART
            if not _is_plain(source):
                refused.append(Note("no-answer"))
                return
            source.rename(document.path)
            document.name = text_of(result.answer.part_name)
            document.statements, document.differences = outer.statements, outer.differences
            document.sha256, document.size_bytes = sha256_of(document.path), document.path.stat().st_size

        document = self._laid_out(key, take_out)
        if refused or not document.path.exists():
            self._forget(key)
            return refused[0] if refused else Note("no-answer")
        return document

    def read(self, document: LaidOut, job: Job) -> Result:
        """What the child makes of a document; an answer with a refusal where it was stopped or fell.

        What was asked before is answered from what was made then, for as long as that is kept.
        """
        with self._lock:
            self._count += 1
            document.readers += 1
            place = document.folder / f"result-{self._count}"
            earlier = document.results.get(job)
            if earlier is not None:
                document.results.move_to_end(job)
        try:
            if earlier is not None:
                answer = _answer_in(earlier / _OUTPUTS)
                if answer.refused is None:
                    return Result(answer, earlier / _OUTPUTS)
            return self._read(document, job, place)
        finally:
            with self._lock:
                document.readers -= 1

    def _read(self, document: LaidOut, job: Job, place: Path) -> Result:
        outputs = place / _OUTPUTS
        outputs.mkdir(parents=True, mode=0o700)
        order = replace(
            job,
            path=str(document.path),
            outputs=str(outputs),
            name=document.name,
            stated_type=document.stated_type,
        )
        with self._turns:
            completed = self._sandbox.run(
                [sys.executable, "-P", "-c", _PROGRAM, pack(order).decode()],
                inputs=document.path.parent,
                outputs=outputs,
                limits=_roomy(self._limits.child) if job.task == "puid" else self._limits.child,
                environment=_environment(),
                readable=program_folders(),
            )
        self._keep(document, job, place)
        if completed.exit_code == 0 and completed.reason is None:
            return Result(_answer_in(outputs), outputs)
        # root gives its rights away before it reads; where nobody else can run Python, nothing is read
        is_unable = completed.exit_code in _NOT_STARTED and not self._sandbox.isolated
        code = "no-sandbox" if is_unable else str(completed.reason or Stopped.CRASHED)
        return Result(Answer(None, Note(code)), outputs)

    def _laid_out(self, key: DocumentKey, fetch: Callable[[LaidOut], None]) -> LaidOut:
        with self._lock:
            document = self._documents.get(key)
            if document is None:
                self._count += 1
                folder = self._folder / f"document-{self._count}"
                (folder / "in").mkdir(parents=True, mode=0o700)
                document = self._documents[key] = LaidOut(folder, folder / "in" / _DOCUMENT)
            self._documents.move_to_end(key)
        with document.lock:
            if not document.is_ready:
                try:
                    fetch(document)
                except BaseException:
                    self._forget(key)
                    raise
                document.is_ready = True
        self._make_room(key)
        return document

    def _make_room(self, key: DocumentKey) -> None:
        with self._lock:
            total = sum(document.size_bytes for document in self._documents.values())
            for other in list(self._documents):
                if total <= self._limits.total_bytes and len(self._documents) <= self._limits.documents:
                    return
                if other != key and self._documents[other].is_ready and not self._documents[other].readers:
                    document = self._documents.pop(other)
                    total -= document.size_bytes
                    shutil.rmtree(document.folder, ignore_errors=True)

    def _forget(self, key: DocumentKey) -> None:
        with self._lock:
            document = self._documents.pop(key, None)
        if document is not None:
            shutil.rmtree(document.folder, ignore_errors=True)

    def _keep(self, document: LaidOut, job: Job, place: Path) -> None:
        """Remembers an answer; of many, and of two to one question, the older goes."""
        with self._lock:
            superseded = [document.results.pop(job)] if job in document.results else []
            document.results[job] = place
            while len(document.results) > _MOST_RESULTS:
                superseded.append(document.results.popitem(last=False)[1])
        for folder in superseded:
            shutil.rmtree(folder, ignore_errors=True)


def _roomy(limits: Limits) -> Limits:
    """For the library that knows PRONOM, whose runtime sets addresses aside that it never uses."""
    return replace(limits, memory_bytes=max(limits.memory_bytes, _MEMORY_OF_PRONOM))


def open_plain(path: Path) -> int:
    """A descriptor of a plain file, links not followed. Raises `OSError`."""
    descriptor = open_descriptor(path, os.O_RDONLY | NO_FOLLOW | NO_WAITING)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no plain file")
    return descriptor


def _is_plain(path: Path) -> bool:
    with suppress(OSError):
        os.close(open_plain(path))
        return True
    return False


def _answer_in(folder: Path) -> Answer:
    try:
        with os.fdopen(open_plain(folder / ANSWER), "rb") as file:
            data = file.read(_MOST_ANSWER + 1)
        return unpack(data, Answer) if len(data) <= _MOST_ANSWER else Answer(None, Note("output"))
    except (OSError, WireFault):
        return Answer(None, Note("no-answer"))


def _environment() -> dict[str, str]:
    home = _home()
    return {"PYTHONPATH": os.pathsep.join(path or home for path in sys.path), "PYTHONDONTWRITEBYTECODE": "1"}


def _home() -> str:
    return str(Path(str(files("noarkit"))).parent)


def program_folders() -> list[Path]:
    """Where the interpreter, its libraries and our own modules lie; what the system's folders hold is there anyway."""
    places = [sys.prefix, sys.base_prefix, str(Path(str(files("noarkit")))), *(path for path in sys.path if path)]
    folders = [Path(place).resolve() for place in places if Path(place).exists()]
    outer = [folder for folder in dict.fromkeys(folders) if not folder.is_relative_to("/usr")]
    return [folder for folder in outer if not any(folder != other and folder.is_relative_to(other) for other in outer)]
