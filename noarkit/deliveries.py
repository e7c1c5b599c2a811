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

from noarkit.destination import EMBEDDED, destination, open_target
from noarkit.engine.worker_factory import connect_archive
from noarkit.errors import LimitReached, PackageFault, Paused, UsageFault
from noarkit.events import Event, Listener, nobody
from noarkit.extract.changes import ChangeLog
from noarkit.extract.convert import NOARK, PACKED_EXTRACTS, Converted, ConvertOptions
from noarkit.extract.convert import convert as convert_files
from noarkit.extract.databases import DATABASES, convert_database
from noarkit.extract.delivery import deliver
from noarkit.extract.facts import read_facts
from noarkit.extract.run import Extracted, ExtractSettings
from noarkit.extract.run import extract as extract_package
from noarkit.extract.selection import Selection, all_fonds
from noarkit.load.coordinator import StopRequest
from noarkit.packages.forms import FORMS as FORMS_OF_PLACES
from noarkit.packages.forms import look
from noarkit.packages.marks import Form
from noarkit.safe.archive_names import named_encoding
from noarkit.safe.csv_files import write_csv
from noarkit.safe.paths import require_existing
from noarkit.safe.unpack import LIMITS
from noarkit.settings import Place, Settings, resolve_settings
from noarkit.validate import validate
from noarkit.validate.compare import By, Compared, compare_extracts, compare_with_archive

EXTRACTS = "extracts.csv"
_EACH = ("arkiv", "tittel", "package", "state", "folders", "records", "files", "errors", "warnings", "flaws")
FORMS = ("noark5", *PACKED_EXTRACTS)
PACKAGE_FILE = "package.toml"
_SEALED = frozenset({"bagit", "dias", "eark", "siard", "noark5"})
_LOSSES = (
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
class Wish:
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
    wish: Wish | None = None,
    *,
    form: str = "noark5",
    archive: str | None = None,
    settings: Settings | None = None,
    stopping: StopRequest | None = None,
    tell: Listener = nobody,
) -> Extracted:
    """Makes a package of an archive, or of a part of it; the same call again goes on where it was stopped.

    Raises `NotDepositable` for open units, `PackageFault`, `ChecksumDiffers`, `UsageFault` where `target` is there
    already, `SourceGone` where an embedded archive is not, `Paused` where `stopping` asked for it, and faults of the
    archive.
    """
    if form not in FORMS:
        raise UsageFault(what="unknown-form", where=form, do=", ".join(FORMS))
    here, wanted = resolve_settings(archive, settings), wish or Wish()
    halt = StopRequest() if stopping is None else stopping  # one that nobody asked yet is false
    facts = read_facts(wanted.package or _own_facts())
    where = destination(here.config, here.environment)

    def pause() -> None:
        if halt:
            raise Paused(signal=halt.reason) if halt.reason.startswith("SIG") else LimitReached(limit=halt.reason)

    with open_target(where, reads=True) as way, closing(connect_archive(way.settings)) as asked:
        tell(Event("target", {"archive": way.name, "account": way.account}))
        terms = ExtractSettings(
            selection=wanted.selection,
            facts=facts,
            schemas=wanted.schemas,
            include_open=wanted.include_open,
            carry=wanted.carry,
            kept_log=wanted.kept_log,
            change_log=wanted.change_log,
            zone=here.config.zone,
            account=way.account,
            now=lambda: datetime.fromtimestamp(here.now_s(), UTC),
            pause=pause,
        )
        if form == NOARK:
            made = extract_package(asked, Path(target), terms, emit=tell)
        else:
            made = deliver(asked, Path(target), ConvertOptions(form, wanted.package or _own_facts()), terms, emit=tell)
    # who makes a package is the first to hold it to the rules
    judged = validate(made.package, schemas=wanted.schemas, tell=tell)
    return replace(made, errors=judged.number("error"), warnings=judged.number("warning"))


@dataclass(frozen=True, slots=True)
class Each:
    """What became of one fonds of an archive: the package that was made, that stood there before (`made` is None and
    `fault` too), or why there is none."""

    id: str
    title: str
    package: Path
    made: Extracted | None = None
    fault: PackageFault | None = None


def extract_each(
    target: Place,
    wish: Wish | None = None,
    *,
    form: str = "noark5",
    archive: str | None = None,
    settings: Settings | None = None,
    stopping: StopRequest | None = None,
    tell: Listener = nobody,
) -> Iterator[Each]:
    """Makes a package of each fonds below the folder `target`, and `extracts.csv` there, which tells of each.

    A `target` that ends with .zip, .tar or .tar.gz packs each of them, in a folder without that ending. A fonds that
    cannot be extracted is told with its fault, and the others go on; a package that is there already is left as it is.
    Raises what `extract` raises for all of them.
    """
    wanted = wish or Wish()
    if wanted.selection.arkiv or wanted.selection.arkivdel or wanted.selection.klasse:
        raise UsageFault(what="bad-value", where="--each")
    here = resolve_settings(archive, settings)
    with (
        open_target(destination(here.config, here.environment)) as way,
        closing(connect_archive(way.settings)) as asked,
    ):
        fonds = [(one.id, str(one.fields.get("tittel", ""))) for one in all_fonds(asked)]
    ending = next((one for one in (".tar.gz", ".zip", ".tar") if str(target).endswith(one)), "")
    home = Path(str(target).removesuffix(ending))
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    done: list[Each] = []
    for number, title in fonds:
        package = home / f"{number}-{_plain_name(title)}{ending}".replace("-.", ".")
        one = Each(number, title, package)
        if not package.exists():
            part = replace(wanted, selection=replace(wanted.selection, arkiv=number))
            try:
                made = extract(
                    package, part, form=form, archive=archive, settings=settings, stopping=stopping, tell=tell
                )
                one = replace(one, made=made)
            except PackageFault as fault:
                one = replace(one, fault=fault)
        done.append(one)
        write_csv(home / EXTRACTS, _EACH, map(_row_of, done))
        yield one


