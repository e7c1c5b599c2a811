"""Validates packages: finds the form of one, holds it to every rule of that form, and never changes anything."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.events import Listener, nobody
from noarkit.validate.findings import Count, Level, Outcome, Place, Report, Rule

__all__ = ["Count", "Level", "Outcome", "Place", "Report", "Rule", "validate"]


def validate(
    package: Path | str, *, schemas: Path | None = None, today: date | None = None, tell: Listener = nobody
) -> Report:
    """All that is to be said about the package in a folder.

    `schemas` is a folder that holds the official schemas; without it ours judge. Dates after `today` are not likely.
    Raises `PackageFault` where nothing in the folder is a package of a form we know.
    """
    from noarkit.validate.noark5.run import Wish, root_of, validate_extract

    folder = Path(package)
    if not folder.is_dir():
        raise PackageFault(where=str(package), why="no-package")
    try:
        root = root_of(folder)
    except PermissionError as error:
        raise PackageFault(where=str(package), why="unreadable") from error
    if root is None:
        raise PackageFault(where=str(package), why="no-package")
    return validate_extract(root, Wish(schemas, None, today.isoformat() if today else "", tell))
