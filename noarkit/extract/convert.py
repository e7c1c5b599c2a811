"""Converts packages, folders and files from one form to another, without an archive between.

    convert(Path("case-files"), Path("delivery.zip"), Wanted("eark-sip"))

Files are carried over as they are, copied and hashed in one pass; the package appears whole or not at all, and the same
call after a kill goes on. A bag takes a package as it stands, so that nothing of it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from noarkit.errors import ItemNotAFile, PackageFault, SourceFault, UsageFault
from noarkit.events import Listener, nobody
from noarkit.extract.payload import NOT_CARRIED, Description, Part, Payload, payload_of
from noarkit.packages.dias.order import DiasOrder, Party, read_order
from noarkit.packages.eark.order import (
    Agent,
    EarkFile,
    EarkOrder,
    MetadataFile,
    Representation,
    contact,
    creator,
    preservation,
)
from noarkit.packages.eark.order import submitter as submitting
from noarkit.packages.eark.spec import Kind
from noarkit.packages.holding.building import File
from noarkit.packages.holding.making import Made, Order, make_package
from noarkit.safe.csv_files import write_csv
from noarkit.safe.unpack import LIMITS, UnpackLimits

BAG, NOARK = "bagit", "noark5"
TARGETS = ("eark-sip", "eark-aip", "eark-dip", "dias-sip", "dias-aip", BAG, NOARK)
"""What anything can be converted to; `noark5` is what lies in a package, taken out of it."""
PACKED_EXTRACTS = tuple(form for form in TARGETS if form != NOARK)
_KINDS: Mapping[str, Kind] = MappingProxyType({"eark-sip": "sip", "eark-aip": "aip", "eark-dip": "dip"})
# a bag holds any other package as it stands; of these it holds what lies in them
_UNWRAPPED = frozenset({"bagit", "siard"})
_CONTENT_TYPES = {
    "noark5": ("OTHER", "Noark 5", "Databases"),
    "siard": ("citssiard_v1_0", "", "Databases"),
    "files": ("OTHER", "", "Mixed"),
}


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """The options of a conversion. `package` is a `package.toml`; without one the stated defaults hold."""

    form: str
    package: Path | None = None
    limits: UnpackLimits = LIMITS


@dataclass(frozen=True, slots=True)
class Converted:
    """The package that was made, of how many files of its source, and the form these came in. `defaults` where it says
    of its parties only that they are not stated. `set_aside` counts what stands in the source and is no file: pipes,
    sockets and devices; of a SIARD archive, what it lacks. `PKG.set-aside.csv` lists them. `as_text` names columns of a
    database that hold what their types in SIARD cannot, and became texts or bytes."""

    package: Path
    source_form: str
    files: int
    bytes: int
    resumed: bool
    defaults: bool
    set_aside: int = 0
    as_text: tuple[str, ...] = ()


def convert(source: Path, target: Path, options: ConvertOptions, *, emit: Listener = nobody) -> Converted:
    """Makes the package `target` of what `source` holds.

    Raises `UsageFault` where `target` is there or the form is unknown, `PackageFault` for what cannot be carried or
    a file that cannot be taken (what was done is kept for the next call), and whatever `safe` refuses of the source.
    """
    if options.form not in TARGETS:
        raise UsageFault(what="unknown-form", where=options.form, do=", ".join(TARGETS))
    _refuse_target_inside_source(source, target)
    counter = _FileCounter()
    with payload_of(source, options.limits, emit) as payload:
        counting = replace(payload, parts=tuple(map(counter.part, payload.parts)), whole=counter.part(payload.whole))
        try:
            package = _WRITERS[options.form](counting, target, options, emit)
        except SourceFault as fault:
            if fault.exit_code != SourceFault.exit_code:
                raise
            # a load sets one file aside and goes on; a package that lacks a file is none
            raise PackageFault(where=fault.data.get("key"), why=fault.data.get("why"), detail=fault.code) from fault
    left_behind = _set_aside(payload, options.form)
    if left_behind:
        rows = (
            (name, "" if kind == NOT_CARRIED else ItemNotAFile.code, kind) for name, kind in sorted(left_behind.items())
        )
        write_csv(set_aside_path(target), ("key", "code", "kind"), rows)
    defaults = options.package is None and options.form != NOARK
    aside = len(left_behind)
    return Converted(package.path, payload.form, counter.files, counter.bytes, package.resumed, defaults, aside)


def _set_aside(payload: Payload, form: str) -> Mapping[str, str]:
    """What the new package does not hold, with its kind; a bag takes other packages whole."""
    if form == BAG and payload.form not in _UNWRAPPED:
        return {name: kind for name, kind in payload.set_aside.items() if kind != NOT_CARRIED}
    return payload.set_aside


def set_aside_path(target: Path) -> Path:
    """Where the list of what was set aside stands."""
    return target.parent / f"{target.name}.set-aside.csv"


class _FileCounter:
    """Counts what is carried over; what a form adds of its own is no part of it."""

    def __init__(self) -> None:
        self.files = 0
        self.bytes = 0

    def part(self, part: Part) -> Part:
        """The same part, counted as it is gone through."""
        return replace(part, files=lambda: self._count_files(part))

    def _count_files(self, part: Part) -> Iterator[File]:
        for file in part.files():
            self.files += 1
            self.bytes += file[2] or 0
            yield file


def _refuse_target_inside_source(source: Path, target: Path) -> None:
    """Refuses a target inside its own source, which would be packed into itself."""
    if source.is_dir() and target.absolute().parent.resolve().is_relative_to(source.resolve()):
        raise UsageFault(what="inside-source", where=str(target))


def _bag(payload: Payload, target: Path, options: ConvertOptions, emit: Listener) -> Made:
    from noarkit.packages.bagit.write import BagFile, BagOrder, make_bag

    # what was a bag gets a new one; any other package goes into it whole
    folder = "" if payload.form in ("plain", "bagit", "noark5", "siard") else f"{payload.title}/"
    carried_part = payload.whole if payload.form not in _UNWRAPPED else None
    files = carried_part.files if carried_part is not None else lambda: _join_parts(payload.parts)
    return make_bag(
        (BagFile(folder + name, source, size, stamp) for name, source, size, stamp in files()),
        target,
        BagOrder(info=_bag_info(read_order(options.package))),
        tell=emit,
    )


def _bag_info(order: DiasOrder) -> tuple[tuple[str, str], ...]:
    organisation = order.submitter or next(iter(order.creators), None)
    labels = [
        ("Source-Organization", organisation.name if organisation else ""),
        ("External-Description", order.description),
        ("External-Identifier", order.agreement),
    ]
    for person in organisation.people if organisation else ():
        labels += [("Contact-Name", person.name), ("Contact-Phone", person.phone), ("Contact-Email", person.email)]
    return tuple((label, value) for label, value in labels if value)


def _eark(payload: Payload, target: Path, options: ConvertOptions, emit: Listener) -> Made:
    from noarkit.packages.eark.write import make_eark

    parts = (_representation(part, payload) for part in payload.parts)
    names = {part.name for part in payload.parts}
    descriptions = [description for description in payload.descriptions if description.part not in names]
    order = replace(_eark_order(options), metadata=_metadata(descriptions), documentation=_documentation(descriptions))
    return make_eark(parts, target, order, tell=emit)


def _representation(part: Part, payload: Payload) -> Representation:
    kind, other_type, category = _CONTENT_TYPES[part.content]
    files = (EarkFile(name, source, size, stamp) for name, source, size, stamp in part.files())
    descriptions = [description for description in payload.descriptions if description.part == part.name]
    return Representation(
        part.name,
        files,
        kind,
        other_type,
        category,
        metadata=_metadata(descriptions),
        documentation=_documentation(descriptions),
    )


def _metadata(descriptions: Sequence[Description]) -> tuple[MetadataFile, ...]:
    return tuple(
        MetadataFile(name, source, folder=description.kind, size_bytes=size, stamp=stamp)
        for description in descriptions
        if description.kind != "documentation"
        for name, source, size, stamp in [description.file]
    )


def _documentation(descriptions: Sequence[Description]) -> tuple[EarkFile, ...]:
    return tuple(EarkFile(*description.file) for description in descriptions if description.kind == "documentation")


def _eark_order(options: ConvertOptions) -> EarkOrder:
    order = read_order(options.package)
    label = order.label if options.package is not None and order.label != DiasOrder().label else ""
    return EarkOrder(
        kind=_KINDS[options.form],
        label=label,
        agents=tuple(_agents(order)),
        agreement=order.agreement,
        reference_code=order.reference_code,
        record_status=order.record_status if options.form == "eark-sip" and options.package is not None else "",
    )


def _agents(order: DiasOrder) -> Iterator[Agent]:
    for person_entry in order.creators:
        yield creator(person_entry.name, person_entry.identification)
    if order.submitter is not None:
        yield submitting(order.submitter.name, order.submitter.identification)
    parties = (order.submitter, order.producer, *order.creators, *order.owners)
    for person in (person for party in parties if isinstance(party, Party) for person in party.people):
        yield contact(person.name, person.phone, person.email)
    if order.recipient is not None:
        yield preservation(order.recipient.name, order.recipient.identification)


def _dias(payload: Payload, target: Path, options: ConvertOptions, emit: Listener) -> Made:
    from noarkit.packages.dias.write import make_dias

    order = read_order(options.package, type=options.form.removeprefix("dias-").upper())
    if options.package is None and not any(part.content == "noark5" for part in payload.parts):
        order = replace(order, label=payload.title)
    return make_dias(_join_parts(payload.parts), target, order, tell=emit)


def _noark_extract(payload: Payload, target: Path, options: ConvertOptions, emit: Listener) -> Made:
    """A Noark 5 extract as it lay in a package."""
    extracts = [part for part in payload.parts if part.content == "noark5"]
    if len(extracts) != 1:
        raise PackageFault(where=payload.title, why="no-extract-inside" if not extracts else "several-packages")
    return make_package(extracts[0].files(), Order(target, f"noark5 {payload.title}"), lambda *_: None, tell=emit)


def _join_parts(parts: tuple[Part, ...]) -> Iterator[File]:
    """The files of all parts; those of several each below the name of their own."""
    for part in parts:
        above = f"{part.name}/" if len(parts) > 1 else ""
        for name, source, size, stamp in part.files():
            yield above + name, source, size, stamp


_Writer = Callable[[Payload, Path, ConvertOptions, Listener], Made]
_WRITERS: Mapping[str, _Writer] = MappingProxyType(
    {**dict.fromkeys(_KINDS, _eark), "dias-sip": _dias, "dias-aip": _dias, BAG: _bag, NOARK: _noark_extract}
)
