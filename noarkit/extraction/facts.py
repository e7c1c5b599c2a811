"""Reads `package.toml`: facts of a delivery that no archive knows, with a stated default for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from noarkit.errors import ConfigFault
from noarkit.safe.toml import Document, read_toml

SYSTEM_TYPE = "Sakarkiv (Noark 5)"
SYSTEM_NAME = "Noark 5"
DESCRIPTION = "Noark 5-arkivuttrekk"
PACKAGE_FILE = "package.toml"
_SIDES = ("skarpt", "mykt")
_AGREEMENT = ("number", "delivery_type", "project", "package_number", "reference_code")


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """The facts of one delivery; what is empty was not told."""

    description: str = DESCRIPTION
    creators: tuple[str, ...] = ()
    system_name: str = SYSTEM_NAME
    system_type: str = SYSTEM_TYPE
    start: date | None = None
    end: date | None = None
    incoming: str = "skarpt"
    outgoing: str = "skarpt"
    agreement: Mapping[str, str] | None = None


def own_facts() -> Path | None:
    """The `package.toml` of the working folder, if there is one."""
    path = Path(PACKAGE_FILE)
    return path if path.is_file() else None


def read_facts(path: Path | None) -> PackageFacts:
    """Reads `package.toml`; without one, the defaults. Raises `ConfigFault` with the line of what cannot be used."""
    if path is None:
        return PackageFacts()
    document = read_toml(path)
    creators = _creators(document)
    return PackageFacts(
        description=_text(document, "delivery", "description") or _text(document, "delivery", "label") or DESCRIPTION,
        creators=creators,
        system_name=_text(document, "system", "name") or SYSTEM_NAME,
        system_type=SYSTEM_TYPE,
        start=_day(document, "period", "start"),
        end=_day(document, "period", "end"),
        incoming=_side(document, "incoming"),
        outgoing=_side(document, "outgoing"),
        agreement={name: value for name in _AGREEMENT if (value := _text(document, "agreement", name))},
    )


def _creators(document: Document) -> tuple[str, ...]:
    creator_entries = document.data.get("creator")
    tables = creator_entries if isinstance(creator_entries, list) else [creator_entries]
    names = [table.get("name") for table in tables if isinstance(table, Mapping)]
    return tuple(name for name in names if isinstance(name, str) and name)


def _table(document: Document, name: str) -> Mapping[str, object]:
    table = document.data.get(name, {})
    if not isinstance(table, Mapping):
        raise ConfigFault(where=document.where(name), key=name, why="not-a-table")
    return table


def _text(document: Document, table: str, name: str) -> str:
    value = _table(document, table).get(name, "")
    if not isinstance(value, str):
        raise ConfigFault(where=document.where(f"{table}.{name}"), key=f"{table}.{name}", why="not-text")
    return value.strip()


def _day(document: Document, table: str, name: str) -> date | None:
    value = _table(document, table).get(name, "")
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(_text(document, table, name)) if value else None
    except ValueError as error:
        raise ConfigFault(where=document.where(f"{table}.{name}"), key=f"{table}.{name}", why="not-a-day") from error


def _side(document: Document, name: str) -> str:
    value = _text(document, "period", name) or _SIDES[0]
    if value not in _SIDES:
        raise ConfigFault(where=document.where(f"period.{name}"), key=f"period.{name}", why="not-a-cut")
    return value
