"""Makes a package of one form out of whatever another place holds: no archive stands between.

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
from noarkit.extract.payload import NOT_CARRIED, Part, Payload, Told, payload_of
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
class Wanted:
    """What a place is converted to. `package` is a `package.toml`; without one the stated defaults hold."""

    form: str
    package: Path | None = None
    limits: UnpackLimits = LIMITS


@dataclass(frozen=True, slots=True)
class Converted:
    """The package that was made, of how many files of its source, and the form these came in. `defaults` where it says
    of its parties only that they are not stated. `set_aside` counts what stands in the source and is no file: pipes,
    sockets and devices; of a SIARD archive, what it lacks. `PKG.set-aside.csv` lists them. `as_text` names columns of a
    database that hold what their types in SIARD cannot, and became texts or bytes; `left_out` what of a database SIARD
    has no place for, which is counted and listed as set aside."""

    package: Path
    source_form: str
    files: int
    bytes: int
    resumed: bool
    defaults: bool
    set_aside: int = 0
    as_text: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def convert(source: Path, target: Path, wanted: Wanted, *, tell: Listener = nobody) -> Converted:
    """Makes the package `target` of what `source` holds.

    Raises `UsageFault` where `target` is there or the form is unknown, `PackageFault` for what cannot be carried or
    a file that cannot be taken (what was done is kept for the next call), and whatever `safe` refuses of the source.
    """
    if wanted.form not in TARGETS:
        raise UsageFault(what="unknown-form", where=wanted.form, do=", ".join(TARGETS))
    _refuse_inside(source, target)
    counted = _Counted()
    with payload_of(source, wanted.limits, tell) as payload:
        counting = replace(payload, parts=tuple(map(counted.part, payload.parts)), whole=counted.part(payload.whole))
        try:
            made = _WRITERS[wanted.form](counting, target, wanted, tell)
        except SourceFault as fault:
            if fault.exit_code != SourceFault.exit_code:
                raise
            # a load sets one file aside and goes on; a package that lacks a file is none
            raise PackageFault(where=fault.data.get("key"), why=fault.data.get("why"), detail=fault.code) from fault
    left = _set_aside(payload, wanted.form)
    if left:
        rows = ((name, "" if kind == NOT_CARRIED else ItemNotAFile.code, kind) for name, kind in sorted(left.items()))
        write_csv(set_aside_path(target), ("key", "code", "kind"), rows)
    defaults = wanted.package is None and wanted.form != NOARK
    aside = len(left)
    return Converted(made.path, payload.form, counted.files, counted.bytes, made.resumed, defaults, aside)


def _set_aside(payload: Payload, form: str) -> Mapping[str, str]:
    """What the new package does not hold, with its kind; a bag takes other packages whole."""
    if form == BAG and payload.form not in _UNWRAPPED:
        return {name: kind for name, kind in payload.set_aside.items() if kind != NOT_CARRIED}
    return payload.set_aside


def set_aside_path(target: Path) -> Path:
    """Where the list of what was set aside stands."""
    return target.parent / f"{target.name}.set-aside.csv"


class _Counted:
    """Counts what is carried over; what a form adds of its own is no part of it."""

    def __init__(self) -> None:
        self.files = 0
        self.bytes = 0

    def part(self, part: Part) -> Part:
        """The same part, counted as it is gone through."""
        return replace(part, files=lambda: self._each(part))

    def _each(self, part: Part) -> Iterator[File]:
        for file in part.files():
            self.files += 1
            self.bytes += file[2] or 0
            yield file


def _refuse_inside(source: Path, target: Path) -> None:
    """A package within its own source would be taken into itself."""
    if source.is_dir() and target.absolute().parent.resolve().is_relative_to(source.resolve()):
        raise UsageFault(what="inside-source", where=str(target))


def _bag(payload: Payload, target: Path, wanted: Wanted, tell: Listener) -> Made:
    from noarkit.packages.bagit.write import BagFile, BagOrder, make_bag

    # what was a bag gets a new one; any other package goes into it whole
    folder = "" if payload.form in ("plain", "bagit", "noark5", "siard") else f"{payload.title}/"
    told = payload.whole if payload.form not in _UNWRAPPED else None
    files = told.files if told is not None else lambda: _together(payload.parts)
    return make_bag(
        (BagFile(folder + name, source, size, stamp) for name, source, size, stamp in files()),
        target,
        BagOrder(info=_bag_info(read_order(wanted.package))),
        tell=tell,
    )


def _bag_info(told: DiasOrder) -> tuple[tuple[str, str], ...]:
    organisation = told.submitter or next(iter(told.creators), None)
    labels = [
        ("Source-Organization", organisation.name if organisation else ""),
        ("External-Description", told.description),
        ("External-Identifier", told.agreement),
    ]
    for person in organisation.people if organisation else ():
        labels += [("Contact-Name", person.name), ("Contact-Phone", person.phone), ("Contact-Email", person.email)]
    return tuple((label, value) for label, value in labels if value)


def _eark(payload: Payload, target: Path, wanted: Wanted, tell: Listener) -> Made:
    from noarkit.packages.eark.write import make_eark

    parts = (_representation(part, payload) for part in payload.parts)
    names = {part.name for part in payload.parts}
    told = [one for one in payload.told if one.part not in names]
    order = replace(_eark_order(wanted), metadata=_metadata(told), documentation=_documentation(told))
    return make_eark(parts, target, order, tell=tell)


def _representation(part: Part, payload: Payload) -> Representation:
    kind, other, category = _CONTENT_TYPES[part.content]
    files = (EarkFile(name, source, size, stamp) for name, source, size, stamp in part.files())
    told = [one for one in payload.told if one.part == part.name]
    return Representation(
        part.name, files, kind, other, category, metadata=_metadata(told), documentation=_documentation(told)
    )


def _metadata(told: Sequence[Told]) -> tuple[MetadataFile, ...]:
    return tuple(
        MetadataFile(name, source, folder=one.kind, size_bytes=size, stamp=stamp)
        for one in told
        if one.kind != "documentation"
        for name, source, size, stamp in [one.file]
    )


def _documentation(told: Sequence[Told]) -> tuple[EarkFile, ...]:
    return tuple(EarkFile(*one.file) for one in told if one.kind == "documentation")


def _eark_order(wanted: Wanted) -> EarkOrder:
    told = read_order(wanted.package)
    label = told.label if wanted.package is not None and told.label != DiasOrder().label else ""
    return EarkOrder(
        kind=_KINDS[wanted.form],
        label=label,
        agents=tuple(_agents(told)),
        agreement=told.agreement,
        reference_code=told.reference_code,
        record_status=told.record_status if wanted.form == "eark-sip" and wanted.package is not None else "",
    )


def _agents(told: DiasOrder) -> Iterator[Agent]:
    for one in told.creators:
        yield creator(one.name, one.identification)
    if told.submitter is not None:
        yield submitting(told.submitter.name, told.submitter.identification)
    parties = (told.submitter, told.producer, *told.creators, *told.owners)
    for person in (person for party in parties if isinstance(party, Party) for person in party.people):
        yield contact(person.name, person.phone, person.email)
    if told.recipient is not None:
        yield preservation(told.recipient.name, told.recipient.identification)


def _dias(payload: Payload, target: Path, wanted: Wanted, tell: Listener) -> Made:
    from noarkit.packages.dias.write import make_dias

    order = read_order(wanted.package, type=wanted.form.removeprefix("dias-").upper())
    if wanted.package is None and not any(part.content == "noark5" for part in payload.parts):
        order = replace(order, label=payload.title)
    return make_dias(_together(payload.parts), target, order, tell=tell)


def _taken_out(payload: Payload, target: Path, wanted: Wanted, tell: Listener) -> Made:
    """A Noark 5 extract as it lay in a package."""
    extracts = [part for part in payload.parts if part.content == "noark5"]
    if len(extracts) != 1:
        raise PackageFault(where=payload.title, why="no-extract-inside" if not extracts else "several-packages")
    return make_package(extracts[0].files(), Order(target, f"noark5 {payload.title}"), lambda *_: None, tell=tell)


def _together(parts: tuple[Part, ...]) -> Iterator[File]:
    """The files of all parts; those of several each below the name of their own."""
    for part in parts:
        above = f"{part.name}/" if len(parts) > 1 else ""
        for name, source, size, stamp in part.files():
            yield above + name, source, size, stamp


_Writer = Callable[[Payload, Path, Wanted, Listener], Made]
_WRITERS: Mapping[str, _Writer] = MappingProxyType(
    {**dict.fromkeys(_KINDS, _eark), "dias-sip": _dias, "dias-aip": _dias, BAG: _bag, NOARK: _taken_out}
)
