"""A DIAS package as a source, in its tar or unpacked: its extract, or each listed file of its content as a record.

Records have the fields that records of a file tree have, so that the same recipes fit, and `dias` besides: what the
package says of itself. The bytes of each must be what dias-mets.xml lists; a file that it does not list is set aside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from noarkit.errors import (
    ItemMalformed,
    ItemVanished,
    PackageFault,
    SourceGone,
)
from noarkit.events import Listener
from noarkit.forms.container.contents import PackageContents, open_named, refuse_damaged
from noarkit.forms.container.names import original_name
from noarkit.forms.container.plain_files import PlainFile, PlainRecords
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.inventory import Entry
from noarkit.forms.dias.read.located import locate
from noarkit.forms.dias.read.package import DiasPackage, open_dias
from noarkit.forms.dias.source.description import (
    BESIDE,
    archive_description,
    contradicted_documents,
    described_key,
    description_item,
    sealing_item,
)
from noarkit.forms.metadata.descriptions import with_descriptions
from noarkit.forms.noark5.source import ExtractSource
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.recipes.proposal import observe, propose
from noarkit.records import (
    DESPITE_DAMAGE,
    ContentStream,
    Source,
    SourceIdentity,
    SourceItem,
    SourceRecord,
    encoding_setting,
)
from noarkit.safe.fixity import BY_METS
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.sources.files.default import default_recipe
from noarkit.sources.files.names import key_of
from noarkit.sources.item_stream import sample_records, with_progress

KIND = "dias"
_ABOVE = f"{spec.CONTENT}/"
_STRUCTURE = f"{spec.CONTENT}/arkivstruktur.xml"
SKIPPED_SCHEMA = "a schema of the package"
UNLISTED = Note("W251")


def find_dias(where: str, limits: UnpackLimits = LIMITS) -> Source | None:
    """The extract in a package, or its content; None if there is no package. Raises what `safe` refuses, and
    `PackageFault` for a package that cannot be read, or where several lie in one folder."""
    path = Path(where)
    try:
        located = locate(path)
    except PackageFault as fault:
        if fault.data.get("why") in ("no-dias", "not-there"):
            return None
        raise
    if not located.is_tar:
        extract = located.place / spec.CONTENT
        return ExtractSource(extract) if (located.place / _STRUCTURE).is_file() else DiasSource(located.place)
    with open_dias(located.place, limits=limits, complete=False) as package:
        if located.description is None and package.size_of(spec.METS) is None:
            return None  # a tar of something else
        plain = package.storage.member(_STRUCTURE) is None
    return DiasSource(located.place, limits) if plain else ExtractSource(located.place)


class DiasSource:
    """The files of a package's content; `place` is its tar or its folder."""

    states_as = BY_METS

    def __init__(self, place: Path, limits: UnpackLimits = LIMITS, *, despite: bool = False) -> None:
        self._limits = limits
        self._despite = despite
        self.place = place.absolute()
        self._contents = PackageContents(self.place)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `dias`, and where it lies."""
        damaged = {DESPITE_DAMAGE: True} if self._despite else {}
        return SourceIdentity(KIND, str(self.place), {**damaged, **encoding_setting(self._limits)})

    def despite_damage(self) -> DiasSource:
        """The same package, with metadata taken as it is where a checksum contradicts it."""
        return DiasSource(self.place, self._limits, despite=True)

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every file of the content, by name. Raises `SourceGone`, and `PackageFault` for what cannot be read."""
        if not self.place.exists():
            raise SourceGone(where=str(self.place), why="ENOENT")
        with open_dias(self.place, limits=self._limits, complete=False) as package:
            if not self._despite:
                refuse_damaged(self.place, contradicted_documents(package))
            records = _records_of(package, self.place)
            yield from _descriptions(package, records)
            for entry in with_progress(package.entries(), emit):
                if entry.name.startswith(_ABOVE):
                    yield records.item(_listed_file(entry, package))
            for name in package.missing():
                key = _key(name)
                yield SetAside(key, ItemVanished.code, {"key": key})
            for name in package.unlisted():
                if name.startswith(_ABOVE):
                    yield _stray(package, records, name)

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a file by its locator. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        algorithm, _, locator = content.locator.split(":", 2)
        if algorithm == BESIDE:
            return open_named(self.place.parent, content, locator)
        return self._contents.open(content)

    def default_recipe(self) -> str:
        """That of a file tree: one record with one document and one version for every file; and one for each document
        that describes the package."""
        with open_dias(self.place, limits=self._limits, complete=False) as package:
            description = archive_description(package.header)
        return with_descriptions(default_recipe(KIND, self._system(), self._label()), description)

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """A recipe fitted to the first records, ten thousands of them."""
        return propose(
            observe(sample_records(self.records(emit))), source_kind=KIND, external_system=self._system(), lang=lang
        )

    def _label(self) -> str:
        with open_dias(self.place, limits=self._limits, complete=False) as package:
            return package.header.label or spec.uuid_in(package.header.object_id) or self.place.stem

    def _system(self) -> str:
        """A package is known by its UUID, wherever it lies."""
        with open_dias(self.place, limits=self._limits, complete=False) as package:
            uuid = spec.uuid_in(package.header.object_id)
        return f"{KIND}:{uuid or hashlib.sha256(str(self.place).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"


