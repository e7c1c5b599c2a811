"""A Noark 5 extract as a source: folders and records are its records; what stands above them belongs to none.

The entities of a record are fixed by the extract; `ExtractMapper` hands them on. Codes and business fields that the
archive must have first are known when the extract was read to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from noarkit.errors import PackageFault, SourceGone
from noarkit.events import Listener
from noarkit.forms.noark5.child_process import iterate_in_child
from noarkit.forms.noark5.read.business import BusinessFields
from noarkit.forms.noark5.read.carrying import Carrier
from noarkit.forms.noark5.read.declarations import declared_groups, read_context
from noarkit.forms.noark5.read.entities import EntityBuilder, Untakable
from noarkit.forms.noark5.read.readers import ReaderCompiler
from noarkit.forms.noark5.read.spine import Spine
from noarkit.forms.noark5.read.structure import Unit, units
from noarkit.forms.noark5.read.targets import TargetsInFile
from noarkit.forms.noark5.read.unit_notes import UnitLocation, UnitNotes
from noarkit.forms.noark5.read.values import Codes
from noarkit.forms.noark5.source.around import skip_surrounding
from noarkit.forms.noark5.source.files import DocumentFiles
from noarkit.forms.noark5.source.packed import PackedFiles
from noarkit.forms.noark5.spec import CHANGE_LOG, DESCRIPTION, STRUCTURE
from noarkit.forms.noark5.write import unmapped, vsm
from noarkit.forms.package_form import DetectedForm
from noarkit.forms.recognition import detect_form, is_extract
from noarkit.graph.entity import Content, Entity, MappedRecord, SetAside, Skipped
from noarkit.records import ContentStream, Groundwork, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe.digest import Readable
from noarkit.safe.fixity import BY_EXTRACT
from noarkit.safe.paths import has_file
from noarkit.safe.spill import IDS_AT_HAND, KeySet
from noarkit.safe.worker_pool import can_use_workers
from noarkit.sources.item_stream import with_progress

KIND = "noark5"
EXTERNAL_SYSTEM = unmapped.OWN_SYSTEM
DEFAULT_ZONE = "Europe/Oslo"
LARGE_BYTES = 4 * 1024 * 1024
_ENTITIES = "entities"
_CONTENTS = "contents"
_ROOM = 1_000


def find_extract(where: str, detection: DetectedForm | None = None) -> ExtractSource | None:
    """The extract in a folder, zip or tar; None if there is none. Raises what `safe` refuses.

    `detection` is what a look at the path found.
    """
    path = Path(where)
    if path.is_dir():
        root = extract_root(path)
        return None if root is None else ExtractSource(root)
    detection = detection or (detect_form(path) if path.is_file() else None)
    return ExtractSource(path) if detection is not None and detection.form == "noark5" else None


class ExtractSource:
    """An extract in the folder that holds arkivstruktur.xml, or in an archive file.

    Times without offset are read in `zone`; a structure of `large_bytes` or more is parsed in a process beside this
    one. With `take_incomplete` a document whose file is missing or damaged, and a journal post without a party, are
    taken all the same. What the archive has no place for goes into its business-specific metadata, unless `carry` is
    False; grades and proofs of disposal only where `accepted` names them, for the archive does not act on them.
    """

    states_as = BY_EXTRACT

    def __init__(
        self,
        place: Path,
        zone: str = DEFAULT_ZONE,
        *,
        large_bytes: int = LARGE_BYTES,
        take_incomplete: bool = False,
        carry: bool = True,
        accepted: Collection[str] = (),
    ) -> None:
        self.place = place.absolute()
        self._zone = zone
        self._take_incomplete = take_incomplete
        self._carry = carry
        self._accepted = frozenset(accepted)
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
        settings: dict[str, object] = {"zone": self._zone}
        if self._take_incomplete:
            settings["take_incomplete"] = True
        if not self._carry:
            settings["carry"] = False
        if self._accepted:
            settings["accepted"] = sorted(self._accepted)
        return SourceIdentity(KIND, str(self.place), settings)

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every folder and record once, parents first, and before them what they stand in.

        Raises `SourceGone` where the extract is not there, `PackageFault` and `UnsafeXml` where it cannot be read.
        """
        structure = self.root / f"{STRUCTURE}.xml"
        if not structure.is_file():
            raise SourceGone(where=str(self.place), why="ENOENT")
        self.business = BusinessFields(declared_groups(self.root / vsm.SCHEMA_FILE, vsm.NAMESPACE))
        with KeySet(IDS_AT_HAND) as seen_ids, closing(TargetsInFile(structure)) as targets:
            readers = ReaderCompiler(ZoneInfo(self._zone), self.codes)
            maker = EntityBuilder(
                self._files,
                seen_ids,
                self.codes,
                self.business,
                readers,
                self._take_incomplete,
                Carrier(self.business, self._accepted) if self._carry else None,
                targets if self._carry else None,
            )
            walk = _Walk(maker, Spine(maker))
            for unit in with_progress(self._units(structure, seen_ids), emit):
                yield from walk.items(unit)
            yield from walk.finish()
        yield from self._of_the_package()
        yield from skip_surrounding(self._files.around())

    def _of_the_package(self) -> Iterator[SourceItem]:
        """What the description says of the package as a whole, which no archive unit can hold."""
        notes, where = UnitNotes(), UnitLocation("", DESCRIPTION, 0)
        try:
            for path, value in read_context(self.root / f"{DESCRIPTION}.xml"):
                notes.lose_text(where, path, value)
        except PackageFault as fault:
            notes.lose_text(where, "unreadable", str(fault.data.get("why", "")))
        yield from _groundwork([], notes)

    def _units(self, structure: Path, seen_ids: KeySet) -> Iterator[Unit]:
        if structure.stat().st_size < self._large_bytes or not can_use_workers():
            return units(structure, seen_ids.add)
        return map(Unit._make, iterate_in_child(lambda: _parse_units(structure), str(structure)))

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
        codes = {
            name: {code: list(values) for code, values in entries.items()} for name, entries in self.codes.new.items()
        }
        log = self.root / f"{CHANGE_LOG}.xml"
        return {
            "codes": codes,
            "groups": self.business.groups,
            "names": self.business.names,
            "change_log": str(log if self.root == self.place else self.place) if log.is_file() else None,
        }

    def default_recipe(self) -> str:
        """An extract needs none: only where its keys are known by, and its zone."""
        return f'[target]\nexternal_system = "{EXTERNAL_SYSTEM}"\nzone = "{self._zone}"\nclose = true\ncarry = true\n'

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """The same: what an extract holds is fixed."""
        return self.default_recipe()


