"""A file tree, or a single file, as a source of records."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from noarkit.errors import SourceGone
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.sources.files import folders, policy
from noarkit.sources.files.beside import Beside, Lead, Named, led
from noarkit.sources.files.default import TOP, default_recipe
from noarkit.sources.files.inside import Inspector
from noarkit.sources.files.judge import Found, Judge
from noarkit.sources.files.levels import Levels, survey
from noarkit.sources.files.names import key_of, readable, text_of
from noarkit.sources.files.owners import owner_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.records import RecordMaker
from noarkit.sources.files.streams import opened
from noarkit.sources.files.walk import Emptiness, Walk, WalkItem
from noarkit.sources.port import ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.sources.recipe.proposal import described, observe

_TELL_EVERY = 10_000
_LOOKED_AT = 20_000
_LONGEST_SYSTEM = 200
_AS_IT_STANDS = FilePolicy()


class Glance(NamedTuple):
    """What a look from outside tells of a file."""

    kind: str
    size_bytes: int
    modified_ns: int
    format: str
    notes: tuple[Note, ...]


class FileTree:
    """The files below `root`, or the one file `root`. `clock` gives seconds since 1970."""

    def __init__(
        self, root: Path, wanted: FilePolicy = _AS_IT_STANDS, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._where = root.absolute()
        self._wanted = wanted
        self._clock = clock
        self._only = None if self._where.is_dir() or not os.path.lexists(self._where) else os.fsencode(self._where.name)
        self._root = self._where if self._only is None else self._where.parent

    @property
    def identity(self) -> SourceIdentity:
        """Kind `files`, the place, and what the policy changes."""
        return SourceIdentity("files", key_of(os.fsencode(self._where)), self._wanted.settings())

    def fitted(self, terms: Mapping[str, object]) -> FileTree:
        """The same files on the terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
        return FileTree(self._where, self._wanted.shaped(terms), clock=self._clock)

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        """Every file once, in the order of the walk (or of a leading register), in constant memory.

        Raises `SourceGone` where the root is not there, or is no longer there at the end; `ItemMalformed` or
        `ItemVanished` for a leading register that cannot be read.
        """
        for count, item in enumerate(self._records(), start=1):
            yield item
            if count % _TELL_EVERY == 0:
                tell(Event("source_read", {"items": count}))

    def glances(self, tell: Listener) -> Iterator[Glance | SetAside | Skipped] | None:
        """The same items seen from outside, several times faster; None where the policy looks inside."""
        return None if self._wanted.look_inside or self._wanted.lead else self._glances(tell)

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a content by its locator. Raises `ItemVanished`, `ItemUnreadable`, `ItemNotAFile`, `ItemChanged`."""
        follow = self._wanted.links == "follow"
        return opened(self._root, content, follow=follow, mail_limit_bytes=self._wanted.mail_limit_bytes)

    def default_recipe(self) -> str:
        """One record with one document and one version per file; folders down to the case files become Mappe.

        The source's name in the archive is its kind and path, so that equal paths within two trees are not taken for
        the same record.
        """
        levels = self._levels()
        owner = owner_of(levels.letters)
        letters = self._wanted.mail == "file"
        return default_recipe("files", self._system(), self._root_name(), levels, owner, letters=letters)

    def proposal(self, tell: Listener) -> str:
        """The default recipe, with what the first records hold, ten thousands of them, as its comments."""
        seen = (item for item in islice(self.records(tell), _LOOKED_AT) if isinstance(item, SourceRecord))
        return f"{described(observe(seen))}\n{self.default_recipe()}"

    def _levels(self) -> Levels:
        if self._only is None:
            return survey(self._root)
        return replace(TOP, mails=int(self._wanted.mail != "file"))

    def _records(self) -> Iterator[SourceItem]:
        now = self._clock()
        root = folders.open_root(self._root)
        with ExitStack() as closing:
            closing.callback(os.close, root)
            maker = RecordMaker(self._root_name(), now=now, case_level=self._wanted.case_level)
            if not self._wanted.look_inside:
                yield from (_outside(item, maker) for item in self._walk(root, now))
                return
            inspector = closing.enter_context(Inspector(maker, self._wanted))
            if self._wanted.lead:
                yield from self._led(root, now, inspector, maker)
            else:
                yield from self._walked(root, now, inspector, maker)

    def _walked(self, root: int, now: float, inspector: Inspector, maker: RecordMaker) -> Iterator[SourceItem]:
        with Beside(self._wanted.register_column) as beside:
            for item in self._walk(root, now):
                if not isinstance(item, Found):
                    yield _outside(item, maker)
                    continue
                for record in inspector.items(item):
                    told = isinstance(record, SourceRecord) and self._wanted.registers
                    yield beside.tell(record, item) if told and isinstance(record, SourceRecord) else record

    def _led(self, root: int, now: float, inspector: Inspector, maker: RecordMaker) -> Iterator[SourceItem]:
        judge = Judge(self._wanted, now=now)
        with Lead(root, self._wanted.lead, self._wanted.register_column, judge) as lead:
            for row in lead.found():
                if isinstance(row, Named):
                    yield from (led(record, row.row, row.key) for record in inspector.items(row.found))
                else:
                    yield row
            for item in self._walk(root, now):
                if isinstance(item, Found):
                    yield from self._unnamed(item, lead, inspector)
                elif isinstance(item, Emptiness) or not lead.names(item.record_key):
                    yield _outside(item, maker)

    def _unnamed(self, item: Found, lead: Lead, inspector: Inspector) -> Iterator[SourceItem]:
        key = item.folder.key + key_of(item.name)
        if key == lead.key:
            yield Skipped(key, policy.SKIPPED_REGISTER)
        elif lead.names(key):
            return
        elif self._wanted.unnamed == "skip":
            yield Skipped(key, policy.SKIPPED_UNNAMED)
        else:
            yield from inspector.items(item)

    def _glances(self, tell: Listener) -> Iterator[Glance | SetAside | Skipped]:
        now = self._clock()
        root = folders.open_root(self._root)
        try:
            maker = RecordMaker(self._root_name(), now=now, case_level=self._wanted.case_level)
            for count, item in enumerate(self._walk(root, now), start=1):
                if isinstance(item, Found):
                    status = item.status
                    yield Glance("file", status.st_size, status.st_mtime_ns, *maker.glance(item))
                elif isinstance(item, Emptiness):
                    yield Glance("folder", 0, item.status.st_mtime_ns, "", maker.folder(item).notes)
                else:
                    yield item
                if count % _TELL_EVERY == 0:
                    tell(Event("source_read", {"items": count}))
        finally:
            os.close(root)

    def _walk(self, root: int, now: float) -> Iterator[WalkItem]:
        identity = os.fstat(root)

        def stands() -> None:
            try:
                named = self._root.stat()
                if self._only is not None:
                    os.stat(self._only, dir_fd=root, follow_symlinks=False)
            except OSError as error:
                raise SourceGone(where=self.identity.where, why="vanished while it was read") from error
            if not os.path.samestat(named, identity):
                raise SourceGone(where=self.identity.where, why="replaced while it was read")

        return Walk(root, self._wanted, now=now, stands=stands, only=self._only).items()

    def _system(self) -> str:
        where = self.identity.where
        if len(where) > _LONGEST_SYSTEM:
            where = f"…{where[-80:]} {hashlib.sha256(where.encode()).hexdigest()[:32]}"
        return f"files:{where}"

    def _root_name(self) -> str:
        return readable(text_of(os.fsencode(self._root.resolve().name))) or "/"


def _outside(item: WalkItem, maker: RecordMaker) -> SourceItem:
    if isinstance(item, Found):
        return maker.file(item)
    return maker.folder(item) if isinstance(item, Emptiness) else item
