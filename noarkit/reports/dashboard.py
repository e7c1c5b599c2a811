"""The runs of a folder on one page: what became of each, when, how it was verified last, and what comes next."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from noarkit.errors import NoarkitError
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import last_certificate, next_steps
from noarkit.loading.numbers import Numbers
from noarkit.loading.request import RunRequest
from noarkit.loading.state import read_state
from noarkit.reports.deliveries import Delivery, delivery_facts
from noarkit.reports.page import imprint_facts, iso, render
from noarkit.safe import atomic
from noarkit.settings import Imprint
from noarkit.version import __version__
from noarkit.words.texts import texts

DASHBOARD_VERSION = 1
_SUMS = ("read", "archived", "already_there", "set_aside", "refused", "skipped", "open")


def write_dashboard(
    runs: Sequence[Path],
    path: Path,
    lang: str,
    line: RunRequest | None,
    *,
    imprint: Imprint,
    packages: Iterable[Delivery] = (),
) -> None:
    """Writes the page on runs, and on the packages beside them, to `path`, whole or not at all."""
    deliveries = [delivery_facts(package, texts(lang)) for package in packages]
    facts = dashboard_facts(runs, path, line, imprint=imprint, deliveries=deliveries)
    atomic.write_text(path, render("dashboard.html", lang, facts), mode=0o600)


def dashboard_facts(
    runs: Sequence[Path],
    path: Path,
    line: RunRequest | None,
    *,
    imprint: Imprint,
    deliveries: Sequence[Mapping[str, object]] = (),
) -> dict[str, object]:
    """All that the page shows, as plain JSON values. A run that cannot be read is shown with its fault."""
    rows: list[dict[str, object]] = []
    totals = dict.fromkeys(_SUMS, 0)
    for run in runs:
        try:
            row, counts = _run_facts(RunFolder(run), path.parent, line)
        except (NoarkitError, OSError, sqlite3.Error) as error:
            fault = error.describe() if isinstance(error, NoarkitError) else str(error)
            row = {"name": run.name, "fault": fault, "state": "broken", "worked": None, "frozen": None}
        else:
            for name in _SUMS:
                totals[name] += getattr(counts, name)
        rows.append(row)
    return {
        "report": "runs",
        "version": DASHBOARD_VERSION,
        "noarkit": __version__,
        "verdict": _verdict(rows),
        "runs": rows,
        "lately": sorted(rows, key=lambda row: str(row["worked"] or row["frozen"] or ""), reverse=True),
        "totals": totals | {"new_versions": 0},
        "adds_up": totals["read"] == sum(totals[name] for name in _SUMS if name != "read"),
        "deliveries": [dict(delivery) for delivery in deliveries],
        "imprint": imprint_facts(imprint),
    }


def _run_facts(run: RunFolder, above: Path, line: RunRequest | None) -> tuple[dict[str, object], Numbers]:
    state = read_state(run)
    counts = state.numbers
    plan = run.plan()
    certificate = last_certificate(run, str(plan.get("sha256")))
    step = next((step for step in next_steps(run, state, line)), None)
    page = run.path / ("report.html" if run.journal.exists() else "plan.html")
    facts: dict[str, object] = {
        "name": run.name,
        "fault": None,
        "state": state.word,
        "found_wrong": len(state.differences),
        "page": os.path.relpath(page, above) if page.exists() else None,
        "archive": run.remembered_archive(),
        "frozen": iso(str(plan.get("frozen_at", 0))),
        "worked": _last_worked(run),
        "numbers": counts.as_data(),
        "adds_up": counts.add_up,
        "verified": None
        if certificate is None
        else {
            "verdict": certificate["verdict"],
            "at": certificate["ended"],
            "depth": certificate["depth"],
            "page": os.path.relpath(run.path / str(certificate["page"]), above),
        },
        "step": step.name if step else "",
        "command": str(step) if step else None,
    }
    return facts, counts


def _verdict(rows: Sequence[Mapping[str, object]]) -> str:
    """What is to be said of all runs together: wrong, doing (something is left to do), or done."""
    if any(row["fault"] or not row.get("adds_up", True) or _is_wrong(row) for row in rows):
        return "wrong"
    return "doing" if any(row.get("step") for row in rows) else "done"


def _is_wrong(row: Mapping[str, object]) -> bool:
    """True if something was found wrong in the archive, or the last verification did not come out good."""
    verified = row.get("verified")
    return bool(row.get("found_wrong")) or (isinstance(verified, dict) and verified["verdict"] == "not_verified")


def _last_worked(run: RunFolder) -> str | None:
    """When the run was last worked on; None where it has not begun."""
    if not run.journal.exists():
        return None
    with closing(run.open_journal()) as journal:
        at = journal.last_note_at("ingest_")
    return iso(at)
