"""Converts a folder or a package into a package of another form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from noarkit.api.validating import validate as validate_package
from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.extraction.convert import ConvertOptions, ConvertResult, refuse_unfit
from noarkit.extraction.convert import convert as convert_files
from noarkit.extraction.databases import convert_database
from noarkit.extraction.making_note import forget_note
from noarkit.forms.metadata.facts import own_facts, read_facts
from noarkit.forms.package_form import PLAIN, FormName
from noarkit.forms.recognition import detect_form
from noarkit.forms.registry import FILES, FLAT_FILES, known_forms
from noarkit.forms.validation import validate
from noarkit.option_fields import option, takes_options
from noarkit.places import allow, recognise
from noarkit.reports.deliveries import hand_on, judged_facts, note_verdict
from noarkit.safe.archive_names import named_encoding
from noarkit.safe.paths import require_existing
from noarkit.safe.unpack import LIMITS
from noarkit.settings import Place, Settings, resolve_settings


def mime_compat_option() -> Any:  # the value of a field, as of `option`
    """Whether METS of E-ARK says of a file no media type but what IANA's lists have by its name; of whatever makes
    a package."""
    return option(False, kind="flag")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionOptions:
    """How a package is made of a folder or another package."""

    package: Place | None = option(kind="file", must_exist=True, metavar="FILE")
    source_kind: str | None = option(choices=lambda: known_forms().source_kinds)
    despite_damage: bool = option(False, kind="flag")
    encoding: str | None = option(metavar="NAME")
    strict: bool = option(False, kind="flag")
    copies: Place | None = option(kind="folder", must_exist=True, metavar="COPIES")
    mime_compat: bool = mime_compat_option()


class ConversionKeywords(TypedDict, total=False):
    """The keywords of `ConversionOptions`."""

    package: Place | None
    source_kind: str | None
    despite_damage: bool
    encoding: str | None
    strict: bool
    copies: Place | None
    mime_compat: bool


@takes_options(ConversionOptions)
def convert(
    source: Place,
    target: Place,
    *,
    form: str,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
    **keywords: Unpack[ConversionKeywords],
) -> ConvertResult:
    """Makes a package of what `source` holds: a folder, a file or a package of any form. The same call again goes on.

    A SIARD archive is made of a database (its URL, or a SQLite file), and a SQLite file of a SIARD archive. A file
    whose name some system cannot bear gets another name in the package, which keeps the original; one that cannot be
    read is set aside.

    Options:
        form: the form of the package to be made.
        package: a `package.toml`; without it that of the working folder is read, if there is one.
        source_kind: what a path is read as, whatever it looks like (`"files"`, or a form of package).
        despite_damage: takes what is there of a package that is not whole; it is refused otherwise.
        strict: makes nothing where a file would be renamed or set aside; the lists beside `target` name all of them.
        encoding: how names in an archive file are read that are not UTF-8 (`"cp1252"`).
        copies: the folder of archival copies that `derive` made of the documents of a folder; they go along, each
            told with the document that it was made of.
        mime_compat: in METS of E-ARK, says of a file no media type but what IANA's lists have by its name.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `PackageFault` where the source is a package that is not whole, `UsageFault`, and `HostileInput` for what is
    refused as unsafe.
    """
    options = ConversionOptions(**keywords)
    result = make_conversion(source, target, options, form=form, settings=settings, listener=listener)
    forget_note(result.package, "convert")
    return result


def make_conversion(
    source: Place,
    target: Place,
    options: ConversionOptions,
    *,
    form: str,
    settings: Settings | None,
    listener: Listener,
) -> ConvertResult:
    """As `convert`, for a caller that still has to tell what came of it: the same call comes to the same end until the
    note on it is removed (`forget_note`)."""
    convert_options = ConvertOptions(
        form,
        Path(options.package) if options.package is not None else own_facts(),
        limits=replace(LIMITS, encoding=named_encoding(options.encoding)),
        source_form=_form_named(options.source_kind),
        strict=options.strict,
        copies=Path(options.copies) if options.copies is not None else None,
        mime_compat=options.mime_compat,
        keep_note=True,
    )
    refuse_unfit(convert_options)
    if convert_options.copies is not None and known_forms().product(form).kind != "package":
        raise UsageFault(what="bad-value", where="--copies")
    if ":" not in str(source) or known_forms().product(form).kind != "database":
        require_existing(str(source))  # neither an address nor the name of a connection
    place = recognise(source, convert_options.limits, source_kind=options.source_kind, emit=listener)
    if known_forms().product(form).kind == "database":
        if place.kind != "database":
            allow(place, "convert", options.source_kind)
        connections = resolve_settings(None, settings).config.connections
        return convert_database(
            place.address,
            Path(target),
            convert_options,
            connections=connections,
            despite_damage=options.despite_damage,
            emit=listener,
        )
    allow(place, "convert", options.source_kind)
    if not options.despite_damage:
        was_checked = _refuse_damaged(Path(source), convert_options, listener)
        convert_options = replace(convert_options, checked=was_checked)
    result = convert_files(Path(source), Path(target), convert_options, emit=listener)
    if not result.holds_extract:
        return result
    agreement = read_facts(convert_options.package).metadata.agreement
    was_told = hand_on(Path(source), result.package, names_agreement=bool(agreement))
    report = validate_package(result.package, listener=listener)
    facts = judged_facts(report, result.package)
    if was_told and report.verdict is not None and facts is not None:
        note_verdict(result.package, report.verdict, facts)
    return replace(result, verdict=report.verdict)


def _form_named(kind: str | None) -> FormName | None:
    """The form that the kind of a source names."""
    if kind is None:
        return None
    if kind not in known_forms().source_kinds:
        raise UsageFault(what="bad-value", where=kind)
    return PLAIN if kind in (FILES, FLAT_FILES) else kind


def _refuse_damaged(source: Path, options: ConvertOptions, emit: Listener) -> str:
    """A package whose own checksums do not hold would become one whose checksums do: the loss could not be seen.

    Says what was found, as the new package tells it; nothing where the source is no package.
    """
    form, limits = options.source_form, options.limits
    try:
        sealed = (detect_form(source, limits, emit=emit).form if form is None else form) != PLAIN
    except OSError:
        return ""  # whoever opens it tells what is wrong
    if sealed:
        breaches = sorted(validate(source, form=form, limits=limits, listener=emit).codes & known_forms().loss_rules)
        if breaches:
            raise PackageFault(
                where=str(source), why="damaged-source", despite="--despite-damage", detail=", ".join(breaches)
            )
    return "success nothing is missing, and nothing differs" if sealed else ""
