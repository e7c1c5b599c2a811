"""A desk at which a test hands actions to the transaction engine: a real service, rights of the test's choosing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict

from noarkit.server.calling import Call, Handler
from noarkit.server.files import UploadInfo
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from noarkit.server.transaction import routes
from noarkit.server.wire import Caller, Refusal

SERVICE_PERMISSIONS = frozenset({"Edit finalized", "Edit journaled", "Journal", "Store documents"})
ALL = ("Create", "Update", "Delete", "Move", "UpdateSystemManaged")

Action = dict[str, object]


class Told(TypedDict):
    """An object as an answer tells it."""

    type: str
    id: str
    version: str
    fields: dict[str, object]
    links: dict[str, int]


Saved = dict[str, Told]


def save(type_name: str, key: object, version: object = None, **fields: object) -> Action:
    """A save; a version only where one is given."""
    told: Action = {"action": "save", "type": type_name, "id": key, "fields": fields}
    return told if version is None else {**told, "version": version}


def link(type_name: str, key: object, ref: str, *others: object) -> Action:
    """A link to one or several."""
    return {"action": "link", "type": type_name, "id": key, "ref": ref, "linkToId": list(others)}


def unlink(type_name: str, key: object, ref: str, *others: object) -> Action:
    """An unlink from one or several."""
    return {"action": "unlink", "type": type_name, "id": key, "ref": ref, "unlinkFromId": list(others)}


def delete(type_name: str, key: object, version: object = None) -> Action:
    """A delete; a version only where one is given."""
    told: Action = {"action": "delete", "type": type_name, "id": key}
    return told if version is None else {**told, "version": version}


@dataclass(frozen=True)
class FakeRights:
    """Rights as a test says them: what is granted everywhere, what on single objects, and what cannot be seen."""

    everywhere: frozenset[str] = frozenset(ALL)
    service: frozenset[str] = SERVICE_PERMISSIONS
    hidden: frozenset[int] = frozenset()
    on_objects: frozenset[tuple[str, int]] = frozenset()

    @property
    def reads_everything(self) -> bool:
        """True where nothing is hidden."""
        return not self.hidden

    def writes_everything(self, permission: str) -> bool:
        """True where it is granted everywhere."""
        return permission in self.everywhere

    def may_read(self, db: sqlite3.Connection, family: str, object_id: int) -> bool:
        """True for what is not hidden."""
        return object_id not in self.hidden

    def may_change(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True where it is granted everywhere or on the object."""
        return permission in self.everywhere or (permission, object_id) in self.on_objects

    def may_below(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True where it is granted everywhere or on the object above."""
        return self.may_change(db, permission, family, object_id)


@dataclass(frozen=True)
class Desk:
    """Hands actions to a service."""

    service: Service
    rights: FakeRights = field(default_factory=FakeRights)
    account: str = "integration"
    handlers: Mapping[str, Handler] = field(default_factory=lambda: {r.path: r.handler for r in routes()})

    def call(self, path: str, body: object) -> dict[str, object]:
        """The answer of one call of this area."""
        caller = Caller(self.account, f"name of {self.account}", self.rights)
        answer = self.handlers[path](Call(self.service, caller, body=body))
        assert answer.status == 200
        read: dict[str, object] = json.loads(answer.raw or b"")
        return read

    def answer(self, *actions: Action) -> dict[str, object]:
        """The whole answer to a transaction."""
        return self.call("/transaction", {"actions": list(actions)})

    def run(self, *actions: Action) -> Saved:
        """What a transaction saved."""
        saved: Saved = self.answer(*actions)["saved"]  # type: ignore[assignment]  # what the tests of the form prove
        return saved

    def ids(self, *actions: Action) -> dict[str, str]:
        """The permanent ids of what a transaction saved."""
        return {name: told["id"] for name, told in self.run(*actions).items()}

    def fields(self, key: str, *actions: Action) -> dict[str, object]:
        """The fields of one object that a transaction saved."""
        return self.run(*actions)[key]["fields"]

    def refused(self, *actions: Action, path: str = "/transaction", body: object = None) -> Refusal:
        """Why a transaction was refused; nothing of it may have been stored."""
        before = self.trace()
        try:
            self.call(path, {"actions": list(actions)} if body is None else body)
        except Refusal as refusal:
            assert self.trace() == before
            return refusal
        raise AssertionError("the transaction was accepted")

    def trace(self) -> list[tuple[object, ...]]:
        """What any stored change would change."""
        return [*self.rows("SELECT name, value FROM counter"), *self.rows("SELECT max(revision_id) FROM change_log")]

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """Rows of the archive's database."""
        with self.service.db.snapshot() as db:
            return db.execute(sql, values).fetchall()

    def log(self, object_id: object) -> list[dict[str, object]]:
        """The change log of one object, oldest first, JSON read."""
        with self.service.db.snapshot() as db:
            found = db.execute(
                "SELECT * FROM change_log WHERE object_id = ? ORDER BY revision_id", (int(str(object_id)),)
            )
            names = [column[0] for column in found.description]
            return [_read(dict(zip(names, row, strict=True))) for row in found]

    def as_account(self, account: str) -> Desk:
        """The same desk for another account."""
        return replace(self, account=account)

    def without(self, *permissions: str) -> Desk:
        """The same desk with rights taken away."""
        rights = self.rights
        left = replace(rights, everywhere=rights.everywhere - {*permissions}, service=rights.service - {*permissions})
        return replace(self, rights=left)

    def with_on(self, permission: str, object_id: object) -> Desk:
        """The same desk with a permission on one object more."""
        more = self.rights.on_objects | {(permission, int(str(object_id)))}
        return replace(self, rights=replace(self.rights, on_objects=more))

    def blind_to(self, *object_ids: object) -> Desk:
        """The same desk that cannot see some objects."""
        hidden = frozenset(int(str(object_id)) for object_id in object_ids)
        return replace(self, rights=replace(self.rights, hidden=hidden))

    def under(self, settings: Settings) -> Desk:
        """The same archive under other settings."""
        return replace(self, service=replace(self.service, settings=settings))

    def upload(self, content: bytes = b"hello", name: str = "hello.txt", account: str | None = None) -> str:
        """The id of an uploaded file."""
        if not self.service.files.remaining_ids():
            self.service.files.reserve_ids()
        arrival = UploadInfo(name, "text/plain", account or self.account)
        return str(self.service.files.keep(content, arrival))

    def execute(self, sql: str, *values: object) -> None:
        """Changes the database beside the engine, as another area would."""
        with self.service.db.transaction() as db:
            db.execute(sql, values)


def _read(entry: dict[str, object]) -> dict[str, object]:
    texts = ("new_value", "old_value", "removed_value", "previous_parent", "current_parent")
    return {name: json.loads(str(value)) if name in texts and value else value for name, value in entry.items()}