def _parse_units(structure: Path) -> Iterator[Unit]:
    with KeySet(IDS_AT_HAND) as seen_ids:
        yield from units(structure, seen_ids.add)


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

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        """The record's entities, with what is known of its contents by now."""
        record_entities = record.fields[_ENTITIES]
        assert isinstance(record_entities, tuple)  # noqa: S101  # as records() made it
        if record.contents is record.fields[_CONTENTS]:  # as they were read
            return MappedRecord(record.key, record_entities, record.notes, record.key)
        content_by_locator = {content.locator: content for content in record.contents}
        entities = tuple(
            replace(entity, content=content_by_locator[entity.content.locator])
            if entity.content is not None
            else entity
            for entity in record_entities
        )
        return MappedRecord(record.key, entities, record.notes, record.key)


class _Walk:
    """Turns units into items."""

    def __init__(self, maker: EntityBuilder, spine: Spine) -> None:
        self._maker = maker
        self._spine = spine

    def items(self, unit: Unit) -> Iterator[SourceItem]:
        """What one unit becomes."""
        if unit.kind not in ("mappe", "registrering"):
            yield from self._of_spine(lambda told: list(self._spine.take(unit, told)), unit)
            return
        if not self._spine.is_settled:
            yield from self._of_spine(lambda told: list(self._spine.before(unit, told)), unit)
        notes = UnitNotes()
        self._spine.close(unit, notes)
        try:
            if unit.kind == "mappe":
                klasse, own = self._spine.class_of(unit, notes)
                yield from _groundwork(own, UnitNotes())
                entities = self._maker.folder(unit, klasse, notes)
            else:
                entities = self._maker.record(unit, notes)
        except Untakable as fault:
            yield SetAside(unit.key, fault.code, {"key": unit.key, **fault.data, "line": unit.line})
            return
        contents = tuple(entity.content for entity in entities if entity.content is not None)
        created = entities[0].fields.get("opprettetDato")
        fields: dict[str, object] = {_ENTITIES: entities, _CONTENTS: contents, "created": created}
        yield SourceRecord(unit.type or unit.kind, unit.key, fields, contents, notes.notes())

    def finish(self) -> Iterator[SourceItem]:
        """What waited for more that never came."""
        notes = UnitNotes()
        entities = list(self._spine.finish(notes))
        if self._maker.carrier is not None:
            self._maker.carrier.flush(notes)
        yield from _groundwork(entities, notes)

    def _of_spine(self, make: Callable[[UnitNotes], list[Entity]], unit: Unit) -> Iterator[SourceItem]:
        notes = UnitNotes()
        try:
            entities = make(notes)
        except Untakable as fault:
            raise PackageFault(where=unit.key, why=str(fault.data.get("why", "")), line=unit.line) from fault
        return _groundwork(entities, notes)


def _groundwork(entities: list[Entity] | tuple[Entity, ...], notes: UnitNotes) -> Iterator[SourceItem]:
    for start in range(0, len(entities), _ROOM):
        yield Groundwork(tuple(entities[start : start + _ROOM]))
    if note_tuple := notes.notes():
        yield Groundwork((), note_tuple)


_STRUCTURE_FILE = f"{STRUCTURE}.xml"


def extract_root(folder: Path) -> Path | None:
    """The folder that holds arkivstruktur.xml; None if there is none, or where several would do."""
    for place in (folder, folder / "content"):
        if _is_extract(place):
            return place
    try:
        below = [entry for entry in folder.iterdir() if entry.is_dir()]
    except OSError:
        return None
    roots = [place for subfolder in below for place in (subfolder, subfolder / "content") if _is_extract(place)]
    return roots[0] if len(roots) == 1 else None


def _is_extract(place: Path) -> bool:
    return has_file(place, _STRUCTURE_FILE) and is_extract(place)
