"""Seals a frozen plan with its documents in a bundle that can be carried over an air gap.

Documents are fetched from the source now, hashed while they are copied, and held against the plan. What the source
cannot give is left out, listed in the bundle with its fault, and set aside on the other side. If ten are
missing, and they are more than a tenth, nothing is sealed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import orjson

from noarkit.errors import ItemChanged, SourceFault, SourceGone, UsageFault
from noarkit.events import Event, EventFields, Listener
from noarkit.forms.container.building import File, SkipFile
from noarkit.forms.container.packager import forget_build
from noarkit.forms.noark5.read.nested_extract import open_change_log
from noarkit.forms.sealed.read import is_sealed, open_sealed
from noarkit.forms.sealed.spec import PLAN, Seal, SealedFile
from noarkit.forms.sealed.write import SealOrder, check_target, seal_package
from noarkit.graph.entity import Content
from noarkit.graph.store import GraphStore
from noarkit.loading.delivery import Bundle, Deliveries, MissingDocument, open_deliveries
from noarkit.loading.folder import RunFolder
from noarkit.loading.history import BROUGHT_FILE
from noarkit.loading.plan import PackResult
from noarkit.loading.request import ASKED
from noarkit.records import PLACE_FAULTS, ContentStream, Source
from noarkit.safe.clocks import iso_seconds
from noarkit.safe.digest import Readable
from noarkit.safe.fixity import BY_PLAN, checked, sha256_stated
from noarkit.safe.signing import Signer

EVENTS: EventFields = {"not_sealed": {"document": "count", "code": "text"}}
DOCUMENTS = "documents"
LEFT_OUT = "left-out.jsonl"
PLAN_FILES = ("plan.json", "graph.db")
REPORT = "plan-report.json"
_FROZEN_STAMP = "as planned"  # of files that the plan fixes: an interrupted build keeps what it packed of them
_MAX_MISSING_SHARE = 0.10
_MIN_MISSING = 10
_MAX_ATTEMPTS = 1_000


@dataclass(frozen=True, slots=True)
class PackOrder:
    """What to pack, where to, and the key to seal with; `by` says who seals. With `strict` nothing may be left out."""

    folder: RunFolder
    source: Source
    target: Path
    signer: Signer
    by: Mapping[str, str]
    strict: bool = False


def document_name(n: int) -> str:
    """Returns the path of an entity's document in a bundle."""
    return f"{DOCUMENTS}/{n // 1000}/{n}"


def find_sealed_bundle(folder: RunFolder, target: Path, signer: Signer) -> PackResult | None:
    """Finds the bundle that an earlier call sealed for this run at `target`; None if nothing is there.

    Raises `UsageFault` if no bundle can be made there, `SealBroken` if the one that is there was changed since. Only
    the seal and the list of files are checked, not the documents.
    """
    check_target(target)
    if target.resolve().is_relative_to(folder.path.resolve()):
        raise UsageFault(what="inside-package", where=str(target))
    if not target.absolute().parent.is_dir():  # a disk that is not mounted
        raise UsageFault(what="not-there", where=str(target.parent))
    if not os.path.lexists(target):
        return None
    if not is_sealed(target):
        raise UsageFault(what="exists", where=str(target))
    with (
        folder.locked(),
        closing(open_deliveries(folder)) as deliveries_log,
        open_sealed(target, (signer.public,), "bundle") as sealed_bundle,
    ):
        bundle = deliveries_log.bundle(sealed_bundle.seal.id)
        if bundle is None or bundle.seal != sealed_bundle.sha256:
            raise UsageFault(what="exists", where=str(target))
        deliveries_log.keep_placed(bundle.id)
        forget_build(target)
        statement = sealed_bundle.seal.statement
        documents, left_out = int(str(statement.get("documents", 0))), int(str(statement.get("left_out", 0)))
        octets, key = sealed_bundle.seal.size_bytes, sealed_bundle.key.fingerprint
        return PackResult(
            target, bundle.id, sealed_bundle.sha256, documents, left_out, octets, key, already_packed=True
        )