def _records_of(package: DiasPackage, place: Path) -> PlainRecords:
    header = package.header
    dias = {
        "uuid": spec.uuid_in(header.object_id),
        "type": header.type,
        "label": header.label,
        **{kind.lower(): value for kind, value in header.records if kind},
    }
    return PlainRecords(place, dias["label"] or place.stem, package.storage.open, {"dias": dias}, header.created)


def _descriptions(package: DiasPackage, records: PlainRecords) -> Iterator[SourceItem]:
    """Everything that is no content: schemas are skipped by name, the rest describes the package."""
    if (sealing := sealing_item(package)) is not None:
        yield sealing
    if package.size_of(spec.METS) is not None:
        yield description_item(package, records, _unlisted_file(spec.METS, package))
    for entry in package.entries():
        if not entry.name.startswith(_ABOVE):
            yield _description(package, records, _listed_file(entry, package))
    for name in package.unlisted():
        if not name.startswith(_ABOVE):
            item = _description(package, records, _unlisted_file(name, package))
            yield replace(item, notes=(*item.notes, UNLISTED)) if isinstance(item, SourceRecord) else item


def _description(package: DiasPackage, records: PlainRecords, file: PlainFile) -> SourceItem:
    if file.name.lower().endswith(".xsd"):
        return Skipped(described_key(file.name), SKIPPED_SCHEMA)
    return description_item(package, records, file)


def _stray(package: DiasPackage, records: PlainRecords, name: str) -> SourceItem:
    """A file of the content that nothing lists: taken with a note where the package has no METS, else set aside."""
    if package.size_of(spec.METS) is not None:
        return SetAside(_key(name), ItemMalformed.code, {"key": _key(name), "why": "not-listed"})
    item = records.item(replace(_unlisted_file(name, package), original_name=name.removeprefix(_ABOVE)))
    return replace(item, notes=(*item.notes, UNLISTED)) if isinstance(item, SourceRecord) else item


def _unlisted_file(name: str, package: DiasPackage) -> PlainFile:
    return PlainFile(name, name, package.size_of(name) or 0, name, package.storage.member(name), None, ":")


def _key(name: str) -> str:
    if not name.startswith(_ABOVE):
        return described_key(name)
    return key_of(name.removeprefix(_ABOVE).encode("utf-8", "surrogateescape"))


def _listed_file(entry: Entry, package: DiasPackage) -> PlainFile:
    sha256, proof = _proof(entry)
    member = package.storage.member(entry.name)
    original = original_name(entry.owner_id, entry.name.removeprefix(_ABOVE))
    return PlainFile(original, entry.name, entry.size_bytes, entry.name, member, sha256, proof)


def _proof(entry: Entry) -> tuple[str | None, str]:
    """The sha256 where it is told; else the checksum that is, to be made while reading."""
    algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
    if algorithm == "sha256":
        return entry.checksum, ":"
    return None, f"{algorithm}:{entry.checksum}" if algorithm else ":"
