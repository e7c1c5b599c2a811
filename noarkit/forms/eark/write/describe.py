"""Writes what tells of a package once its files stand: PREMIS and METS of each representation, then of the whole."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.forms.container.packager import Build
from noarkit.forms.container.progress import Progress
from noarkit.forms.eark import spec
from noarkit.forms.eark.write.listing import Facts, Listing, PackageFile
from noarkit.forms.eark.write.markup import moment
from noarkit.forms.eark.write.mets import ID_PREFIX, Group, Heading, MetsMetadata, mets, software
from noarkit.forms.eark.write.order import EarkOrder, MetadataFile, Representation
from noarkit.forms.eark.write.premis import PremisHeading, file_id, premis
from noarkit.forms.metadata.model import Event, History
from noarkit.forms.metadata.provenance import event_identifier, software_agent
from noarkit.version import __version__

DERIVED_FROM = "DERIVEDFROM"
_PREMIS = ("PREMIS", "3.0")


class Describer:
    """Describes one package. Nothing it writes depends on when or how often it is asked."""

    def __init__(self, order: EarkOrder, parts: tuple[Representation, ...], facts: Facts, version: str) -> None:
        self._order = order
        self._parts = parts
        self._facts = facts
        self._version = version

    def describe(self, build: Build, progress: Progress, created: str) -> None:
        """Writes all of it."""
        listing = Listing(progress, self._facts, created)
        self._identify(listing)
        for number, part in enumerate(self._parts, 1):
            self._representation(build, listing, part, (number, created))
        own: list[PackageFile] = []
        if self._order.premis:
            premis_heading = PremisHeading(
                self._order.object_id,
                "intellectualEntity",
                created,
                self._version,
                "../../",
                _history(self._order),
                tuple(part.name for part in self._parts),
                sources=self._order.derived_from,
                conversion=self._order.conversion,
            )
            place = _premis_place(self._order.metadata)
            build.tag(place, premis(premis_heading, (), self._order.checksum, ID_PREFIX))
            own.append(listing.written_file(place, md=_PREMIS))
        metadata = _mets_metadata(listing, "", own)
        heading = self._heading(created)
        build.tag(spec.METS_FILE, mets(heading, metadata, self._groups(listing), self._order.checksum))

    def _identify(self, listing: Listing) -> None:
        """Tells the derivations what PREMIS calls the files of every representation."""
        if self._order.derivations is None:
            return
        for number, part in enumerate(self._parts, 1):
            files = listing.below(f"{spec.REPRESENTATIONS}/{part.name}/{spec.DATA}")
            for file_number, file in enumerate(files, 1):
                self._order.derivations.identify(file.name, file_id(_prefix(number), file_number), file.digest)

    def _representation(self, build: Build, listing: Listing, part: Representation, numbered: tuple[int, str]) -> None:
        number, created = numbered
        base = f"{spec.REPRESENTATIONS}/{part.name}/"
        prefix = _prefix(number)
        own: list[PackageFile] = []
        if self._order.premis:
            premis_heading = PremisHeading(
                part.name,
                "representation",
                created,
                self._version,
                "../../../../",
                part_of=self._order.object_id,
                derivations=self._order.derivations,
                base=base,
                made_of=part.made_of,
                made_into=tuple(other.name for other in self._parts if part.name in other.made_of),
            )
            files = listing.below(base + spec.DATA, base)
            place = base + _premis_place(part.metadata)
            build.tag(place, premis(premis_heading, files, self._order.checksum, prefix))
            own.append(listing.written_file(place, base, _PREMIS))
        metadata = _mets_metadata(listing, base, own)
        heading = self._heading(created, part, prefix)
        groups = _own_groups(listing, base)
        build.tag(base + spec.METS_FILE, mets(heading, metadata, groups, self._order.checksum, part.kind))

    def _heading(self, created: str, part: Representation | None = None, prefix: str = ID_PREFIX) -> Heading:
        order = self._order
        agents = (software(self._version), *(order.agents if part is None else ()))
        return Heading(
            object_id=order.object_id if part is None else part.name,
            label=order.label if part is None else part.label,
            category=order.category if part is None else part.category or order.category,
            content_type=order.content_type if part is None else part.content_type,
            other_content_type=order.other_content_type if part is None else part.other_content_type,
            other_category=order.other_category if part is None or not part.category else "",
            profile=order.profile,
            created=created,
            package_type=order.kind.upper(),
            record_status=order.record_status if part is None else "",
            agents=agents,
            record=tuple(_records(order)) if part is None else (),
            above="" if part is None else "../../",
            prefix=prefix,
            mime_compat=order.mime_compat,
        )

    def _groups(self, listing: Listing) -> Iterator[Group]:
        for label, folder in ((spec.LABEL_DOCUMENTATION, spec.DOCUMENTATION), (spec.LABEL_SCHEMAS, spec.SCHEMAS)):
            if listing.any_below(folder):
                yield Group(label, listing.below(folder))
        for part in self._parts:
            place = f"{spec.REPRESENTATIONS}/{part.name}/{spec.METS_FILE}"
            yield Group(
                f"{spec.LABEL_REPRESENTATIONS}/{part.name}",
                (listing.written_file(place),),
                part.content_type,
                part.other_content_type,
                place,
                self._order.kind == "aip",
            )


def _prefix(number: int) -> str:
    """What stands before the ids of a representation's files."""
    return f"{ID_PREFIX}rep{number}-"


def _own_groups(listing: Listing, base: str) -> Iterator[Group]:
    labels = (
        (spec.LABEL_DATA, spec.DATA),
        (spec.LABEL_DOCUMENTATION, spec.DOCUMENTATION),
        (spec.LABEL_SCHEMAS, spec.SCHEMAS),
    )
    for label, folder in labels:
        if listing.any_below(base + folder):
            yield Group(label, listing.below(base + folder, base))


def _mets_metadata(listing: Listing, base: str, own: list[PackageFile]) -> MetsMetadata:
    """What describes, and what tells of preservation, which other metadata counts to."""
    preserving = [*listing.below(base + spec.PRESERVATION, base), *listing.below(base + spec.OTHER_METADATA, base)]
    return MetsMetadata(tuple(listing.below(base + spec.DESCRIPTIVE, base)), (*own, *preserving))


def _premis_place(files: tuple[MetadataFile, ...]) -> str:
    """Where our own PREMIS goes, beside what was given."""
    used_names = {file.name for file in files if file.folder == "preservation"}
    names = (spec.PREMIS_FILE, *(f"premis-{number}.xml" for number in range(2, len(used_names) + 3)))
    return f"{spec.PRESERVATION}/{next(name for name in names if name not in used_names)}"


def _history(order: EarkOrder) -> History:
    """What was done before: as it was read from a source, and as the order says."""
    events = tuple(
        Event(
            event_identifier(order.object_id, f"{number} {event.type} {moment(event.when)}"),
            event.type,
            moment(event.when),
            event.detail,
            ((event.outcome, event.outcome_note),),
            (software_agent(__version__).identifier,),
        )
        for number, event in enumerate(order.events, 1)
    )
    return order.history.merge(History(events))


def _records(order: EarkOrder) -> Iterator[tuple[str, str]]:
    records = (
        ("SUBMISSIONAGREEMENT", (order.agreement,)),
        ("PREVIOUSSUBMISSIONAGREEMENT", order.previous_agreements),
        ("REFERENCECODE", (order.reference_code,)),
        ("PREVIOUSREFERENCECODE", order.previous_reference_codes),
        (DERIVED_FROM, order.derived_from),
    )
    for type_, values in records:
        for value in values:
            if value:
                yield type_, value
    yield from order.records
