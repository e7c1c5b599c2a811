"""Holds the keys of all that a service holds now against the archive: what no run ever met is found so, and nowhere
else, since a run reads what changed since the one before it.

Only keys are asked for; what is in no archive is then asked for whole, for a rule of the recipe may have left it out in
a run before this one. What the service itself leaves out or could not give is counted by its reason; what came after
the run was planned belongs to the next plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

from noarkit.archive.port import Archive
from noarkit.errors import UsageFault
from noarkit.events import Event, Listener
from noarkit.graph.entity import Skipped
from noarkit.graph.store import GraphStore
from noarkit.loading.engines.connections import connection_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.lookup import owners_of_keys
from noarkit.loading.verification import VerifyResult
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.records import Source, innermost
from noarkit.safe.scratch import scratch

if TYPE_CHECKING:
    from noarkit.services.port import Item
    from noarkit.services.source import ConnectorSource

LISTING = "listing"
_BATCH_SIZE = 500
_TELL_EVERY = 5000


def compare_listing(folder: RunFolder, source: Source, archive: Archive, result: VerifyResult, emit: Listener) -> None:
    """A row of the verification: every key that the service lists, and whether the archive has it.

    Raises `UsageFault` for a source that is no connection: it is walked whole as it is. Raises ServiceFaults.
    """
    connection = connection_of(innermost(source))
    if connection is None:
        raise UsageFault(what="bad-value", where="--whole")
    with closing(folder.graph_store()) as graph:
        ledger = _ListingCheck(graph, archive, graph.meta("external_system") or "")
        count = 0
        for batch in _batches(_comparable_items(connection, result, emit)):
            ledger.compare(batch, connection, result)
            if (count + len(batch)) // _TELL_EVERY > count // _TELL_EVERY:
                emit(Event("asked", {"keys": count + len(batch)}))
            count += len(batch)
        ledger.settle(connection, result, emit)


def _comparable_items(source: ConnectorSource, result: VerifyResult, emit: Listener) -> Iterator[Item]:
    """The items of the listing; all else of it is counted by why it is not to be compared."""
    from noarkit.services.port import FetchFailure, Item, Omission

    for item in source.listing(emit):
        if isinstance(item, Item):
            yield item
        elif isinstance(item, FetchFailure):
            result.leave(LISTING, "source_unreadable")
        elif isinstance(item, Omission):
            result.leave(LISTING, "skipped")
        # what the service says it deleted is kept here, and is no key of what it holds


def _batches(items: Iterable[Item]) -> Iterator[tuple[Item, ...]]:
    source = iter(items)
    while portion := tuple(islice(source, _BATCH_SIZE)):
        yield portion


class _ListingCheck:
    """Compares keys of the listing with the run's plan and with the archive."""

    def __init__(self, graph: GraphStore, archive: Archive, system: str) -> None:
        self._db = graph.db
        self._archive = archive
        self._system = system
        self._recipe = graph.meta("recipe") or ""
        self._missing = scratch()
        self._missing.execute("CREATE TABLE missing (key TEXT PRIMARY KEY, stream TEXT NOT NULL)")
        self._missing.execute("CREATE TABLE newer (key TEXT PRIMARY KEY)")
        # a recipe may name records in the archive otherwise than the service does: then nothing is known of other runs'
        self._as_named = not self._db.execute(
            "SELECT 1 FROM record r JOIN entity e ON e.n = r.root WHERE e.key != r.key LIMIT 1"
        ).fetchone()

    def compare(self, items: Iterable[Item], source: ConnectorSource, result: VerifyResult) -> None:
        """Counts each: in the archive, accounted for by this run, newer than it, or missing."""
        plan_states = {item.key: self._plan_state(item.key) for item in items}
        names = {key: plan_state[1] or key for key, plan_state in plan_states.items()}
        owners = owners_of_keys(self._archive, self._system, names.values())
        for item in items:
            state = plan_states[item.key][0]
            if names[item.key] in owners:
                result.agree(LISTING)
            elif state in ("set_aside", "skipped", "refused"):
                result.leave(LISTING, state)
            elif state is None and item.modified is not None and item.modified >= source.span.until:
                self._missing.execute("INSERT OR IGNORE INTO newer VALUES (?)", (item.key,))
            elif state is None and item.modified is None:
                result.leave(LISTING, "undated")
            elif state is None and not self._as_named:
                result.leave(LISTING, "earlier_run")
            elif state is not None:
                result.leave(LISTING, "open")
            else:
                self._missing.execute("INSERT OR IGNORE INTO missing VALUES (?, ?)", (item.key, item.stream))

    def settle(self, source: ConnectorSource, result: VerifyResult, emit: Listener) -> None:
        """Counts what is in no archive and no plan: left out by a rule of the recipe, or missing. Ends the ledger."""
        with closing(self._missing) as missing:
            self._count_newer(source, result, emit)
            streams = {stream for (stream,) in missing.execute("SELECT DISTINCT stream FROM missing")}
            if streams:
                mapper = compile_recipe(read_recipe(self._recipe))
                for record in source.current_records(streams, emit):
                    is_missing = missing.execute("SELECT 1 FROM missing WHERE key = ?", (record.key,)).fetchone()
                    if is_missing is not None and isinstance(mapper.map(record), Skipped):
                        missing.execute("DELETE FROM missing WHERE key = ?", (record.key,))
                        result.leave(LISTING, "by_rule")
            for key, stream in missing.execute("SELECT key, stream FROM missing ORDER BY rowid"):
                result.differ(LISTING, "V102", key, stream)

    def _count_newer(self, source: ConnectorSource, result: VerifyResult, emit: Listener) -> None:
        """Counts what came after the run was planned: what the next plan reads, and what only a sweep finds."""
        (newer_count,) = self._missing.execute("SELECT count(*) FROM newer").fetchone()
        next_keys = (source.next_keys(emit) or ()) if newer_count else ()
        query = "SELECT count(*) FROM newer WHERE key = ?"
        result.source_new = sum(self._missing.execute(query, (key,)).fetchone()[0] for key in next_keys)
        result.source_late = newer_count - result.source_new

    def _plan_state(self, key: str) -> tuple[str | None, str | None]:
        """What the plan made of a key, and what it is called in the archive; nothing where it never met it."""
        row = self._db.execute(
            "SELECT r.state, e.key FROM record r LEFT JOIN entity e ON e.n = r.root WHERE r.key = ?", (key,)
        ).fetchone()
        return (None, None) if row is None else (str(row[0]), row[1])