def pack(order: PackOrder, *, emit: Listener, now_s: Callable[[], float]) -> PackResult:
    """Seals the plan of a run with its documents. Called again after an interruption, it resumes.

    Raises `UsageFault` for a target that is there, `PlanChanged`, `RunLocked`, `DiskFull`, a fault of the place where
    the source is gone or too much of it changed, and with `strict` the first fault of a document.
    """
    with (
        order.folder.locked(),
        closing(order.folder.open_graph()) as graph,
        closing(open_deliveries(order.folder)) as deliveries_log,
        ExitStack() as stack,
    ):
        target = str(order.target.absolute())
        bundle = deliveries_log.begin(target, iso_seconds(now_s()))
        log = stack.enter_context(_change_log(graph))
        return _Packing(order, graph, deliveries_log, bundle, log).run(emit)


class _Packing:
    """Packs one bundle."""

    def __init__(
        self, order: PackOrder, graph: GraphStore, deliveries_log: Deliveries, bundle: Bundle, log: Path | None
    ) -> None:
        self._order = order
        self._graph = graph
        self._deliveries_log = deliveries_log
        self._bundle = bundle
        self._log = log
        self._emit: Listener = lambda event: None
        self._contents = graph.count("content")
        self._open_document: int | None = None
        self._seal = ""
        self._documents = 0

    def run(self, emit: Listener) -> PackResult:
        """Packs; a document that fails while it is read is left out, and the build goes on without it."""
        self._emit = emit
        plan = str(self._order.folder.plan()["sha256"])
        seal_order = SealOrder(
            self._order.target,
            "bundle",
            self._bundle.id,
            self._bundle.created_at,
            self._order.signer,
            self._order.by,
            plan,
        )
        for _ in range(_MAX_ATTEMPTS):
            try:
                seal = seal_package(
                    self._files(),
                    seal_order,
                    self._seal_statement,
                    extras=self._extras,
                    before_placed=self._keep_seal,
                    emit=emit,
                )
                break
            except PLACE_FAULTS:
                raise
            except SourceFault as fault:
                if self._open_document is None:
                    raise
                self._leave_out(self._open_document, fault)
        else:
            raise SourceGone(where=str(self._graph.meta("source_where")), why="too-much-changed")
        self._deliveries_log.keep_placed(self._bundle.id)
        return PackResult(
            seal.path,
            self._bundle.id,
            self._seal,
            self._documents,
            self._deliveries_log.count_missing(self._bundle.id),
            seal.size_bytes,
            self._order.signer.public.fingerprint,
        )

    def _files(self) -> Iterator[File]:
        folder = self._order.folder.path
        plan_json, graph_db = PLAN_FILES
        yield _plan_json(f"{PLAN}/{plan_json}", self._order.folder)
        yield _plan_file(f"{PLAN}/{graph_db}", folder / graph_db, _FROZEN_STAMP)
        if self._log is not None:
            yield _plan_file(f"{PLAN}/{BROUGHT_FILE}", self._log, _FROZEN_STAMP)
        last = -1
        while rows := self._graph.db.execute(
            "SELECT * FROM content WHERE entity > ? ORDER BY entity LIMIT 2000", (last,)
        ).fetchall():
            for last, *content_row in rows:
                if not self._deliveries_log.is_left_out(self._bundle.id, last):
                    yield self._document(last, Content(*content_row))
        if (folder / REPORT).is_file():  # it may be written anew; what comes before it stays
            yield _plan_file(f"{PLAN}/{REPORT}", folder / REPORT, str((folder / REPORT).stat().st_mtime_ns))

    def _document(self, n: int, content: Content) -> File:
        @contextmanager
        def open_checked() -> Iterator[Readable]:
            self._open_document = n
            with ExitStack() as stack:
                try:
                    stream = stack.enter_context(self._order.source.open(content))
                except PLACE_FAULTS:
                    raise
                except SourceFault as fault:
                    self._leave_out(n, fault)
                    raise SkipFile from fault
                yield _PlannedStream(stream, content)
            self._open_document = None

        # the plan fixes the content of a document, so one that an interrupted build has packed need not be read again
        return document_name(n), open_checked, content.size_bytes, _FROZEN_STAMP

    def _leave_out(self, n: int, fault: SourceFault) -> None:
        if self._order.strict:
            raise fault
        self._open_document = None
        self._deliveries_log.leave_out(self._bundle.id, MissingDocument(n, fault.code, fault.data))
        self._emit(Event("not_sealed", {"document": n, "code": fault.code}))
        missing = self._deliveries_log.count_missing(self._bundle.id)
        if missing >= _MIN_MISSING and missing > _MAX_MISSING_SHARE * self._contents:
            raise SourceGone(where=str(self._graph.meta("source_where")), why="too-much-changed")

    def _extras(self, files: Iterator[SealedFile]) -> Iterable[tuple[str, Iterable[bytes]]]:
        lines = (
            orjson.dumps(
                {"document": missing.n, "code": missing.code, "data": missing.data}, option=orjson.OPT_APPEND_NEWLINE
            )
            for missing in self._deliveries_log.missing_documents(self._bundle.id)
        )
        yield LEFT_OUT, lines

    def _seal_statement(self, files: Iterator[SealedFile]) -> Mapping[str, object]:
        documents = (
            (int(file.name.rpartition("/")[2]), file.size_bytes, file.sha256)
            for file in files
            if file.name.startswith(f"{DOCUMENTS}/")
        )
        self._documents = self._deliveries_log.keep_documents(self._bundle.id, documents)
        plan = self._order.folder.plan()
        return {
            "plan": plan["sha256"],
            "run": self._order.folder.name,
            "records": plan.get("records", {}),
            "entities": plan.get("entities", {}),
            "documents": self._documents,
            "left_out": self._deliveries_log.count_missing(self._bundle.id),
        }

    def _keep_seal(self, seal: Seal) -> None:
        self._seal = hashlib.sha256(seal.content()).hexdigest()
        self._deliveries_log.keep_seal(self._bundle.id, self._seal)


