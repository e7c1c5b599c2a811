"""The command that comes next, as it can be copied: with real names, and the archive, cluster and config given."""

from __future__ import annotations

import shlex
from urllib.parse import urlsplit

from noarkit.cli.line_names import value_on_line
from noarkit.cli.options import Session

_WITH_ENGINE = ("ingest", "retry")
_WITH_ARCHIVE = ("plan", "ingest", "retry", "close", "retract", "verify", "extract")


def next_command(session: Session, *words: object, archive: str | None = None) -> str:
    """A command line of ours, quoted for a shell, with the archive, cluster, config and profile of this one.

    `archive` is one that was remembered, in its full form.
    """
    line = ["noarkit", *(str(word) for word in words)]
    target = archive or value_on_line("archive")
    if target and words[0] in _WITH_ARCHIVE and not _may_hold_secret(target):
        line += ["--archive", target]
    if words[0] in _WITH_ENGINE:
        line += _engine_options()
    if session.sources.file is not None:
        line += ["--config", str(session.sources.file)]
    if session.sources.profile is not None:
        line += ["--profile", session.sources.profile]
    return shlex.join(line)


def _engine_options() -> list[str]:
    """The cluster that this command was given; without its address where that may hold a password."""
    options = []
    for name in ("engine", "tls"):
        value = value_on_line(name)
        if value and not (name == "engine" and _may_hold_secret(value)):
            options += [f"--{name}", value]
    return [*options, "--ship"] if options and value_on_line("ship") else options


def _may_hold_secret(address: str) -> bool:
    """True for an address with a user or a query, which is refused wherever it is given."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return True
    return "@" in parts.netloc or bool(parts.query)
