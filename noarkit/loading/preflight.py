"""The preflight: proves what this archive and this account can do before anything is loaded; makes the shards' guards.

The marker is a classification system of our own that no series uses: its uuid is the archive's identity, which a run
remembers. The guards are classes below it, one a shard; a chunk carries the version its guard must still have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from noarkit.archive.port import Archive
from noarkit.archive.values import Action, Link, Query, Save, SavedObject
from noarkit.errors import ArchiveConflict, ArchiveFault, ArchiveRefused, ArchiveStrange, NotAllowed
from noarkit.loading import lookup
from noarkit.loading.compose import send
from noarkit.loading.lease import Guard
from noarkit.loading.lookup import GUARD_TYPE
from noarkit.model.own_marks import MARKER_TITLE, uuid_of_mark

NOT_FOUND_AGAIN = "the account does not find what it writes"
_MARKER_TYPE = "Klassifikasjonssystem"
_MARKER_QUERY = Query(_MARKER_TYPE, "tittel = @t", {"@t": MARKER_TITLE}, order=(("id", "asc"),), limit=1)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArchiveAbilities:
    """What the preflight found. `identity` is None if the account may not make or see the marker; `witness` is an
    external id that must be in every answer to a look-up of source keys. `writes_after_link` says that the fields which
    the archive fills in itself can be written for what is linked alone."""

    identity: str | None
    marker: str | None
    finds_what_it_writes: bool
    honours_versions: bool
    sets_system_fields: bool
    knows_system: bool
    witness: str | None
    writes_after_link: bool = False


def prove_abilities(archive: Archive, external_system: str, probe: str) -> ArchiveAbilities:
    """Finds or makes the marker, then writes and finds a probe below it. `probe` is a name nobody else uses."""
    marker = _retry_once(lambda: find_or_make_marker(archive))
    knows_system, witness = lookup.find_witness(archive, external_system)
    if marker is None:
        return ArchiveAbilities(None, None, False, False, False, knows_system, witness)
    guard, is_after_link = _retry_once(lambda: _make_probe(archive, marker.id, probe))
    # What the account may not read looks absent. An account that cannot find what it writes could settle nothing, and
    # every resume would make doubles; so it is proven once, before anything is loaded.
    probe_again = _first_found(lambda: _find_guard(archive, marker.id, probe))
    return ArchiveAbilities(
        identity=str(marker.fields.get("uuid")),
        marker=marker.id,
        finds_what_it_writes=probe_again is not None and probe_again.id == guard.id,
        honours_versions=_retry_once(
            lambda: honours_versions(archive, _find_guard(archive, marker.id, probe) or guard)
        ),
        sets_system_fields=guard.fields.get("uuid") == uuid_of_mark(probe),
        knows_system=knows_system,
        witness=witness,
        writes_after_link=is_after_link,
    )


def _retry_once(step: Callable[[], T]) -> T:
    """Takes a step of the proof a second time where nobody knows what became of the first. Each step looks for what it
    would make, so that it leaves nothing twice."""
    try:
        return step()
    except ArchiveFault as fault:
        if not fault.fate_unknown:
            raise
    return step()


def _make_probe(archive: Archive, marker: str, name: str) -> tuple[SavedObject, bool]:
    """A class with a uuid of its own, where the account may write one, and whether that was taken only once it was
    linked. A refusal is heard twice before it is believed, and looked behind: what was refused may stand all the same.
    """
    # Where `uuid` may be written, everything can be found by a uuid5 of its key; else by natural keys. A passing
    # refusal must not choose the weaker way for the whole run.
    for is_after_link in (False, False, True, True):
        try:
            return _make_guard(archive, marker, name, uuid_of_mark(name), is_after_link=is_after_link), is_after_link
        except (NotAllowed, ArchiveRefused):
            guard = _find_guard(archive, marker, name)
            if guard is not None:  # made by an attempt that was not answered; after the link is right everywhere
                return guard, True
    return _make_guard(archive, marker, name), False


def read_abilities(archive: Archive, external_system: str) -> ArchiveAbilities:
    """Reads what can be known without writing: the archive's identity, and whether it has records of the source."""
    knows_system, witness = lookup.find_witness(archive, external_system)
    return ArchiveAbilities(find_identity(archive), None, False, False, False, knows_system, witness)


def find_identity(archive: Archive) -> str | None:
    """The archive's identity, where a run left its marker there and the account sees it."""
    marker = _find_marker(archive)
    return str(marker.fields.get("uuid")) if marker else None


