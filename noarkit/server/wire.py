"""What every area of the archive is made of: a Call comes in, an Answer goes out, a Refusal says why not.

Areas know nothing of HTTP servers. Each exports `routes() -> list[Route]`; `asgi` serves them under every base path.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from noarkit.server.service import Service


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
        """True where no object can be hidden from this account, so that reading needs no checks."""
        ...

    def writes_everything(self, permission: str) -> bool:
        """True where `permission` (Create, Update, Delete, Move, UpdateSystemManaged, ...) holds for every object."""
        ...

    def may_read(self, db: sqlite3.Connection, family: str, object_id: int) -> bool:
        """True where the object exists and the account may read it."""
        ...

    def may_change(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True where `permission` holds for the object itself (granted globally or on something above it)."""
        ...

    def may_below(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True where `permission` holds for what is directly below the object (as for making a child there)."""
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the client's id, the name written into opprettetAv, and what it may do."""

    account: str
    name: str
    rights: Rights


@dataclass(frozen=True, slots=True)
class Call:
    """One call, already authenticated, with its JSON body parsed (None where there is none)."""

    service: Service
    caller: Caller
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = None


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` is JSON to be; `raw` is JSON already made, where an area made it faster itself."""

    status: int = 200
    body: object = None
    raw: bytes | None = None


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """`path` is below the base, with `{name}` parts; `has_body` asks for a JSON object (else 415 and 400 are given)."""

    method: str
    path: str
    handler: Handler
    has_body: bool = False
