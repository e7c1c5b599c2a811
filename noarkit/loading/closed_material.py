"""Proves whether the account may add to what is finalised, on an object of our own: no archive tells an account its
rights."""

from __future__ import annotations

from datetime import UTC, datetime

from noarkit.archive.port import Archive
from noarkit.archive.values import Save, SavedObject, wire_timestamp
from noarkit.errors import NotAllowed
from noarkit.loading.finality import DATE
from noarkit.loading.lookup import GUARD_TYPE
from noarkit.loading.preflight import find_or_make_class, find_or_make_marker

RIGHT = "Edit finalized"
"""The service permission that the archive asks for."""
_NAME = "probe of finalised objects"


def may_change_finalised(archive: Archive) -> bool:
    """True if the account may change a class below the marker that is finalised. Writes nothing else.

    Raises `NotAllowed` for an account that may not even make the marker: it could load nothing with proof.
    """
    marker = find_or_make_marker(archive)
    if marker is None:
        raise NotAllowed(call="transaction", description="Create")
    probe = find_or_make_class(archive, marker.id, _NAME)
    if not probe.fields.get(DATE):
        moment = wire_timestamp(datetime.now(UTC))
        probe = archive.transaction((Save(GUARD_TYPE, probe.id, {DATE: moment}),))[probe.id]
    # a passing refusal must not be taken for the account's rights
    return any(_changes(archive, probe) for _ in range(2))


def _changes(archive: Archive, probe: SavedObject) -> bool:
    """Saves another text into the probe; False where that is refused for want of a right."""
    text = "noarkit: b" if probe.fields.get("beskrivelse") == "noarkit: a" else "noarkit: a"
    try:
        archive.transaction((Save(GUARD_TYPE, probe.id, {"beskrivelse": text}),))
    except NotAllowed:
        return False
    return True
