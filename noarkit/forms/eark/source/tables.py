"""The SIARD archive in a package, opened: its rows are records as they are where the archive lies alone.

An archive in a zip or tar is written into the folder of the run first, and bears the package's time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from noarkit.errors import ItemVanished, PackageFault
from noarkit.events import Listener
from noarkit.forms.eark import spec
from noarkit.forms.eark.read.inventory import representation_folder
from noarkit.forms.eark.read.package import EarkPackage, open_eark
from noarkit.forms.siard.source import find_siard
from noarkit.forms.siard.source.source import SiardArchiveSource, SiardTables
from noarkit.graph.entity import Content
from noarkit.recipes.toml_writer import basic_string
from noarkit.records import ContentStream, SourceItem, SourceRecord
from noarkit.safe.atomic import temporary_name
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.toml import load_toml
from noarkit.safe.workplace import folder_for_owner
from noarkit.sources.database.table_copy import TableCopy

TERM = "siard"
"""What names the archive among the terms of a recipe's `[source]`."""
SHAPES = "shapes"
_LOCATOR = "siard:"
_TAKEN_KINDS = frozenset({"file", "documentation", "description", "aggregation", "record"})


def archives_in(package: EarkPackage) -> list[str]:
    """The files in the data of representations that are called a SIARD archive."""
    return [
        name
        for name, _ in package.present()
        if name.lower().endswith(".siard")
        and (folder := representation_folder(name))
        and name.startswith(f"{folder}{spec.DATA}/")
    ]


class PackedTables:
    """The tables of the archive `name` in the package at `path`, on a recipe's terms."""

    def __init__(
        self, path: Path, name: str, settings: Mapping[str, object], shapes: Mapping[str, object] | None
    ) -> None:
        self.name = name
        self._path = path
        self._settings = dict(settings)
        self._shapes = dict(shapes or {})
        self._home: Path | None = None
        self._despite = False
        self._archive: SiardArchiveSource | None = None
        self._temporary: _Temporary | None = None
        self._folder = Path()

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self._path, self.name, self._settings, self._shapes, self._home, self._despite)

    def settings(self) -> dict[str, object]:
        """What finds the same tables again, once they were read."""
        told = {TERM: self.name, **self._settings}
        shapes = self._archive.identity.settings.get(SHAPES) if self._archive is not None else self._shapes
        return {**told, SHAPES: shapes} if shapes else told

    def settle(self, folder: Path) -> None:
        """What is written on the way is kept in this folder, of a run."""
        self._home, self._archive, self._temporary = folder, None, None

    def despite_damage(self) -> None:
        """The archive is taken as it is where its message digest is wrong."""
        self._despite, self._archive = True, None

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every row of every table once."""
        for item in self._source().records(emit):
            if not isinstance(item, SourceRecord) or not item.contents:
                yield item
                continue
            contents = tuple(replace(content, locator=f"{_LOCATOR}{content.locator}") for content in item.contents)
            yield replace(item, contents=contents)

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a document of a row."""
        return self._source().open(replace(content, locator=content.locator.removeprefix(_LOCATOR)))

    def recipe(self) -> tuple[str, str] | None:
        """What a recipe has to say of the tables: the terms below `[source]`, and formats and rules. None if a table
        bears the name of another kind of record."""
        text = self._source().default_recipe()
        document = load_toml(text)
        if _TAKEN_KINDS & {kind for rule in document.get("map", ()) for kind in _kinds(rule)}:
            return None
        settings_text = text[text.index("[source]\n") + 9 : text.index("# external_system names")]
        settings_text = "".join(
            line for line in settings_text.splitlines(keepends=True) if not line.startswith("kind = ")
        )
        rules = text[text.index("# How numbers are written") :]
        return f"{TERM} = {basic_string(self.name)}\n{settings_text}", rules

    def _source(self) -> SiardArchiveSource:
        if self._archive is None:
            archive = find_siard(str(self._archive_path()))
            if archive is None:
                raise PackageFault(where=f"{self._path}/{self.name}", why="no-siard-metadata")
            tables = TableCopy(SiardTables(archive.path), self._settings, self._shapes, home=self._home)
            source = SiardArchiveSource(archive.path, tables)
            self._archive = source.despite_damage() if self._despite else source
        return self._archive

    def _archive_path(self) -> Path:
        """The archive as a file."""
        if self._path.is_dir():
            return self._path / self.name  # as a walk that follows no link found it
        target = self._target()
        if not target.exists():
            part = target.with_name(temporary_name())
            with open_eark(self._path) as package:
                _copy_archive(package, self.name, part)
            modified = self._path.stat().st_mtime_ns
            os.utime(part, ns=(modified, modified))
            part.replace(target)
        return target

    def _target(self) -> Path:
        if self._home is None:
            if self._temporary is None:
                self._temporary = _Temporary()
                self._folder = folder_for_owner(self._temporary, "eark")
            folder = self._folder
        else:
            fingerprint = f"{self._path} {self._path.stat().st_mtime_ns} {self.name}".encode("utf-8", "surrogateescape")
            folder = self._home / f"siard-of-{hashlib.blake2b(fingerprint, digest_size=8).hexdigest()}"
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder / Path(self.name).name


def is_of_tables(content: Content) -> bool:
    """True for a document of a row."""
    return content.locator.startswith(_LOCATOR)


def _copy_archive(package: EarkPackage, name: str, target: Path) -> None:
    try:
        with package.open(name) as source, target.open("xb") as file:
            while block := source.read(BLOCK_BYTES):
                file.write(block)
    except FileNotFoundError as error:
        raise ItemVanished(key=name) from error


def _kinds(rule: Mapping[str, object]) -> list[str]:
    kinds = rule.get("for", ())
    return [kinds] if isinstance(kinds, str) else [str(kind) for kind in kinds] if isinstance(kinds, list) else []


class _Temporary:
    """What holds a folder of ours: it goes with the last who holds this."""


def _rebuild(
    path: Path,
    name: str,
    settings: Mapping[str, object],
    shapes: Mapping[str, object],
    home: Path | None,
    despite: bool,
) -> PackedTables:
    tables = PackedTables(path, name, settings, shapes)
    tables._home, tables._despite = home, despite
    return tables
