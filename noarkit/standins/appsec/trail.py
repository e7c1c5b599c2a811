"""What people did in the tenant: decisions about findings, the audit trail, and how scans stand by the policies."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from noarkit.standins.dice import Dice, mail_of

Record = dict[str, Any]
UNDECIDED = "TO_VERIFY"
DECIDED = ("NOT_EXPLOITABLE", "PROPOSED_NOT_EXPLOITABLE", "CONFIRMED", "URGENT", "AKSEPTERT_RISIKO")
COMMENTS = ("Vurdert sammen med utviklerne.", "Rettes i neste versjon.", "<b>ikke</b> i bruk \u2028", "")
_DAYS = 365
_ACTIONS = (("project", "read"), ("scan", "create"), ("user", "login"), ("policy", "update"), ("result", "triage"))


class Trail:
    """The decisions and events of one tenant. `audit` days are filled with `a_day` events each. Safe for threads."""

    def __init__(self, seed: int, begun: datetime, options: Mapping[str, str]) -> None:
        self._seed = seed
        self._begun = begun
        self._percent = int(options.get("decided", "6"))
        self._a_day = int(options.get("audit-a-day", "3"))
        self._days = min(_DAYS, int(options.get("audit-days", "5")))
        self._made: dict[tuple[str, str], list[Record]] = {}
        self._done: list[Record] = []
        self._asked: dict[str, int] = {}
        self._lock = threading.Lock()

    def state(self, project: str, similarity: str) -> str:
        """How a finding stands now."""
        history = self.history(project, similarity)
        return str(history[-1]["state"]) if history else UNDECIDED

    def history(self, project: str, similarity: str) -> list[Record]:
        """Every decision about a finding, oldest first."""
        dice = Dice(self._seed, "decision", project, similarity)
        count = 1 + dice.number("count", 3) if dice.chance("decided", self._percent) else 0
        found = [self._decision(dice, place) for place in range(count)]
        with self._lock:
            return found + self._made.get((project, similarity), [])

    def decide(self, project: str, similarity: str, state: str, comment: str = "") -> None:
        """A person decides."""
        now = datetime.now(UTC)
        with self._lock:
            made = self._made.setdefault((project, similarity), [])
            one = Dice(self._seed, "decided", project, similarity, len(made)).uuid("id")
            told = {
                "severity": "HIGH",
                "comment": comment,
                "createdBy": "kari@etaten.example",
                "createdAt": _stamp(now),
            }
            made.append({"ID": one, "state": state, **told})

    def predicates(self, project: str, similarity: str) -> Record:
        """The history of a finding, as the service tells it."""
        found = self.history(project, similarity)
        told = {"projectId": project, "similarityId": similarity, "predicates": found, "totalCount": len(found)}
        return {"predicateHistoryPerProject": [told] if found else [], "totalCount": len(found)}

    def about_package(self, project: str, weakness: str, package: str) -> Record | None:
        """What was decided about a weakness in a package, as actions; None where nobody decided."""
        found = self.history(project, weakness)
        actions = [
            {
                "actionType": "ChangeState",
                "actionValue": one["state"].title().replace("_", ""),
                "enabled": True,
                "createdAt": one["createdAt"],
                "userName": one["createdBy"],
                "message": f"{one['comment']} ({package})" if one["comment"] else "",
            }
            for one in found
        ]
        return {"id": found[0]["ID"], "name": weakness, "actions": actions} if found else None

    def act(self, day: str, what: str) -> None:
        """Somebody does something on a day, and the trail hears of it."""
        with self._lock:
            number = len(self._done)
            self._done.append(self._event(Dice(self._seed, "done", number), f"{day}T12:00:00.{number:06d}Z", what))

    def events(self, begin: datetime, end: datetime) -> list[Record]:
        """What was done from one moment to another, newest first."""
        found = []
        for back in range(self._days):
            day = self._begun - timedelta(days=back)
            if not begin.date() <= day.date() <= end.date():
                continue
            for place in range(self._a_day):
                dice = Dice(self._seed, "audit", day.date(), place)
                at = day.replace(hour=dice.number("hour", 24), minute=dice.number("minute", 60), second=place % 60)
                resource, _ = dice.among("what", _ACTIONS)
                found.append(self._event(dice, _stamp(at), resource))
        with self._lock:
            found += self._done
        within = [one for one in found if begin <= datetime.fromisoformat(one["eventDate"]) <= end]
        return sorted(within, key=lambda one: str(one["eventDate"]), reverse=True)

    def evaluation(self, scan: str) -> Record:
        """How a scan stands by the policies; at first that is still being found out."""
        with self._lock:
            self._asked[scan] = self._asked.get(scan, 0) + 1
            if self._asked[scan] == 1:
                return {"status": "EVALUATING", "breakBuild": False, "policies": []}
        dice = Dice(self._seed, "policy", scan)
        broken = dice.chance("broken", 30)
        rule = {"policyName": "Ingen kritiske funn", "breakBuild": broken, "status": "VIOLATED" if broken else "OK"}
        return {
            "status": "COMPLETED",
            "breakBuild": broken,
            "policies": [{**rule, "rulesViolated": ["kritisk > 0"] if broken else [], "tags": []}],
        }

    def _decision(self, dice: Dice, place: int) -> Record:
        given, family = dice.person(f"who{place}")
        at = self._begun - timedelta(days=60 - 15 * place, minutes=dice.number(f"minute{place}", 600))
        return {
            "ID": dice.uuid(f"id{place}"),
            "state": dice.among(f"state{place}", DECIDED),
            "severity": dice.among(f"severity{place}", ("HIGH", "MEDIUM", "LOW")),
            "comment": dice.among(f"comment{place}", COMMENTS),
            "createdBy": mail_of(given, family, "Etaten AS"),
            "createdAt": _stamp(at),
        }

    def _event(self, dice: Dice, at: str, resource: str) -> Record:
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
