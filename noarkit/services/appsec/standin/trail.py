"""Actions of people in the tenant: decisions about findings, the audit trail, and policy evaluations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from noarkit.services.standins.fake_data import SeededRandom, mail_of

Record = dict[str, Any]
UNDECIDED_STATE = "TO_VERIFY"
DECIDED_STATES = ("NOT_EXPLOITABLE", "PROPOSED_NOT_EXPLOITABLE", "CONFIRMED", "URGENT", "AKSEPTERT_RISIKO")
COMMENTS = ("Vurdert sammen med utviklerne.", "Rettes i neste versjon.", "<b>ikke</b> i bruk \u2028", "")
_DAYS = 365
_ACTIONS = (("project", "read"), ("scan", "create"), ("user", "login"), ("policy", "update"), ("result", "triage"))


class Trail:
    """The decisions and audit events of one tenant; options say how many there are. Safe for threads."""

    def __init__(
        self, seed: int, begun_at: datetime, options: Mapping[str, str], clock: Callable[[], datetime]
    ) -> None:
        self._clock = clock
        self._seed = seed
        self._begun_at = begun_at
        self._percent = int(options.get("decided", "6"))
        self._a_day = int(options.get("audit-a-day", "3"))
        self._days = min(_DAYS, int(options.get("audit-days", "5")))
        self._decisions: dict[tuple[str, str], list[Record]] = {}
        self._events_added: list[Record] = []
        self._evaluation_polls: dict[str, int] = {}
        self._lock = threading.Lock()

    def state(self, project: str, similarity: str) -> str:
        """Returns the current state of a finding."""
        history = self.history(project, similarity)
        return str(history[-1]["state"]) if history else UNDECIDED_STATE

    def history(self, project: str, similarity: str) -> list[Record]:
        """Returns every decision about a finding, oldest first."""
        dice = SeededRandom(self._seed, "decision", project, similarity)
        count = 1 + dice.number("count", 3) if dice.is_hit("decided", self._percent) else 0
        decisions = [self._decision(dice, place) for place in range(count)]
        with self._lock:
            return decisions + self._decisions.get((project, similarity), [])

    def decide(self, project: str, similarity: str, state: str, comment: str = "") -> None:
        """Adds a decision by a person."""
        now = self._clock()
        with self._lock:
            decisions = self._decisions.setdefault((project, similarity), [])
            decision_id = SeededRandom(self._seed, "decided", project, similarity, len(decisions)).uuid("id")
            decision = {
                "severity": "HIGH",
                "comment": comment,
                "createdBy": "kari@etaten.example",
                "createdAt": _stamp(now),
            }
            decisions.append({"ID": decision_id, "state": state, **decision})

    def predicates(self, project: str, similarity: str) -> Record:
        """Returns the history of a finding in the service's format."""
        decisions = self.history(project, similarity)
        project_history = {
            "projectId": project,
            "similarityId": similarity,
            "predicates": decisions,
            "totalCount": len(decisions),
        }
        return {"predicateHistoryPerProject": [project_history] if decisions else [], "totalCount": len(decisions)}

    def about_package(self, project: str, weakness: str, package: str) -> Record | None:
        """Returns the decisions about a weakness in a package, as actions; None if there are none."""
        decisions = self.history(project, weakness)
        actions = [
            {
                "actionType": "ChangeState",
                "actionValue": decision["state"].title().replace("_", ""),
                "enabled": True,
                "createdAt": decision["createdAt"],
                "userName": decision["createdBy"],
                "message": f"{decision['comment']} ({package})" if decision["comment"] else "",
            }
            for decision in decisions
        ]
        return {"id": decisions[0]["ID"], "name": weakness, "actions": actions} if decisions else None

    def act(self, day: str, action: str) -> None:
        """Adds an audit event on a day."""
        with self._lock:
            number = len(self._events_added)
            self._events_added.append(
                self._event(SeededRandom(self._seed, "done", number), f"{day}T12:00:00.{number:06d}Z", action)
            )

    def events(self, begin: datetime, end: datetime) -> list[Record]:
        """Returns the audit events of a span, newest first."""
        events = []
        for back in range(self._days):
            day = self._begun_at - timedelta(days=back)
            if not begin.date() <= day.date() <= end.date():
                continue
            for place in range(self._a_day):
                dice = SeededRandom(self._seed, "audit", day.date(), place)
                at = day.replace(hour=dice.number("hour", 24), minute=dice.number("minute", 60), second=place % 60)
                resource, _ = dice.choose("what", _ACTIONS)
                events.append(self._event(dice, _stamp(at), resource))
        with self._lock:
            events += self._events_added
        within = [event for event in events if begin <= datetime.fromisoformat(event["eventDate"]) <= end]
        return sorted(within, key=lambda event: str(event["eventDate"]), reverse=True)

    def evaluation(self, scan: str) -> Record:
        """Returns the policy evaluation of a scan; the first calls say that it is still running."""
        with self._lock:
            self._evaluation_polls[scan] = self._evaluation_polls.get(scan, 0) + 1
            if self._evaluation_polls[scan] == 1:
                return {"status": "EVALUATING", "breakBuild": False, "policies": []}
        dice = SeededRandom(self._seed, "policy", scan)
        is_broken = dice.is_hit("broken", 30)
        rule = {
            "policyName": "Ingen kritiske funn",
            "breakBuild": is_broken,
            "status": "VIOLATED" if is_broken else "OK",
        }
        return {
            "status": "COMPLETED",
            "breakBuild": is_broken,
            "policies": [{**rule, "rulesViolated": ["kritisk > 0"] if is_broken else [], "tags": []}],
        }

    def _decision(self, dice: SeededRandom, place: int) -> Record:
        given_name, family_name = dice.person(f"who{place}")
        at = self._begun_at - timedelta(days=60 - 15 * place, minutes=dice.number(f"minute{place}", 600))
        return {
            "ID": dice.uuid(f"id{place}"),
            "state": dice.choose(f"state{place}", DECIDED_STATES),
            "severity": dice.choose(f"severity{place}", ("HIGH", "MEDIUM", "LOW")),
            "comment": dice.choose(f"comment{place}", COMMENTS),
            "createdBy": mail_of(given_name, family_name, "Etaten AS"),
            "createdAt": _stamp(at),
        }

    def _event(self, dice: SeededRandom, at: str, resource: str) -> Record:
        action = dict(_ACTIONS).get(resource, resource)
        return {
            "eventDate": at,
            "eventType": f"{resource}.{action}",
            "auditResource": resource,
            "actionType": action,
            "actionUserId": dice.uuid("user"),
            "ipAddress": f"10.0.0.{dice.number('ip', 250)}",
            "data": {"id": dice.uuid("id"), "apiKey": "canary-audit-0451"},
        }


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
