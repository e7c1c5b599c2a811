"""What a run came to, as facts: counted from plan and journal together, by record and by type."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import orjson

from noarkit import __version__
from noarkit.graph.store import GraphStore
from noarkit.load.folder import RunFolder
from noarkit.load.journal import Journal
from noarkit.load.numbers import numbers, outcomes
from noarkit.model import metamodel
from noarkit.report.page import MOST_PLACES, iso
from noarkit.report.planned import lost_facts

RUN_REPORT_VERSION = 1

# which list stands behind which number
LISTS = {
    "archived": "ids.csv",
    "already_there": "ids.csv",
    "set_aside": "set-aside.csv",
    "refused": "set-aside.csv",
    "skipped": "skipped.csv",
    "open": "open.csv",
}

_TYPES = """
SELECT p.type, count(*), sum(e.state = 'done'), sum(e.state = 'already_there'),
       sum(e.state IS NULL AND l.bundle IS NOT NULL), sum(e.state IS NULL AND l.bundle IS NULL)
FROM entity p LEFT JOIN run.entity e ON e.n = p.n LEFT JOIN run.left_out l ON l.bundle = p.bundle AND p.bundle != 0
GROUP BY p.type
"""


def run_facts(folder: RunFolder) -> dict[str, object]:
    """All that report.html shows, as plain JSON values. The run must have begun."""
    counted = numbers(folder)
    with closing(GraphStore.open(folder.graph)) as graph, closing(folder.open_journal()) as journal:
        graph.db.execute("ATTACH ? AS run", (f"{folder.journal.resolve().as_uri()}?mode=ro",))
        story = _story(graph.db)
        found_wrong = _findings(journal)
        return {
            "report": "run",
            "version": RUN_REPORT_VERSION,
            "noarkit": __version__,
            "run": folder.name,
            "plan_sha256": folder.plan()["sha256"],
            "zone": graph.meta("zone") or "UTC",
            "source": {"kind": graph.meta("source_kind"), "where": graph.meta("source_where")},
            "external_system": graph.meta("external_system"),
            "archive": journal.meta("where"),
            "archive_identity": journal.meta("archive"),
            "started": iso(journal.meta("started")),
            "honours_versions": journal.meta("honours_versions") == "True",
            "closed": journal.meta("closed") == "yes",
            "verdict": verdict(counted.as_data(), adds_up=counted.add_up, found_wrong=_count_open(found_wrong)),
            "adds_up": counted.add_up,
            "numbers": counted.as_data(),
            "lists": {name: list_ for name, list_ in LISTS.items() if getattr(counted, name)},
            "types": _types(graph.db),
            "chunks": journal.chunk_counts(),
            "left_out": _left_out(folder),
            "not_in_archive": lost_facts(graph.db),
            "findings": found_wrong,
            "sessions": story,
        }


def verdict(counted: dict[str, int], *, adds_up: bool, found_wrong: int = 0) -> str:
    """The word for how it went: wrong, found_wrong, doubt, open, partly or whole."""
    if not adds_up:
        return "wrong"
    if found_wrong:
        return "found_wrong"
    if counted["in_doubt"]:
        return "doubt"
    if counted["open"]:
        return "open"
    return "partly" if counted["set_aside"] + counted["refused"] else "whole"


def _types(db: sqlite3.Connection) -> list[dict[str, object]]:
    order = {name: place for place, name in enumerate(metamodel().types)}
    rows = sorted(db.execute(_TYPES).fetchall(), key=lambda row: order.get(row[0], len(order)))
    return [
        {
            "type": kind,
            "planned": planned,
            "archived": made or 0,
            "already_there": there or 0,
            "left_out": left or 0,
            "open": still or 0,
        }
        for kind, planned, made, there, left, still in rows
    ]


def _left_out(folder: RunFolder) -> list[dict[str, object]]:
    counts: Counter[tuple[str, str]] = Counter()
    places: dict[tuple[str, str], list[dict[str, object]]] = {}
    for one in outcomes(folder, "set_aside", "refused"):
        at = (one.code or "", one.state)
        counts[at] += 1
        if counts[at] <= MOST_PLACES:
            kept = {name: one.data.get(name) for name in ("why", "description", "type", "field", "line", "what")}
            places.setdefault(at, []).append({"key": one.key, **kept})
    return [
        {"code": code, "state": state, "count": counts[code, state], "places": places[code, state]}
        for code, state in sorted(counts)
    ]


def _findings(journal: Journal) -> list[dict[str, object]]:
    """What is wrong in the archive, as far as the run has met it: still open, or accepted by name."""
    return [
        {"kind": one.kind, "key": one.key, "state": state, **one.data}
        for state, states in (("open", ("open", "asked")), ("accepted", ("accepted",)))
        for one in journal.findings(*states)
    ]


def _count_open(found_wrong: list[dict[str, object]]) -> int:
    return sum(one["state"] == "open" for one in found_wrong)


def _story(db: sqlite3.Connection) -> list[dict[str, object]]:
    """Each time the run was worked on: when, by whom, with what end."""
    found: list[dict[str, object]] = []
    rows = db.execute("SELECT at, name, data FROM run.event WHERE name LIKE 'ingest_%' ORDER BY n")
    for at, name, data in rows:
        told = orjson.loads(data)
        if name == "ingest_began":
            found.append({"began": iso(at), "ended": None, "exit": None, **_known(told)})
        elif found:
            found[-1] |= {"ended": iso(at), "exit": told.get("exit"), "state": told.get("state")}
    return found


def _known(told: dict[str, object]) -> dict[str, object]:
    return {name: told.get(name) for name in ("archive", "account", "user", "machine", "noarkit", "state")}
