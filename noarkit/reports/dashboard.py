"""The runs of a folder on one page: what became of each, when, how it was verified last, and what comes next."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from noarkit.airgap.delivery import delivery_state
from noarkit.errors import NoarkitError
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers, count_planned_set_aside, numbers
from noarkit.reports.page import imprint_facts, iso, render
from noarkit.safe import atomic
from noarkit.settings import Imprint
from noarkit.version import __version__

DASHBOARD_VERSION = 1
_SUMS = ("read", "archived", "already_there", "set_aside", "refused", "skipped", "open")

Spell = Callable[[str, Path], str]
"""The command line of a step (`ingest`, `retry`, `verify`, `replan`, `receipt`) for a run, as it can be copied."""


def write_dashboard(runs: Sequence[Path], path: Path, lang: str, spell: Spell, *, imprint: Imprint) -> None:
    """Writes the page to `path`, whole or not at all."""
    facts = dashboard_facts(runs, path, spell, imprint=imprint)
    atomic.write_text(path, render("dashboard.html", lang, facts), mode=0o600)


def dashboard_facts(runs: Sequence[Path], path: Path, spell: Spell, *, imprint: Imprint) -> dict[str, object]:
    """All that the page shows, as plain JSON values. A run that cannot be read is shown with its fault."""
    rows: list[dict[str, object]] = []
    totals = dict.fromkeys(_SUMS, 0)
    for run in runs:
        try:
            row, counts = _run_facts(RunFolder(run), path.parent, spell)
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
        "imprint": imprint_facts(imprint),
    }


def state_of(run: RunFolder) -> tuple[str, Numbers]:
    """What became of a run, here or beyond an air gap, and its sums."""
    counts = numbers(run)
    if run.journal.exists():
        with closing(run.open_journal()) as journal:
            retraction = journal.meta("retraction")
        return retraction or ("open" if counts.open or counts.in_doubt else "done"), counts
    beyond = delivery_state(run)
    if beyond is None:
        return "planned", counts
    state, receipt = beyond
    return state, counts if receipt is None else receipt.numbers


def _run_facts(run: RunFolder, above: Path, spell: Spell) -> tuple[dict[str, object], Numbers]:
    state, counts = state_of(run)
    plan = run.plan()
    certificate = _last_certificate(run, str(plan.get("sha256")))
    step = _next_step(run, state, counts, certificate)
    page = run.path / ("report.html" if run.journal.exists() else "plan.html")
    facts: dict[str, object] = {
        "name": run.name,
        "fault": None,
        "state": state,
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
        "step": step,
        "command": spell(step, run.path) if step else None,
    }
    return facts, counts


def _verdict(rows: Sequence[Mapping[str, object]]) -> str:
    """What is to be said of all runs together: wrong, doing (something is left to do), or done."""
    if any(row["fault"] or not row.get("adds_up", True) or _was_not_verified(row) for row in rows):
        return "wrong"
    return "doing" if any(row.get("step") for row in rows) else "done"


def _was_not_verified(row: Mapping[str, object]) -> bool:
    verified = row.get("verified")
    return isinstance(verified, dict) and verified["verdict"] == "not_verified"


def _next_step(run: RunFolder, state: str, counts: Numbers, certificate: Mapping[str, object] | None) -> str:
    """The step that comes next; empty where there is none."""
    if state in ("planned", "open"):
        return "ingest"
    if state == "sealed":
        return "receipt"
    if state != "done":
        return ""
    left_out = counts.set_aside + counts.refused
    planned_out = count_planned_set_aside(run) if left_out else 0
    if left_out > planned_out:
        return "retry"
    if certificate is None or certificate["verdict"] == "not_verified":
        return "verify"
    return "replan" if left_out else ""


def _last_worked(run: RunFolder) -> str | None:
    """When the run was last worked on; None where it has not begun."""
    if not run.journal.exists():
        return None
    with closing(run.open_journal()) as journal:
        at = journal.last_note_at("ingest_")
    return iso(at)


def _last_certificate(run: RunFolder, plan_sha256: str) -> dict[str, object] | None:
    """The facts of the newest certificate of this plan; one that cannot be read says nothing."""
    return next(_certificates(run, plan_sha256), None)


def _certificates(run: RunFolder, plan_sha256: str) -> Iterator[dict[str, object]]:
    for path in sorted(run.path.glob("verify-*.json"), reverse=True):
        try:
            facts = json.loads(path.read_text("utf-8"))
            if facts["plan_sha256"] == plan_sha256:
                yield {name: facts[name] for name in ("verdict", "ended", "depth")} | {"page": f"{path.stem}.html"}
        except (OSError, ValueError, KeyError, TypeError):
            continue
