"""The Noark 5 extract in a bag or an E-ARK package: held to its own rules where the package is validated.

A package is delivered for what is in it; one whose extract nobody looked at was never judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from noarkit.errors import HostileInput, PackageFault
from noarkit.forms.container.storage import Storage, open_storage
from noarkit.forms.dias.read.located import locate
from noarkit.forms.findings import Outcome, ValidateResult
from noarkit.forms.noark5.read.nested_extract import find_extract_root, open_packed
from noarkit.forms.noark5.rules.case import DESCRIPTION_FILE
from noarkit.forms.noark5.rules.packed import validate_packed
from noarkit.forms.noark5.rules.run import Noark5ValidateOptions, validate_extract
from noarkit.forms.noark5.spec import STRUCTURE
from noarkit.forms.package_form import ValidateOptions
from noarkit.safe.digest import sha256_of_stream


def with_extract_inside(
    outer: ValidateResult, place: Path, options: ValidateOptions, *, twins: bool = False
) -> ValidateResult:
    """What was found in a package, with what is to be said of the extract in it; the same where there is none."""
    day = options.today.isoformat() if options.today else ""
    own_options = Noark5ValidateOptions(options.schemas, None, day, options.listener)
    try:
        with closing(open_storage(place, options.limits, top=False, twins=twins, emit=options.listener)) as storage:
            extract = find_extract_root(storage)
            if extract is None or not _has_structure(extract):
                return outer
            if extract.folder is not None:
                inner = validate_extract(extract.folder, own_options)
            else:
                inner = validate_packed(storage, own_options)
            above = _folder_of(storage, extract)
    except (PackageFault, HostileInput, OSError):
        return outer  # the rules of the package say that it cannot be read
    return replace(
        outer,
        summary={**outer.summary, **inner.summary, **_figures(outer)},
        rules=(*outer.rules, *inner.rules),
        outcomes=(*outer.outcomes, *_outcomes_below(inner, above)),
        counts=(*outer.counts, *inner.counts),
        seconds=round(outer.seconds + inner.seconds, 3),
        description_sha256=inner.description_sha256,
    )


def description_sha256_in(place: Path) -> str | None:
    """The sha256 of the description of the extract that a package is or holds, whatever it is packed in; None where it
    holds none. Raises `PackageFault`, `HostileInput` and `OSError` where it cannot be read."""
    if place.is_dir() and not (place / DESCRIPTION_FILE).is_file():
        with suppress(PackageFault):
            place = locate(place).place
    with closing(open_storage(place) if place.is_dir() else open_packed(place)) as storage:
        extract = find_extract_root(storage)
        if extract is None:
            return None
        try:
            with extract.open(DESCRIPTION_FILE) as file:
                return sha256_of_stream(file)
        except FileNotFoundError:
            return None


def _has_structure(extract: Storage) -> bool:
    try:
        with extract.open(f"{STRUCTURE}.xml"):
            return True
    except FileNotFoundError:
        return False


def _folder_of(storage: Storage, extract: Storage) -> str:
    """The folder of the package that the extract lies in, with a slash; empty where that is the package itself."""
    if storage.folder is not None and extract.folder is not None:
        below = extract.folder.relative_to(storage.folder).as_posix()
        return "" if below == "." else f"{below}/"
    return ""


def _figures(outer: ValidateResult) -> dict[str, tuple[str, ...]]:
    """How many files and bytes the whole package has, where it says so."""
    return {name: outer.summary[name] for name in ("files", "bytes") if name in outer.summary}


def _outcomes_below(inner: ValidateResult, above: str) -> Iterator[Outcome]:
    for outcome in inner.outcomes:
        yield replace(outcome, places=tuple(replace(place, file=f"{above}{place.file}") for place in outcome.places))