def _plain_name(title: str) -> str:
    """A title as part of a file's name: letters, digits and strokes."""
    return re.sub(r"[^\w]+", "-", title).strip("-_")[:60]


def _row_of(one: Each) -> tuple[str | int | None, ...]:
    if one.made is None:
        state = one.fault.code if one.fault is not None else "already-there"
        return (one.id, one.title, one.package.name, state, "", "", "", "", "", "")
    units = one.made.units
    counts = (units.get("mappe", 0), units.get("registrering", 0), one.made.files)
    state = "depositable" if one.made.depositable else "made"
    verdict = (one.made.errors, one.made.warnings, " ".join(one.made.flaws))
    return (one.id, one.title, one.package.name, state, *counts, *verdict)


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
    tell: Listener = nobody,
) -> Converted:
    """Makes a package of what `source` holds: a folder, a file or a package of any form. The same call again goes on.
    A SIARD archive is made of a database (its URL, or a SQLite file), and a SQLite file of a SIARD archive.

    `package` names a `package.toml`; without one, that of the working folder is read where there is one. `source_kind`
    says what a path is to be read as, whatever it looks like (`files`, or a form of package). A file whose name some
    system cannot bear is called otherwise in the package, which keeps the original name; one that cannot be read is set
    aside. Names in an archive file that are no UTF-8 are read in `encoding`. With `strict` neither may be: nothing is
    made, and the lists beside `target` name all of them. Raises `PackageFault` where the source is a
    package that is not whole (unless `despite_damage`), `UsageFault`, and what `safe` refuses.
    """
    wanted = ConvertOptions(
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
            str(source), Path(target), wanted, connections=connections, despite_damage=despite_damage, emit=tell
        )
    require_existing(str(source))
    if not despite_damage:
        wanted = replace(wanted, checked=_refuse_damaged(Path(source), wanted, tell))
    return convert_files(Path(source), Path(target), wanted, emit=tell)


def _form_named(kind: str | None) -> Form | None:
    """The form that the kind of a source names."""
    if kind is None:
        return None
    found = next((form for form in FORMS_OF_PLACES if form == ("plain" if kind == "files" else kind)), None)
    if found is None:
        raise UsageFault(what="bad-value", where=kind)
    return found


def _refuse_damaged(source: Path, wanted: ConvertOptions, tell: Listener) -> str:
    """A package whose own checksums do not hold would become one whose checksums do: the loss could not be seen.

    Says what was found, as the new package tells it; nothing where the source is no package.
    """
    form, limits = wanted.source_form, wanted.limits
    try:
        sealed = (look(source, limits, tell=tell).form if form is None else form) in _SEALED
    except OSError:
        return ""  # whoever opens it tells what is wrong
    if sealed:
        lost = sorted(validate(source, form=form, limits=limits, tell=tell).codes.intersection(_LOSSES))
        if lost:
            raise PackageFault(where=str(source), why="damaged-source", detail=", ".join(lost))
    return "success nothing is missing, and nothing differs" if sealed else ""


def compare(
    left: Place, right: Place, *, by: By = "id", settings: Settings | None = None, tell: Listener = nobody
) -> Compared:
    """Two extracts, or an extract and an archive (an address, or `embedded:DIR`), unit by unit. Changes nothing.

    Raises `PackageFault` where neither is an extract, `UsageFault` for two archives, and faults of the archive.
    """
    sides = (str(left), str(right))
    archives = [side for side in sides if is_archive(side)]
    if not archives:
        return compare_extracts(Path(left), Path(right), by)
    if len(archives) == 2:
        raise UsageFault(what="two-archives", where=" ".join(sides))
    here = resolve_settings(archives[0], settings)
    package = next(side for side in sides if not is_archive(side))
    with (
        open_target(destination(here.config, here.environment), reads=True) as way,
        closing(connect_archive(way.settings)) as asked,
    ):
        tell(Event("target", {"archive": way.name, "account": way.account}))
        return compare_with_archive(Path(package), asked, by, here.config.zone)


def is_archive(side: str) -> bool:
    """True for the name of an archive, which a package cannot have."""
    return side.startswith((EMBEDDED, "http://", "https://"))


def _own_facts() -> Path | None:
    here = Path(PACKAGE_FILE)
    return here if here.is_file() else None
