"""An E-ARK package as a source of records, read where it lies: a folder, or a zip or tar that is not unpacked.

A Noark 5 extract that lies in a package is read as the extract it is. What the METS lists and is not there, or has
another size, is set aside; what is there and listed nowhere is taken, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from importlib import resources
from itertools import islice
from pathlib import Path

from noarkit.errors import (
    HostileInput,
    ItemChanged,
    ItemMalformed,
    ItemVanished,
    PackageFault,
    SourceFault,
    SourceGone,
)
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.packages.eark import spec
from noarkit.packages.eark.erms_read import Unit, is_erms, read_erms
from noarkit.packages.eark.inventory import Entry, representation_folder
from noarkit.packages.eark.read import EarkPackage, Part, is_eark, open_eark
from noarkit.packages.forms import Found, look
from noarkit.packages.holding.storage import open_storage
from noarkit.packages.noark5.spec import STRUCTURE
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.sources.eark.records import (
    APPENDIX_MISSING,
    UNLISTED,
    Frame,
    file_record,
    package_fields,
    part_fields,
    unit_record,
)
from noarkit.sources.eark.streams import PackageFiles
from noarkit.sources.eark.titles import Titles
from noarkit.sources.files.default import basic_string
from noarkit.sources.package import ExtractSource
from noarkit.sources.package.files import SeenInDatabase
from noarkit.sources.port import (
    ContentStream,
    Source,
    SourceIdentity,
    SourceItem,
    SourceRecord,
    encoding_setting,
    limits_of,
)
from noarkit.sources.recipe.proposal import observe, propose
from noarkit.sources.siard import find_siard

KIND = "eark"
SKIPPED_SCHEMA = "a schema of the package"
SKIPPED_ERMS = "an ERMS document, taken unit by unit"
SKIPPED_METADATA = "metadata of the package"
_TELL_EVERY = 10_000
_LOOKED_AT = 20_000
_LONGEST_SYSTEM = 200
_EXTRACT = re.compile(rf"{spec.REPRESENTATIONS}/[^/]+/{spec.DATA}/(?:content/)?{STRUCTURE}\.xml")


def find_eark(where: str, found: Found | None = None, limits: UnpackLimits = LIMITS) -> Source | None:
    """The package in a folder, zip or tar, or the Noark 5 extract in it; None where there is none.

    `found` is what a look at the path told. A package in a folder whose only content is a SIARD archive is read as
    that. Raises what `safe` refuses.
    """
    path = Path(where)
    if path.is_dir():
        return _in_folder(path) if is_eark(path) else None
    found = found or (look(path) if path.is_file() else None)
    if found is None or found.form != "eark" or found.packed is None:
        return None
    with closing(open_storage(path, limits)) as storage:
        holds = any(_EXTRACT.fullmatch(stored.name) for stored in storage.files())
    return ExtractSource(path) if holds else EarkSource(path, limits)


def reopen_eark(identity: SourceIdentity) -> EarkSource:
    """The package that a plan was made from. Raises `SourceGone`."""
    path = Path(identity.where)
    if not path.exists():
        raise SourceGone(where=identity.where, why="ENOENT")
    return EarkSource(path, limits_of(identity))


def _in_folder(path: Path) -> Source:
    below = path / spec.REPRESENTATIONS
    data = [one / spec.DATA for one in sorted(below.iterdir())] if below.is_dir() else []
    found = [place for one in data for place in (one, one / "content") if (place / f"{STRUCTURE}.xml").is_file()]
    if len(found) == 1:
        return ExtractSource(found[0])
    files = list(islice((one for place in data if place.is_dir() for one in place.iterdir()), 2))
    archive = find_siard(str(files[0])) if len(files) == 1 and files[0].is_file() else None
    return archive or EarkSource(path)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is at hand while one representation is read."""

    package: EarkPackage
    titles: Titles
    part: Part | None
    frame: Frame


