"""Makes a package of one form out of whatever another place holds: no archive stands between.

    convert(Path("case-files"), Path("delivery.zip"), ConvertOptions("eark-sip"))

Files are carried over as they are, copied and hashed in one pass; the package appears whole or not at all, and the same
call after a kill goes on. A bag takes a package as it stands, so that nothing of it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import ClassVar, cast

from noarkit.errors import PackageFault, SourceFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.extraction.derived import Pairs, with_originals, with_store
from noarkit.extraction.making_note import MakingNote
from noarkit.extraction.packing import Delivery, count_files, metadata_for
from noarkit.extraction.payload import Part, Payload, payload_of
from noarkit.extraction.renamed import NOARK as NOARK
from noarkit.extraction.renamed import LeftOut, place_parts, rename_payload, require_unchanged, write_names
from noarkit.extraction.renamed import set_aside_path as set_aside_path
from noarkit.forms.container.building import File
from noarkit.forms.container.packager import MadePackage, OnWhole, Order, forget_build, make_package
from noarkit.forms.dias.write.package import forget_build as forget_dias_build
from noarkit.forms.metadata.provenance import Conversion
from noarkit.forms.package_form import FormName, Product
from noarkit.forms.registry import known_forms, resolve
from noarkit.model.conversions import PURPOSES
from noarkit.results import HIDDEN, SPREAD, Result, count_of, json_field
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What a place is converted to. `package` is a `package.toml`; without one the source and stated defaults tell.
    `source_form` is what the source is read as, whatever it looks like. `strict` makes nothing where a file had to be
    called otherwise or to be left out. `checked` is the outcome where the source was held to its own checksums before,
    empty if nobody did. `copies` is what `derive` made of the documents of a folder; `originals` what an extract left
    out for the copies in it, with what was made of what. Both become a part of their own, told by derivations.
    `mime_compat` is as of `EarkOrder`: packages of E-ARK alone have it."""

    form: str
    package: Path | None = None
    limits: UnpackLimits = LIMITS
    source_form: FormName | None = None
    strict: bool = False
    checked: str = ""
    copies: Path | None = None
    originals: Path | None = None
    mime_compat: bool = False
    keep_note: bool = False
    """True for a caller that goes on with the package, and calls `making_note.forget_note` when that is done."""


@dataclass(frozen=True, slots=True)
class ConvertResult(Result):
    """The package that was made, of how many files of its source, and the form these came in. `defaults` where it says
    of its parties only that they are not stated. `set_aside` counts what stands in the source and is no file (links,
    pipes, sockets and devices) or cannot be read; of a SIARD archive, what it lacks. `PKG.set-aside.csv` lists them.
    `renamed` counts files that are called otherwise in the package, which `PKG.names.csv` lists. `as_text` names
    columns of a database that hold what their types in SIARD cannot, and became texts or bytes; `left_out` what of a
    database SIARD has no place for, which is counted and listed as set aside. `empty_folders` are in that list, too,
    for no form holds them; `untold_events` stand in the source's own PREMIS alone, which goes along; `unread` are
    documents of the source that should say something and cannot be read. `copies` are archival copies among the files,
    each told with the document that it was made of; `copies_in` is the folder of the package that they lie in, and
    `originals_in` that of those documents, empty where there is none. `verdict` says whether a package that
    `holds_extract` is ready for deposit."""

    EVENT: ClassVar = "converted"

    package: Path
    source_form: str
    files: int
    bytes: int
    resumed: bool
    defaults: bool = field(metadata=HIDDEN)
    set_aside: int = 0
    as_text: tuple[str, ...] = field(default=(), metadata=json_field(form=count_of))
    renamed: int = 0
    empty_folders: int = 0
    untold_events: int = 0
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = field(default=(), metadata=HIDDEN)
    copies: int = 0
    copies_in: str = field(default="", metadata=HIDDEN)
    originals_in: str = field(default="", metadata=HIDDEN)
    access_copies: int = field(default=0, metadata=json_field(optional=True))
    """Copies to be read that went along."""
    access_in: str = field(default="", metadata=HIDDEN)
    holds_extract: bool = field(default=False, metadata=HIDDEN)
    verdict: Verdict | None = field(default=None, metadata=SPREAD)


