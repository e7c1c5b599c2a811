"""The facts of report.html: the result of a run, counted from plan and journal, by record and by type."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import orjson

from noarkit.catalogue.screening import PlanDisclosures
from noarkit.graph.store import GraphStore
from noarkit.loading.attached import attach_run
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal
from noarkit.loading.numbers import outcomes
from noarkit.loading.state import read_state
from noarkit.model import metamodel
from noarkit.model.disclosure import mask_key
from noarkit.reports.page import MOST_PLACES, iso
from noarkit.reports.plan_page import approval_facts, lost_facts
from noarkit.version import __version__

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
    state = read_state(folder)
    counts = state.numbers
    with closing(GraphStore.open(folder.graph)) as graph, closing(folder.open_journal()) as journal:
        attach_run(graph.db, folder)
        story = _session_history(graph.db)
        disclosures = PlanDisclosures(graph.db)
        found_wrong = _findings(journal, disclosures)
        zone = graph.meta("zone") or "UTC"
        return {
            "report": "run",
            "version": RUN_REPORT_VERSION,
            "noarkit": __version__,
            "run": folder.name,
            "plan_sha256": folder.plan()["sha256"],
            "approval": approval_facts(folder),
            "zone": zone,
            "source": {"kind": graph.meta("source_kind"), "where": graph.meta("source_where")},
            "external_system": graph.meta("external_system"),
            "archive": state.archive,
            "archive_identity": state.identity,
            "started": iso(journal.meta("started")),
            "honours_versions": journal.meta("honours_versions") == "True",
            "closed": state.closed == "yes",
            "retracted": {"gone": 0, "absent": 0, "kept": 0, **state.retracted},
            "verdict": state.retraction
            or verdict(counts.as_data(), adds_up=counts.add_up, found_wrong=_count_open(found_wrong)),
            "adds_up": counts.add_up,
            "numbers": counts.as_data(),
            "lists": {name: list_ for name, list_ in LISTS.items() if getattr(counts, name)},
            "types": _types(graph.db),
            "chunks": dict(state.chunks),
            "left_out": _left_out(folder, disclosures),
            "not_in_archive": lost_facts(graph.db, disclosures),
            "findings": found_wrong,
            "sessions": story,
            "lost_workers": dict(state.losses),
            "imprint": _imprint(story, zone),
        }


def verdict(counts: dict[str, int], *, adds_up: bool, found_wrong: int = 0) -> str:
    """The verdict on a run: wrong, found_wrong, doubt, open, partly or whole."""
    if not adds_up:
        return "wrong"
    if found_wrong:
        return "found_wrong"
    if counts["in_doubt"]:
        return "doubt"
    if counts["open"]:
        return "open"
    return "partly" if counts["set_aside"] + counts["refused"] else "whole"


def _types(db: sqlite3.Connection) -> list[dict[str, object]]:
    order = {name: place for place, name in enumerate(metamodel().types)}
    rows = sorted(db.execute(_TYPES).fetchall(), key=lambda row: order.get(row[0], len(order)))
    return [
        {
            "type": kind,
            "planned": planned_count,
            "archived": made_count or 0,
            "already_there": existing_count or 0,
            "left_out": left_count or 0,
            "open": still or 0,
        }
        for kind, planned_count, made_count, existing_count, left_count, still in rows
    ]


def _left_out(folder: RunFolder, disclosures: PlanDisclosures) -> list[dict[str, object]]:
    counts: Counter[tuple[str, str]] = Counter()
    places: dict[tuple[str, str], list[dict[str, object]]] = {}
    for outcome in outcomes(folder, "set_aside", "refused"):
        at = (outcome.code or "", outcome.state)
        counts[at] += 1
        if counts[at] <= MOST_PLACES:
            disclosure = disclosures.of_key(outcome.key)
            fault = disclosures.fault(outcome.data, disclosure)
            details = {name: fault.get(name) for name in ("why", "description", "type", "field", "line", "what")}
            places.setdefault(at, []).append({"key": mask_key(outcome.key, disclosure), **details})
    return [
        {"code": code, "state": state, "count": counts[code, state], "places": places[code, state]}
        for code, state in sorted(counts)
    ]


def _findings(journal: Journal, disclosures: PlanDisclosures) -> list[dict[str, object]]:
    """What is wrong in the archive, as far as the run has met it: still open, or accepted by name."""
    return [
        {
            "kind": finding.kind,
            "key": mask_key(finding.key, disclosure),
            "state": state,
            **disclosures.fault(finding.data, disclosure),
        }
        for state, states in (("open", ("open", "asked")), ("accepted", ("accepted",)))
        for finding in journal.findings(*states)
        for disclosure in (disclosures.of_key(finding.key),)
    ]


def _count_open(found_wrong: list[dict[str, object]]) -> int:
    return sum(finding["state"] == "open" for finding in found_wrong)


def _session_history(db: sqlite3.Connection) -> list[dict[str, object]]:
    """Each time the run was worked on: when, by whom, with what end."""
    entries: list[dict[str, object]] = []
    rows = db.execute("SELECT at, name, data FROM run.event WHERE name LIKE 'ingest_%' ORDER BY n")
    for at, name, data in rows:
        values = orjson.loads(data)
        if name == "ingest_began":
            entries.append({"began": iso(at), "ended": None, "exit": None, **_session_values(values)})
        elif entries:
            entries[-1] |= {"ended": iso(at), "exit": values.get("exit"), "state": values.get("state")}
    return entries


def _session_values(values: dict[str, object]) -> dict[str, object]:
    names = ("archive", "account", "user", "operator", "machine", "noarkit", "state")
    return {name: values.get(name) for name in names}


def _imprint(story: list[dict[str, object]], zone: str) -> dict[str, object] | None:
    """Who worked on the run last, where, and until when."""
    if not story:
        return None
    last = story[-1]
    who = last["operator"] or last["user"] or ""
    return {"at": last["ended"] or last["began"], "operator": who, "machine": last["machine"] or "", "zone": zone}
