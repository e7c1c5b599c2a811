"""Makes a package of one form out of whatever another place holds: no archive stands between.

    convert(Path("case-files"), Path("delivery.zip"), Wanted("eark-sip"))

Files are carried over as they are, copied and hashed in one pass; the package appears whole or not at all, and the same
call after a kill goes on. A bag takes a package as it stands, so that nothing of it is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.errors import ItemNotAFile, PackageFault, SourceFault, UsageFault
from noarkit.events import Listener, nobody
from noarkit.extract.packing import LOOSE, PACKERS, Delivery, metadata_for
from noarkit.extract.payload import EMPTY_FOLDER, NOT_CARRIED, Part, Payload, payload_of
from noarkit.extract.stated import describes
from noarkit.packages.holding.building import File
from noarkit.packages.holding.making import Made, Order, make_package
from noarkit.packages.metadata.provenance import Conversion
from noarkit.safe.csv_files import write_csv
from noarkit.safe.unpack import LIMITS, UnpackLimits

BAG, NOARK = "bagit", "noark5"
TARGETS = ("eark-sip", "eark-aip", "eark-dip", "dias-sip", "dias-aip", BAG, NOARK)
"""What anything can be converted to; `noark5` is what lies in a package, taken out of it."""
PACKED_EXTRACTS = tuple(form for form in TARGETS if form != NOARK)
_PLAIN_KINDS = (NOT_CARRIED, EMPTY_FOLDER)
_PACKAGES = frozenset({"eark", "dias", "bagit"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a place is converted to. `package` is a `package.toml`; without one the source and stated defaults tell.
    `checked` is the outcome where the source was held to its own checksums before, empty where nobody did."""

    form: str
    package: Path | None = None
    limits: UnpackLimits = LIMITS
    checked: str = ""


@dataclass(frozen=True, slots=True)
class Converted:
    """The package that was made, of how many files of its source, and the form these came in. `defaults` where it says
    of its parties only that they are not stated. `set_aside` counts what stands in the source and is no file: pipes,
    sockets and devices; of a SIARD archive, what it lacks. `PKG.set-aside.csv` lists them. `as_text` names columns of a
    database that hold what their types in SIARD cannot, and became texts or bytes. `empty_folders` are in the list,
    too, for no form holds them; `untold_events` stand in the source's own PREMIS alone, which goes along; `unread` are
    documents of the source that should say something and cannot be read."""

    package: Path
    source_form: str
    files: int
    bytes: int
    resumed: bool
    defaults: bool
    set_aside: int = 0
    as_text: tuple[str, ...] = ()
    empty_folders: int = 0
    untold_events: int = 0
    unread: tuple[str, ...] = ()


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
            if wanted.form == NOARK:
                made = _taken_out(counting, target, tell)
            else:
                made = PACKERS[wanted.form](_delivery(counting, target, wanted, tell))
        except SourceFault as fault:
            if fault.exit_code != SourceFault.exit_code:
                raise
            # a load sets one file aside and goes on; a package that lacks a file is none
            raise PackageFault(where=fault.data.get("key"), why=fault.data.get("why"), detail=fault.code) from fault
    left = _set_aside(payload, wanted.form)
    empty = () if wanted.form == NOARK else payload.empty
    if left or empty:
        told = sorted([*left.items(), *((name, EMPTY_FOLDER) for name in empty)])
        rows = ((name, ItemNotAFile.code if kind not in _PLAIN_KINDS else "", kind) for name, kind in told)
        write_csv(set_aside_path(target), ("key", "code", "kind"), rows)
    stated = payload.statement
    return Converted(
        made.path,
        payload.form,
        counted.files,
        counted.bytes,
        made.resumed,
        wanted.package is None and wanted.form != NOARK and not stated.metadata.names_parties,
        len(left),
        empty_folders=len(empty),
        untold_events=stated.metadata.history.untold,
        unread=stated.unread,
    )


def _set_aside(payload: Payload, form: str) -> Mapping[str, str]:
    """What the new package does not hold, with its kind; a bag takes other packages whole."""
    if form == BAG and payload.form not in LOOSE:
        return {name: kind for name, kind in payload.set_aside.items() if kind != NOT_CARRIED}
    if form != NOARK:
        return {name: kind for name, kind in payload.set_aside.items() if not describes(payload.form, name)}
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


def _delivery(payload: Payload, target: Path, wanted: Wanted, tell: Listener) -> Delivery:
    source = payload.statement.metadata.package_type
    conversion = None
    if payload.form in _PACKAGES:
        conversion = Conversion(f"{payload.form} {source}".rstrip(), wanted.form, wanted.checked)
    return Delivery(payload, target, wanted.package, metadata_for(payload, wanted.package), conversion, tell)


def _taken_out(payload: Payload, target: Path, tell: Listener) -> Made:
    """A Noark 5 extract as it lay in a package."""
    extracts = [part for part in payload.parts if part.content == "noark5"]
    if len(extracts) != 1:
        raise PackageFault(where=payload.title, why="no-extract-inside" if not extracts else "several-packages")
    return make_package(extracts[0].files(), Order(target, f"noark5 {payload.title}"), lambda *_: None, tell=tell)
