"""What proves that a run of noarkit put an object there: the uuid that noarkit makes of its source key, the anchor of
the chunk that it came in, the journal of a run that lies beside this one, or, where the account may not write uuids,
the change log, which says that the run's own account made it. A source key alone proves nothing: anybody can write one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query, SavedObject
from noarkit.loading.lookup import uuid_of_key
from noarkit.loading.verification.changes import ChangeLog
from noarkit.loading.verification.ledger import BEARERS
from noarkit.loading.verification.other_runs import OtherRuns
from noarkit.model import metamodel
from noarkit.model.own_marks import CHUNK_ANCHORS, OWN_SYSTEMS

Marker = Literal["run", "foreign", ""]
"""Put there by a run; with a key or uuid as runs give them, and nothing that proves it; with neither."""
_OWNERS: Mapping[str, str] = {
    "AbstraktMappe": "refMappe",
    "AbstraktRegistrering": "refRegistrering",
    "Dokument": "refDokument",
    "Dokumentversjon": "refDokumentversjon",
}
_IDS_A_QUERY = 100


@dataclass(slots=True)
class Markers:
    """The marks of unplanned objects of one family, read from the archive at once. `writes_uuids` says whether the
    account of the run could write uuids: then a record of its own has the uuid of its key."""

    archive: Archive
    log: ChangeLog
    others: OtherRuns
    writes_uuids: bool
    _made: frozenset[tuple[str, str]] = frozenset()
    _keys: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def read(self, family: str, extras: Sequence[SavedObject]) -> None:
        """Reads the external ids of these objects, anchors among them."""
        self._keys.clear()
        self._made = self.others.find_made((extra.type, extra.id) for extra in extras)
        link = _OWNERS.get(family)
        for start in range(0, len(extras) if link else 0, _IDS_A_QUERY):
            parameters = {f"@p{i}": extra.id for i, extra in enumerate(extras[start : start + _IDS_A_QUERY])}
            condition = " || ".join(f"{link}.id = {name}" for name in parameters)
            for external in objects(self.archive, Query("EksternId", condition, parameters, order=(("id", "asc"),))):
                key = (str(external.fields.get("eksterntSystem")), str(external.fields.get("eksternID")))
                self._keys.setdefault(external.links.get(str(link), ""), []).append(key)

    def marker(self, actual: SavedObject, parent_id: str) -> Marker:
        """What the marks of an object prove."""
        if (actual.type, actual.id) in self._made:
            return "run"
        keys = self._keys.get(actual.id, [])
        uuid = str(actual.fields.get("uuid") or "").lower()
        if any(system == CHUNK_ANCHORS or uuid_of_key(system, key) == uuid for system, key in keys):
            return "run"
        keys = [
            key for key in keys if not key[0].startswith(OWN_SYSTEMS)
        ]  # what a copy was made of is no key of its own
        # every folder and record of a run bears its key; what is below them is known by the kind of its uuid
        if not keys and (metamodel().types[actual.type].family in BEARERS or not _is_of_a_key(uuid)):
            return ""
        may_tell = not keys or not self.writes_uuids
        return "run" if may_tell and self.log.made_by_same(actual.id, parent_id) else "foreign"


def _is_of_a_key(uuid: str) -> bool:
    """True for a uuid made from a key (version 5), as noarkit makes them; archives make random ones."""
    return len(uuid) == len("00000000-0000-5000-8000-000000000000") and uuid[14] == "5"
