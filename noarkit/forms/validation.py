"""Validates packages: detects the form of a package and checks every rule of that form, without changing anything."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, date, datetime, time
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.findings import Count, Level, Outcome, Place, Rule, ValidateResult
from noarkit.forms.form_markers import Form
from noarkit.forms.recognition import DetectedForm, detect_form, detect_form_as
from noarkit.forms.sealed.read import refuse_sealed
from noarkit.safe.paths import require_existing
from noarkit.safe.unpack import LIMITS, UnpackLimits

__all__ = ["Count", "Level", "Outcome", "Place", "Rule", "ValidateResult", "validate"]


def validate(
    package: Path | str,
    *,
    schemas: Path | None = None,
    today: date | None = None,
    limits: UnpackLimits = LIMITS,
    form: Form | None = None,
    listener: Listener = ignore_event,
) -> ValidateResult:
    """Validates the package in a folder or archive file by the rules of its form; returns the report.

    Options:
        schemas: a folder with the official schemas; without it our own are used.
        today: the day after which dates are findings; without it the day of the call.
        limits: the most bytes, members and nesting of an archive file.
        form: the form whose rules are applied, whatever else the package looks like.
        listener: is called with each event.

    Raises `SourceGone` where the path does not exist, `PackageFault` where there is no package of a known form, and
    `HostileInput` for what is refused as unsafe; `UsageFault` for a sealed bundle, which is verified by `receive`.
    """
    path = Path(package)
    require_existing(str(path))
    refuse_sealed(str(path))
    try:
        package_form = (
            detect_form(path, limits, emit=listener)
            if form is None
            else detect_form_as(path, form, limits, emit=listener)
        )
    except PermissionError as error:
        raise PackageFault(where=str(package), why="unreadable") from error
    except OSError as error:
        raise PackageFault(where=str(package), why="no-package", folder=str(package)) from error
    if package_form.form == "bagit":
        from noarkit.forms.bagit.rules.run import validate_bag

        return validate_bag(package_form.root, limits=limits, emit=listener)
    if package_form.form == "eark" or (package_form.form == "plain" and _resembles_eark(path, limits)):
        from noarkit.forms.eark.rules.run import EarkValidateOptions, validate_eark

        now = datetime.combine(today, time.min, UTC) if today is not None else None
        return validate_eark(path, EarkValidateOptions(schemas=schemas, limits=limits, listener=listener, now=now))
    if package_form.form == "siard":
        from noarkit.forms.siard.rules.run import validate_siard

        return validate_siard(path, limits=limits, emit=listener)
    if package_form.form == "dias":
        from noarkit.forms.dias.rules.run import validate_dias
        from noarkit.forms.noark5.rules.run import Noark5ValidateOptions

        return validate_dias(path, Noark5ValidateOptions(schemas, None, _day(today), listener), limits=limits)
    return _validate_extract(path, package_form, schemas, today, (limits, listener))


def _resembles_eark(path: Path, limits: UnpackLimits) -> bool:
    """True for an E-ARK package without its METS.xml, so that the report names just that fault."""
    from noarkit.forms.eark.rules.run import resembles_eark

    return resembles_eark(path, limits)


def _validate_extract(
    path: Path,
    package_form: DetectedForm,
    schemas: Path | None,
    today: date | None,
    checking: tuple[UnpackLimits, Listener],
) -> ValidateResult:
    from noarkit.forms.container.storage import open_storage
    from noarkit.forms.noark5.rules.packed import validate_packed
    from noarkit.forms.noark5.rules.run import Noark5ValidateOptions, root_of, validate_extract

    limits, emit = checking
    options = Noark5ValidateOptions(schemas, None, _day(today), emit)
    if package_form.packed is not None and package_form.form == "noark5":
        with closing(open_storage(path, limits, top=False, emit=emit)) as storage:
            return validate_packed(storage, options)
    root = root_of(path) if path.is_dir() else None
    if root is None:
        raise PackageFault(where=str(path), why="no-package", folder=str(path))
    return validate_extract(root, options)


def _day(today: date | None) -> str:
    return today.isoformat() if today else ""
