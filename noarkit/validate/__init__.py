"""Validates packages: finds the form of one, holds it to every rule of that form, and never changes anything."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, date, datetime, time
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.events import Listener, nobody
from noarkit.packages.forms import Found, look, look_as
from noarkit.packages.marks import Form
from noarkit.safe.paths import require_existing
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.sources.sealed import no_plain_source
from noarkit.validate.findings import Count, Level, Outcome, Place, Report, Rule

__all__ = ["Count", "Level", "Outcome", "Place", "Report", "Rule", "validate"]


def validate(
    package: Path | str,
    *,
    schemas: Path | None = None,
    today: date | None = None,
    limits: UnpackLimits = LIMITS,
    form: Form | None = None,
    tell: Listener = nobody,
) -> Report:
    """All that is to be said about the package in a folder or archive file, by the rules of the form that it has.

    `schemas` is a folder that holds the official schemas; without it ours judge. Dates after `today` are not likely.
    `form` is the one that it is held to, whatever else it looks like.
    Raises `SourceGone` where there is nothing at all, `PackageFault` where there is no package of a form we know, and
    what `safe` refuses; `UsageFault` for a sealed bundle, which is proven by whoever takes it in.
    """
    path = Path(package)
    require_existing(str(path))
    no_plain_source(str(path))
    try:
        found = look(path, limits, tell=tell) if form is None else look_as(path, form, limits, tell=tell)
    except PermissionError as error:
        raise PackageFault(where=str(package), why="unreadable") from error
    except OSError as error:
        raise PackageFault(where=str(package), why="no-package", folder=str(package)) from error
    if found.form == "bagit":
        from noarkit.validate.bagit.run import validate_bag

        return validate_bag(found.root, limits=limits, tell=tell)
    if found.form == "eark" or (found.form == "plain" and _resembles_eark(path, limits)):
        from noarkit.validate.eark.run import Wish as EarkWish
        from noarkit.validate.eark.run import validate_eark

        now = datetime.combine(today, time.min, UTC) if today is not None else None
        return validate_eark(path, EarkWish(schemas=schemas, limits=limits, listener=tell, now=now))
    if found.form == "siard":
        from noarkit.validate.siard.run import validate_siard

        return validate_siard(path, limits=limits, tell=tell)
    if found.form == "dias":
        from noarkit.validate.dias.run import validate_dias
        from noarkit.validate.noark5.run import Wish as NoarkWish

        return validate_dias(path, NoarkWish(schemas, None, _day(today), tell), limits=limits)
    return _validate_extract(path, found, schemas, today, (limits, tell))


def _resembles_eark(path: Path, limits: UnpackLimits) -> bool:
    """True for an E-ARK package without its METS.xml, which is told of just that."""
    from noarkit.validate.eark.run import resembles_eark

    return resembles_eark(path, limits)


def _validate_extract(
    path: Path, found: Found, schemas: Path | None, today: date | None, how: tuple[UnpackLimits, Listener]
) -> Report:
    from noarkit.packages.holding.storage import open_storage
    from noarkit.validate.noark5.packed import validate_packed
    from noarkit.validate.noark5.run import Wish, root_of, validate_extract

    limits, tell = how
    wish = Wish(schemas, None, _day(today), tell)
    if found.packed is not None and found.form == "noark5":
        with closing(open_storage(path, limits, top=False, tell=tell)) as storage:
            return validate_packed(storage, wish)
    root = root_of(path) if path.is_dir() else None
    if root is None:
        raise PackageFault(where=str(path), why="no-package", folder=str(path))
    return validate_extract(root, wish)


def _day(today: date | None) -> str:
    return today.isoformat() if today else ""
