"""The calls of the console: definitions and what can be done with them, reviews, the audit log, logs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime

from starlette.responses import JSONResponse, Response

from noarkit.standins.calling import Call
from noarkit.standins.dice import Dice
from noarkit.standins.features.data import REVIEWED, SINGULAR, Store, millis
from noarkit.standins.features.doors import DOORS
from noarkit.standins.features.lists import MOST, Refusal, listed, one_of, whole
from noarkit.standins.features.shapes import KINDS, VERSIONED, Record
from noarkit.standins.published import Unpublished

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
_WITH_STATE = ("gates", "dynamic_configs", "experiments")
_TOLD_IN_WORDS = ("experiments", "autotunes")  # of which an act answers a message alone
_REASONED = {"make_decision": ("id", "decisionReason"), "abandon": ("decisionReason",)}
_SHOWN_WHEN_GONE = ("experiments", "holdouts")  # of which the answer to their end is what they were
_TOLD_ONCE = {"param_stores": ("tags", "targetAppIDs")}  # taken when one is made, and not shown
_NAME = re.compile(r"[a-zA-Z0-9_\-. ]{3,100}")


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
            (re.compile(rf"/({kinds})/([^/]+)/rules"), self._rules),
            (re.compile(r"/segments/([^/]+)/id_list"), self._people),
            (re.compile(r"/experiments/([^/]+)/pulse_results"), self._pulse),
            (re.compile(r"/segments/([^/]+)/conditional"), self._conditional),
            (re.compile(rf"/({kinds})/([^/]+)/({'|'.join(_STATES)})"), self._act),
        )

    def answer(self, call: Call) -> Response:
        """The answer. Raises `Refusal`, and `Unreadable` for what is not as it was published."""
        try:
            DOORS.check(call)
        except Unpublished as error:
            raise Refusal(error.status, "Not found") from error
        for pattern, answering in self._routes:
            found = pattern.fullmatch(call.path)
            if found is not None:
                return answering(call, *found.groups())
        raise Refusal(404, "Not found")

    def _about(self, call: Call, what: str) -> Response:
        if what == "project":
            return one_of({"id": self._store.project_id}, "Read.")
        dice = Dice(self._store.seed, what)
        told = {"companyID": dice.uuid("id"), "companyName": dice.company("name"), "isWarehouseNative": False}
        return one_of({**told, "orgID": None, "orgName": None}, "Read.")

    def _metrics(self, call: Call) -> Response:
        return listed(self._store.ids("metrics"), call.query, call.path, self._shown("metrics"))

    def _kind(self, call: Call, kind: str) -> Response:
        if call.method == "POST":
            return self._made(call, kind)
        ids, shown = self._store.ids(kind), self._shown(kind)
        if kind == "gates" and call.text("includeArchived") != "true":
            ids = [one for one in ids if self._store.versions(kind, one)[-1].get("status") != "Archived"]
        return listed(ids, call.query, call.path, shown)

    def _made(self, call: Call, kind: str) -> Response:
        told = call.members()
        name = told.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise Refusal(400, "name must be of 3 to 100 letters and digits")
        one = name.strip().replace(" ", "_")
        if self._store.versions(kind, one):
            raise Refusal(400, f"{name} already exists")
        made = self._store.put(kind, one, {k: v for k, v in told.items() if k not in _TOLD_ONCE.get(kind, ())})
        self._changed(kind, one, "created")
        return one_of(made, "Created.", 200 if kind in ("param_stores", "holdouts") else 201)

    def _one(self, call: Call, kind: str, one: str) -> Response:
        known = self._store.get(kind, one)
        if call.method == "GET" or known is None:
            return one_of(known, "Read.")
        if call.method == "DELETE":
            self._store.delete(kind, one)
            self._changed(kind, one, "deleted")
            if kind in _SHOWN_WHEN_GONE:
                return one_of(known, "Deleted.")
            return JSONResponse({"message": "Deleted."}) if kind != "param_stores" else Response()
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

    def _rules(self, call: Call, kind: str, one: str) -> Response:
        known = self._store.get(kind, one)
        if known is None:
            raise Refusal(404, "Not found")
        return whole([{"rules": known.get("rules") or []}], per_page=MOST)

    def _act(self, call: Call, kind: str, one: str, act: str) -> Response:
        if self._store.get(kind, one) is None:
            raise Refusal(404, "Not found")
        asked = call.members()
        lacking = [name for name in _REASONED.get(act, ()) if not asked.get(name)]
        if lacking:
            raise Refusal(400, f"{lacking[0]} is required")
        told = dict(_STATES[act])
        if kind == "dynamic_configs" and act == "unarchive":
            told = {"status": "Enabled"}
        if act == "make_decision":
            told |= {"decisionTime": millis(datetime.now(UTC)), "launchedGroupID": str(asked["id"])}
            told["decisionReason"] = asked["decisionReason"]
        shown = told if kind in _WITH_STATE else {}  # of others nothing tells that they were archived
        self._store.put(kind, one, shown)
        self._changed(kind, one, "updated")
        if kind in _TOLD_IN_WORDS:
            return JSONResponse({"message": "Done."})
        return one_of(self._store.get(kind, one), "Done.")

    def _conditional(self, call: Call, one: str) -> Response:
        """The rules of a segment are changed here, and nowhere else."""
        if self._store.get("segments", one) is None:
            raise Refusal(404, "Not found")
        made = self._store.put("segments", one, {"rules": call.rows()})
        self._changed("segments", one, "updated")
        return one_of(made, "Updated.")

    def _pulse(self, call: Call, one: str) -> Response:
        if self._store.get("experiments", one) is None:
            raise Refusal(404, "Not found")
        if not call.text("control") or not call.text("test"):
            raise Refusal(400, "control and test are required")
        lift = Dice(self._store.seed, one, call.text("test")).number("lift", 900)
        named = {"metricID": "sendt::event_count", "metricName": "sendt", "directionality": "increase"}
        metric = {**named, "absoluteChange": lift / 100}
        return one_of({"ds": "2026-01-10", "primaryMetrics": [metric], "secondaryMetrics": []}, "Read.")

    def _people(self, call: Call, one: str) -> Response:
        if self._store.get("segments", one) is None:
            raise Refusal(404, "Not found")
        if call.method == "PATCH":
            self._store.put("segments", one, {})
            self._changed("segments", one, "updated")
            return JSONResponse({"message": "Updated."})
        self.people_read += 1
        pagination = {"itemsPerPage": MOST, "pageNumber": 1, "nextPage": None, "previousPage": None}
        people = {"name": one, "count": 2, "ids": ["user-1", "user-2"]}
        return JSONResponse({"message": "Read.", "data": people, "pagination": pagination})

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
            {
                "id": f"log-{number}",
                "timestamp": 1_700_000_000_000 + number,
                "event_name": "sendt",
                "user_id": "user-1",
                "value": None,
                "sdk_type": None,
                "sdk_version": None,
            }
            for number in range(begin, min(begin + limit, 250))
        ]
        cursor = str(begin + limit) if begin + limit < 250 else None
        return JSONResponse(
            {"message": "Read.", "data": rows, "pagination": {"next_cursor": cursor, "has_more": cursor is not None}}
        )

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
