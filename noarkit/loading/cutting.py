"""Cuts a refused chunk in halves, and finds the entity that a refusal blames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from noarkit.archive.values import Action
from noarkit.errors import ArchiveFault
from noarkit.graph.store import PlannedEntity
from noarkit.loading.compose import temporary_id
from noarkit.loading.lease import ChunkTask


def find_refused_entity(
    entities: Sequence[PlannedEntity], fault: ArchiveFault, actions: Sequence[Action]
) -> PlannedEntity:
    """The entity whose action a refusal names, else the first of them."""
    place = fault.data.get("action")
    action_id = actions[place].id if isinstance(place, int) and place < len(actions) else ""
    return next((entity for entity in entities if temporary_id(entity.n) == action_id), entities[0])


def split_task(
    task: ChunkTask, entities: Iterable[PlannedEntity], chunk_rows: Iterable[PlannedEntity]
) -> tuple[ChunkTask, ...]:
    """Cuts a task into two between bundles, so that each holds half of `entities`; the place of the cut decides the
    keys of the halves. Each of `chunk_rows`, all that is planned in the task, is in one of them."""
    # Keys follow from the parent's ("3/7" -> "3/7.0", "3/7.1"), so a resumed run finds the same anchors (invariant 2).
    # A bundle is never cut: it must land whole. What has an outcome stays in a half too: a retry may open it again.
    bundles = sorted({(row.unit, row.bundle) for row in entities})
    middle = bundles[len(bundles) // 2]
    positions = [(row.unit, row.bundle, row.n) for row in chunk_rows]
    return (
        ChunkTask(f"{task.key}.0", task.first, max(place for place in positions if place[:2] < middle)),
        ChunkTask(f"{task.key}.1", min(place for place in positions if place[:2] >= middle), task.last),
    )
