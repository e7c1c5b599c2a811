"""The journeys of packages, each from its first step to its last: an archive becomes a package, a package another,
and packages are compared.

Functions of the public API, which the command line calls too. They print nothing and never exit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from noarkit.api.destination import EMBEDDED, destination, open_target
from noarkit.errors import LimitReached, PackageFault, Paused, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.extraction.changes import ChangeLog
from noarkit.extraction.convert import NOARK, PACKED_EXTRACTS, ConvertOptions, ConvertResult
from noarkit.extraction.convert import convert as convert_files
from noarkit.extraction.databases import DATABASES, convert_database
from noarkit.extraction.delivery import deliver
from noarkit.extraction.facts import read_facts
from noarkit.extraction.run import ExtractResult, ExtractSettings
from noarkit.extraction.run import extract as extract_package
from noarkit.extraction.selection import Selection, all_fonds
from noarkit.forms.comparison import By, CompareResult, compare_extracts, compare_with_archive
from noarkit.forms.form_markers import Form
from noarkit.forms.recognition import FORMS as FORMS_OF_PLACES
from noarkit.forms.recognition import detect_form
from noarkit.forms.validation import validate
from noarkit.loading.coordinator import StopRequest
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.safe.archive_names import named_encoding
from noarkit.safe.csv_files import write_csv
from noarkit.safe.paths import require_existing
from noarkit.safe.unpack import LIMITS
from noarkit.settings import Place, Settings, resolve_settings

EXTRACTS = "extracts.csv"
_COLUMNS = ("arkiv", "tittel", "package", "state", "folders", "records", "files", "errors", "warnings", "flaws")
FORMS = ("noark5", *PACKED_EXTRACTS)
PACKAGE_FILE = "package.toml"
_SEALED = frozenset({"bagit", "dias", "eark", "siard", "noark5"})
_LOSS_RULES = (
    *("BAGIT-2.1.3-NONE", "BAGIT-2.1.3-LINE", "BAGIT-2.1.3-OUTSIDE", "BAGIT-2.1.3-TWICE", "BAGIT-2.1.3-UNLISTED"),
    *("BAGIT-2.2.1-LINE", "BAGIT-2.2.2-LINE", "BAGIT-2.2.2-OXUM", "BAGIT-2.2.2-OXUM-DIFFERS", "BAGIT-2.2.3-LINE"),
    *("BAGIT-2.3-TEXT", "BAGIT-3-MISSING", "BAGIT-3-HOLE", "BAGIT-3-TAG-MISSING", "BAGIT-5.1-PATH"),
    *("BAGIT-3-CHECKSUM", "BAGIT-3-TAG-CHECKSUM", "BAGIT-3-UNREADABLE"),
    *("D201", "D301", "D303", "D305", "D306", "D307", "D310", "D503", "D507", "D508"),
    *("CSIP69", "CSIP71", "CSIP79", "EARK-XML", "EARK-XML-HOSTILE", "EARK-HREF"),
    *("EARK-MISSING", "EARK-SIZE", "EARK-CHECKSUM", "EARK-UNLISTED", "EARK-UNREADABLE"),
    *("EARK-PREMIS-CHECKSUM", "EARK-PREMIS-SIZE", "CSIP24", "CSIP27", "CSIP29", "CSIP38", "CSIP41", "CSIP43"),
    *("CSIP51", "CSIP54", "CSIP56"),
    *("SIARD-M_5.0-1", "SIARD-M_5.1-1-11", "SIARD-P_4.3-1", "SIARD-P_4.3-1-MORE", "SIARD-P_4.3-10"),
    *("SIARD-G_4.1-1", "SIARD-T_6.0-1-XML"),
    *("SIARD-T_6.4-5-FILE", "SIARD-T_6.4-5-LENGTH", "SIARD-T_6.4-5-DIGEST"),
    *("N001", "N002", "N003", "N005", "N006", "N007", "N205", "N401", "N402", "N403"),
)
"""Rules whose breach means that bytes were lost or changed, or that nobody can say which there should be."""


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """What an extract shall be: which part of the archive, and how it is delivered.

    `package` names a `package.toml`; without one, that of the working folder is read where there is one. `schemas` is a
    folder with the official schemas. `include_open` takes open units too. What the form has no element for goes into
    business-specific metadata, unless `carry` is False. `kept_log` is a change log that a load kept beside its run;
    `change_log` says which change log the package gets.
    """

    selection: Selection = field(default_factory=Selection)
    package: Path | None = None
    schemas: Path | None = None
    include_open: bool = False
    carry: bool = True
    kept_log: Path | None = None
    change_log: ChangeLog = "from-archive"


def extract(
    target: Place,
    options: ExtractOptions | None = None,
    *,
    form: str = "noark5",
    archive: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> ExtractResult:
    """Makes a package of an archive, or of a part of it; the same call again goes on where it was stopped.

    Raises `NotDepositable` for open units, `PackageFault`, `ChecksumDiffers`, `UsageFault` where `target` is there
    already, `SourceGone` where an embedded archive is not, `Paused` where `stop_request` asked for it, and faults
    of the archive.
    """
    if form not in FORMS:
        raise UsageFault(what="unknown-form", where=form, do=", ".join(FORMS))
    resolved, extract_options = resolve_settings(archive, settings), options or ExtractOptions()
    stop_request = StopRequest() if stop_request is None else stop_request  # one that nobody asked yet is false
    facts = read_facts(extract_options.package or _own_facts())
    where = destination(resolved.config, resolved.environment)

    def pause() -> None:
        if stop_request:
            reason = stop_request.reason
            raise Paused(signal=reason) if reason.startswith("SIG") else LimitReached(limit=reason)

    with open_target(where, reads=True) as opened, closing(connect_archive(opened.settings)) as connection:
        listener(Event("target", {"archive": opened.name, "account": opened.account}))
        extract_settings = ExtractSettings(
            selection=extract_options.selection,
            facts=facts,
            schemas=extract_options.schemas,
            include_open=extract_options.include_open,
            carry=extract_options.carry,
            kept_log=extract_options.kept_log,
            change_log=extract_options.change_log,
            zone=resolved.config.zone,
            account=opened.account,
            now=lambda: datetime.fromtimestamp(resolved.now_s(), UTC),
            pause=pause,
        )
        if form == NOARK:
            extracted = extract_package(connection, Path(target), extract_settings, emit=listener)
        else:
            extracted = deliver(
                connection,
                Path(target),
                ConvertOptions(form, extract_options.package or _own_facts()),
                extract_settings,
                emit=listener,
            )
    # who makes a package is the first to hold it to the rules
    report = validate(extracted.package, schemas=extract_options.schemas, listener=listener)
    return replace(extracted, errors=report.number("error"), warnings=report.number("warning"))


@dataclass(frozen=True, slots=True)
class FondsResult:
    """What became of one fonds of an archive: the package that was made, that stood there before (neither `extracted`
    nor `fault`), or why there is none."""

    id: str
    title: str
    package: Path
    extracted: ExtractResult | None = None
    fault: PackageFault | None = None


def extract_each(
    target: Place,
    options: ExtractOptions | None = None,
    *,
    form: str = "noark5",
    archive: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> Iterator[FondsResult]:
    """Makes a package of each fonds below the folder `target`, and `extracts.csv` there, which tells of each.

    A `target` that ends with .zip, .tar or .tar.gz packs each of them, in a folder without that ending. A fonds that
    cannot be extracted is told with its fault, and the others go on; a package that is there already is left as it is.
    Raises what `extract` raises for all of them.
    """
    extract_options = options or ExtractOptions()
    if extract_options.selection.arkiv or extract_options.selection.arkivdel or extract_options.selection.klasse:
        raise UsageFault(what="bad-value", where="--each")
    resolved = resolve_settings(archive, settings)
    with (
        open_target(destination(resolved.config, resolved.environment)) as archive_target,
        closing(connect_archive(archive_target.settings)) as connection,
    ):
        fonds = [(entry.id, str(entry.fields.get("tittel", ""))) for entry in all_fonds(connection)]
    suffix = next((entry for entry in (".tar.gz", ".zip", ".tar") if str(target).endswith(entry)), "")
    folder = Path(str(target).removesuffix(suffix))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    results: list[FondsResult] = []
    for number, title in fonds:
        package = folder / f"{number}-{_plain_name(title)}{suffix}".replace("-.", ".")
        entry = FondsResult(number, title, package)
        if not package.exists():
            part = replace(extract_options, selection=replace(extract_options.selection, arkiv=number))
            try:
                extracted = extract(
                    package,
                    part,
                    form=form,
                    archive=archive,
                    settings=settings,
                    stop_request=stop_request,
                    listener=listener,
                )
                entry = replace(entry, extracted=extracted)
            except PackageFault as fault:
                entry = replace(entry, fault=fault)
        results.append(entry)
        write_csv(folder / EXTRACTS, _COLUMNS, map(_row_of, results))
        yield entry


def _plain_name(title: str) -> str:
    """A title as part of a file's name: letters, digits and strokes."""
    return re.sub(r"[^\w]+", "-", title).strip("-_")[:60]


