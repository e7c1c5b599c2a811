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

from noarkit.cli.options import Session
from noarkit.config import FILE_NAME
from noarkit.connectors.overrides import SECRET_KEYS, Override, apply_overrides, origins
from noarkit.connectors.settings import Connection, read_connection
from noarkit.errors import ConfigFault, NoarkitError, SecretFault, UsageFault
from noarkit.safe.atomic import write_text
from noarkit.safe.toml import Document, parse_toml, read_toml
from noarkit.secrets import secret_source
from noarkit.sources.connector.services import open_service

_MODE = 0o600
_HEADER = re.compile(r"\s*\[")


def configure(session: Session, name: str, given: Sequence[Override]) -> None:
    """Shows a connection, or writes what is given. Raises `ConfigFault` for a key nobody reads, and where the file can
    only be changed by hand."""
    config = session.config()
    found = read_connection(name, config, session.environment, must_be=not given)
    if found is None:
        raise UsageFault(what="bad-value", where=name, do="noarkit connect crm:NAME configure --set KEY=VALUE")
    to = apply_overrides(found, given)
    lacking = _lacking(to)
    if given:
        path = _file(session, found)
        write_text(path, _written(path, f"connections.{to.service}.{to.name}", given), mode=_MODE)
        line = session.texts.say("connect.configured", where=to.full_name, path=path)
        session.face.result("configured", line, connection=to.full_name, path=str(path))
    else:
        _show(session, to, origins(found, given))
    if lacking is not None:
        session.face.tell("connect.lacking", why=lacking.data.get("why"), place=lacking.data.get("where"))


def _show(session: Session, to: Connection, origins_of: Mapping[str, str]) -> None:
    width = max((len(key) for key in origins_of), default=0)
    for key, origin in sorted(origins_of.items()):
        if key in SECRET_KEYS:
            told = "***" if origin == "environment" else _secret_shown(to.values.get(key))
        else:
            value = to.environment.get(to.variable(key)) or to.values.get(key)
            told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        place = to.variable(key) if origin == "environment" else ""
        line = f"{key:<{width}}  {told}  [{origin}{' ' + place if place else ''}]"
        session.face.result("setting", line, key=key, value=told, origin=origin, where=place, connection=to.full_name)


def _secret_shown(entry: object) -> str:
    """Where a secret lies, never what it is."""
    entries = entry if isinstance(entry, list) else [entry]
    try:
        return ", ".join(f"*** ({secret_source(one, '').description})" for one in entries)
    except ConfigFault:
        return "***"


def _lacking(to: Connection) -> NoarkitError | None:
    """What is still to be configured; None for a connection that can be tried."""
    try:
        with closing(open_service(to)):
            return None
    except (ConfigFault, SecretFault) as fault:
        if fault.data.get("why") == "unknown-key":
            raise
        return fault


def _file(session: Session, found: Connection) -> Path:
    """The file that the connection stands in, else the one that is read first."""
    named = session.sources.file
    if named is not None:
        return named
    config = session.config()
    for path in config.files:
        tables = read_toml(path).data.get("connections")
        table = tables.get(found.service) if isinstance(tables, Mapping) else None
        if isinstance(table, Mapping) and found.name in table:
            return path
    return session.sources.folder / FILE_NAME


def _written(path: Path, table: str, given: Sequence[Override]) -> str:
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
        end = _end(lines, before.lines[table])
    for one in given:
        line = f"{one.key} = {_toml(one.value)}\n"
        place = before.lines.get(f"{table}.{one.key}")
        if place is not None:
            lines[place - 1] = line
        else:
            lines.insert(end, line)
            end += 1
    made = "".join(lines)
    try:
        after = parse_toml(made, path)
    except ConfigFault:
        after = before
    if after.data != _expected(before, table, given):
        raise ConfigFault(where=str(path), why="edit-by-hand")
    return made


def _end(lines: Sequence[str], header: int) -> int:
    """Where the lines of a table end, without the blank ones behind them."""
    end = next((place for place in range(header, len(lines)) if _HEADER.match(lines[place])), len(lines))
    while end > header and not lines[end - 1].strip():
        end -= 1
    return end


def _expected(before: Document, table: str, given: Sequence[Override]) -> Mapping[str, object]:
    """What the file must say afterwards."""
    whole = _copied(before.data)
    inner = whole
    for part in table.split("."):
        found = inner.setdefault(part, {})
        if not isinstance(found, dict):
            raise ConfigFault(where=str(before.path), why="not-a-table")
        inner = found
    inner.update({one.key: one.value for one in given})
    return whole


def _copied(table: Mapping[str, object]) -> dict[str, object]:
    return {name: _copied(inner) if isinstance(inner, Mapping) else inner for name, inner in table.items()}


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + " }"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in text) + '"'
