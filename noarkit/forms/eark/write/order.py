"""What an E-ARK package shall be: its representations, and what it says of itself and of those who made it.

Everything has a default, so that representations alone make a package that validates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from noarkit.forms.eark.spec import DEFAULT_VERSION, WRITTEN_CHECKSUM, Kind, Version
from noarkit.forms.metadata.derivations import Derivations
from noarkit.forms.metadata.model import Agent, History
from noarkit.forms.metadata.provenance import Conversion
from noarkit.safe.digest import Readable

Opener = Callable[[], AbstractContextManager[Readable]]
Source = str | Path | bytes | Opener

DEFAULT_CONTENT_TYPE = "OTHER"
DEFAULT_OTHER_CONTENT_TYPE = "Files"
DEFAULT_CATEGORY = "Mixed"
DEFAULT_SUBMITTER = "Not stated"
SOFTWARE = "noarkit"
NO_HISTORY = History()


@dataclass(frozen=True, slots=True)
class EarkFile:
    """A file for the package: its name below the folder it goes into, and where its bytes come from.

    `stamp` says of opened bytes that they are still the same (as of `BagFile`). `media_type` is guessed from the name
    where it is empty, `created` is the file's own time, or the package's. `original_name` is told where the name had to
    be mapped. `puid` is a PRONOM identifier, `format_name` and `format_version` what is known besides.
    """

    name: str
    source: Source
    size_bytes: int | None = None
    stamp: str = ""
    media_type: str = ""
    puid: str = ""
    format_name: str = ""
    format_version: str = ""
    created: datetime | None = None
    original_name: str = ""


@dataclass(frozen=True, slots=True)
class MetadataFile:
    """A file of metadata: below `metadata/descriptive`, `metadata/preservation` or `metadata/other`. `md_type` is of
    METS' list."""

    name: str
    source: Source
    md_type: str = ""
    folder: str = "descriptive"
    media_type: str = ""
    size_bytes: int | None = None
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Representation:
    """One representation. `files` go below its `data/` and are gone through once, in a stable order.

    `kind` is the type of its top division (ORIGINAL, ACCESS …), empty for none. `made_of` are the representations whose
    files it has copies of.
    """

    name: str
    files: Iterable[EarkFile]
    content_type: str = DEFAULT_CONTENT_TYPE
    other_content_type: str = ""
    category: str = ""
    label: str = ""
    kind: str = "ORIGINAL"
    metadata: tuple[MetadataFile, ...] = ()
    documentation: Iterable[EarkFile] = ()
    schemas: Iterable[EarkFile] = ()
    made_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackageEvent:
    """Something that was done to the content before it was packed: a virus check, a validation, a migration."""

    type: str
    when: datetime
    detail: str = ""
    outcome: str = ""
    outcome_note: str = ""


@dataclass(frozen=True, slots=True)
class EarkOrder:
    """How a package shall be.

    `object_id` is the target's name without its tail where it is empty, so that the folder bears it; one that is
    `identified` gets a UUID of its own at its first start instead, unless its name is one. `created` is the moment of
    that start where it is None; a build that goes on keeps both. `agents` are those beside the software;
    a SIP without a submitting one (CREATOR, ORGANIZATION) names `DEFAULT_SUBMITTER`. Content type and category of the
    package are those of its representations, MIXED where they differ. Without `metadata` of its own a package has
    Dublin Core of its label, without `documentation` a note that says what it is. `records` are further alternative
    record identifiers, `derived_from` the identifiers of the packages that this one is made from; `history` is what
    was done before, `conversion` how it came from a source, `derivations` which of its files are copies of others.
    With `mime_compat` METS calls every file whose media type IANA's lists do not have by its name bytes of any kind.
    """

    kind: Kind = "sip"
    version: Version = DEFAULT_VERSION
    object_id: str = ""
    identified: bool = False
    label: str = ""
    profile: str = ""
    category: str = ""
    content_type: str = ""
    other_content_type: str = ""
    record_status: str = ""
    created: datetime | None = None
    agents: tuple[Agent, ...] = ()
    agreement: str = ""
    previous_agreements: tuple[str, ...] = ()
    reference_code: str = ""
    previous_reference_codes: tuple[str, ...] = ()
    metadata: tuple[MetadataFile, ...] = ()
    documentation: Iterable[EarkFile] = ()
    schemas: Iterable[EarkFile] = ()
    other_category: str = ""
    records: tuple[tuple[str, str], ...] = ()
    derived_from: tuple[str, ...] = ()
    events: tuple[PackageEvent, ...] = ()
    history: History = NO_HISTORY
    conversion: Conversion | None = None
    checksum: str = WRITTEN_CHECKSUM
    premis: bool = True
    width: int | None = None
    derivations: Derivations | None = None
    mime_compat: bool = False


def creator(name: str, code: str = "", type_: str = "ORGANIZATION") -> Agent:
    """The archival creator (SIP9)."""
    return Agent("ARCHIVIST", type_, name, notes=_code(code))


def submitter(name: str, code: str = "") -> Agent:
    """Who submits the package (SIP15)."""
    return Agent("CREATOR", "ORGANIZATION", name, notes=_code(code))


def contact(name: str, *details: str) -> Agent:
    """A contact person (SIP21), with telephone and mail.

    It is no second CREATOR, for the reference validator takes only one beside the software, and refuses notes without
    a type.
    """
    notes = tuple((detail, "IDENTIFICATIONCODE") for detail in details if detail)
    return Agent("OTHER", "INDIVIDUAL", name, other_role="SUBMITTER", notes=notes)


def preservation(name: str, code: str = "") -> Agent:
    """The body that preserves the package (SIP26)."""
    return Agent("PRESERVATION", "ORGANIZATION", name, notes=_code(code))


def files_of(pairs: Iterable[tuple[str, Source]]) -> Iterator[EarkFile]:
    """Files by name and source alone."""
    for name, source in pairs:
        yield EarkFile(name, source)


def _code(code: str) -> tuple[tuple[str, str], ...]:
    return ((code, "IDENTIFICATIONCODE"),) if code else ()
