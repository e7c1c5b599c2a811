"""The calls of the console: definitions and what can be done with them, reviews, the audit log, logs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime

from starlette.responses import JSONResponse, Response

from noarkit.standins.calling import Call
from noarkit.standins.dice import Dice
from noarkit.standins.features.data import REVIEWED, SINGULAR, Store, millis
from noarkit.standins.features.lists import Refusal, listed, one_of, whole
from noarkit.standins.features.shapes import KINDS, VERSIONED, Record

_STATES: dict[str, Record] = {
    "enable": {"isEnabled": True},
    "disable": {"isEnabled": False, "status": "Disabled"},
    "launch": {"status": "Launched"},
    "archive": {"status": "Archived"},
    "unarchive": {"status": "In Progress"},
    "start": {"status": "active"},
    "reset": {"status": "setup"},
    "abandon": {"status": "abandoned"},
    "make_decision": {"status": "decision_made"},
}
_UNPAGED = frozenset({"layers", "param_stores", "autotunes"})


class Calls:
    """Answers calls that were let in."""

    def __init__(self, store: Store, changed: Callable[[str, str, str], None]) -> None:
        self._store = store
        self._changed = changed
        self.keys_read = 0
        self.people_read = 0
        self.reviews_read = 0
        kinds = "|".join(KINDS)
        self._routes: tuple[tuple[re.Pattern[str], Callable[..., Response]], ...] = (
            (re.compile(r"/(project|company)"), self._about),
            (re.compile(r"/audit_logs"), self._audit),
            (re.compile(r"/logs"), self._logs),
            (re.compile(r"/keys"), self._keys),
            (re.compile(r"/metrics/list"), self._metrics),
            (re.compile(rf"/({kinds})"), self._kind),
            (re.compile(rf"/({kinds})/([^/]+)"), self._one),
            (re.compile(rf"/({kinds})/([^/]+)/versions"), self._versions),
            (re.compile(rf"/({kinds})/([^/]+)/reviews"), self._reviews),
            (re.compile(rf"/({kinds})/([^/]+)/reviews/([^/]+)"), self._review),
            (re.compile(rf"/({kinds})/([^/]+)/(rules|overrides)"), self._part),
            (re.compile(r"/segments/([^/]+)/id_list"), self._people),
            (re.compile(r"/experiments/([^/]+)/pulse_results/([^/]+)"), self._pulse),
            (re.compile(rf"/({kinds})/([^/]+)/({'|'.join(_STATES)})"), self._act),
        )

    def answer(self, call: Call) -> Response:
        """The answer. Raises `Refusal`."""
        for pattern, answering in self._routes:
            found = pattern.fullmatch(call.path)
            if found is not None:
                return answering(call, *found.groups())
        raise Refusal(404, "Not found")

    def _about(self, call: Call, what: str) -> Response:
        name = Dice(self._store.seed, what).company("name")
        return one_of({"id": self._store.project_id, "name": name}, "Read.")

    def _metrics(self, call: Call) -> Response:
        return listed(self._store.ids("metrics"), call.query, call.path, self._shown("metrics"))

    def _kind(self, call: Call, kind: str) -> Response:
        if call.method == "POST":
            return self._made(call, kind)
        if call.method != "GET" or kind == "metrics":
            raise Refusal(404, "Not found")
        ids, shown = self._store.ids(kind), self._shown(kind)
        if kind == "holdouts" or kind in _UNPAGED:
            rows = [told for one in ids if (told := shown(one)) is not None]
            return whole(rows, per_page=20_000 if kind == "holdouts" else None)
        return listed(ids, call.query, call.path, shown)

    def _made(self, call: Call, kind: str) -> Response:
        told = call.members()
        name = told.get("name")
        if not isinstance(name, str) or not name:
            raise Refusal(400, "name is required")
        one = name.strip().replace(" ", "_")
        if self._store.versions(kind, one):
            raise Refusal(400, f"{name} already exists")
        made = self._store.put(kind, one, told)
        self._changed(kind, one, "created")
        return one_of(made, "Created.", 201)

    def _one(self, call: Call, kind: str, one: str) -> Response:
        known = self._store.get(kind, one)
        if call.method == "GET" or known is None:
            return one_of(known, "Read.")
        if call.method == "DELETE":
            self._store.delete(kind, one)
            self._changed(kind, one, "deleted")
            return JSONResponse({"message": "Deleted."})
        told = call.members()
        made = self._store.put(kind, one, {name: told[name] for name in told if name not in ("id", "version")})
        self._changed(kind, one, "updated")
        return one_of(made, "Updated.")

    def _versions(self, call: Call, kind: str, one: str) -> Response:
        if kind not in VERSIONED:
            raise Refusal(404, "Not found")
        found = {str(told["version"]): told for told in reversed(self._store.versions(kind, one))}
        return listed(list(found), call.query, call.path, found.get)

    def _reviews(self, call: Call, kind: str, one: str) -> Response:
        if kind not in REVIEWED:
            raise Refusal(404, "Not found")
        self.reviews_read += 1
        found = {str(told["review_id"]): told for told in self._store.reviews(kind, one)}
        return listed(list(found), call.query, call.path, found.get)

    def _review(self, call: Call, kind: str, one: str, review: str) -> Response:
        found = self._store.reviews(kind, one)
        return one_of(next((told for told in found if told["review_id"] == review), None), "Read.")

    def _part(self, call: Call, kind: str, one: str, part: str) -> Response:
        known = self._store.get(kind, one)
        if known is None:
            raise Refusal(404, "Not found")
        if call.method == "GET":
            return one_of({part: known.get(part) or []}, "Read.")
        self._store.put(kind, one, call.members())
        self._changed(kind, one, "updated")
        return one_of(self._store.get(kind, one), "Updated.")

    def _act(self, call: Call, kind: str, one: str, act: str) -> Response:
        if self._store.get(kind, one) is None:
            raise Refusal(404, "Not found")
        told = {**_STATES[act], **call.members()} if act == "make_decision" else dict(_STATES[act])
        if act == "make_decision":
            told["decisionTime"] = millis(datetime.now(UTC))
            told["launchedGroupID"] = told.get("launchedGroupID") or told.pop("id", None) or "g2"
        self._store.put(kind, one, told)
        self._changed(kind, one, "updated")
        return one_of(self._store.get(kind, one), "Done.")

    def _pulse(self, call: Call, one: str, group: str) -> Response:
        if self._store.get("experiments", one) is None:
            raise Refusal(404, "Not found")
        lift = Dice(self._store.seed, one, group).number("lift", 900)
        return one_of({"group": group, "metrics": [{"name": "sendt", "absoluteLift": lift / 100}]}, "Read.")

    def _people(self, call: Call, one: str) -> Response:
        self.people_read += 1
        return one_of({"name": one, "count": 2, "ids": ["user-1", "user-2"]}, "Read.")

    def _keys(self, call: Call) -> Response:
        self.keys_read += 1
        return whole([{"key": "secret-canary-0123456789", "type": "SERVER"}])

    def _audit(self, call: Call) -> Response:
        begin, end = _day(call, "startDate", date.min), _day(call, "endDate", date.max)
        return listed(self._store.audit_ids(begin, end, call.query.get("actionType", "")), call.query, call.path,
                      self._store.entry)  # fmt: skip

    def _logs(self, call: Call) -> Response:
        limit = min(int(call.query.get("limit") or 100), 1_000)
        begin = int(call.query.get("after") or 0)
        rows = [
            {"id": f"log-{number}", "timestamp": 1_700_000_000_000 + number, "event_name": "sendt", "user_id": "user-1"}
            for number in range(begin, min(begin + limit, 250))
        ]
        cursor = str(begin + limit) if begin + limit < 250 else None
        return JSONResponse({"message": "Read.", "data": rows, "pagination": {"next_cursor": cursor}})

    def _shown(self, kind: str) -> Callable[[str], Record | None]:
        return lambda one: self._store.get(kind, one)


def object_type(kind: str) -> str:
    """How a webhook names a kind."""
    return "".join(part.capitalize() for part in SINGULAR[kind].split("_"))


def _day(call: Call, name: str, default: date) -> date:
    try:
        return date.fromisoformat(call.query[name]) if call.query.get(name) else default
    except ValueError as error:
        raise Refusal(400, f"{name} must be YYYY-MM-DD") from error
