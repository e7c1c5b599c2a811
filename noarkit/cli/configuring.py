"""`noarkit connect SERVICE:NAME configure`: shows the settings of a connection with where each comes from, and writes
those that are given with --set into the config file.

Only single lines of a file are changed, and only where the file then says exactly what it said before and what was
given: anything else in it, comments too, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.cli.options import Session
from noarkit.config import FILE_NAME
from noarkit.errors import ConfigFault, NoarkitError, SecretFault, UsageFault
from noarkit.events import EventFields
from noarkit.safe.atomic import write_text
from noarkit.safe.toml import Document, parse_toml, read_toml
from noarkit.secrets import secret_source
from noarkit.wings import require_wing

if TYPE_CHECKING:
    from noarkit.services.overrides import Override
    from noarkit.services.settings import Connection

EVENTS: EventFields = {"configured": {"connection": "text", "path": "text"}}
_MODE = 0o600
_HEADER = re.compile(r"\s*\[")


def configure(session: Session, name: str, overrides: Sequence[Override]) -> None:
    """Shows a connection, or writes what is given. Raises `ConfigFault` for a key nobody reads, and where the file can
    only be changed by hand."""
    require_wing("services")
    from noarkit.services.connections import read_connection
    from noarkit.services.overrides import apply_overrides, origins

    config = session.config()
    current = read_connection(name, config, session.environment, must_be=not overrides)
    if current is None:
        raise UsageFault(what="bad-value", where=name, gone=name, fix="", own="connection")
    connection = apply_overrides(current, overrides)
    problem = _find_problem(connection)
    if overrides:
        path = _config_path(session, current)
        write_text(
            path, _edited_text(path, f"connections.{connection.service}.{connection.name}", overrides), mode=_MODE
        )
        line = session.texts.say("connect.configured", where=connection.full_name, path=path)
        session.console.result("configured", line, connection=connection.full_name, path=str(path))
    else:
        _show(session, connection, origins(current, overrides))
    if problem is not None:
        session.console.notify("connect.lacking", why=problem.data.get("why"), place=problem.data.get("where"))


def _show(session: Session, connection: Connection, origins_of: Mapping[str, str]) -> None:
    from noarkit.services.overrides import SECRET_KEYS

    width = max((len(key) for key in origins_of), default=0)
    for key, origin in sorted(origins_of.items()):
        if key in SECRET_KEYS:
            display = "***" if origin == "environment" else _describe_secret(connection.values.get(key))
        else:
            value = connection.environment.get(connection.variable(key)) or connection.values.get(key)
            display = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        place = connection.variable(key) if origin == "environment" else ""
        line = f"{key:<{width}}  {display}  [{origin}{' ' + place if place else ''}]"
        session.console.result(
            "setting", line, key=key, value=display, origin=origin, where=place, connection=connection.full_name
        )


def _describe_secret(entry: object) -> str:
    """Describes where a secret is kept, never its value."""
    entries = entry if isinstance(entry, list) else [entry]
    try:
        return ", ".join(f"*** ({secret_source(item, '').description})" for item in entries)
    except ConfigFault:
        return "***"


def _find_problem(connection: Connection) -> NoarkitError | None:
    """Names the setting that is still missing; None if the connection can be tried."""
    from noarkit.services.connections import open_service

    try:
        with closing(open_service(connection)):
            return None
    except (ConfigFault, SecretFault) as fault:
        if fault.data.get("why") == "unknown-key":
            raise
        return fault


def _config_path(session: Session, connection: Connection) -> Path:
    """The file that the connection stands in, else the one that is read first."""
    config_file = session.sources.file
    if config_file is not None:
        return config_file
    config = session.config()
    for path in config.files:
        tables = read_toml(path).data.get("connections")
        table = tables.get(connection.service) if isinstance(tables, Mapping) else None
        if isinstance(table, Mapping) and connection.name in table:
            return path
    return session.sources.folder / FILE_NAME


def _edited_text(path: Path, table: str, overrides: Sequence[Override]) -> str:
    """The text of the file with the settings in it. Raises `ConfigFault` where that cannot be done line by line."""
    text = path.read_text("utf-8") if path.exists() else ""
    before = parse_toml(text, path)
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if table not in before.lines:
        lines += [*(["\n"] if lines else []), f"[{table}]\n"]
        end = len(lines)
    else:
        end = _table_end(lines, before.lines[table])
    for override in overrides:
        line = f"{override.key} = {_to_toml(override.value)}\n"
        place = before.lines.get(f"{table}.{override.key}")
        if place is not None:
            lines[place - 1] = line
        else:
            lines.insert(end, line)
            end += 1
    new_text = "".join(lines)
    try:
        after = parse_toml(new_text, path)
    except ConfigFault:
        after = before
    if after.data != _expected_data(before, table, overrides):
        raise ConfigFault(where=str(path), why="edit-by-hand")
    return new_text


def _table_end(lines: Sequence[str], header: int) -> int:
    """Where the lines of a table end, without the blank ones behind them."""
    end = next((place for place in range(header, len(lines)) if _HEADER.match(lines[place])), len(lines))
    while end > header and not lines[end - 1].strip():
        end -= 1
    return end


def _expected_data(before: Document, table: str, overrides: Sequence[Override]) -> Mapping[str, object]:
    """Returns the new text of the config file."""
    data = _deep_copy(before.data)
    inner = data
    for part in table.split("."):
        child = inner.setdefault(part, {})
        if not isinstance(child, dict):
            raise ConfigFault(where=str(before.path), why="not-a-table")
        inner = child
    inner.update({override.key: override.value for override in overrides})
    return data


def _deep_copy(table: Mapping[str, object]) -> dict[str, object]:
    return {name: _deep_copy(inner) if isinstance(inner, Mapping) else inner for name, inner in table.items()}


def _to_toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_to_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_to_toml(inner)}" for name, inner in value.items()) + " }"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in text) + '"'
