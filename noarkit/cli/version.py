"""`noarkit version`: which noarkit this is, and what it stands on."""

from __future__ import annotations

import importlib.metadata
import platform
import sqlite3

from noarkit.cli.options import Session, command
from noarkit.events import EventFields
from noarkit.version import __version__

EVENTS: EventFields = {
    "version": {
        **dict.fromkeys(("version", "python", "system", "sqlite"), "text"),
        **dict.fromkeys(("lxml", "httpx", "click", "starlette", "uvicorn", "sqlalchemy"), "text?"),
    }
}

_LIBRARIES = ("lxml", "httpx", "click", "starlette", "uvicorn", "sqlalchemy")


@command("version")
def version_command(session: Session) -> None:
    """Prints the version."""
    python, system = platform.python_version(), platform.system()
    libraries = {name: _version_of(name) for name in _LIBRARIES}
    line = session.texts.say("version.line", version=__version__, python=python, system=system)
    session.console.result(
        "version", line, version=__version__, python=python, system=system, sqlite=sqlite3.sqlite_version, **libraries
    )


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
