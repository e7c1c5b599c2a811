"""Proves, before anything is sent, what this archive and this account can do; and gives each shard its guard.

The marker is a classification system of our own that no series uses: its uuid is the archive's identity, which a run
remembers. The guards are classes below it, one a shard; a chunk carries the version its guard must still have.
"""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.archive.port import Archive
from noarkit.archive.values import Link, Query, Save, SavedObject
from noarkit.errors import ArchiveConflict, ArchiveFault, ArchiveRefused, NotAllowed
from noarkit.load import lookup
from noarkit.load.lease import Guard
from noarkit.load.lookup import GUARD_TYPE

MARKER_TITLE = "noarkit: run guards (not part of any series)"
NOT_FOUND_AGAIN = "the account does not find what it writes"
_MARKER_TYPE = "Klassifikasjonssystem"
_MARKER_QUERY = Query(_MARKER_TYPE, "tittel = @t", {"@t": MARKER_TITLE}, order=(("id", "asc"),), limit=1)


@dataclass(frozen=True, slots=True)
class Proven:
    """What the preflight found. `identity` is None where the account may not make or see the marker."""

    identity: str | None
    marker: str | None
    finds_what_it_writes: bool
    honours_versions: bool
    sets_system_fields: bool
    knows_system: bool


def prove(archive: Archive, external_system: str, probe: str) -> Proven:
    """Finds or makes the marker, then writes and finds a probe below it. `probe` is a name nobody else uses."""
    marker = _marker(archive)
    if marker is None:
        return Proven(None, None, False, False, False, lookup.system_is_known(archive, external_system))
    sets_system_fields = False
    guard: SavedObject | None = None
    try:
        guard = _make_guard(archive, marker.id, probe, {"uuid": lookup_uuid(probe)})
        sets_system_fields = guard.fields.get("uuid") == lookup_uuid(probe)
    except (NotAllowed, ArchiveRefused):
        guard = _find_guard(archive, marker.id, probe) or _make_guard(archive, marker.id, probe, {})
    found = _find_guard(archive, marker.id, probe)
    return Proven(
        identity=str(marker.fields.get("uuid")),
        marker=marker.id,
        finds_what_it_writes=found is not None and found.id == guard.id,
        honours_versions=_honours_versions(archive, guard),
        sets_system_fields=sets_system_fields,
        knows_system=lookup.system_is_known(archive, external_system),
    )


def unproven(archive: Archive, external_system: str) -> Proven:
    """What can be known without writing: who the archive is, and whether it knows the source."""
    known = lookup.system_is_known(archive, external_system)
    return Proven(identity(archive), None, False, False, False, known)


def identity(archive: Archive) -> str | None:
    """The archive's identity, where a run left its marker there and the account sees it."""
    found = archive.query(_MARKER_QUERY).objects
    return str(found[0].fields.get("uuid")) if found else None


def lookup_uuid(name: str) -> str:
    """The uuid of a probe or guard: made from its name, like every other."""
    import uuid

    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"noarkit:{name}"))


def guard_for(archive: Archive, marker: str, plan: str, shard: int) -> Guard:
    """The guard of a shard, found or made. Made twice it cannot be: its class name is unique below the marker."""
    name = f"{plan}/{shard}"
    found = _find_guard(archive, marker, name)
    if found is None:
        try:
            found = _make_guard(archive, marker, name, {})
        except ArchiveFault:
            found = _find_guard(archive, marker, name)
            if found is None:
                raise
    return Guard(found.id, found.version)


def _marker(archive: Archive) -> SavedObject | None:
    found = archive.query(_MARKER_QUERY).objects
    if found:
        return found[0]
    try:
        archive.transaction((Save(_MARKER_TYPE, "marker", {"tittel": MARKER_TITLE}),))
    except NotAllowed:
        return None
    # two runs may both have made one: both then take the oldest
    found = archive.query(_MARKER_QUERY).objects
    if not found:
        raise NotAllowed(call="query", description=NOT_FOUND_AGAIN)
    return found[0]


def _find_guard(archive: Archive, marker: str, name: str) -> SavedObject | None:
    query = Query(
        GUARD_TYPE, "klasseIdent = @k && refKlassifikasjonssystem.id = @m", {"@k": name, "@m": marker}, limit=1
    )
    found = archive.query(query).objects
    return found[0] if found else None


def _make_guard(archive: Archive, marker: str, name: str, more: dict[str, str]) -> SavedObject:
    saved = archive.transaction(
        (
            Save(GUARD_TYPE, "guard", {"klasseIdent": name, "tittel": "noarkit", **more}),
            Link(GUARD_TYPE, "guard", "refKlassifikasjonssystem", (marker,)),
        )
    )
    return saved["guard"]


def _honours_versions(archive: Archive, guard: SavedObject) -> bool:
    """True where a save with a version that is no longer right is refused."""
    moved = archive.transaction((Save(GUARD_TYPE, guard.id, {"beskrivelse": "probe 1"}, version=guard.version),))
    now = moved[guard.id].version
    if now == guard.version:
        return False
    try:
        archive.transaction((Save(GUARD_TYPE, guard.id, {"beskrivelse": "probe 2"}, version=guard.version),))
    except ArchiveConflict:
        return True
    return False
