"""A Noark 5 extract as a source: folders and records are its records; what stands above them belongs to none.

The entities of a record are fixed by the extract; `ExtractMapper` hands them on. Codes and business fields that the
archive must have first are known when the extract was read to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from noarkit.errors import PackageFault, SourceGone
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content, Entity, Mapped, SetAside, Skipped
from noarkit.packages.forms import look
from noarkit.packages.noark5 import vsm
from noarkit.packages.noark5.apart import apart, may_be_apart
from noarkit.packages.noark5.business import BusinessFields
from noarkit.packages.noark5.declared import declared_groups
from noarkit.packages.noark5.entities import Maker, Told, Untakable
from noarkit.packages.noark5.read import Unit, units
from noarkit.packages.noark5.readers import Readers
from noarkit.packages.noark5.spec import CHANGE_LOG, STRUCTURE
from noarkit.packages.noark5.spine import Spine
from noarkit.packages.noark5.values import Codes
from noarkit.safe.digest import Readable
from noarkit.sources.package.files import DocumentFiles, SeenInDatabase
from noarkit.sources.package.packed import PackedFiles
from noarkit.sources.package.place import extract_root
from noarkit.sources.port import ContentStream, Groundwork, SourceIdentity, SourceItem, SourceRecord

KIND = "noark5"
EXTERNAL_SYSTEM = "noark5"
DEFAULT_ZONE = "Europe/Oslo"
LARGE_BYTES = 4 * 1024 * 1024
_TELL_EVERY = 10_000
_ENTITIES = "entities"
_CONTENTS = "contents"
_ROOM = 1_000

T = TypeVar("T")


def find_extract(where: str) -> ExtractSource | None:
    """The extract in a folder, zip or tar; None where there is none. Raises what `safe` refuses."""
    path = Path(where)
    if path.is_dir():
        root = extract_root(path)
        return None if root is None else ExtractSource(root)
    found = look(path) if path.is_file() else None
    return ExtractSource(path) if found is not None and found.form == "noark5" else None


class ExtractSource:
    """An extract in the folder that holds arkivstruktur.xml, or in an archive file. Times without offset are read in
    `zone`; a structure of `large_bytes` or more is parsed in a process beside this one."""

    def __init__(self, place: Path, zone: str = DEFAULT_ZONE, *, large_bytes: int = LARGE_BYTES) -> None:
        self.place = place.absolute()
        self._zone = zone
        self._large_bytes = large_bytes
        self._files = PackedFiles(self.place) if self.place.is_file() else DocumentFiles(self.place)
        self.codes = Codes()
        self.business = BusinessFields()

    @property
    def root(self) -> Path:
        """The folder with the XML; it goes with this source where the extract lies in an archive file."""
        return self._files.root

    @property
    def identity(self) -> SourceIdentity:
        """Kind `noark5`, the folder or archive file, and the zone."""
        return SourceIdentity(KIND, str(self.place), {"zone": self._zone})

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        """Every folder and record once, parents first, and before them what they stand in.

        Raises `SourceGone` where the extract is not there, `PackageFault` and `UnsafeXml` where it cannot be read.
        """
        structure = self.root / f"{STRUCTURE}.xml"
        if not structure.is_file():
            raise SourceGone(where=str(self.place), why="ENOENT")
        self.business = BusinessFields(declared_groups(self.root / vsm.SCHEMA_FILE, vsm.NAMESPACE))
        with closing(SeenInDatabase()) as seen:
            readers = Readers(ZoneInfo(self._zone), self.codes)
            maker = Maker(self._files, seen, self.codes, self.business, readers)
            walk = _Walk(maker, Spine(maker))
            for count, unit in enumerate(self._units(structure, seen), start=1):
                yield from walk.items(unit)
                if count % _TELL_EVERY == 0:
                    tell(Event("source_read", {"items": count}))
            yield from walk.rest()

    def _units(self, structure: Path, seen: SeenInDatabase) -> Iterator[Unit]:
        if structure.stat().st_size < self._large_bytes or not may_be_apart():
            return units(structure, seen.first)
        return map(Unit._make, apart(lambda: _parsed(structure), str(structure)))

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a document. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        return self._files.open(content)

    def file(self, name: str) -> AbstractContextManager[Readable]:
        """A file of the extract by its name. Raises `FileNotFoundError`, and what `safe` refuses."""
        return self._files.file(name)

    def mapper(self) -> ExtractMapper:
        """What hands the fixed entities on."""
        return ExtractMapper(self)

    def needs(self) -> dict[str, object]:
        """What the archive must have before the load: codes `{list: {code: [name, authority]}}`, groups of business
        fields `{group: {field: kind}}` and their names, and the change log that is to be kept."""
        codes = {name: {code: list(told) for code, told in some.items()} for name, some in self.codes.new.items()}
        log = self.root / f"{CHANGE_LOG}.xml"
        return {
            "codes": codes,
            "groups": self.business.groups,
            "names": self.business.names,
            "change_log": str(log if self.root == self.place else self.place) if log.is_file() else None,
        }

    def default_recipe(self) -> str:
        """An extract needs none: only where its keys are known by, and its zone."""
        return f'[target]\nexternal_system = "{EXTERNAL_SYSTEM}"\nzone = "{self._zone}"\nclose = true\n'

    def proposal(self, tell: Listener) -> str:
        """The same: what an extract holds is fixed."""
        return self.default_recipe()


def _parsed(structure: Path) -> Iterator[Unit]:
    with closing(SeenInDatabase()) as seen:
        yield from units(structure, seen.first)


class ExtractMapper:
    """Hands on the entities that an extract fixes."""

    def __init__(self, source: ExtractSource) -> None:
        self._source = source

    @property
    def new_codes(self) -> Mapping[str, Mapping[str, object]]:
        """The codes met so far that are in no list of the model, by list; grows while records are read."""
        return self._source.codes.new

    def needs(self) -> Mapping[str, object]:
        """What the archive must have before the load, once all records were read."""
        return self._source.needs()

    def targets(self) -> tuple[Entity, ...]:
        """Nothing: what records hang under comes with them."""
        return ()

    def map(self, record: SourceRecord) -> Mapped | SetAside | Skipped:
        """The record's entities, with what is known of its contents by now."""
        found = record.fields[_ENTITIES]
        assert isinstance(found, tuple)  # noqa: S101  # as records() made it
        if record.contents is record.fields[_CONTENTS]:  # as they were read
            return Mapped(record.key, found, record.notes, record.key)
        known = {content.locator: content for content in record.contents}
        entities = tuple(
            replace(one, content=known[one.content.locator]) if one.content is not None else one for one in found
        )
        return Mapped(record.key, entities, record.notes, record.key)


