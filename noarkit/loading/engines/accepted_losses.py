"""Accepts by key what a service no longer has: the next plan of the connection takes its record without it.

The service is asked once more for each document of such a record, so that just what is gone is accepted, and all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from noarkit.errors import ItemGone
from noarkit.graph.store import GraphStore
from noarkit.loading.engines.connections import connection_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import outcomes
from noarkit.records import Source, innermost

if TYPE_CHECKING:
    from noarkit.services.source import ConnectorSource
    from noarkit.services.source.accepted_losses import AcceptedLoss


def accept_losses(folder: RunFolder, source: Source, keys: Sequence[str], by: str, at: str) -> tuple[AcceptedLoss, ...]:
    """Accepts what is gone of the records with these keys that a run left out as gone; returns it.

    Nothing of a source that is no connection. Raises ServiceFaults.
    """
    connector = connection_of(innermost(source))
    if connector is None:
        return ()
    from noarkit.services.source.accepted_losses import AcceptedLoss, add_accepted_losses

    left_out = [
        outcome for outcome in outcomes(folder, "set_aside") if outcome.code == ItemGone.code and outcome.key in keys
    ]
    losses: list[AcceptedLoss] = []
    with closing(folder.graph_store()) as graph:
        for outcome in left_out:
            gone_keys = (outcome.key,) if outcome.by_plan else _gone_documents(graph, connector, outcome.key)
            losses += (AcceptedLoss(key, outcome.key, by, at, folder.path.name) for key in gone_keys)
    add_accepted_losses(connector.to, losses)
    return tuple(losses)


def _gone_documents(graph: GraphStore, source: ConnectorSource, record_key: str) -> Iterator[str]:
    """The locators of a record's documents that are gone."""
    rows = graph.db.execute(
        "SELECT e.n FROM record r JOIN entity b ON b.n = r.root JOIN entity e ON e.bundle = b.bundle"
        " JOIN content c ON c.entity = e.n WHERE r.key = ? AND e.bundle != 0 ORDER BY e.n",
        (record_key,),
    )
    for (number,) in rows.fetchall():
        content = graph.content(number)
        try:
            if content is not None:
                with source.open(content):
                    pass
        except ItemGone as gone:
            yield str(gone.data["key"])
