"""What a history may do to the data of the service: each change, and how often it is drawn.

`which` names a list and an object of it: `scans/3`, `projects/0`, `findings/7`, or an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from noarkit.services.appsec.standin.data import Store, stamp
from noarkit.services.appsec.standin.trail import DECIDED_STATES
from noarkit.services.standins.fake_data import SeededRandom
from noarkit.services.standins.histories.chance import ChanceChange, Chances
from noarkit.services.standins.histories.player import Apply, pick
from noarkit.services.standins.histories.script import Change

_OPEN_STATES = ("Queued", "Running")
_SCANS, _PROJECTS, _FINDINGS, _AUDIT = ("scans",), ("projects",), ("findings",), ("audit",)


def appsec_changes(store: Store) -> Mapping[str, Apply]:
    """Returns what each change does to a security service, by its name."""
    changes = AppSecChanges(store)
    return {
        "create": changes.create,
        "scan": changes.scan,
        "complete": changes.complete,
        "rename": changes.rename,
        "decide": changes.decide,
        "act": changes.act,
        "hide": changes.hide,
        "show": changes.show,
    }


class AppSecChanges:
    """Applies changes to the data of a security service; each returns the id of the object that it met."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hidden_scans: dict[str, dict[str, object]] = {}

    def create(self, change: Change) -> str:
        """Makes a project."""
        values = {"applicationIds": [], "groups": [], "tags": {}, "criticality": 3, "mainBranch": "main"}
        return str(self._store.add("projects", {**values, "name": str(change.values.get("name", "nytt"))})["id"])

    def scan(self, change: Change) -> str:
        """Makes a scan of a project in a state; one that began so many `days` ago."""
        project_id = pick(change.which, list(self._store.tables["projects"]))
        if not project_id:
            return ""
        values = {"branch": change.values.get("branch", "main")}
        record = self._store.new_scan(project_id, values, str(change.values.get("status", "Completed")))
        began_at = self._store.clock() - timedelta(days=float(str(change.values.get("days", 0))))
        record["createdAt"] = stamp(began_at)
        return str(record["id"])

    def complete(self, change: Change) -> str:
        """Ends a scan that was under way, with a state."""
        open_ids = [scan_id for scan_id, scan in self._store.tables["scans"].items() if scan["status"] in _OPEN_STATES]
        scan_id = pick(change.which, open_ids)
        if scan_id:
            self._store.finish(scan_id, str(change.values.get("status", "Completed")))
        return scan_id

    def rename(self, change: Change) -> str:
        """Gives a project another name."""
        project_id = pick(change.which, list(self._store.tables["projects"]))
        if project_id:
            name = str(change.values.get("name", "omdøpt"))
            self._store.tables["projects"][project_id] |= {"name": name, "updatedAt": stamp(self._store.clock())}
        return project_id

    def decide(self, change: Change) -> str:
        """Decides about a finding of the newest scans."""
        findings = {
            f"{scan['projectId']}/{result['similarityId']}": (str(scan["projectId"]), str(result["similarityId"]))
            for scan in self._store.scans()
            for result in self._store.results(str(scan["id"]))
        }
        place = pick(f"findings/{change.which.partition('/')[2]}", list(findings))
        if place:
            state = str(change.values.get("state", DECIDED_STATES[0]))
            self._store.trail.decide(*findings[place], state, str(change.values.get("comment", "")))
        return place

    def act(self, change: Change) -> str:
        """Adds an event to the audit trail, on a day so many `days` ago."""
        day = (self._store.clock() - timedelta(days=float(str(change.values.get("days", 0))))).date().isoformat()
        self._store.trail.act(day, str(change.values.get("deed", "login")))
        return day

    def hide(self, change: Change) -> str:
        """Takes a scan out of the lists, as one that appears late is."""
        scan_id = pick(change.which, list(self._store.tables["scans"]))
        if scan_id:
            self._hidden_scans[scan_id] = self._store.tables["scans"].pop(scan_id)
        return scan_id

    def show(self, change: Change) -> str:
        """Shows a hidden scan."""
        scan_id = pick(change.which, list(self._hidden_scans))
        if scan_id:
            self._store.tables["scans"][scan_id] = self._hidden_scans.pop(scan_id)
        return scan_id


def _scan_values(dice: SeededRandom) -> dict[str, object]:
    states = ("Completed", "Completed", "Failed", "Canceled", "Queued", "Running")
    return {
        "status": dice.choose("status", states),
        "days": dice.choose("days", (0, 0, 0, 3, 6, 8, 40)),
        "branch": dice.choose("branch", ("main", "utvikling")),
    }


def _decision(dice: SeededRandom) -> dict[str, object]:
    return {"state": dice.choose("state", DECIDED_STATES), "comment": f"Vurdert {dice.number('n', 1_000)}."}


CHANCES = Chances(
    (
        ChanceChange("create", _PROJECTS, 1, lambda dice: {"name": f"nytt-{dice.number('n', 1_000)}"}),
        ChanceChange("scan", _PROJECTS, 6, _scan_values),
        ChanceChange(
            "complete", _SCANS, 5, lambda dice: {"status": dice.choose("s", ("Completed", "Completed", "Failed"))}
        ),
        ChanceChange("rename", _PROJECTS, 1, lambda dice: {"name": f"omdøpt-{dice.number('n', 1_000)}"}),
        ChanceChange("decide", _FINDINGS, 5, _decision),
        ChanceChange("act", _AUDIT, 4, lambda dice: {"days": dice.choose("days", (0, 0, 1, 5, 20))}),
        ChanceChange("hide", _SCANS, 2),
        ChanceChange("show", _SCANS, 3),
    ),
    ("/api/scans", "/api/results", "/api/projects", "-predicates", "audit-events", "/api/reports"),
    {"hide": "show"},
)
