"""Looks into the files of a walk in worker processes, beside the making of their records.

Telling the media type of a file takes longer than all else that a plan does with it. So files are looked into by the
portion, several portions at once, and come back in the order of the walk. A few files are looked into here, and so are
all where no worker can be forked.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice, repeat
from pathlib import Path
from typing import Any

from noarkit.errors import RunFault, SourceFault, SourceGone
from noarkit.graph.entity import SetAside
from noarkit.records import SourceItem
from noarkit.safe import folder_handles
from noarkit.safe.ordered_work import PieceLost, answers_in_order
from noarkit.safe.processors import usable_processors
from noarkit.safe.worker_pool import ParentPipe, can_use_workers
from noarkit.sources.files import folders
from noarkit.sources.files.file_filter import Folder, FoundFile, folder_at
from noarkit.sources.files.inspector import Findings, Inspector
from noarkit.sources.files.names import key_of
from noarkit.sources.files.walk import WalkItem

FEW_FILES = 200
"""So many are looked into before any worker is started."""
_PORTION_FILES = 64
_PORTION_ITEMS = 1_024
_PORTION_NAME_BYTES = 12 * 1024
"""With what the system says of each file, a portion is no larger than an order may be."""
_MOST_WORKERS = 8
_TIDY_S = 5.0

Pair = tuple[WalkItem, SourceItem]


@dataclass(frozen=True, slots=True)
class OpenRoot:
    """The folder that a walk began at: where it is, and its handle."""

    path: Path
    handle: int


def inspected(items: Iterator[WalkItem], inspector: Inspector, root: OpenRoot) -> Iterator[Pair]:
    """The items of a walk in order, each with what it becomes: a mailbox may become many.

    Raises what the walk raises, and `RunFault` where a worker was ended from outside.
    """
    yield from _inspect_here(islice(items, FEW_FILES), inspector)
    following = next(items, None)
    if following is None:
        return
    items = chain((following,), items)
    yield from _inspect_beside(items, inspector, root) if can_use_workers() else _inspect_here(items, inspector)


def _inspect_here(items: Iterator[WalkItem], inspector: Inspector) -> Iterator[Pair]:
    for item in items:
        if isinstance(item, FoundFile):
            for record in inspector.items(item):
                yield item, record
        else:
            yield item, inspector.plain(item)


@dataclass(slots=True)
class _Portion:
    """Items of the walk, and which of them are looked into by a worker."""

    items: list[tuple[WalkItem, bool]]
    files: list[FoundFile]
    name_bytes: int = 0

    def add(self, item: WalkItem, inspector: Inspector) -> None:
        """One more; a file that lies too deep for an order is looked into here."""
        is_sent = False
        if isinstance(item, FoundFile) and inspector.must_open(item):
            name_bytes = len(item.name) + sum(map(len, item.folder.steps))
            is_sent = name_bytes < _PORTION_NAME_BYTES
            if is_sent:
                self.files.append(item)
                self.name_bytes += name_bytes
        self.items.append((item, is_sent))

    @property
    def is_full(self) -> bool:
        return (
            len(self.files) >= _PORTION_FILES
            or len(self.items) >= _PORTION_ITEMS
            or self.name_bytes >= _PORTION_NAME_BYTES
        )

    def order(self) -> list[object]:
        """The files folder by folder, as a worker is told of them."""
        return [
            (folder.steps, folder.foreign, [tuple(file[1:]) for file in files])
            for folder, files in groupby(self.files, _folder_of)
        ]


def _folder_of(file: FoundFile) -> Folder:
    return file.folder


def _portions(items: Iterator[WalkItem], inspector: Inspector) -> Iterator[tuple[_Portion, object]]:
    portion = _Portion([], [])
    for item in items:
        portion.add(item, inspector)
        if portion.is_full:
            yield portion, portion.order()
            portion = _Portion([], [])
    if portion.items:
        yield portion, portion.order()


def _inspect_beside(items: Iterator[WalkItem], inspector: Inspector, root: OpenRoot) -> Iterator[Pair]:
    serve = partial(_serve, inspector, root.path, folder_handles.status_of(root.handle))
    workers = min(usable_processors(), _MOST_WORKERS)
    answers = answers_in_order(_portions(items, inspector), serve, workers=workers, patience_s=_TIDY_S)
    try:
        for portion, looks in answers:
            yield from _pairs(portion, iter(looks), inspector, root.handle)
    except PieceLost as error:
        files = error.piece.files if isinstance(error.piece, _Portion) else []
        where = files[0].folder.key + key_of(files[0].name) if files else str(root.path)
        raise RunFault(where=where, why="lost-worker") from error


def _pairs(
    portion: _Portion, looks: Iterator[Any], inspector: Inspector, root: int
) -> Iterator[Pair]:  # Any: what `_to_plain` made
    for item, is_sent in portion.items:
        if not isinstance(item, FoundFile):
            yield item, inspector.plain(item)
            continue
        look = next(looks) if is_sent else None
        if look is None:
            records = _items_again(item, inspector, root)
        else:
            records = inspector.items_of(item, Findings(*look) if isinstance(look, tuple) else _from_bytes(look))
        for record in records:
            yield item, record


def _items_again(file: FoundFile, inspector: Inspector, root: int) -> Iterator[SourceItem]:
    """The items of a file whose folder the walk has left."""
    key = file.folder.key + key_of(file.name)
    try:
        with folders.faults(key):
            handle = folders.reach(root, file.folder.steps)
    except SourceFault as fault:
        yield SetAside(key, fault.code, fault.data)
        return
    try:
        yield from inspector.items(file._replace(folder=replace(file.folder, handle=handle)))
    finally:
        folder_handles.close(handle)


def _from_bytes(items: bytes) -> tuple[SourceItem, ...]:
    plain: tuple[SourceItem, ...] = pickle.loads(items)  # noqa: S301  # our own child sent it
    return plain


def _serve(inspector: Inspector, path: Path, identity: os.stat_result, parent: ParentPipe) -> None:
    """Runs in the child, until its parent closes the pipe."""
    root = folders.open_root(path)
    if not os.path.samestat(folder_handles.status_of(root), identity):
        raise SourceGone(where=str(path), why="replaced while it was read")
    with inspector.sibling() as own:
        while True:
            parent.send_plain([look for folder in parent.receive() for look in _looks(own, root, *folder)])


def _looks(
    inspector: Inspector, root: int, steps: tuple[bytes, ...], foreign: bool, files: list[Any]
) -> Iterator[object]:  # Any: all of a FoundFile but its folder
    try:
        handle = folders.reach(root, steps)
    except OSError:  # the parent tries again, and tells why
        yield from repeat(None, len(files))
        return
    try:
        folder = folder_at(steps, handle, foreign=foreign)
        for file in files:
            look = inspector.look(FoundFile(folder, *file))
            yield tuple(look) if isinstance(look, Findings) else None if look is None else pickle.dumps(look)
    finally:
        folder_handles.close(handle)
