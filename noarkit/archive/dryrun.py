"""Runs everything and changes nothing: a wrapper of the archive port. Reads pass through.

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


class DryRun:
    """`Archive` around another one, of which it only asks."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._ids = itertools.count(_FIRST_ID)

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """Checks the actions and answers as if they were done. Raises `ArchiveRefused` with `action` and `why`."""
        made = _Made()
        for index, action in enumerate(actions):
            _check(action, index, made)
            if isinstance(action, Save):
                self._save(action, made)
            elif isinstance(action, Link):
                _link(action, made)
        return {
            name: SavedObject(made.types[name], object_id, "1", made.fields[name], made.links[name])
            for name, object_id in made.ids.items()
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

    def _save(self, action: Save, made: _Made) -> None:
        if action.id not in made.ids:
            made.ids[action.id] = action.id if action.id.isdigit() else self._next_id()
            made.types[action.id] = action.type
            made.fields[action.id], made.links[action.id] = {}, {}
        made.fields[action.id] |= {name: value for name, value in action.fields.items() if value is not None}

    def _next_id(self) -> str:
        with self._lock:
            return str(next(self._ids))


class _Made:
    """What a transaction made so far, by the ids its actions use."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.fields: dict[str, dict[str, object]] = {}
        self.links: dict[str, dict[str, str]] = {}


def _link(action: Link, made: _Made) -> None:
    """Links to one are told with the saved object, seen from either side."""
    reference = metamodel().types[action.type].references[action.reference]
    for target in action.targets:
        if not reference.many and action.id in made.links:
            made.links[action.id][action.reference] = made.ids.get(target, target)
        back = metamodel().types[made.types[target]].references.get(reference.inverse) if target in made.types else None
        if back is not None and not back.many:
            made.links[target][reference.inverse] = made.ids.get(action.id, action.id)


def _check(action: Action, index: int, made: _Made) -> None:
    known = metamodel().types.get(action.type)
    if known is None:
        raise _refused(index, "type", action.type)
    if isinstance(action, Save):
        _check_fields(action, known, index)
        return
    _check_known(action.id, index, made)
    if isinstance(action, Delete):
        return
    reference = known.references.get(action.reference)
    if reference is None:
        raise _refused(index, "reference", action.reference)
    _check_link(action, reference, index, made)


def _check_fields(action: Save, known: ObjectType, index: int) -> None:
    for name in action.fields:
        field = known.fields.get(name)
        if field is None:
            raise _refused(index, "field", name)
        if field.save == "sm" and not action.id.isdigit():
            raise _refused(index, "not-writable", name)


def _check_link(action: Link | Unlink, reference: Reference, index: int, made: _Made) -> None:
    if not (reference.linkable if isinstance(action, Link) else reference.unlinkable):
        raise _refused(index, "not-linkable", reference.name)
    if not action.targets or (len(action.targets) > 1 and not reference.many):
        raise _refused(index, "targets", reference.name)
    for target in action.targets:
        _check_known(target, index, made)
        target_type = made.types.get(target)
        if target_type and not any(metamodel().is_a(target_type, kind) for kind in reference.targets):
            raise _refused(index, "target-type", reference.name)


def _check_known(object_id: str, index: int, made: _Made) -> None:
    if not object_id.isdigit() and object_id not in made.ids:
        raise _refused(index, "temporary-id", object_id)


def _refused(index: int, why: str, name: str) -> ArchiveRefused:
    return ArchiveRefused(call="transaction", action=index, field=name, why=why)
