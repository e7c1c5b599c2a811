"""A bag of plain files as a source: each listed file a record, whose bytes must be what the manifests say.

Records have the fields that records of a file tree have, so that the same recipes fit. What is listed and not there, or
there and not listed, is set aside. A bag in a zip or tar is read where it lies.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path

from noarkit.errors import (
    HostileInput,
    ItemChanged,
    ItemMalformed,
    ItemVanished,
    PackageFault,
    SourceGone,
)
from noarkit.events import Listener
from noarkit.forms.bagit.read import Bag, BagEntry, bag_info, contradicted_files, open_bag
from noarkit.forms.bagit.spec import DECLARATION, OXUM, hash_name, manifest_of, read_oxum
from noarkit.forms.container.contents import FileBytes, refuse_damaged
from noarkit.forms.container.digests import stamp_of
from noarkit.forms.container.locators import MemberReader, MemberStream
from noarkit.forms.container.plain_files import PlainFile, PlainRecords, open_below
from noarkit.forms.container.statements import Statement, read_statements
from noarkit.forms.container.storage import ArchiveStorage, open_storage
from noarkit.forms.metadata.descriptions import (
    ArchiveDescription,
    DocumentSummary,
    summarise_document,
    with_descriptions,
)
from noarkit.forms.recognition import detect_form
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.recipes.proposal import observe, propose
from noarkit.records import (
    DESPITE_DAMAGE,
    ContentStream,
    SourceIdentity,
    SourceItem,
    SourceRecord,
    encoding_setting,
)
from noarkit.safe.fixity import BY_MANIFEST, Fixity, checked
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.sources.files.default import default_recipe
from noarkit.sources.files.names import key_of, readable
from noarkit.sources.item_stream import sample_records, system_name, with_progress

KIND = "bag"


def find_bag(where: str) -> BagSource | None:
    """The bag at a path, in a folder, zip or tar; None for anything else. Raises what `safe` refuses."""
    path = Path(where)
    if not path.exists() or detect_form(path).form != "bagit":
        return None
    return BagSource(detect_form(path).root)


class BagSource:
    """The payload of a bag. `storage` is the archive file it lies in, where it was judged just now."""

    states_as = BY_MANIFEST

    def __init__(
        self,
        path: Path,
        storage: ArchiveStorage | None = None,
        *,
        despite: bool = False,
        limits: UnpackLimits = LIMITS,
    ) -> None:
        self.path = path.absolute()
        self._limits = limits
        self._despite = despite
        self._storage = storage
        self._finalizer = weakref.finalize(self, storage.close) if storage is not None else None
        self._located = MemberReader(self.path)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.path, self._despite, self._limits)

    @property
    def identity(self) -> SourceIdentity:
        """Kind `bag`, and where it lies."""
        damaged = {DESPITE_DAMAGE: True} if self._despite else {}
        return SourceIdentity(KIND, str(self.path), {**damaged, **encoding_setting(self._limits)})

    def despite_damage(self) -> BagSource:
        """The same bag, taken as it is."""
        return BagSource(self.path, despite=True, limits=self._limits)

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every file that the manifests list, by name. Raises `SourceGone`, and `PackageFault` for what is no bag,
        or one whose tag files are not what their manifests say."""
        return with_progress(self._records(emit), emit)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a file by its locator. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        algorithms, digests, locator = content.locator.split(":", 2)
        pairs = zip(algorithms.split(","), digests.split(","), strict=True)
        statements = [Fixity(algorithm, digest, by=BY_MANIFEST) for algorithm, digest in pairs]
        if self.path.is_dir():
            with open_below(self.path, locator) as file:
                yield checked(FileBytes(file, content), *statements)
        else:
            with self._located.open(locator) as packed:
                yield checked(MemberStream(packed, self._located, content.modified_ns), *statements)

    def default_recipe(self) -> str:
        """That of a file tree: one record with one document and one version for every file; and one for each document
        that describes the bag."""
        storage = self._storage or open_storage(self.path, self._limits, twins=True)
        try:
            description = archive_description(bag_info(storage))
        finally:
            if storage is not self._storage:
                storage.close()
        return with_descriptions(default_recipe(KIND, self._system(), self._name()), description)

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """A recipe fitted to the first records, ten thousands of them."""
        return propose(
            observe(sample_records(self.records(emit))), source_kind=KIND, external_system=self._system(), lang=lang
        )

    def _records(self, emit: Listener) -> Iterator[SourceItem]:
        if not self.path.exists():
            raise SourceGone(where=str(self.path), why="ENOENT")
        with (
            open_bag(self.path, limits=self._limits, storage=self._take_storage(), emit=emit) as bag,
            closing(bag.original_names()) as names,
        ):
            if not self._despite:
                refuse_damaged(self.path, contradicted_files(bag))
            yield from descriptions(bag, self.path)
            records = PlainRecords(
                self.path, self._name(), bag.open, {"bag": dict(bag.info)}, bag.value("Bagging-Date") or ""
            )
            octets, files, is_whole = 0, 0, True
            for entry in bag.entries(complete=False):
                octets, files = octets + (entry.size_bytes or 0), files + 1
                is_whole = is_whole and entry.size_bytes is not None
                yield _item(entry, bag, records, names(entry.name))
            for name in chain(bag.unlisted(), bag.unlistable()):
                key = key_of(os.fsencode(name))
                is_whole = False
                yield SetAside(key, ItemMalformed.code, {"key": key, "why": "unlisted"})
            # what is missing or too much is told by itself
            oxum = read_oxum(bag.value(OXUM) or "") if is_whole else None
            if oxum not in (None, (octets, files)):
                key = f"/{bag.declaration.info_name}#{OXUM}"
                data = {"key": key, "why": "payload-oxum", "planned": bag.value(OXUM), "found": f"{octets}.{files}"}
                yield SetAside(key, ItemChanged.code, data)

    def _take_storage(self) -> ArchiveStorage | None:
        """What was judged when the source was found serves once, where nobody touched the archive file since."""
        storage, self._storage = self._storage, None
        if self._finalizer is not None:
            self._finalizer.detach()
        if storage is not None and storage.stamp != stamp_of(self.path.stat()):
            storage.close()
            return None
        return storage

    def _name(self) -> str:
        return readable(self.path.name) or "/"

    def _system(self) -> str:
        return system_name(KIND, key_of(str(self.path).encode("utf-8", "surrogateescape")))


