"""What a DIAS package shall be, and what it says of those who made and deliver it; everything has a default.

DiasOrder()                                   # a SIP whose parties are «Ikke oppgitt» (not stated)
read_order(Path("package.toml"), type="AIP")  # what the delivery's own facts say
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from uuid import UUID

from noarkit.errors import ConfigFault
from noarkit.forms.dias.spec import RECORD_STATUSES, PackageType, RecordStatus
from noarkit.forms.metadata.model import History, OtherAgent, Party, Person, System
from noarkit.forms.metadata.provenance import Conversion
from noarkit.safe.toml import Document, read_toml

__all__ = ["DiasOrder", "Party", "Person", "System", "read_order"]

NOT_STATED = "Ikke oppgitt"
DEFAULT_LABEL = "Noark 5-arkivuttrekk"
DEFAULT_ZONE = "Europe/Oslo"
DEFAULT_SYSTEM = System()
NO_HISTORY = History()
SOFTWARE = "noarkit"
_ROLES = ("creator", "submitter", "producer", "owner", "recipient")


@dataclass(frozen=True, slots=True)
class DiasOrder:
    """How a package shall be.

    Who is not told: the archive's creator is `NOT_STATED`, who submits, packs and owns is the (first) creator, who
    produces is who submits, who receives is `NOT_STATED`. `uuid` and `moment` are made at the first start, and kept by
    a build that goes on. `aic` is the AIC that an AIP belongs to. `operations` are files of `repository_operations/`,
    which an AIP alone has. `schemas` is a folder of official schemas to be packed in place of ours (DIAS_METS.xsd,
    DIAS_PREMIS.xsd, or by the names they have in the package). `derived_from` are identifiers of the packages that this
    one is made from, `records` and `agents` are further ones for dias-mets.xml, `history` is what was done before, and
    `conversion` how it came from a source.
    """

    type: PackageType = "SIP"
    label: str = DEFAULT_LABEL
    description: str = ""
    record_status: RecordStatus = "NEW"
    agreement: str = ""
    delivery_type: str = ""
    project: str = ""
    package_number: str = ""
    reference_code: str = ""
    creators: tuple[Party, ...] = ()
    submitter: Party | None = None
    producer: Party | None = None
    owners: tuple[Party, ...] = ()
    packer: Party | None = None
    recipient: Party | None = None
    system: System = DEFAULT_SYSTEM
    archive_system: System | None = None
    start: date | None = None
    end: date | None = None
    uuid: UUID | None = None
    moment: datetime | None = None
    zone: str = DEFAULT_ZONE
    aic: UUID | None = None
    operations: tuple[tuple[str, bytes], ...] = ()
    schemas: Path | None = None
    previous_agreements: tuple[str, ...] = ()
    previous_reference_codes: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    records: tuple[tuple[str, str], ...] = ()
    agents: tuple[OtherAgent, ...] = ()
    history: History = NO_HISTORY
    conversion: Conversion | None = None

    @property
    def archive_creators(self) -> tuple[Party, ...]:
        """Who made the archive; never nobody."""
        return self.creators or (Party(NOT_STATED),)


def read_order(path: Path | None, **overrides: object) -> DiasOrder:
    """The order that a `package.toml` asks for; `wanted` are fields that it does not decide.

    Raises `ConfigFault` with the line of what cannot be used.
    """
    order = DiasOrder() if path is None else _order(read_toml(path))
    return replace(order, **overrides)  # type: ignore[arg-type]  # fields by name, as replace takes them


def _order(document: Document) -> DiasOrder:
    people = _people(document)
    parties = {role: _parties(document, role, people.get(role, ())) for role in _ROLES}
    system = _table(document, "system")
    return DiasOrder(
        label=_text(document, "delivery", "label") or DEFAULT_LABEL,
        description=_text(document, "delivery", "description"),
        record_status=_status(document),
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
        system=System(
            _text(document, "system", "name") or DEFAULT_SYSTEM.name,
            _text(document, "system", "version"),
            _text(document, "system", "type") or DEFAULT_SYSTEM.type,
            _text(document, "system", "type_version"),
        )
        if system
        else DEFAULT_SYSTEM,
        start=_day(document, "start"),
        end=_day(document, "end"),
    )


def _status(document: Document) -> RecordStatus:
    value = _text(document, "agreement", "record_status") or "NEW"
    status = next((candidate for candidate in RECORD_STATUSES if candidate == value), None)
    if status is None:
        key = "agreement.record_status"
        raise ConfigFault(where=document.where(key), key=key, why="not-a-record-status")
    return status


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


def _parties(document: Document, role: str, people: tuple[Person, ...]) -> tuple[Party, ...]:
    parties: list[Party] = []
    for table in _tables(document, role):
        name = _string(document, f"{role}.name", table.get("name", ""))
        if name:
            identification = _string(document, f"{role}.identification", table.get("identification", ""))
            parties.append(Party(name, identification, () if parties else people))
    return tuple(parties)


def _tables(document: Document, name: str) -> list[Mapping[str, object]]:
    value = document.data.get(name, {})
    tables: list[Mapping[str, object]] = []
    for table in value if isinstance(value, list) else [value]:
        if not isinstance(table, Mapping):
            raise ConfigFault(where=document.where(name), key=name, why="not-a-table")
        tables.append(table)
    return tables


def _table(document: Document, name: str) -> Mapping[str, object]:
    tables = _tables(document, name)
    return tables[0] if tables else {}


def _text(document: Document, table: str, name: str) -> str:
    return _string(document, f"{table}.{name}", _table(document, table).get(name, ""))


def _string(document: Document, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigFault(where=document.where(key), key=key, why="not-text")
    return value.strip()


def _day(document: Document, name: str) -> date | None:
    value = _table(document, "period").get(name, "")
    if isinstance(value, date):
        return value
    key = f"period.{name}"
    try:
        text = _string(document, key, value)
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise ConfigFault(where=document.where(key), key=key, why="not-a-day") from error
