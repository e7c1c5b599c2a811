"""Makes a package of one form out of whatever another place holds: no archive stands between.

    convert(Path("case-files"), Path("delivery.zip"), Wanted("eark-sip"))

Files are carried over as they are, copied and hashed in one pass; the package appears whole or not at all, and the same
call after a kill goes on. A bag takes a package as it stands, so that nothing of it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from noarkit.errors import PackageFault, SourceFault, UsageFault
from noarkit.events import Listener, nobody
from noarkit.extract.payload import Part, Payload, Told, payload_of
from noarkit.extract.renamed import BAG as BAG
from noarkit.extract.renamed import NOARK as NOARK
from noarkit.extract.renamed import Going, LeftOut, going, named, refuse, renamed, write_names
from noarkit.extract.renamed import set_aside_path as set_aside_path
from noarkit.packages.bagit.write import Blocks
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
from noarkit.packages.marks import Form
from noarkit.safe.unpack import LIMITS, UnpackLimits

TARGETS = ("eark-sip", "eark-aip", "eark-dip", "dias-sip", "dias-aip", BAG, NOARK)
"""What anything can be converted to; `noark5` is what lies in a package, taken out of it."""
PACKED_EXTRACTS = tuple(form for form in TARGETS if form != NOARK)
_KINDS: Mapping[str, Kind] = MappingProxyType({"eark-sip": "sip", "eark-aip": "aip", "eark-dip": "dip"})
_CONTENT_TYPES = {
    "noark5": ("OTHER", "Noark 5", "Databases"),
    "siard": ("citssiard_v1_0", "", "Databases"),
    "files": ("OTHER", "", "Mixed"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a place is converted to. `package` is a `package.toml`; without one the stated defaults hold. `source_form`
    is what the source is read as, whatever it looks like. `strict` makes nothing where a file had to be called
    otherwise or to be left out."""

    form: str
    package: Path | None = None
    limits: UnpackLimits = LIMITS
    source_form: Form | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Converted:
    """The package that was made, of how many files of its source, and the form these came in. `defaults` where it says
    of its parties only that they are not stated. `set_aside` counts what stands in the source and is no file (links,
    pipes, sockets and devices) or cannot be read; of a SIARD archive, what it lacks. `PKG.set-aside.csv` lists them.
    `renamed` counts files that are called otherwise in the package, which `PKG.names.csv` lists. `as_text` names
    columns of a database that hold what their types in SIARD cannot, and became texts or bytes."""

    package: Path
    source_form: str
    files: int
    bytes: int
    resumed: bool
    defaults: bool
    set_aside: int = 0
    as_text: tuple[str, ...] = ()
    renamed: int = 0


def convert(source: Path, target: Path, wanted: Wanted, *, tell: Listener = nobody) -> Converted:
    """Makes the package `target` of what `source` holds.

    Raises `UsageFault` where `target` is there or the form is unknown, `PackageFault` for what cannot be carried or
    a file that cannot be taken (what was done is kept for the next call), and whatever `safe` refuses of the source.
    """
    if wanted.form not in TARGETS:
        raise UsageFault(what="unknown-form", where=wanted.form, do=", ".join(TARGETS))
    _refuse_inside(source, target)
    counted = _Counted()
    with payload_of(source, wanted.limits, tell, form=wanted.source_form) as found, ExitStack() as stack:
        payload = named(found, wanted.form, target, stack)
        left = LeftOut(payload, wanted.form)
        if wanted.strict:
            refuse(source, target, payload, left)
        counting = replace(
            payload,
            parts=tuple(map(counted.part, payload.parts)),
            whole=counted.part(payload.whole),
            aside=None if wanted.strict else left,
        )
        try:
            made = _WRITERS[wanted.form](counting, target, wanted, tell)
        except SourceFault as fault:
            if fault.exit_code != SourceFault.exit_code:
                raise
            raise PackageFault(where=fault.data.get("key"), why=fault.data.get("why"), detail=fault.code) from fault
        aside, called = left.write(target), write_names(target, payload, wanted.form)
    defaults = wanted.package is None and wanted.form != NOARK
    files, octets = counted.files - left.files, counted.bytes - left.bytes
    return Converted(made.path, payload.form, files, octets, made.resumed, defaults, aside, renamed=called)


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
    files = (file for one in going(payload, BAG) for file in one.files())
    info, tags = _names_in_bag(payload)
    return make_bag(
        (BagFile(*file) for file in files),
        target,
        BagOrder(info=(*_bag_info(read_order(wanted.package)), *info), tags=tags),
        aside=payload.aside,
        tell=tell,
    )


def _names_in_bag(payload: Payload) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, bytes | Blocks], ...]]:
    """What a bag says of files that are called otherwise: an entry of its information, and a tag file."""
    from noarkit.packages.bagit.names import LABEL, ORIGINAL_NAMES, names_tag
    from noarkit.packages.bagit.spec import PAYLOAD

    def pairs() -> Iterator[tuple[str, str]]:
        return ((name.removeprefix(f"{PAYLOAD}/"), key) for name, key in renamed(payload, BAG))

    count = sum(1 for _ in pairs())
    if not count:
        return (), ()
    return ((LABEL, f"{ORIGINAL_NAMES} ({count})"),), ((ORIGINAL_NAMES, names_tag(pairs)),)


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
    return make_eark(parts, target, order, aside=payload.aside, tell=tell)


def _representation(part: Part, payload: Payload) -> Representation:
    kind, other, category = _CONTENT_TYPES[part.content]
    files = (EarkFile(*file, original_name=original) for file, original in part.called())
    told = [one for one in payload.told if one.part == part.name]
    return Representation(
        part.folder, files, kind, other, category, metadata=_metadata(told), documentation=_documentation(told)
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
    goes = going(payload, wanted.form)
    return make_dias(
        (file for one in goes for file in one.files()),
        target,
        order,
        original=lambda name: _original(goes, name),
        aside=payload.aside,
        tell=tell,
    )


def _original(goes: tuple[Going, ...], name: str) -> str:
    """The key of what a file was called, by its name below the content; empty where it still is."""
    for one in goes:
        if one.part.naming is not None and name.startswith(one.folder):
            found = one.part.naming.original(name.removeprefix(one.folder))
            return one.folder + found if found else ""
    return ""


def _taken_out(payload: Payload, target: Path, wanted: Wanted, tell: Listener) -> Made:
    """A Noark 5 extract as it lay in a package."""
    extracts = [part for part in payload.parts if part.content == "noark5"]
    if len(extracts) != 1:
        raise PackageFault(where=payload.title, why="no-extract-inside" if not extracts else "several-packages")
    files = (file for file, _ in extracts[0].called())
    return make_package(
        files, Order(target, f"noark5 {payload.title}", aside=payload.aside), lambda *_: None, tell=tell
    )


_Writer = Callable[[Payload, Path, Wanted, Listener], Made]
_WRITERS: Mapping[str, _Writer] = MappingProxyType(
    {**dict.fromkeys(_KINDS, _eark), "dias-sip": _dias, "dias-aip": _dias, BAG: _bag, NOARK: _taken_out}
)
