"""Takes a sealed bundle in: proves all of it, then makes the run that loads it. Nothing is sent before that.

The run gets the frozen plan and an index of the documents, which stay where they lie. `plan.json` comes last: a run
that was begun and has none is what a killed process left, and is made anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import orjson

from noarkit.airgap.sealing import DOCUMENTS, LEFT_OUT, PLAN_FILES, REPORT, document_name
from noarkit.airgap.source.index import (
    INDEX,
    BundleDocument,
    Origin,
    is_received,
    move_origin,
    read_origin,
    write_index,
)
from noarkit.errors import PlanChanged, SealBroken, UsageFault
from noarkit.events import Event, EventFields, Listener
from noarkit.forms.sealed.read import SealedPackage, open_sealed
from noarkit.forms.sealed.spec import PLAN
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.loading.history import BROUGHT_FILE
from noarkit.loading.plan import PlanResult
from noarkit.loading.request import ASKED
from noarkit.safe.atomic import no_room, sync_folder
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.signing import PublicKey

EVENTS: EventFields = {"bundle": {"id": "text", "key": "text", "files": "count"}}
_MOST_PLAN_BYTES = 16 * 1024 * 1024


def receive(path: Path, folder: RunFolder, trusted_keys: Sequence[PublicKey], emit: Listener) -> PlanResult:
    """Makes the run `folder` of the bundle at `path`, or takes up the one that was made of it before.

    Raises `SealBroken`, `UsageFault` where the run is of another bundle or plan, `PlanChanged`, `DiskFull`.
    """
    with open_sealed(path, trusted_keys, "bundle") as bundle:
        if (folder.path / "plan.json").exists():
            _check_same_bundle(bundle, path, folder)
            return read_plan_result(folder)
        emit(Event("bundle", {"id": bundle.seal.id, "key": bundle.key.fingerprint, "files": bundle.seal.files}))
        bundle.prove(emit)
        folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with folder.locked(), no_room(folder.graph):
            _clear(folder)
            plan = _copy_plan(bundle, folder)
            _write_index(bundle, path, folder)
            sync_folder(folder.path)
            for name in ("archive", ASKED):  # of the other side, which is none of this one
                plan.pop(name, None)
            folder.write_plan(plan)
    return read_plan_result(folder)


def read_plan_result(folder: RunFolder) -> PlanResult:
    """Reads the result of the planning from plan.json, and the number of shards from the plan itself."""
    plan = folder.plan()
    with closing(GraphStore.open(folder.graph)) as graph:
        shards = graph.count("shard", "kind != 'spine'")
    return PlanResult(
        folder,
        str(plan["sha256"]),
        _counts(plan.get("records")),
        _counts(plan.get("entities")),
        int(str(plan.get("bytes", 0))),
        int(str(plan.get("chunks", 0))),
        shards,
    )


def _check_same_bundle(sealed: SealedPackage, path: Path, folder: RunFolder) -> None:
    """The same bundle again, perhaps from elsewhere. Its documents are proven one by one when they are read."""
    if not is_received(folder.path):
        raise UsageFault(what="run-of-other-source", where=str(folder.path))
    origin = read_origin(folder.path / INDEX)
    if (origin.id, origin.seal) != (sealed.seal.id, sealed.sha256):
        raise UsageFault(what="run-of-other-source", where=str(folder.path))
    if origin.packed != sealed.packed:  # places within an archive file mean nothing in a folder
        raise UsageFault(what="run-of-other-source", where=str(folder.path))
    if origin.where != str(path.absolute()):
        move_origin(folder.path / INDEX, str(path.absolute()))


def _clear(folder: RunFolder) -> None:
    for name in ("graph.db", INDEX, REPORT, BROUGHT_FILE):
        for suffix in ("", "-wal", "-shm", "-journal"):
            (folder.path / f"{name}{suffix}").unlink(missing_ok=True)


def _copy_plan(sealed: SealedPackage, folder: RunFolder) -> dict[str, object]:
    """Copies the plan; what plan.json shall say."""
    for name in (PLAN_FILES[1], REPORT, BROUGHT_FILE):
        if sealed.find(f"{PLAN}/{name}") is not None:
            _copy(sealed, f"{PLAN}/{name}", folder.path / name)
    with sealed.open(f"{PLAN}/{PLAN_FILES[0]}") as content:
        text = b"".join(iter(lambda: content.read(_MOST_PLAN_BYTES), b""))
    try:
        plan = orjson.loads(text)
    except ValueError as error:
        raise SealBroken(where=sealed.where, why="seal-plan", name=PLAN_FILES[0]) from error
    if not isinstance(plan, dict) or plan.get("sha256") != sealed.seal.statement.get("plan"):
        raise SealBroken(where=sealed.where, why="seal-plan", name=PLAN_FILES[0])
    with closing(GraphStore.open(folder.graph)) as graph:
        try:
            graph.check_frozen(str(plan["sha256"]))
        except PlanChanged as error:
            raise SealBroken(where=sealed.where, why="seal-plan", name=PLAN_FILES[1]) from error
    return {**plan, "bundle": {"id": sealed.seal.id, "seal": sealed.sha256, "key": sealed.key.fingerprint}}


def _copy(sealed: SealedPackage, name: str, target: Path) -> None:
    with (
        sealed.open(name) as content,
        os.fdopen(open_descriptor(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file,
    ):
        while block := content.read(BLOCK_BYTES):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def _write_index(sealed: SealedPackage, path: Path, folder: RunFolder) -> None:
    seal = sealed.seal
    origin = Origin(
        str(path.absolute()), seal.id, sealed.sha256, sealed.key.fingerprint, sealed.packed, seal.made_at, seal.by
    )
    with closing(GraphStore.open(folder.graph)) as graph:
        write_index(folder.path / INDEX, origin, _documents(sealed, graph))


def _documents(sealed: SealedPackage, graph: GraphStore) -> Iterator[BundleDocument]:
    """Every content of the plan with its document. Just these are in the bundle, or it is told why they are not."""
    left_out = _read_left_out(sealed)
    document_count = 0
    for n, locator in graph.db.execute("SELECT entity, locator FROM content ORDER BY entity"):
        name = document_name(n)
        member = sealed.find(name)
        if member is not None:
            document_count += 1
            yield BundleDocument(str(locator), sealed.locator_for(name), member.sha256)
        elif n in left_out:
            code, data = left_out[n]
            yield BundleDocument(str(locator), code=code, data=data)
        else:
            raise SealBroken(where=sealed.where, why="seal-plan", name=name)
    if document_count != sum(1 for file in sealed.files() if file.name.startswith(f"{DOCUMENTS}/")):
        raise SealBroken(where=sealed.where, why="seal-plan", name=DOCUMENTS)


def _read_left_out(sealed: SealedPackage) -> dict[int, tuple[str, dict[str, object]]]:
    """Documents that the sender had to leave out; never many, because a bundle that lacks much is not sealed."""
    left_out: dict[int, tuple[str, dict[str, object]]] = {}
    with sealed.open(LEFT_OUT) as content:
        text = b"".join(iter(lambda: content.read(BLOCK_BYTES), b""))
    try:
        for line in text.splitlines():
            entry = orjson.loads(line)
            left_out[int(entry["document"])] = (str(entry["code"]), dict(entry["data"]))
    except (ValueError, KeyError, TypeError) as error:
        raise SealBroken(where=sealed.where, why="seal-plan", name=LEFT_OUT) from error
    return left_out


def _counts(value: object) -> dict[str, int]:
    return {str(name): int(str(count)) for name, count in value.items()} if isinstance(value, dict) else {}
