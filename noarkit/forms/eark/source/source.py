"""An E-ARK package as a source of records, read where it lies: a folder, or a zip or tar that is not unpacked.

A Noark 5 extract that lies in a package is read as the extract it is. What the METS lists and is not there, or has
another size, is set aside; what is there and listed nowhere is taken, with a note.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from noarkit.errors import (
    HostileInput,
    ItemChanged,
    ItemMalformed,
    ItemUnreadable,
    ItemVanished,
    PackageFault,
    SourceFault,
    SourceGone,
)
from noarkit.events import Listener
from noarkit.forms.container.contents import PackageContents, refuse_damaged
from noarkit.forms.container.plain_files import path_fields
from noarkit.forms.container.storage import open_storage
from noarkit.forms.eark import spec
from noarkit.forms.eark.read.erms import Unit, is_erms, read_erms
from noarkit.forms.eark.read.inventory import Entry, representation_folder
from noarkit.forms.eark.read.package import EarkPackage, Part, is_eark, open_eark
from noarkit.forms.eark.source.derived import DerivedFiles
from noarkit.forms.eark.source.description import (
    DESCRIPTION,
    contradicted_documents,
    description_record,
    descriptions,
    unlisted_entry,
)
from noarkit.forms.eark.source.records import (
    APPENDIX_MISSING,
    UNLISTED,
    Frame,
    archive_description,
    file_record,
    package_fields,
    part_fields,
    unit_record,
)
from noarkit.forms.eark.source.shallow import NOT_FOLLOWED, ShallowFiles, is_shallow
from noarkit.forms.eark.source.streams import content_of
from noarkit.forms.eark.source.tables import SHAPES, TERM, PackedTables, archives_in, is_of_tables
from noarkit.forms.eark.source.titles import Titles
from noarkit.forms.metadata.descriptions import with_descriptions
from noarkit.forms.noark5.source import ExtractSource
from noarkit.forms.noark5.spec import STRUCTURE
from noarkit.forms.package_form import DetectedForm
from noarkit.forms.recognition import detect_form
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.recipes.proposal import observe, propose
from noarkit.recipes.toml_writer import basic_string
from noarkit.records import (
    DESPITE_DAMAGE,
    ENCODING,
    SHALLOW_ROOT,
    ContentStream,
    Source,
    SourceIdentity,
    SourceItem,
    SourceRecord,
    encoding_setting,
    limits_of,
)
from noarkit.safe.fixity import BY_METS
from noarkit.safe.spill import IDS_AT_HAND, KeySet
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.sources.database.documents import read_settings
from noarkit.sources.item_stream import sample_records, with_progress

KIND = "eark"
NOT_OPENED = "W254"
SKIPPED_SCHEMA = "a schema of the package"
SKIPPED_COPY = "an archival copy, read with its original"
_LONGEST_SYSTEM = 200
_OWN_SETTINGS = frozenset({"kind", TERM, SHAPES, DESPITE_DAMAGE, SHALLOW_ROOT, ENCODING})
_EXTRACT = re.compile(rf"{spec.REPRESENTATIONS}/[^/]+/{spec.DATA}/(?:content/)?{STRUCTURE}\.xml")


def find_eark(where: str, detection: DetectedForm | None = None, limits: UnpackLimits = LIMITS) -> Source | None:
    """The package in a folder, zip or tar, or the Noark 5 extract in it; None if there is none.

    `found` is what a look at the path told. Raises what `safe` refuses.
    """
    path = Path(where)
    if path.is_dir():
        return _in_folder(path) if is_eark(path) else None
    detection = detection or (detect_form(path) if path.is_file() else None)
    if detection is None or detection.form != "eark" or detection.packed is None:
        return None
    with closing(open_storage(path, limits)) as storage:
        has_extract = any(_EXTRACT.fullmatch(file.name) for file in storage.files())
    return ExtractSource(path) if has_extract else EarkSource(path, limits)


def reopen_eark(identity: SourceIdentity) -> EarkSource:
    """The package that a plan was made from. Raises `SourceGone`."""
    path = Path(identity.where)
    if not path.exists():
        raise SourceGone(where=identity.where, why="ENOENT")
    source = EarkSource(path, limits_of(identity)).fitted(identity.settings)
    if isinstance(below := identity.settings.get(SHALLOW_ROOT), str):
        source = source.reading_below(Path(below))
    return source.despite_damage() if identity.settings.get(DESPITE_DAMAGE) is True else source


def _in_folder(path: Path) -> Source:
    below = path / spec.REPRESENTATIONS
    data = [folder / spec.DATA for folder in sorted(below.iterdir())] if below.is_dir() else []
    extracts = [
        place for folder in data for place in (folder, folder / "content") if (place / f"{STRUCTURE}.xml").is_file()
    ]
    return ExtractSource(extracts[0]) if len(extracts) == 1 else EarkSource(path)


@dataclass(frozen=True, slots=True)
class _ReadContext:
    """What is at hand while one representation is read."""

    package: EarkPackage
    titles: Titles
    seen_names: KeySet
    part: Part | None
    frame: Frame
    derived: DerivedFiles


class EarkSource:
    """A package at `path`: its folder, or its archive file."""

    states_as = BY_METS

    def __init__(self, path: Path, limits: UnpackLimits = LIMITS) -> None:
        self._limits = limits
        self.path = path.absolute()
        self._files = PackageContents(self.path)
        self._tables: PackedTables | None = None
        self._despite = False
        self._shallow: ShallowFiles | None = None

    @property
    def identity(self) -> SourceIdentity:
        """Kind `eark`, the place, and which tables of a SIARD archive in it are read."""
        settings = self._tables.settings() if self._tables is not None else {}
        if self._despite:
            settings[DESPITE_DAMAGE] = True
        if self._shallow is not None:
            settings[SHALLOW_ROOT] = str(self._shallow.root)
        return SourceIdentity(KIND, str(self.path), {**settings, **encoding_setting(self._limits)})

    def fitted(self, settings: Mapping[str, object]) -> EarkSource:
        """The same package, with the tables of the SIARD archive that a recipe's `[source]` names."""
        table_settings = {name: value for name, value in settings.items() if name not in _OWN_SETTINGS}
        name, shapes = settings.get(TERM), settings.get(SHAPES)
        source = EarkSource(self.path, self._limits)
        if isinstance(name, str) and name:
            read_settings(table_settings)  # what is none is told before anything is read
            source._tables = PackedTables(
                self.path, name, table_settings, shapes if isinstance(shapes, Mapping) else None
            )
        source._shallow = self._shallow
        return source.despite_damage() if self._despite else source

    def reading_below(self, folder: Path) -> EarkSource:
        """The same package, with the files that its METS has outside of it, where they lie below this folder."""
        self._shallow = ShallowFiles(folder)
        return self

    def despite_damage(self) -> EarkSource:
        """The same package, with its metadata and a SIARD archive in it taken as they are."""
        self._despite = True
        if self._tables is not None:
            self._tables.despite_damage()
        return self

    def settle(self, folder: Path) -> None:
        """What is unpacked to be read is kept in this folder, of a run."""
        if self._tables is not None:
            self._tables.settle(folder)

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every file once, representation by representation; units of an ERMS document before its other files.

        Raises `SourceGone` where the package is not there, `PackageFault` and `UnsafeXml` where it cannot be read.
        """
        yield from with_progress(self._records(), emit)
        if self._tables is not None:
            yield from self._tables.records(emit)

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a content by its locator. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        if self._tables is not None and is_of_tables(content):
            return self._tables.open(content)
        if self._shallow is not None and is_shallow(content):
            return self._shallow.open(content)
        return self._files.open(content)

    def copies_inside(self) -> DerivedFiles:
        """The archival copies in the package, which are read with their originals."""
        derived = DerivedFiles()
        with self._open_package() as package:
            derived.read(package, self._files)
        return derived

    def default_recipe(self) -> str:
        """Representations become Mapper, files become records; archive and creator are named as the package names
        them."""
        text = resources.files(__package__).joinpath("default-recipe.toml").read_text("utf-8")
        with self._open_package() as package, closing(Titles()) as titles:
            archives = archives_in(package)
            titles.read(package)
            fields = package_fields(package.root, titles.of(""))
            if any(part.content_type in spec.ERMS_TYPES for part in package.representations):
                maps = resources.files(__package__).joinpath("erms-maps.toml").read_text("utf-8")
                text = text.replace("[[map]]", f"{maps}[[map]]", 1)
        system, title = basic_string(self._system(str(fields["id"]))), basic_string(str(fields["title"] or "E-ARK"))
        text = text.replace('external_system = "eark"', f"external_system = {system}")
        text = text.replace('{ tittel = "E-ARK" }', f"{{ tittel = {title} }}")
        return self._with_tables(with_descriptions(text, archive_description(fields)), archives)

    def _with_tables(self, text: str, archives: list[str]) -> str:
        """The recipe with rules for the tables of the SIARD archive in the package, where there is one alone."""
        recipe_parts = PackedTables(self.path, archives[0], {}, None).recipe() if len(archives) == 1 else None
        if recipe_parts is None:
            return text
        settings_text, rules = recipe_parts
        return text.replace(f'kind = "{KIND}"\n', f'kind = "{KIND}"\n{settings_text}', 1).rstrip() + f"\n\n{rules}"

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """A recipe fitted to the first records, ten thousands of them."""
        with self._open_package() as package:
            system = self._system(package.root.object_id)
        return propose(observe(sample_records(self.records(emit))), source_kind=KIND, external_system=system, lang=lang)

    def _system(self, object_id: str) -> str:
        return f"eark:{object_id or self.path.name}"[:_LONGEST_SYSTEM]

    def _open_package(self) -> EarkPackage:
        if not self.path.exists():
            raise SourceGone(where=str(self.path), why="ENOENT")
        return open_eark(self.path, self._limits)

    def _records(self) -> Iterator[SourceItem]:
        with self._open_package() as package, closing(Titles()) as titles, KeySet(IDS_AT_HAND) as seen_names:
            derived = DerivedFiles()
            derived.read(package, self._files)
            if not self._despite:
                refuse_damaged(self.path, contradicted_documents(package))
            titles.read(package)
            common_fields = package_fields(package.root, titles.of(""))
            outside = {
                "name": "",
                "title": common_fields["title"],
                "content_type": "",
                "other_content_type": "",
                "kind": "",
            }
            of_package = _ReadContext(package, titles, seen_names, None, Frame(common_fields, outside, ""), derived)
            for entry in descriptions(package):
                if seen_names.add(entry.name):
                    yield self._listed_item(of_package, entry, DESCRIPTION)
            for part in package.representations:
                frame = Frame(common_fields, part_fields(part, titles.of(part.folder)), f"{part.folder}{spec.DATA}/")
                yield from self._part(_ReadContext(package, titles, seen_names, part, frame, derived), part)
            yield from self._unassigned_files(of_package)

    def _part(self, context: _ReadContext, part: Part) -> Iterator[SourceItem]:
        for entry in self._erms(context, part):
            context.seen_names.add(entry.name)
            yield self._listed_item(context, entry, DESCRIPTION)
            yield from self._units(context, entry.name)
        for entry in context.package.files(part.name):
            if context.seen_names.add(entry.name):
                yield self._listed_item(context, entry, _role(entry.name, part.folder))
        for name, size in context.package.unlisted_below(part.folder):
            if context.seen_names.add(name):
                yield self._unlisted_item(context, name, size)

    def _unassigned_files(self, context: _ReadContext) -> Iterator[SourceItem]:
        """What belongs to no representation."""
        for entry in context.package.files(""):
            if context.seen_names.add(entry.name):
                yield self._listed_item(context, entry, _role(entry.name, ""))
        for name in context.package.unlisted():
            if representation_folder(name) is None and context.seen_names.add(name):
                yield self._unlisted_item(context, name, context.package.size_of(name) or 0)

    def _unlisted_item(self, context: _ReadContext, name: str, size: int) -> SourceItem:
        """What is there and listed nowhere: taken, for it may be what somebody looks for."""
        kind = _role(name, context.part.folder if context.part else "")
        if kind == "schema":
            return Skipped(name, SKIPPED_SCHEMA)
        return self._file_item(context, unlisted_entry(name), size, (kind, (UNLISTED,)))

    def _listed_item(self, context: _ReadContext, entry: Entry, kind: str) -> SourceItem:
        if kind == "schema":
            return Skipped(entry.name, SKIPPED_SCHEMA)
        if entry.why == "outside":
            return self._outside_item(context, entry, kind)
        if context.derived.is_copy(entry.name):
            return Skipped(entry.name, SKIPPED_COPY)
        if entry.why:
            return SetAside(entry.name, ItemVanished.code, {"key": entry.href, "why": entry.why})
        size = context.package.size_of(entry.name) or 0
        if entry.size_bytes is not None and entry.size_bytes != size:
            data = {"key": entry.name, "why": "size", "planned": entry.size_bytes, "found": size}
            return SetAside(entry.name, ItemChanged.code, data)
        return self._file_item(context, entry, size, (kind, ()))

    def _file_item(
        self, context: _ReadContext, entry: Entry, size: int, kind_and_notes: tuple[str, tuple[Note, ...]]
    ) -> SourceItem:
        try:
            content = content_of(self._files, context.package, entry, size)
        except SourceFault as fault:
            return SetAside(entry.name, fault.code, dict(fault.data))
        if kind_and_notes[0] == DESCRIPTION:
            return description_record(context.package, context.frame, entry, content)
        notes = kind_and_notes[1]
        if self._is_closed_archive(context, entry.name):
            notes = (*notes, Note(NOT_OPENED, {"field": _plan_of(entry.name.rpartition("/")[2])}))
        return file_record(kind_and_notes[0], context.frame, entry, content, context.titles.file(entry.name), notes)

    def _outside_item(self, context: _ReadContext, entry: Entry, kind: str) -> SourceItem:
        """What a shallow package has elsewhere: told with the way to it, or taken from the folder that may be read."""
        try:
            if self._shallow is None:
                raise ItemUnreadable(key=entry.href, why=NOT_FOLLOWED)
            content = self._shallow.content(entry)
        except SourceFault as fault:
            return SetAside(entry.href, fault.code, dict(fault.data))
        if entry.size_bytes not in (None, content.size_bytes):
            data = {"key": entry.href, "why": "size", "planned": entry.size_bytes, "found": content.size_bytes}
            return SetAside(entry.href, ItemChanged.code, data)
        notes = () if content.sha256 or not content.locator.startswith("outside:::") else (UNLISTED,)
        record = file_record(kind, context.frame, entry, content, "", notes)
        below = self._shallow.name_of(entry.href).split("/")
        return replace(record, fields={**record.fields, **path_fields(below)})

    def _is_closed_archive(self, context: _ReadContext, name: str) -> bool:
        """True for a SIARD archive whose tables this run does not read."""
        read = self._tables.name if self._tables is not None else ""
        return name.lower().endswith(".siard") and context.part is not None and name != read

    def _erms(self, context: _ReadContext, part: Part) -> list[Entry]:
        """The ERMS documents of a representation that says it has some: XML files directly in its data."""
        if part.content_type not in spec.ERMS_TYPES:
            return []
        entries = []
        for entry in context.package.files(part.name):
            inner = entry.name.removeprefix(context.frame.base)
            if entry.why or "/" in inner or not inner.lower().endswith(".xml"):
                continue
            try:
                with context.package.open(entry.name) as source:
                    if is_erms(source, entry.name):
                        entries.append(entry)
            except (PackageFault, HostileInput):
                continue  # it is taken as the file it is
        return entries

    def _units(self, context: _ReadContext, name: str) -> Iterator[SourceItem]:
        """The units of a document. Where it breaks off, the rest is set aside; what was read of it stands."""
        where = f"{context.package.where}/{name}"
        try:
            with context.package.open(name) as source:
                for unit in read_erms(source, where):
                    yield from self._unit(context, name, unit)
        except PackageFault as fault:
            yield SetAside(f"{name}#units", ItemMalformed.code, {"key": name, **fault.data})

    def _unit(self, context: _ReadContext, name: str, unit: Unit) -> Iterator[SourceItem]:
        contents: list[Content] = []
        notes: list[Note] = []
        attached: list[SourceItem] = []
        for path, _ in unit.appendices:
            entry = _appendix(context, name, path)
            if entry is None:
                notes.append(Note(APPENDIX_MISSING, {"name": path}))
                continue
            if not context.seen_names.add(entry.name):
                continue
            item = self._listed_item(context, entry, "file")
            if isinstance(item, SourceRecord) and unit.kind == "record":
                contents.extend(item.contents)
            else:
                attached.append(item)
        yield unit_record(context.frame, unit, tuple(contents), tuple(notes))
        yield from attached


def _appendix(context: _ReadContext, name: str, path: str) -> Entry | None:
    target = context.package.resolve(path, name[: name.rfind("/") + 1])
    if target.why:
        target = context.package.resolve(path, context.part.folder if context.part else "")
    return None if target.why else context.package.find(target.name) or unlisted_entry(target.name)


def _role(name: str, folder: str) -> str:
    """What a listed file is, by the folder it lies in."""
    first = name.removeprefix(folder).removeprefix(f"{spec.SUBMISSION}/").split("/", 1)[0].lower()
    return {spec.SCHEMAS: "schema", spec.DOCUMENTATION: "documentation"}.get(first, "file")


def _plan_of(name: str) -> str:
    """The command that plans an archive file once it lies on its own."""
    return shlex.join(("noarkit", "plan", name, "-o", f"{name.partition('.')[0]}-run"))