class _PlannedStream:
    """A stream that raises `ItemChanged` at its end if its bytes are not those planned, or changed meanwhile."""

    def __init__(self, stream: ContentStream, content: Content) -> None:
        self._stream = checked(stream, *sha256_stated(content.sha256, BY_PLAN))
        self._content = content

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        block = self._stream.read(size)
        if not block and size != 0:
            if self._content.size_bytes not in (None, self._stream.size_bytes):
                raise ItemChanged(key=self._content.locator, why="size")
            if not self._stream.untouched():
                raise ItemChanged(key=self._content.locator, why="while-reading")
            if self._stream.differences():
                raise ItemChanged(key=self._content.locator, why="other-content")
        return block


def _plan_json(name: str, folder: RunFolder) -> File:
    """Describes what plan.json says to the receiver: all but how the plan was asked for, with paths of this machine."""
    plan = {key: value for key, value in folder.plan().items() if key != ASKED}
    text = orjson.dumps(plan, option=orjson.OPT_INDENT_2)

    @contextmanager
    def open_text() -> Iterator[BinaryIO]:
        yield BytesIO(text)

    return name, open_text, len(text), _FROZEN_STAMP


def _plan_file(name: str, path: Path, stamp: str) -> File:
    """Describes a file of the run folder to the packager: name, how to open it, size, stamp."""

    @contextmanager
    def open_file() -> Iterator[BinaryIO]:
        with path.open("rb") as file:
            yield file

    return name, open_file, path.stat().st_size, stamp


@contextmanager
def _change_log(graph: GraphStore) -> Iterator[Path | None]:
    """Opens the change log that came with the source, for the receiver to keep; yields None if there is none."""
    origin_path = orjson.loads(graph.meta("needs") or "{}").get("change_log")
    if origin_path is None:
        yield None
        return
    with open_change_log(Path(origin_path)) as log:
        yield log
