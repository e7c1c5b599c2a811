"""Tables of a package that are read once into an SQLite file of ours, and from there as any database is.

The copy lies in the folder of a run, or in a temporary one that goes with the process.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from noarkit.errors import SourceAway, SourceGone, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.graph.entity import Content
from noarkit.records import DESPITE_DAMAGE, ContentStream, SourceIdentity
from noarkit.safe.atomic import temporary_name
from noarkit.safe.workplace import folder_for_owner
from noarkit.sources.database.address import read_address
from noarkit.sources.database.documents import read_settings
from noarkit.sources.database.source import DatabaseSource

_SHAPES = "shapes"
_MARK = "mark"


class TablePackage(Protocol):
    """A package of tables where it lies. `name` is what its copy, and so the system in a proposal, is called."""

    @property
    def kind(self) -> str:
        """The kind of source."""

    @property
    def path(self) -> Path:
        """Where it lies."""

    @property
    def name(self) -> str:
        """What the copy is called."""

    def mark(self) -> str:
        """What changes where the package is replaced. Raises `SourceGone`."""

    def read_terms(self, settings: Mapping[str, object]) -> dict[str, object]:
        """The terms of a recipe's `[source]`, as they are kept. Raises `PlanFault` for what is none."""

    def copy_terms(self, settings: Mapping[str, object]) -> Mapping[str, object]:
        """The same terms, for the copy."""

    def write_copy(self, target: Path, emit: Listener) -> None:
        """Makes the copy, and what it lacks beside it. Raises `UsageFault` where it stands there."""

    def losses_of(self, copy: Path) -> Path:
        """The file that tells what a copy lacks."""


class TableCopy:
    """The copy of a package, on a recipe's terms. `shapes` are those of the tables when a plan was made."""

    def __init__(
        self,
        package: TablePackage,
        settings: Mapping[str, object] | None = None,
        shapes: Mapping[str, object] | None = None,
        *,
        home: Path | None = None,
    ) -> None:
        self.settings = dict(settings or {})
        self.despite = False
        self._package = package
        self._shapes = dict(shapes or {})
        self._home = home
        self._database: DatabaseSource | None = None
        self._temporary: _Temporary | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self._package, self.settings, self._shapes, self._home, self.despite)

    @property
    def identity(self) -> SourceIdentity:
        """The kind, the path, the terms, and what tells this package from another."""
        settings = {**self.settings, _MARK: self._package.mark()}
        shapes = self._database.identity.settings.get(_SHAPES) if self._database is not None else self._shapes
        if shapes:
            settings[_SHAPES] = shapes
        if self.despite:
            settings[DESPITE_DAMAGE] = True
        return SourceIdentity(self._package.kind, str(self._package.path), settings)

    def fitted(self, settings: Mapping[str, object]) -> TableCopy:
        """The same copy on the terms of a recipe's `[source]`. Raises `PlanFault` for what is none."""
        own_terms = self._package.read_terms({name: value for name, value in settings.items() if name != "kind"})
        copy = _rebuild(self._package, own_terms, self._shapes, self._home, self.despite)
        if self._database is not None:  # the copy is the same on any terms
            copy._database = self._database.fitted(self._package.copy_terms(own_terms))
            copy._temporary = self._temporary
        return copy

    def settle(self, folder: Path) -> None:
        """The copy is made in this folder, of a run, and stays there for all who read it; one that was made before is
        moved there."""
        database, self._home = self._database, folder
        if database is not None and self._temporary is not None:
            made_copy, target = Path(database.address.file), self._place()
            if not target.exists():
                part = target.with_name(temporary_name())
                shutil.copyfile(self._package.losses_of(made_copy), self._package.losses_of(target))
                shutil.move(made_copy, part)
                part.replace(target)
            self._database = self._temporary = None

    def read(self, emit: Listener) -> DatabaseSource:
        """The copy as a database, made where it is not there. Hold this object for as long as it is read."""
        if self._database is None:
            address = read_address(f"sqlite:///{self._ensure_copy(emit)}")
            if address is None:  # an SQLite URL always is one
                raise SourceGone(where=str(self._package.path), why="ENOENT")
            own_terms = read_settings(self._package.copy_terms(self.settings))
            self._database = DatabaseSource(address, own_terms, self._shapes)
        return self._database

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a document of a row. Raises `ItemVanished`, `ItemChanged`, `SourceGone`."""
        with self.read(ignore_event).open(content) as stream:
            yield stream

    def _ensure_copy(self, emit: Listener) -> Path:
        """The copy of the run where it stands, else a new one."""
        before = self._package.mark()
        target = self._place()
        if not target.exists():
            try:
                self._package.write_copy(target, emit)
            except UsageFault:
                if not target.exists():  # else another process was quicker, and made the same
                    raise
            if self._package.mark() != before:
                target.unlink()
                raise SourceAway(where=str(self._package.path), why="changed-while-read")
        return target

    def _place(self) -> Path:
        package = self._package
        if self._home is None:
            self._temporary = _Temporary()
            folder = folder_for_owner(self._temporary, package.kind)
        else:
            key = hashlib.blake2b(f"{package.path} {package.mark()}".encode("utf-8", "surrogateescape"), digest_size=8)
            folder = self._home / f"{package.kind}-{key.hexdigest()}"
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder / f"{package.name}.db"


class _Temporary:
    """What holds a folder of ours: it goes with the last who holds this."""


def reopen_copy(package: TablePackage, identity: SourceIdentity) -> TableCopy:
    """The tables that a plan was made from. Raises `SourceGone` where the package is not there, or is another."""
    own_settings = {_SHAPES, _MARK, DESPITE_DAMAGE}
    settings = {name: value for name, value in identity.settings.items() if name not in own_settings}
    shapes = identity.settings.get(_SHAPES)
    copy = TableCopy(package, settings, shapes if isinstance(shapes, Mapping) else None)
    copy.despite = identity.settings.get(DESPITE_DAMAGE) is True
    if identity.settings.get(_MARK) not in (None, package.mark()):
        raise SourceGone(where=identity.where, why="archive-replaced")
    return copy


def _rebuild(
    package: TablePackage,
    settings: Mapping[str, object],
    shapes: Mapping[str, object],
    home: Path | None,
    despite: bool,
) -> TableCopy:
    copy = TableCopy(package, settings, shapes, home=home)
    copy.despite = despite
    return copy
