"""A run as a place: what its plan makes, as the tree of Noark 5, and what became of each record by its journal.

Entities are items; their parts are nested in their fields, their documents belong to the record. Source records that
were left out are items too, under a group for each outcome.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

from noarkit.catalogue.custody import RunCustody
from noarkit.catalogue.places.fingerprints import fingerprint_of
from noarkit.catalogue.places.noark_objects import plain_fields
from noarkit.catalogue.places.run_entities import RunEntities, reference_of
from noarkit.catalogue.port import Item, PlaceIdentity
from noarkit.catalogue.screening import PlanDisclosures
from noarkit.errors import ItemVanished
from noarkit.events import Listener
from noarkit.graph.store import GraphStore
from noarkit.loading.attached import open_plan_and_journal
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import outcomes
from noarkit.records import Connected, ContentStream, Source

GROUP, RECORD = "group", "record"
LEFT_OUT = ("set_aside", "refused", "skipped", "already_there")
# the entity that stands for a record
_ROOT = "SELECT e.key FROM record r JOIN entity e ON e.n = r.root WHERE r.key = ?"


class RunPlace:
    """The run in a folder. `open_source` opens the source that it was planned from, to read documents in it."""

    def __init__(self, path: Path, open_source: Callable[[], Source]) -> None:
        self._folder = RunFolder(path)
        self._open_source = open_source
        self._source: Source | None = None
        plan = self._folder.plan()
        evidence = (self._folder.journal, path / "run.db-wal", *sorted(path.glob("verify-*.json")))
        fingerprint = fingerprint_of(str(plan["sha256"]), *evidence)
        self._identity = PlaceIdentity("run", self._folder.name, str(path.resolve()), fingerprint)

    @property
    def identity(self) -> PlaceIdentity:
        """Kind `run`; its fingerprint follows the plan, the journal and the certificates."""
        return self._identity

    def items(self, emit: Listener) -> Iterator[Item]:
        """The spine, then folders and records in the order of the plan, then source records that were left out."""
        folder = self._folder
        with open_plan_and_journal(folder) as db:
            custody = RunCustody(folder, db)
            disclosures = PlanDisclosures(db)
            yield from RunEntities(db, custody, disclosures).items()
            for state in LEFT_OUT:
                yield from _left_out(folder, db, disclosures, state)

    def open(self, locator: str) -> AbstractContextManager[ContentStream]:
        """Opens a file in the source of the run, which must be as it was planned. Raises `ItemVanished`,
        `ItemUnreadable`, `ItemChanged`, and what opening the source raises."""
        with closing(GraphStore.open(self._folder.graph)) as graph:
            content = graph.content(int(locator)) if locator.isdigit() else None
        if content is None:
            raise ItemVanished(key=locator, why="ENOENT")
        self._source = self._source or self._open_source()
        return self._source.open(content)

    def close(self) -> None:
        """Lets the connections of the source go."""
        if isinstance(self._source, Connected):
            self._source.release()
        self._source = None


def _left_out(folder: RunFolder, db: sqlite3.Connection, disclosures: PlanDisclosures, state: str) -> Iterator[Item]:
    """The source records with this outcome, under a group; no group where there are none."""
    group = f"group:{state}"
    for at, outcome in enumerate(outcomes(folder, state)):
        if at == 0:
            yield Item(group, None, GROUP, state, state=state)
        root = db.execute(_ROOT, (outcome.key,)).fetchone()
        links = (("entity", reference_of(root[0])),) if root else ()
        facts = {"key": outcome.key, "archive_id": outcome.id, "becomes": outcome.type, **outcome.data}
        yield Item(
            *(f"record:{outcome.key}", group, RECORD, outcome.key),
            fault=outcome.code or "",
            screened=disclosures.of_key(outcome.key).hides_key,
            state=state,
            fields=plain_fields(facts),
            links=links,
        )