def _rebuild(path: Path, despite: bool, limits: UnpackLimits) -> BagSource:
    return BagSource(path, despite=despite, limits=limits)


def _item(entry: BagEntry, bag: Bag, records: PlainRecords, original_name: str) -> SourceItem:
    if entry.size_bytes is None:
        key = key_of(os.fsencode(original_name))
        return SetAside(key, ItemVanished.code, {"key": key})
    sha256, proof = _proof(entry)
    place, member = bag.locate(entry.name)
    return records.item(PlainFile(original_name, entry.name, entry.size_bytes, place, member, sha256, proof))


def _proof(entry: BagEntry) -> tuple[str | None, str]:
    """The sha256 where a manifest tells it; and what all others tell, to be computed while reading: names of algorithms
    and checksums, as in `md5,sha512:900150…,ddaf35…`."""
    digests = {name: digest for algorithm, digest in entry.digests.items() if (name := hash_name(algorithm))}
    sha256 = digests.pop("sha256", None)
    return sha256, f"{','.join(digests)}:{','.join(digests.values())}"


DESCRIPTION = "description"
SKIPPED_LIST = "a list of checksums, or the declaration, of the bag"
_IDENTIFIERS = ("external-identifier", "internal-sender-identifier", "bag-group-identifier")
_ROLES = {"source-organization": "Source-Organization", "contact-name": "Contact-Name"}


def descriptions(bag: Bag, place: Path) -> Iterator[SourceItem]:
    """Every tag file once."""
    records = PlainRecords(place, place.name, bag.open_tag, {"package": {"agents": agents_of(bag)}})
    for tag_file in bag.tag_files():
        key = f"/{key_of(tag_file.name.encode('utf-8', 'surrogateescape'))}"
        if tag_file.name == DECLARATION or ("/" not in tag_file.name and manifest_of(tag_file.name)):
            yield Skipped(key, SKIPPED_LIST)
            continue
        member = bag.tag_member(tag_file.name)
        item = records.item(
            PlainFile(tag_file.name, tag_file.name, tag_file.size_bytes, tag_file.name, member, None, ":")
        )
        yield _describe_item(bag, item, tag_file.name, key)


def archive_description(info: Sequence[tuple[str, str]]) -> ArchiveDescription:
    """What bag-info.txt says of the archive; the first of each label."""
    value_by_label = {label.casefold(): value for label, value in reversed(info)}
    return ArchiveDescription(
        creator=value_by_label.get("source-organization", ""),
        description=value_by_label.get("external-description", ""),
    )


def agents_of(bag: Bag) -> list[dict[str, str]]:
    """Those whom bag-info.txt names."""
    agents = ((_ROLES.get(label.casefold()), value) for label, value in bag.info)
    return [{"role": role, "type": "", "name": value, "id": ""} for role, value in agents if role and value]


def _describe_item(bag: Bag, item: SourceItem, name: str, key: str) -> SourceItem:
    if isinstance(item, SetAside):
        return SetAside(key, item.code, item.data)
    if not isinstance(item, SourceRecord):
        return item
    summary = _summary_of(bag, name)
    fields = {**item.fields, **summary.fields()}
    if name == bag.declaration.info_name:
        fields["identifiers"] = [
            {"system": label, "id": value} for label, value in bag.info if label.casefold() in _IDENTIFIERS
        ]
    return SourceRecord(DESCRIPTION, key, fields, item.contents, (*item.notes, *summary.notes(key)))


def _summary_of(bag: Bag, name: str) -> DocumentSummary:
    if name == bag.declaration.info_name:
        summary = summarise_document(Statement((label,), value) for label, value in bag.info)
        summary.form = "BagIt"
        return summary
    if not name.lower().endswith(".xml"):
        return DocumentSummary()
    try:
        with bag.open_tag(name) as source:
            return summarise_document(read_statements(source, f"{bag.where}: {name}"))
    except (PackageFault, HostileInput):
        return DocumentSummary()
