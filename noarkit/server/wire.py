"""The values that every call uses: the caller with its rights, an answer, or a refusal."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Protocol


class Refusal(Exception):
    """The call is refused with an HTTP status and a sentence that names the field and the action where it can."""

    def __init__(self, status: int, description: str) -> None:
        super().__init__(status, description)
        self.status = status
        self.description = description


class Rights(Protocol):
    """What one account may do. Answers hold for the database as `db` sees it; a Rights is made anew for each call.

    ReadThis applies to an object itself, every other permission to what is below the object that bears it; nothing is
    readable unless every ancestor is; labels (parties, keywords, notes, external ids, ...) follow their owner.
    """

    @property
    def service(self) -> frozenset[str]:
        """The service permissions, by their exact strings ("Store documents", ...)."""
        ...

    @property
    def reads_everything(self) -> bool:
        """True if no object can be hidden from this account, so that reading needs no checks."""
        ...

    def writes_everything(self, permission: str) -> bool:
        """True if `permission` (Create, Update, Delete, Move, UpdateSystemManaged, ...) holds for every object."""
        ...

    def may_read(self, db: sqlite3.Connection, family: str, object_id: int) -> bool:
        """True if the object exists and the account may read it."""
        ...

    def may_change(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True if `permission` holds for the object itself (granted globally or on something above it)."""
        ...

    def may_below(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True if `permission` holds for what is directly below the object (as for making a child there)."""
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the client's id, the name written into opprettetAv, and what it may do."""

    account: str
    name: str
    rights: Rights


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` is JSON to be; `raw` is JSON already made, where an area made it faster itself."""

    status: int = 200
    body: object = None
    raw: bytes | None = None