def _row_of(result: FondsResult) -> tuple[str | int | None, ...]:
    if result.extracted is None:
        state = result.fault.code if result.fault is not None else "already-there"
        return (result.id, result.title, result.package.name, state, "", "", "", "", "", "")
    units = result.extracted.units
    counts = (units.get("mappe", 0), units.get("registrering", 0), result.extracted.files)
    state = "depositable" if result.extracted.depositable else "made"
    verdict = (result.extracted.errors, result.extracted.warnings, " ".join(result.extracted.flaws))
    return (result.id, result.title, result.package.name, state, *counts, *verdict)


def convert(
    source: Place,
    target: Place,
    *,
    form: str,
    package: Place | None = None,
    source_kind: str | None = None,
    despite_damage: bool = False,
    strict: bool = False,
    encoding: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> ConvertResult:
    """Makes a package of what `source` holds: a folder, a file or a package of any form. The same call again goes on.
    A SIARD archive is made of a database (its URL, or a SQLite file), and a SQLite file of a SIARD archive.

    `package` names a `package.toml`; without one, that of the working folder is read where there is one. `source_kind`
    says what a path is to be read as, whatever it looks like (`files`, or a form of package). A file whose name some
    system cannot bear is called otherwise in the package, which keeps the original name; one that cannot be read is set
    aside. Names in an archive file that are no UTF-8 are read in `encoding`. With `strict` neither may be: nothing is
    made, and the lists beside `target` name all of them. Raises `PackageFault` where the source is a
    package that is not whole (unless `despite_damage`), `UsageFault`, and what `safe` refuses.
    """
    options = ConvertOptions(
        form,
        Path(package) if package is not None else _own_facts(),
        limits=replace(LIMITS, encoding=named_encoding(encoding)),
        source_form=_form_named(source_kind),
        strict=strict,
    )
    if form in DATABASES:
        if ":" not in str(source):  # neither an address nor the name of a connection
            require_existing(str(source))
        connections = resolve_settings(None, settings).config.connections
        return convert_database(
            str(source), Path(target), options, connections=connections, despite_damage=despite_damage, emit=listener
        )
    require_existing(str(source))
    if not despite_damage:
        options = replace(options, checked=_refuse_damaged(Path(source), options, listener))
    return convert_files(Path(source), Path(target), options, emit=listener)


def _form_named(kind: str | None) -> Form | None:
    """The form that the kind of a source names."""
    if kind is None:
        return None
    is_plain = kind in ("files", "addml")  # a delivery of flat files is files to whoever packs it
    match = next((form for form in FORMS_OF_PLACES if form == ("plain" if is_plain else kind)), None)
    if match is None:
        raise UsageFault(what="bad-value", where=kind)
    return match


def _refuse_damaged(source: Path, options: ConvertOptions, emit: Listener) -> str:
    """A package whose own checksums do not hold would become one whose checksums do: the loss could not be seen.

    Says what was found, as the new package tells it; nothing where the source is no package.
    """
    form, limits = options.source_form, options.limits
    try:
        sealed = (detect_form(source, limits, emit=emit).form if form is None else form) in _SEALED
    except OSError:
        return ""  # whoever opens it tells what is wrong
    if sealed:
        breaches = sorted(validate(source, form=form, limits=limits, listener=emit).codes.intersection(_LOSS_RULES))
        if breaches:
            raise PackageFault(where=str(source), why="damaged-source", detail=", ".join(breaches))
    return "success nothing is missing, and nothing differs" if sealed else ""


def compare(
    left: Place, right: Place, *, by: By = "id", settings: Settings | None = None, listener: Listener = ignore_event
) -> CompareResult:
    """Two extracts, or an extract and an archive (an address, or `embedded:DIR`), unit by unit. Changes nothing.

    Raises `PackageFault` where neither is an extract, `UsageFault` for two archives, and faults of the archive.
    """
    sides = (str(left), str(right))
    archives = [side for side in sides if is_archive(side)]
    if not archives:
        return compare_extracts(Path(left), Path(right), by)
    if len(archives) == 2:
        raise UsageFault(what="two-archives", where=" ".join(sides))
    resolved = resolve_settings(archives[0], settings)
    package = next(side for side in sides if not is_archive(side))
    with (
        open_target(destination(resolved.config, resolved.environment), reads=True) as archive_target,
        closing(connect_archive(archive_target.settings)) as connection,
    ):
        listener(Event("target", {"archive": archive_target.name, "account": archive_target.account}))
        return compare_with_archive(Path(package), connection, by, resolved.config.zone)


def is_archive(side: str) -> bool:
    """True for the name of an archive, which a package cannot have."""
    return side.startswith((EMBEDDED, "http://", "https://"))


def _own_facts() -> Path | None:
    path = Path(PACKAGE_FILE)
    return path if path.is_file() else None
