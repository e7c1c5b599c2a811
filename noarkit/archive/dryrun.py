"""A dry run: wraps the archive port, passes reads through and changes nothing.

Transactions are checked for shape as the archive would and answered with made-up ids; uploads are read and hashed, and
nothing of them is sent.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.archive.transfer import Body
from noarkit.archive.values import (
    Action,
    Call,
    Delete,
    Downloaded,
    Json,
    Link,
    Page,
    Query,
    Rendition,
    Save,
    SavedObject,
    Unlink,
    Upload,
    Uploaded,
)
from noarkit.errors import ArchiveRefused
from noarkit.model import ObjectType, Reference, metamodel

# far above what an archive counts to, so that a made-up id is never taken for a real one
_FIRST_ID = 9_000_000_000_000_000


class DryRunArchive:
    """An `Archive` around another one, which it only reads."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._ids = itertools.count(_FIRST_ID)

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """Checks the actions and answers as if they were done. Raises `ArchiveRefused`, which says why."""
        made_objects = _MadeObjects()
        for index, action in enumerate(actions):
            _check(action, index, made_objects)
            if isinstance(action, Save):
                self._save(action, made_objects)
            elif isinstance(action, Link):
                _link(action, made_objects)
        return {
            name: SavedObject(
                made_objects.types[name], object_id, "1", made_objects.fields[name], made_objects.links[name]
            )
            for name, object_id in made_objects.ids.items()
        }

    def query(self, query: Query) -> Page:
        """See `Archive.query`."""
        return self._archive.query(query)

    def upload(self, content: Upload) -> Uploaded:
        """Reads and hashes the bytes, and makes an id up. Raises what reading raises."""
        with content.open() as stream:
            body = Body(content, stream)
            for _ in body:
                pass
        return Uploaded(self._next_id(), body.sha256, body.size_bytes)

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        """See `Archive.download`."""
        return self._archive.download(
            file_id, target, rendition=rendition, expected_sha256=expected_sha256, durable=durable
        )

    def call(self, call: Call) -> Json:
        """Passes on what only asks; answers what changes with what the call itself says it would be answered."""
        return call.rehearsed if call.changes else self._archive.call(call)

    def close(self) -> None:
        """See `Archive.close`."""
        self._archive.close()

    def _save(self, action: Save, made_objects: _MadeObjects) -> None:
        if action.id not in made_objects.ids:
            made_objects.ids[action.id] = action.id if action.id.isdigit() else self._next_id()
            made_objects.types[action.id] = action.type
            made_objects.fields[action.id], made_objects.links[action.id] = {}, {}
        made_objects.fields[action.id] |= {name: value for name, value in action.fields.items() if value is not None}

    def _next_id(self) -> str:
        with self._lock:
            return str(next(self._ids))


class _MadeObjects:
    """The objects that a transaction made so far, by the ids its actions use."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.fields: dict[str, dict[str, object]] = {}
        self.links: dict[str, dict[str, str]] = {}


def _link(action: Link, made_objects: _MadeObjects) -> None:
    """Links to one are told with the saved object, seen from either side."""
    reference = metamodel().types[action.type].references[action.reference]
    for target in action.targets:
        if not reference.many and action.id in made_objects.links:
            made_objects.links[action.id][action.reference] = made_objects.ids.get(target, target)
        back = (
            metamodel().types[made_objects.types[target]].references.get(reference.inverse)
            if target in made_objects.types
            else None
        )
        if back is not None and not back.many:
            made_objects.links[target][reference.inverse] = made_objects.ids.get(action.id, action.id)


def _check(action: Action, index: int, made_objects: _MadeObjects) -> None:
    object_type = metamodel().types.get(action.type)
    if object_type is None:
        raise _refusal(index, "type", action.type)
    if isinstance(action, Save):
        _check_fields(action, object_type, index)
        return
    _check_known(action.id, index, made_objects)
    if isinstance(action, Delete):
        return
    reference = object_type.references.get(action.reference)
    if reference is None:
        raise _refusal(index, "reference", action.reference)
    _check_link(action, reference, index, made_objects)


def _check_fields(action: Save, object_type: ObjectType, index: int) -> None:
    for name in action.fields:
        field = object_type.fields.get(name)
        if field is None:
            raise _refusal(index, "field", name)
        if field.save == "sm" and not action.id.isdigit():
            raise _refusal(index, "not-writable", name)


def _check_link(action: Link | Unlink, reference: Reference, index: int, made_objects: _MadeObjects) -> None:
    if not (reference.linkable if isinstance(action, Link) else reference.unlinkable):
        raise _refusal(index, "not-linkable", reference.name)
    if not action.targets or (len(action.targets) > 1 and not reference.many):
        raise _refusal(index, "targets", reference.name)
    for target in action.targets:
        _check_known(target, index, made_objects)
        target_type = made_objects.types.get(target)
        if target_type and not any(metamodel().is_a(target_type, kind) for kind in reference.targets):
            raise _refusal(index, "target-type", reference.name)


def _check_known(object_id: str, index: int, made_objects: _MadeObjects) -> None:
    if not object_id.isdigit() and object_id not in made_objects.ids:
        raise _refusal(index, "temporary-id", object_id)


def _refusal(index: int, reason: str, name: str) -> ArchiveRefused:
    return ArchiveRefused(call="transaction", action=index, field=name, why=reason)