class _Walk:
    """Turns units into items."""

    def __init__(self, maker: Maker, spine: Spine) -> None:
        self._maker = maker
        self._spine = spine
        self._told = Told()

    def items(self, unit: Unit) -> Iterator[SourceItem]:
        """What one unit becomes."""
        if unit.kind not in ("mappe", "registrering"):
            yield from _groundwork(self._of_spine(lambda: list(self._spine.take(unit, self._told)), unit))
            return
        if not self._spine.settled:
            yield from _groundwork(self._of_spine(lambda: list(self._spine.before(unit, self._told)), unit))
        told, self._told = self._told, Told()
        try:
            if unit.kind == "mappe":
                klasse, own = self._spine.class_of(unit, told)
                yield from _groundwork(own)
                entities = self._maker.folder(unit, klasse, told)
            else:
                entities = self._maker.record(unit, told)
        except Untakable as fault:
            yield SetAside(unit.key, fault.code, {"key": unit.key, **fault.data, "line": unit.line})
            return
        contents = tuple(one.content for one in entities if one.content is not None)
        created = entities[0].fields.get("opprettetDato")
        fields: dict[str, object] = {_ENTITIES: entities, _CONTENTS: contents, "created": created}
        yield SourceRecord(unit.type or unit.kind, unit.key, fields, contents, told.notes())

    def rest(self) -> Iterator[SourceItem]:
        """What waited for more that never came."""
        yield from _groundwork(list(self._spine.finish(self._told)))

    def _of_spine(self, make: Callable[[], T], unit: Unit) -> T:
        try:
            return make()
        except Untakable as fault:
            raise PackageFault(where=unit.key, why=str(fault.data.get("why", "")), line=unit.line) from fault


def _groundwork(entities: list[Entity] | tuple[Entity, ...]) -> Iterator[SourceItem]:
    for start in range(0, len(entities), _ROOM):
        yield Groundwork(tuple(entities[start : start + _ROOM]))
