"""Reads `package.toml`: what no archive and no source knows of a delivery, for packages of every form.

read_facts(Path("package.toml")).metadata.creators
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from noarkit.errors import ConfigFault
from noarkit.forms.dias.spec import RECORD_STATUSES
from noarkit.forms.metadata.model import PackageMetadata, Party, Person, System
from noarkit.safe.toml import Document, read_toml

PACKAGE_FILE = "package.toml"
SHARP, SOFT = "skarpt", "mykt"
NO_METADATA = PackageMetadata()
_ROLES = ("creator", "submitter", "producer", "owner", "recipient")


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """The facts of one delivery; what is empty was not told.

    The system may have no name here, where only its version or type was told. `incoming` and `outgoing` say how the
    period is cut off from the one before and the one after.
    """

    metadata: PackageMetadata = NO_METADATA
    incoming: str = SHARP
    outgoing: str = SHARP

    @property
    def start(self) -> date | None:
        """The first day of the period."""
        return date.fromisoformat(self.metadata.start) if self.metadata.start else None

    @property
    def end(self) -> date | None:
        """The last day of the period."""
        return date.fromisoformat(self.metadata.end) if self.metadata.end else None


def own_facts() -> Path | None:
    """The `package.toml` of the working folder, if there is one."""
    path = Path(PACKAGE_FILE)
    return path if path.is_file() else None


def read_facts(path: Path | None) -> PackageFacts:
    """Reads `package.toml`; without one, nothing was told.

    Raises `ConfigFault` with the line of what cannot be used.
    """
    if path is None:
        return PackageFacts()
    document = read_toml(path)
    return PackageFacts(_metadata(document), _cut(document, "incoming"), _cut(document, "outgoing"))


def _metadata(document: Document) -> PackageMetadata:
    people = _people(document)
    parties = {role: tuple(_parties(document, role, people.get(role, ()))) for role in _ROLES}
    return PackageMetadata(
        label=_text(document, "delivery", "label"),
        description=_text(document, "delivery", "description"),
        record_status=_choice(document, "agreement.record_status", RECORD_STATUSES, "not-a-record-status"),
        agreement=_text(document, "agreement", "number"),
        delivery_type=_text(document, "agreement", "delivery_type"),
        project=_text(document, "agreement", "project"),
        package_number=_text(document, "agreement", "package_number"),
        reference_code=_text(document, "agreement", "reference_code"),
        creators=parties["creator"],
        submitter=next(iter(parties["submitter"]), None),
        producer=next(iter(parties["producer"]), None),
        owners=parties["owner"],
        recipient=next(iter(parties["recipient"]), None),
        system=_system(document),
        start=_day(document, "start"),
        end=_day(document, "end"),
    )


def _system(document: Document) -> System | None:
    system = System(*(_text(document, "system", key) for key in ("name", "version", "type", "type_version")))
    return system if system != System("", "", "", "") else None


def _people(document: Document) -> dict[str, tuple[Person, ...]]:
    people: dict[str, tuple[Person, ...]] = {}
    for table in _tables(document, "contacts"):
        name = _string(document, "contacts.name", table.get("name", ""))
        role = _string(document, "contacts.role", table.get("role", ""))
        if not name:
            continue
        if role not in _ROLES:
            raise ConfigFault(where=document.where("contacts.role"), key="contacts.role", why="not-a-role")
        details = (_string(document, f"contacts.{key}", table.get(key, "")) for key in ("address", "phone", "email"))
        people[role] = (*people.get(role, ()), Person(name, *details))
    return people


def _parties(document: Document, role: str, people: tuple[Person, ...]) -> Iterator[Party]:
    """The bodies of a role; its people are those of the first."""
    for table in _tables(document, role):
        name = _string(document, f"{role}.name", table.get("name", ""))
        if name:
            identification = _string(document, f"{role}.identification", table.get("identification", ""))
            yield Party(name, identification, people)
            people = ()


def _tables(document: Document, name: str) -> list[Mapping[str, object]]:
    value = document.data.get(name, {})
    tables: list[Mapping[str, object]] = []
    for table in value if isinstance(value, list) else [value]:
        if not isinstance(table, Mapping):
            raise ConfigFault(where=document.where(name), key=name, why="not-a-table")
        tables.append(table)
    return tables


def _value(document: Document, table: str, name: str) -> object:
    tables = _tables(document, table)
    return tables[0].get(name, "") if tables else ""


def _text(document: Document, table: str, name: str) -> str:
    return _string(document, f"{table}.{name}", _value(document, table, name))


def _string(document: Document, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigFault(where=document.where(key), key=key, why="not-text")
    return value.strip()


def _choice(document: Document, key: str, choices: tuple[str, ...], why: str) -> str:
    table, _, name = key.partition(".")
    value = _text(document, table, name)
    if value and value not in choices:
        raise ConfigFault(where=document.where(key), key=key, why=why)
    return value


def _cut(document: Document, name: str) -> str:
    return _choice(document, f"period.{name}", (SHARP, SOFT), "not-a-cut") or SHARP


def _day(document: Document, name: str) -> str:
    value = _value(document, "period", name)
    if isinstance(value, date):
        return value.isoformat()[:10]
    key = f"period.{name}"
    text = _string(document, key, value)
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError as error:
        raise ConfigFault(where=document.where(key), key=key, why="not-a-day") from error