def convert(source: Path, target: Path, options: ConvertOptions, *, emit: Listener = ignore_event) -> ConvertResult:
    """Makes the package `target` of what `source` holds.

    Raises `UsageFault` where `target` is there or the form is unknown, `PackageFault` for what cannot be carried or
    a file that cannot be taken (what was done is kept for the next call), and whatever `safe` refuses of the source.
    """
    product = known_forms().product(options.form, "package", "extract")
    _refuse_inside(source, target)
    note = conversion_note(str(source.absolute()), target, options)
    if note.result() is not None:
        return noted_result(note, options)
    counter = _FileCounter()
    with payload_of(source, options.limits, emit, form=options.source_form) as source_payload, ExitStack() as stack:
        payload, copies, places = _with_copies(source_payload, options, target, stack)
        left_out = LeftOut(payload, options.form)
        if options.strict:
            require_unchanged(source, target, payload, left_out)
        noted: list[MadePackage] = []
        counted_payload = replace(counter.payload(payload), aside=None if options.strict else left_out)

        def keep(package: MadePackage) -> None:
            # what could not be read is known to this call alone: a later one finds all of the package standing
            set_aside_count, renamed_count = left_out.write(target), write_names(target, payload, options.form)
            result = replace(
                _result_of(target, payload, options, places),
                files=counter.files - left_out.files,
                bytes=counter.bytes - left_out.bytes,
                resumed=package.resumed,
                set_aside=set_aside_count,
                renamed=renamed_count,
                empty_folders=len(left_out.empty),
                copies=copies.get("archive", 0),
                access_copies=copies.get("access", 0),
            )
            note.write(asdict(result))
            noted.append(package)

        try:
            make = maker_of(product)
            heard = _with_total(emit, count_files(payload, options.form))
            package = make(_delivery(counted_payload, target, options, keep, heard), product.name)
            # an earlier call may have made and noted what is only placed now, and a form that was added may name its
            # package without a word
            if not noted and note.read() is None:
                keep(package)
        except SourceFault as fault:
            if fault.exit_code != SourceFault.exit_code:
                raise
            raise PackageFault(where=fault.data.get("key"), why=fault.data.get("why"), detail=fault.code) from fault
        except UsageFault:
            note.forget()  # something else has the name
            raise
    return noted_result(note, options)


def _result_of(target: Path, payload: Payload, options: ConvertOptions, places: Mapping[str, str]) -> ConvertResult:
    """A result that says of a package what is known before its files are counted."""
    metadata = payload.statement.metadata
    return ConvertResult(
        target,
        payload.form,
        files=0,
        bytes=0,
        resumed=False,
        defaults=options.package is None and options.form != NOARK and not metadata.names_parties,
        untold_events=metadata.history.omitted,
        unread=payload.statement.unread,
        access_in=places.get("access", ""),
        copies_in=places.get("copies", ""),
        originals_in=places.get("originals", ""),
        holds_extract=any(part.content == NOARK for part in payload.parts),
    )


def refuse_unfit(options: ConvertOptions) -> None:
    """Raises `UsageFault` for an option that the form has no place for."""
    if options.mime_compat and not options.form.startswith("eark"):
        raise UsageFault(what="bad-value", where="--mime-compat")


def conversion_note(source: str, target: Path, options: ConvertOptions) -> MakingNote:
    """The note on a conversion, which another with the same options goes on with."""
    key = replace(options, limits=LIMITS, checked="", keep_note=False)
    return MakingNote(target, "convert", (source, *asdict(key).values()))


def noted_result(note: MakingNote, options: ConvertOptions) -> ConvertResult:
    """The result of a conversion as it was noted; what a build left beside its package that was killed after its last
    step is removed. Raises `UsageFault` where there is no note: the build was begun by a noarkit that made none."""
    values = note.read()
    if values is None:
        raise UsageFault(what="exists", where=str(note.target))
    forget_build(note.target)
    forget_dias_build(note.target)
    if not options.keep_note:
        note.forget()
    lists = {name: tuple(cast("list[str]", values[name])) for name in ("as_text", "unread", "left_out")}
    return ConvertResult(**{**values, **lists, "package": note.target, "verdict": None})  # type: ignore[arg-type]  # as it was written


