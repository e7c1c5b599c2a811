"""Document versions and their files: an uploaded file becomes part of the archive when a version refers to it.

The archive then says what the file is: checksum, size, name and media type. A caller that says it too must be right.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Protocol, TypeVar

from noarkit.server.transaction.plan import FILE, FILE_NAME
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal


class Facts(Protocol):
    """What is known of an uploaded file."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of its bytes, in hexadecimal."""
        ...

    @property
    def size_bytes(self) -> int:
        """Its length."""
        ...

    @property
    def name(self) -> str:
        """The file name it was uploaded under."""
        ...

    @property
    def media_type(self) -> str:
        """Its media type."""
        ...


_NAMELESS = "file"
_OCTETS = "application/octet-stream"
FactsT = TypeVar("FactsT", bound=Facts)


class FileClaims(Protocol[FactsT]):
    """Where uploaded files wait for a version to refer to them."""

    def claim(self, db: sqlite3.Connection, file_id: str, account: str) -> FactsT:
        """Makes an upload part of the archive, inside `db`. Refuses with 400 what is unknown or another's."""
        ...

    def make_durable(self, claims: Collection[FactsT]) -> None:
        """Returns once the claimed bytes would survive a loss of power."""
        ...

    def release(self, db: sqlite3.Connection, file_ids: Collection[str]) -> None:
        """Lets go of files that no version refers to any more."""
        ...


def claim_files(stage: Stage, files: FileClaims[FactsT]) -> list[FactsT]:
    """Claims the file of every version made or changed here, and fills in its facts."""
    claims_by_id: dict[Stored, FactsT] = {}
    for entity in stage.saved_entities.values():
        if entity.plan.name == "Dokumentversjon" and _has_new_file(entity):
            file_id = entity.values[FILE]
            if file_id not in claims_by_id:
                claims_by_id[file_id] = _claim(stage, files, entity, str(file_id))
            _fill_in(entity, claims_by_id[file_id])
            if stage.settings.file_names_settable and entity.claimed_values and entity.claimed_values.get(FILE_NAME):
                entity.set_value(FILE_NAME, entity.claimed_values[FILE_NAME])
    return list(claims_by_id.values())


def replaced_files(stage: Stage) -> list[str]:
    """The files that versions changed here no longer refer to."""
    return [
        str(entity.old[FILE])
        for entity in stage.saved_entities.values()
        if entity.old is not None and entity.plan.name == "Dokumentversjon" and FILE in entity.changed_columns()
    ]


def _has_new_file(entity: StagedEntity) -> bool:
    file_id = entity.values.get(FILE)
    return bool(file_id) and (entity.old is None or entity.old.get(FILE) != file_id)


def _claim(stage: Stage, files: FileClaims[FactsT], entity: StagedEntity, file_id: str) -> FactsT:
    if "Store documents" not in stage.caller.rights.service:
        raise Refusal(403, f'{entity.location}: field {FILE}: the service permission "Store documents" is missing.')
    try:
        return files.claim(stage.db, file_id, stage.caller.account)
    except Refusal as refusal:
        raise Refusal(refusal.status, f"{entity.location}: {refusal.description}") from None


def _fill_in(entity: StagedEntity, facts: Facts) -> None:
    columns: dict[str, Stored] = {
        "sjekksum": facts.sha256,
        "sjekksumAlgoritme": "SHA-256",
        "filstoerrelse": facts.size_bytes,
        FILE_NAME: facts.name or _NAMELESS,
        "innholdstype": facts.media_type or _OCTETS,
    }
    for column, value in columns.items():
        entity.set_value(column, value)