def guard_for(archive: Archive, marker: str, plan: str, shard: int) -> Guard:
    """Finds or makes the guard of a shard. It cannot exist twice: its class name is unique below the marker."""
    guard = _retry_once(lambda: find_or_make_class(archive, marker, f"{plan}/{shard}"))
    return Guard(guard.id, guard.version)


def find_or_make_class(archive: Archive, marker: str, name: str) -> SavedObject:
    """The class of this name below the marker: it cannot exist twice, since its name is unique there."""
    guard = _find_guard(archive, marker, name)
    if guard is None:
        try:
            guard = _make_guard(archive, marker, name)
        # The class name is unique below the marker: if another made it first, or our own answer was lost, it is found
        # now.
        except ArchiveFault:
            guard = _find_guard(archive, marker, name)
            if guard is None:
                raise
    return guard


def find_or_make_marker(archive: Archive) -> SavedObject | None:
    """The marker; None where the account may not make it."""
    marker = _find_marker(archive)
    if marker is not None:
        return marker
    try:
        archive.transaction((Save(_MARKER_TYPE, "marker", {"tittel": MARKER_TITLE}),))
    except NotAllowed:
        return None
    # two runs may both have made one: both then take the oldest
    # Nothing forbids two markers, but the query takes the oldest, so all runs agree from here on.
    marker = _find_marker(archive)
    if marker is None:
        raise NotAllowed(call="query", description=NOT_FOUND_AGAIN)
    return marker


def _find_marker(archive: Archive) -> SavedObject | None:
    # two markers would be two identities of one archive
    return _first_found(
        lambda: _matching_object(archive.query(_MARKER_QUERY).objects, _MARKER_TYPE, "tittel", MARKER_TITLE)
    )


def _first_found(ask: Callable[[], SavedObject | None]) -> SavedObject | None:
    """The first answer that is not empty; asks as often as of anything whose absence would have a consequence."""
    return next((found for _ in lookup.ORDERS if (found := ask()) is not None), None)


def _find_guard(archive: Archive, marker: str, name: str) -> SavedObject | None:
    query = Query(
        GUARD_TYPE, "klasseIdent = @k && refKlassifikasjonssystem.id = @m", {"@k": name, "@m": marker}, limit=1
    )
    return _matching_object(archive.query(query).objects, GUARD_TYPE, "klasseIdent", name)


def _matching_object(objects: Iterable[SavedObject], kind: str, field: str, name: str) -> SavedObject | None:
    """The object of an answer that has this type and name; None if the answer holds others only."""
    return next(
        (candidate for candidate in objects if candidate.type == kind and candidate.fields.get(field) == name), None
    )


def _make_guard(
    archive: Archive, marker: str, name: str, uuid: str = "", *, is_after_link: bool = False
) -> SavedObject:
    system_fields = {"uuid": uuid} if uuid else {}
    first_fields = {} if is_after_link else system_fields
    actions: tuple[Action, ...] = (
        Save(GUARD_TYPE, "guard", {"klasseIdent": name, "tittel": "noarkit", **first_fields}),
        Link(GUARD_TYPE, "guard", "refKlassifikasjonssystem", (marker,)),
    )
    if is_after_link:
        actions = (*actions, Save(GUARD_TYPE, "guard", system_fields))
    saved_objects = send(archive, actions)
    return saved_objects["guard"]


def honours_versions(archive: Archive, guard: SavedObject) -> bool:
    """True if a save with a version that is no longer right is refused."""
    # a text of this version: said a second time, it is another, and so a change
    text = f"probe of version {guard.version}"
    # A save that changes a text must give a new version; if not, versions mean nothing here and guards protect from
    # nothing.
    if _save_guard(archive, guard, text).version == guard.version:
        return False
    try:
        # believed only where the answer shows that it was saved: else every guard would be given up for it
        _save_guard(archive, guard, f"{text} again")
    except ArchiveConflict:
        return True
    return False


def _save_guard(archive: Archive, guard: SavedObject, text: str) -> SavedObject:
    """The guard as the archive says that it saved it. Raises `ArchiveStrange` for an answer about something else."""
    saved_objects = archive.transaction((Save(GUARD_TYPE, guard.id, {"beskrivelse": text}, version=guard.version),))
    answer = saved_objects.get(guard.id)
    if answer is None or answer.type != GUARD_TYPE or answer.fields.get("beskrivelse") != text:
        raise ArchiveStrange(call="transaction", why="not-all-saved", fate="unknown")
    return answer
