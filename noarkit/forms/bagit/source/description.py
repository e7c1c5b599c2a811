"""What describes a bag as records of their own: bag-info.txt with all it says, and every other tag file as it is.

Its lists of checksums are the bag's own, and are skipped by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from noarkit.errors import HostileInput, PackageFault
from noarkit.forms.bagit.read import Bag
from noarkit.forms.bagit.spec import DECLARATION, manifest_of
from noarkit.forms.container.plain_files import PlainFile, PlainRecords
from noarkit.forms.container.statements import Statement, read_statements
from noarkit.forms.metadata.descriptions import ArchiveDescription, DocumentSummary, summarise_document
from noarkit.graph.entity import SetAside, Skipped
from noarkit.records import SourceItem, SourceRecord
from noarkit.sources.files.names import key_of

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
