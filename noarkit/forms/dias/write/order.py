"""What a DIAS package shall be, and what it says of those who made and deliver it; everything has a default.

DiasOrder()  # a SIP whose parties are «Ikke oppgitt» (not stated)
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from uuid import UUID

from noarkit.forms.dias.spec import PackageType, RecordStatus
from noarkit.forms.metadata.model import Agent, History, Party, System
from noarkit.forms.metadata.provenance import Conversion

NOT_STATED = "Ikke oppgitt"
DEFAULT_LABEL = "Noark 5-arkivuttrekk"
DEFAULT_STATUS: RecordStatus = "NEW"
DEFAULT_ZONE = "Europe/Oslo"
DEFAULT_SYSTEM = System()
NO_HISTORY = History()
SOFTWARE = "noarkit"


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
    record_status: RecordStatus = DEFAULT_STATUS
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
    agents: tuple[Agent, ...] = ()
    history: History = NO_HISTORY
    conversion: Conversion | None = None

    @property
    def archive_creators(self) -> tuple[Party, ...]:
        """Who made the archive; never nobody."""
        return self.creators or (Party(NOT_STATED),)
