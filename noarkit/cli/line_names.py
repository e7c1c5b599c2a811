"""What RUN and SOURCE are on the command line at hand, and names for runs that are yet to be made."""

from __future__ import annotations

import re
from pathlib import Path

import click
from click.core import ParameterSource

from noarkit.errors import NoarkitError
from noarkit.safe.paths import has_file


def propose_run(source: str) -> str:
    """A name for the run of a source: of its last part, and of no file that is there."""
    last = re.split(r"[/\\:]", source.rstrip("/\\").partition("?")[0])[-1]
    name = re.sub(r"[^\w.-]+", "-", last).strip("-.") or "run"
    return free_name(Path(f"{name}-run"))


def free_name(place: Path) -> str:
    """The name itself, or with the first number that makes it one of nothing that is there."""
    number, candidate = 1, place
    while candidate.exists():
        number += 1
        candidate = place.with_name(f"{place.name}-{number}")
    return str(candidate)


def names_at_hand() -> dict[str, str]:
    """What RUN, RUN2 and SOURCE are on this command line, as far as it names them or a run knows its source."""
    words = {name: value_on_line(name) for name in ("run", "place", "source", "output")}
    run = words["run"] or next(
        (value for value in (words["place"], words["output"]) if value and has_file(Path(value), "plan.json")), None
    )
    source = words["source"] or (words["place"] if words["place"] != run else None)
    if run is not None and source is None:
        source = planned_source(Path(run))
    names = {"RUN": run, "SOURCE": source}
    if run is not None:
        names["RUN2"] = free_name(Path(run))
    return {name: value for name, value in names.items() if value}


def planned_source(run: Path) -> str | None:
    """The place that a run was planned from, as a command takes it; None where that cannot be said."""
    from noarkit.api.origins import source_of  # heavy, and only wanted after a fault or at the end of a run
    from noarkit.loading.folder import RunFolder

    try:
        return source_of(RunFolder(run)).where or None
    except (NoarkitError, OSError, ValueError):
        return None


def value_on_line(name: str) -> str | None:
    """The value of an argument or option of the command that runs now, where it was written on the line."""
    context = click.get_current_context(silent=True)
    if context is None or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return None
    value = context.params.get(name)
    return None if value is None else str(value)
