"""A plan that follows an earlier run: «already there» is said of that run's archive.

So archive, source, system of keys and recipe must be the same. The identity of the archive stays with the plan, and the
load refuses any other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from noarkit.errors import UsageFault
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.loading.request import request_of_plan
from noarkit.loading.state import read_state
from noarkit.records import SourceIdentity

SINCE_ARCHIVE = "since_archive"


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """What a run that is followed was made of, and where it was loaded; `chose_recipe` is None where nobody knows."""

    folder: RunFolder
    archive: str
    identity: str
    source: tuple[str, str]
    external_system: str
    recipe: str
    chose_recipe: bool | None


def read_earlier_run(folder: RunFolder) -> EarlierRun:
    """The run as it was loaded. Raises `UsageFault` for one that never was, or that was taken back."""
    remembered = request_of_plan(folder)
    state = read_state(folder)
    archive, identity = state.archive, state.identity
    if state.retraction:
        raise UsageFault(what="since-retracted", where=str(folder.path), command="plan")
    if not state.begun or not archive:
        raise UsageFault(what="since-not-loaded", where=str(folder.path), command="ingest")
    with closing(GraphStore.open(folder.graph)) as graph:
        source = (graph.meta("source_kind") or "", graph.meta("source_where") or "")
        system, recipe = graph.meta("external_system") or "", graph.meta("recipe") or ""
    chose = None if remembered is None else "recipe" in remembered.values
    return EarlierRun(folder, archive, identity or archive, source, system, recipe, chose)


def check_same_archive(earlier: EarlierRun, name: str, identity: Callable[[], str | None]) -> None:
    """Raises `UsageFault` where a plan is for another archive than `earlier` is in. One with another name is asked who
    it is; None says that it cannot be asked."""
    if name != earlier.archive and identity() != earlier.identity:
        raise UsageFault(what="since-other-archive", by=earlier.archive, where=name, command="plan")


def check_same_origin(
    earlier: EarlierRun, source: SourceIdentity, external_system: str, recipe: str, *, chose_recipe: bool
) -> None:
    """Raises `UsageFault` for another source or another system of keys, or for another recipe where somebody chose it.

    A recipe that noarkit proposes follows the source, which has grown.
    """
    where = str(earlier.folder.path)
    if earlier.source != (source.kind, source.where):
        raise UsageFault(what="since-other-source", by=earlier.source[1], where=where, command="plan")
    if earlier.external_system != external_system:
        raise UsageFault(what="since-other-system", by=earlier.external_system, where=where, command="plan")
    if earlier.recipe != recipe and (chose_recipe or earlier.chose_recipe is not False):
        raise UsageFault(what="since-other-recipe", where=where, fix="--other-recipe")
