"""Converts a folder or a package into a package of another form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.extraction.convert import ConvertOptions, ConvertResult
from noarkit.extraction.convert import convert as convert_files
from noarkit.extraction.databases import DATABASES, convert_database
from noarkit.extraction.facts import own_facts
from noarkit.forms.form_markers import Form
from noarkit.forms.recognition import FORMS as FORMS_OF_PLACES
from noarkit.forms.recognition import detect_form
from noarkit.forms.validation import validate
from noarkit.safe.archive_names import named_encoding
from noarkit.safe.paths import require_existing
from noarkit.safe.unpack import LIMITS
from noarkit.settings import Place, Settings, resolve_settings

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

    A SIARD archive is made of a database (its URL, or a SQLite file), and a SQLite file of a SIARD archive. A file
    whose name some system cannot bear gets another name in the package, which keeps the original; one that cannot be
    read is set aside.

    Options:
        form: the form of the package to be made.
        package: a `package.toml`; without it that of the working folder is read, if there is one.
        source_kind: what a path is read as, whatever it looks like (`files`, or a form of package).
        despite_damage: takes what is there of a package that is not whole; it is refused otherwise.
        strict: makes nothing where a file would be renamed or set aside; the lists beside `target` name all of them.
        encoding: how names in an archive file are read that are not UTF-8 (`cp1252`).
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `PackageFault` where the source is a package that is not whole, `UsageFault`, and `HostileInput` for what is
    refused as unsafe.
    """
    options = ConvertOptions(
        form,
        Path(package) if package is not None else own_facts(),
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
    match = next((form for form in FORMS_OF_PLACES if form == ("plain" if kind == "files" else kind)), None)
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
