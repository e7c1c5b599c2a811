"""The bundle that a run came in, as its source: each document is held to the checksum it was sealed with.

What is walked is the plan, which was sealed with the documents; nothing of the sender's own source is asked for.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import orjson

from noarkit.airgap.source.index import connect_index, read_origin
from noarkit.errors import ItemUnreadable, ItemVanished, SourceFault, SourceGone, fault_from_code
from noarkit.events import Listener
from noarkit.forms.container.contents import FileBytes
from noarkit.forms.container.locators import MemberReader, MemberStream
from noarkit.forms.container.plain_files import open_below
from noarkit.forms.sealed.read import sealed_source_fault
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.graph.store import GraphStore
from noarkit.records import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe.fixity import BY_BUNDLE, checked, sha256_stated
from noarkit.sources.item_stream import with_progress

KIND = "sealed"


class SealedSource:
    """The documents of a bundle, found by what the run knows of them. `graph` is the frozen plan, `index` the file
    that says where each lies in the bundle."""

    def __init__(self, graph: Path, index: Path) -> None:
        self._graph = graph
        self._index = index
        self.origin = read_origin(index)
        self.path = Path(self.origin.where)
        self._located = MemberReader(self.path)
        self._db: sqlite3.Connection | None = None
        self._owner = 0

    @property
    def identity(self) -> SourceIdentity:
        """The bundle, by its place."""
        return SourceIdentity(KIND, self.origin.where, {"id": self.origin.id})

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every record that was sealed, in the plan's order."""
        with closing(GraphStore.open(self._graph)) as graph:
            rows = graph.db.execute("SELECT key, state, code, data FROM record ORDER BY n")
            for key, state, code, data in with_progress(rows, emit):
                yield _item(str(key), str(state), code, data)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a document by its locator. Raises `ItemVanished`, `ItemUnreadable`, the fault that the sender met with
        it, and `SourceGone` where the bundle is not there."""
        lies, sha256 = self._locate(content.locator)
        if not os.path.lexists(self.path):
            raise SourceGone(where=self.origin.where, why="ENOENT")
        if self.origin.packed:
            with self._located.open(lies) as packed:
                yield checked(MemberStream(packed, self._located, None), *sha256_stated(sha256, BY_BUNDLE))
        else:
            with open_below(self.path, lies) as file:
                yield checked(FileBytes(file, Content(content.locator, "")), *sha256_stated(sha256, BY_BUNDLE))

    def default_recipe(self) -> str:
        """None: a bundle is loaded as it was planned."""
        raise sealed_source_fault(self.origin.where)

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """None, as above."""
        raise sealed_source_fault(self.origin.where)

    def __getstate__(self) -> Mapping[str, object]:
        return {"graph": self._graph, "index": self._index}

    def __setstate__(self, state: Mapping[str, Path]) -> None:
        self.__init__(state["graph"], state["index"])  # type: ignore[misc]  # made anew in the other process

    def _locate(self, locator: str) -> tuple[str, str]:
        if self._db is None or self._owner != os.getpid():  # a connection is never shared with a child
            self._db, self._owner = connect_index(self._index), os.getpid()
        row = self._db.execute("SELECT lies, sha256, code, data FROM held WHERE locator = ?", (locator,)).fetchone()
        if row is None:
            raise ItemVanished(key=locator)
        location, sha256, code, data = row
        if code is not None:
            raise _rebuild_fault(str(code), orjson.loads(data or "{}"), locator)
        return str(location), str(sha256)


def _item(key: str, state: str, code: str | None, data: str | None) -> SourceItem:
    if state == "set_aside":
        return SetAside(key, str(code), orjson.loads(data or "{}"))
    if state == "skipped":
        return Skipped(key, str(code))
    return SourceRecord(KIND, key, {})


def _rebuild_fault(code: str, data: Mapping[str, object], locator: str) -> SourceFault:
    """The fault that the sender met, once more; nothing but a fault of an item is taken from a bundle."""
    fault = fault_from_code(code, {"key": locator, **data})
    return fault if isinstance(fault, SourceFault) and fault.exit_code == 3 else ItemUnreadable(key=locator, why=code)