def _with_copies(
    source: Payload, options: ConvertOptions, target: Path, stack: ExitStack
) -> tuple[Payload, Mapping[str, int], dict[str, str]]:
    """The payload under the names it gets, with the copies of its documents where there are any, how many for each
    purpose, and where they and their originals lie."""
    pairs: Pairs | None = None
    if options.copies is not None:
        source, pairs = with_store(source, options.copies, stack)
    elif options.originals is not None:
        source, pairs = with_originals(source, options.originals, stack)
    payload = rename_payload(source, options.form, target, stack)
    if pairs is None or not pairs:
        return payload, {}, {}
    placements = place_parts(payload, options.form)
    derivations = stack.enter_context(closing(pairs.derivations(placements)))
    places: dict[str, str] = {placement.part.role: placement.above for placement in placements if placement.part.role}
    return replace(payload, derivations=derivations), {purpose: pairs.count(purpose) for purpose in PURPOSES}, places


def maker_of(product: Product) -> Callable[[Delivery, str], MadePackage]:
    """The function that makes a package of a delivery, by the name of the product."""
    return cast("Callable[[Delivery, str], MadePackage]", resolve(product.maker))


class _FileCounter:
    """Counts what is carried over; what a form adds of its own is no part of it."""

    def __init__(self) -> None:
        self.files = 0
        self.bytes = 0

    def payload(self, payload: Payload) -> Payload:
        """The same payload, counted as it is gone through."""
        return replace(payload, parts=tuple(map(self._part, payload.parts)), whole_part=self._part(payload.whole_part))

    def _part(self, part: Part) -> Part:
        return replace(part, files=lambda: self._count_files(part))

    def _count_files(self, part: Part) -> Iterator[File]:
        for file in part.files():
            self.files += 1
            self.bytes += file[2] or 0
            yield file


def _with_total(emit: Listener, total: int) -> Listener:
    """A listener that is told with the beginning of a package how many files go into it."""

    def hear(event: Event, /) -> None:
        emit(replace(event, data={**event.data, "of": total}) if event.name == "package_begun" else event)

    return hear


def _refuse_inside(source: Path, target: Path) -> None:
    """A package within its own source would be taken into itself."""
    if source.is_dir() and target.absolute().parent.resolve().is_relative_to(source.resolve()):
        raise UsageFault(what="inside-source", where=str(target))


def _delivery(
    payload: Payload, target: Path, options: ConvertOptions, before_named: OnWhole, emit: Listener
) -> Delivery:
    source = payload.statement.metadata.package_type
    conversion = None
    if _describes_itself(payload):
        conversion = Conversion(f"{payload.form} {source}".rstrip(), options.form, options.checked)
    # an extract is taken out as it lay, and says nothing new
    package = options.package if options.form != NOARK else None
    metadata = metadata_for(payload, package)
    return Delivery(payload, target, package, metadata, conversion, before_named, emit, options.mime_compat)


def _describes_itself(payload: Payload) -> bool:
    """True for a package around what is carried over, which the new one says that it came from."""
    form = known_forms().find(payload.form)
    return form is not None and any(product.kind == "package" for product in form.products)


def unpack_extract(delivery: Delivery, _: str) -> MadePackage:
    """A Noark 5 extract as it lay in a package."""
    payload = delivery.payload
    extracts = [part for part in payload.parts if part.content == "noark5"]
    if len(extracts) != 1:
        raise PackageFault(where=payload.title, why="no-extract-inside" if not extracts else "several-packages")
    files = (file for file, _ in extracts[0].named_files())
    return make_package(
        files,
        Order(delivery.target, f"noark5 {payload.title}", aside=payload.aside, before_named=delivery.before_named),
        lambda *_: None,
        emit=delivery.emit,
    )
