"""Finds what a plan says is in the archive already, below the spine: by the uuid it has there. Reads only."""

from __future__ import annotations

from collections.abc import Iterable

from noarkit.archive.port import Archive
from noarkit.graph.entity import CreationMode
from noarkit.graph.store import PlannedEntity
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import ids_by_uuid


def find_planned(
    archive: Archive, facts: RunFacts, entities: Iterable[PlannedEntity]
) -> tuple[dict[int, str], list[PlannedEntity]]:
    """The archive's ids of those entities that are to be found, and those of them that are not there.

    One answer that says «not there» is not believed: what is missing is asked for twice.
    """
    wanted = [entity for entity in entities if entity.target == CreationMode.FIND]
    ids: dict[int, str] = {}
    for _ in range(2):
        missing = [entity for entity in wanted if entity.n not in ids]
        if missing:
            ids |= ids_by_uuid(archive, facts, missing)
    return ids, [entity for entity in wanted if entity.n not in ids]
