"""What describes a bag as records of their own: bag-info.txt with all it says, and every other tag file as it is.

Its lists of checksums are the bag's own, and are skipped by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from noarkit.errors import HostileInput, PackageFault
from noarkit.graph.entity import SetAside, Skipped
from noarkit.packages.bagit.read import Bag
from noarkit.packages.bagit.spec import DECLARATION, manifest_of
from noarkit.packages.holding.statements import Statement, read_statements
from noarkit.sources.descriptions import Told, Whole, told_by
from noarkit.sources.files.names import key_of
from noarkit.sources.plain import PlainFile, PlainRecords
from noarkit.sources.port import SourceItem, SourceRecord

DESCRIPTION = "description"
SKIPPED_LIST = "a list of checksums, or the declaration, of the bag"
_IDENTIFIERS = ("external-identifier", "internal-sender-identifier", "bag-group-identifier")
_ROLES = {"source-organization": "Source-Organization", "contact-name": "Contact-Name"}


def descriptions(bag: Bag, place: Path) -> Iterator[SourceItem]:
    """Every tag file once."""
    records = PlainRecords(place, place.name, bag.open_tag, {"package": {"agents": agents_of(bag)}})
    for stored in bag.tag_files():
        key = f"/{key_of(stored.name.encode('utf-8', 'surrogateescape'))}"
        if stored.name == DECLARATION or ("/" not in stored.name and manifest_of(stored.name)):
            yield Skipped(key, SKIPPED_LIST)
            continue
        member = bag.tag_member(stored.name)
        item = records.item(PlainFile(stored.name, stored.name, stored.size_bytes, stored.name, member, None, ":"))
        yield _described(bag, item, stored.name, key)


def whole_of(info: Sequence[tuple[str, str]]) -> Whole:
    """What bag-info.txt says of the archive; the first of each label."""
    told = {label.casefold(): value for label, value in reversed(info)}
    return Whole(creator=told.get("source-organization", ""), description=told.get("external-description", ""))


def agents_of(bag: Bag) -> list[dict[str, str]]:
    """Those whom bag-info.txt names."""
    found = ((_ROLES.get(label.casefold()), value) for label, value in bag.info)
    return [{"role": role, "type": "", "name": value, "id": ""} for role, value in found if role and value]


def _described(bag: Bag, item: SourceItem, name: str, key: str) -> SourceItem:
    if isinstance(item, SetAside):
        return SetAside(key, item.code, item.data)
    if not isinstance(item, SourceRecord):
        return item
    told = _told(bag, name)
    fields = {**item.fields, **told.fields()}
    if name == bag.declared.info_name:
        fields["identifiers"] = [
            {"system": label, "id": value} for label, value in bag.info if label.casefold() in _IDENTIFIERS
        ]
    return SourceRecord(DESCRIPTION, key, fields, item.contents, (*item.notes, *told.notes(key)))


def _told(bag: Bag, name: str) -> Told:
    if name == bag.declared.info_name:
        told = told_by(Statement((label,), value) for label, value in bag.info)
        told.form = "BagIt"
        return told
    if not name.lower().endswith(".xml"):
        return Told()
    try:
        with bag.open_tag(name) as source:
            return told_by(read_statements(source, f"{bag.where}: {name}"))
    except (PackageFault, HostileInput):
        return Told()