class EarkSource:
    """A package at `path`: its folder, or its archive file."""

    def __init__(self, path: Path, limits: UnpackLimits = LIMITS) -> None:
        self._limits = limits
        self.path = path.absolute()
        self._files = PackageFiles(self.path)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `eark` and the place."""
        return SourceIdentity(KIND, str(self.path), encoding_setting(self._limits))

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        """Every file once, representation by representation; units of an ERMS document before its other files.

        Raises `SourceGone` where the package is not there, `PackageFault` and `UnsafeXml` where it cannot be read.
        """
        for count, item in enumerate(self._records(), start=1):
            yield item
            if count % _TELL_EVERY == 0:
                tell(Event("source_read", {"items": count}))

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a content by its locator. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        return self._files.open(content)

    def default_recipe(self) -> str:
        """Representations become Mapper, files become records; archive and creator are named as the package names
        them."""
        text = resources.files(__package__).joinpath("default-recipe.toml").read_text("utf-8")
        with self._opened() as package, closing(Titles()) as titles:
            titles.read(package)
            told = package_fields(package.root, titles.of(""))
            if any(part.content_type in spec.ERMS_TYPES for part in package.representations):
                maps = resources.files(__package__).joinpath("erms-maps.toml").read_text("utf-8")
                text = text.replace("[[map]]", f"{maps}[[map]]", 1)
        system, title = basic_string(self._system(str(told["id"]))), basic_string(str(told["title"] or "E-ARK"))
        text = text.replace('external_system = "eark"', f"external_system = {system}")
        text = text.replace('{ tittel = "E-ARK" }', f"{{ tittel = {title} }}")
        creator = basic_string(str(told["creator"] or "Ukjent"))
        return text.replace('arkivskaperNavn = "Ukjent"', f"arkivskaperNavn = {creator}")

    def proposal(self, tell: Listener) -> str:
        """A recipe fitted to the first records, ten thousands of them."""
        seen = (item for item in islice(self.records(tell), _LOOKED_AT) if isinstance(item, SourceRecord))
        with self._opened() as package:
            system = self._system(package.root.object_id)
        return propose(observe(seen), source_kind=KIND, external_system=system)

    def _system(self, object_id: str) -> str:
        return f"eark:{object_id or self.path.name}"[:_LONGEST_SYSTEM]

    def _opened(self) -> EarkPackage:
        if not self.path.exists():
            raise SourceGone(where=str(self.path), why="ENOENT")
        return open_eark(self.path, self._limits)

    def _records(self) -> Iterator[SourceItem]:
        with self._opened() as package, closing(Titles()) as titles:
            titles.read(package)
            whole = package_fields(package.root, titles.of(""))
            for part in package.representations:
                frame = Frame(whole, part_fields(part, titles.of(part.folder)), f"{part.folder}{spec.DATA}/")
                yield from self._part(_Reading(package, titles, part, frame))
            outside = {"name": "", "title": whole["title"], "content_type": "", "other_content_type": "", "kind": ""}
            yield from self._rest(_Reading(package, titles, None, Frame(whole, outside, "")))

    def _part(self, reading: _Reading) -> Iterator[SourceItem]:
        part = reading.part
        assert part is not None  # noqa: S101  # whoever asks has one
        with closing(SeenInDatabase()) as seen:
            for name in self._erms(reading, part):
                seen.first(name)
                yield from self._units(reading, name, seen)
            for entry in reading.package.files(part.name):
                if seen.first(entry.name):
                    yield self._listed(reading, entry, _role(entry.name, part.folder))
            for name, size in reading.package.unlisted_below(part.folder):
                if seen.first(name):
                    yield self._unlisted(reading, name, size)

    def _rest(self, reading: _Reading) -> Iterator[SourceItem]:
        """What belongs to no representation."""
        with closing(SeenInDatabase()) as seen:
            for entry in reading.package.files(""):
                if seen.first(entry.name):
                    yield self._listed(reading, entry, _role(entry.name, ""))
            for entry in reading.package.metadata():
                if seen.first(entry.name):
                    yield Skipped(entry.name, SKIPPED_METADATA)
        for name in reading.package.unlisted():
            if representation_folder(name) is None:
                yield self._unlisted(reading, name, reading.package.size_of(name) or 0)

    def _unlisted(self, reading: _Reading, name: str, size: int) -> SourceItem:
        """What is there and listed nowhere: taken, for it may be what somebody looks for."""
        if name in reading.package.documents:
            return Skipped(name, SKIPPED_METADATA)
        kind = _role(name, reading.part.folder if reading.part else "")
        if kind == "schema":
            return Skipped(name, SKIPPED_SCHEMA)
        return self._taken(reading, _unlisted(name), size, (kind, (UNLISTED,)))

    def _listed(self, reading: _Reading, entry: Entry, kind: str) -> SourceItem:
        if kind == "schema":
            return Skipped(entry.name, SKIPPED_SCHEMA)
        if entry.why:
            return SetAside(entry.name, ItemVanished.code, {"key": entry.href, "why": entry.why})
        size = reading.package.size_of(entry.name) or 0
        if entry.size_bytes is not None and entry.size_bytes != size:
            data = {"key": entry.name, "why": "size", "planned": entry.size_bytes, "found": size}
            return SetAside(entry.name, ItemChanged.code, data)
        return self._taken(reading, entry, size, (kind, ()))

    def _taken(self, reading: _Reading, entry: Entry, size: int, told: tuple[str, tuple[Note, ...]]) -> SourceItem:
        try:
            content = self._files.content(reading.package, entry, size)
        except SourceFault as fault:
            return SetAside(entry.name, fault.code, dict(fault.data))
        return file_record(told[0], reading.frame, entry, content, reading.titles.file(entry.name), told[1])

    def _erms(self, reading: _Reading, part: Part) -> list[str]:
        """The ERMS documents of a representation that says it has some: XML files directly in its data."""
        if part.content_type not in spec.ERMS_TYPES:
            return []
        found = []
        for entry in reading.package.files(part.name):
            inner = entry.name.removeprefix(reading.frame.base)
            if entry.why or "/" in inner or not inner.lower().endswith(".xml"):
                continue
            try:
                with reading.package.open(entry.name) as source:
                    if is_erms(source, entry.name):
                        found.append(entry.name)
            except (PackageFault, HostileInput):
                continue  # it is taken as the file it is
        return found

    def _units(self, reading: _Reading, name: str, seen: SeenInDatabase) -> Iterator[SourceItem]:
        """The units of a document. One that breaks off is set aside where it does; what was read of it stands."""
        where = f"{reading.package.where}/{name}"
        try:
            with reading.package.open(name) as source:
                for unit in read_erms(source, where):
                    yield from self._unit(reading, name, unit, seen)
        except PackageFault as fault:
            yield SetAside(name, ItemMalformed.code, {"key": name, **fault.data})
        else:
            yield Skipped(name, SKIPPED_ERMS)

    def _unit(self, reading: _Reading, name: str, unit: Unit, seen: SeenInDatabase) -> Iterator[SourceItem]:
        contents: list[Content] = []
        notes: list[Note] = []
        attached: list[SourceItem] = []
        for path, _ in unit.appendices:
            entry = _appendix(reading, name, path)
            if entry is None:
                notes.append(Note(APPENDIX_MISSING, {"name": path}))
                continue
            if not seen.first(entry.name):
                continue
            item = self._listed(reading, entry, "file")
            if isinstance(item, SourceRecord) and unit.kind == "record":
                contents.extend(item.contents)
            else:
                attached.append(item)
        yield unit_record(reading.frame, unit, tuple(contents), tuple(notes))
        yield from attached


def _appendix(reading: _Reading, name: str, path: str) -> Entry | None:
    found = reading.package.resolve(path, name[: name.rfind("/") + 1])
    if found.why:
        found = reading.package.resolve(path, reading.part.folder if reading.part else "")
    return None if found.why else reading.package.find(found.name) or _unlisted(found.name)


def _role(name: str, folder: str) -> str:
    """What a listed file is, by the folder it lies in."""
    first = name.removeprefix(folder).removeprefix(f"{spec.SUBMISSION}/").split("/", 1)[0].lower()
    return {spec.SCHEMAS: "schema", spec.DOCUMENTATION: "documentation"}.get(first, "file")


def _unlisted(name: str) -> Entry:
    return Entry(name, "", "", name, "", None, "", "", "", "", "", "", "", "", "", "")
