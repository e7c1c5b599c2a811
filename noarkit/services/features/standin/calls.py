"""The REST calls of the console: definitions and actions on them, reviews, the audit log, logs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from starlette.responses import JSONResponse, Response

from noarkit.services.features.standin.call_specs import DOORS
from noarkit.services.features.standin.data import REVIEWED_KINDS, SINGULAR, Store, millis
from noarkit.services.features.standin.lists import MOST, Refusal, list_page, single_object, whole_list
from noarkit.services.features.standin.shapes import KINDS, VERSIONED_KINDS, Record
from noarkit.services.standins.call import Call
from noarkit.services.standins.fake_data import SeededRandom
from noarkit.services.standins.published_calls import UnpublishedCall

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
_ANSWERED_WITH_MESSAGE = ("experiments", "autotunes")  # of which an act answers a message alone
_REASON_FIELDS = {"make_decision": ("id", "decisionReason"), "abandon": ("decisionReason",)}
_GROUP_FIELDS = ("name", "size", "parameterValues")
_ANSWERED_WHEN_DELETED = ("experiments", "holdouts")  # of which the answer to their end is what they were
_WRITE_ONCE_MEMBERS = {"param_stores": ("tags", "targetAppIDs")}  # taken when one is made, and not shown
_NAME = re.compile(r"[a-zA-Z0-9_\-. ]{3,100}")


class Calls:
    """Answers authenticated calls."""

    def __init__(self, store: Store, on_change: Callable[[str, str, str], None]) -> None:
        self._store = store
        self._on_change = on_change
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
            (re.compile(rf"/({kinds})/([^/]+)"), self._single_object),
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
        """Answers a call. Raises `Refusal`, and `UnreadableCall` for one that does not match the published
        interface."""
        try:
            DOORS.check(call)
        except UnpublishedCall as error:
            raise Refusal(error.status, "Not found") from error
        for pattern, handler in self._routes:
            match = pattern.fullmatch(call.path)
            if match is not None:
                return handler(call, *match.groups())
        raise Refusal(404, "Not found")

    def _about(self, call: Call, name: str) -> Response:
        if name == "project":
            return single_object({"id": self._store.project_id}, "Read.")
        dice = SeededRandom(self._store.seed, name)
        company = {"companyID": dice.uuid("id"), "companyName": dice.company("name"), "isWarehouseNative": False}
        return single_object({**company, "orgID": None, "orgName": None}, "Read.")

    def _metrics(self, call: Call) -> Response:
        return list_page(self._store.ids("metrics"), call.query, call.path, self._lookup_of("metrics"))

    def _kind(self, call: Call, kind: str) -> Response:
        if call.method == "POST":
            return self._make(call, kind)
        ids, lookup = self._store.ids(kind), self._lookup_of(kind)
        if kind == "gates" and call.text("includeArchived") != "true":
            ids = [
                definition_id
                for definition_id in ids
                if self._store.versions(kind, definition_id)[-1].get("status") != "Archived"
            ]
        return list_page(ids, call.query, call.path, lookup)

    def _make(self, call: Call, kind: str) -> Response:
        values = call.members()
        name = values.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise Refusal(400, "name must be of 3 to 100 letters and digits")
        definition_id = name.strip().replace(" ", "_")
        if self._store.versions(kind, definition_id):
            raise Refusal(400, f"{name} already exists")
        _check_groups(kind, values)
        definition = self._store.save(
            kind, definition_id, {k: v for k, v in values.items() if k not in _WRITE_ONCE_MEMBERS.get(kind, ())}
        )
        self._on_change(kind, definition_id, "created")
        return single_object(definition, "Created.", 200 if kind in ("param_stores", "holdouts") else 201)

    def _single_object(self, call: Call, kind: str, definition_id: str) -> Response:
        definition = self._store.get(kind, definition_id)
        if call.method == "GET" or definition is None:
            return single_object(definition, "Read.")
        if call.method == "DELETE":
            self._store.delete(kind, definition_id)
            self._on_change(kind, definition_id, "deleted")
            if kind in _ANSWERED_WHEN_DELETED:
                return single_object(definition, "Deleted.")
            return JSONResponse({"message": "Deleted."}) if kind != "param_stores" else Response()
        values = call.members()
        _check_groups(kind, values)
        changed_definition = self._store.save(
            kind, definition_id, {name: values[name] for name in values if name not in ("id", "version")}
        )
        self._on_change(kind, definition_id, "updated")
        return single_object(changed_definition, "Updated.")

    def _versions(self, call: Call, kind: str, definition_id: str) -> Response:
        if kind not in VERSIONED_KINDS:
            raise Refusal(404, "Not found")
        versions = self._store.versions(kind, definition_id)
        if not versions:
            raise Refusal(404, "Not found")
        versions_by_number = {str(version["version"]): version for version in reversed(versions)}
        return list_page(list(versions_by_number), call.query, call.path, versions_by_number.get)

    def _reviews(self, call: Call, kind: str, definition_id: str) -> Response:
        if kind not in REVIEWED_KINDS:
            raise Refusal(404, "Not found")
        if not self._store.versions(kind, definition_id):
            raise Refusal(404, "Not found")
        self.reviews_read += 1
        reviews_by_id = {str(entry["review_id"]): entry for entry in self._store.reviews(kind, definition_id)}
        return list_page(list(reviews_by_id), call.query, call.path, reviews_by_id.get)

    def _review(self, call: Call, kind: str, definition_id: str, review: str) -> Response:
        reviews = self._store.reviews(kind, definition_id)
        return single_object(next((entry for entry in reviews if entry["review_id"] == review), None), "Read.")

    def _rules(self, call: Call, kind: str, definition_id: str) -> Response:
        definition = self._store.get(kind, definition_id)
        if definition is None:
            raise Refusal(404, "Not found")
        return whole_list([{"rules": definition.get("rules") or []}], per_page=MOST)

    def _act(self, call: Call, kind: str, definition_id: str, act: str) -> Response:
        if self._store.get(kind, definition_id) is None:
            raise Refusal(404, "Not found")
        body = call.members()
        missing = [name for name in _REASON_FIELDS.get(act, ()) if not body.get(name)]
        if missing:
            raise Refusal(400, f"{missing[0]} is required")
        state = dict(_STATES[act])
        if kind == "dynamic_configs" and act == "unarchive":
            state = {"status": "Enabled"}
        if act == "make_decision":
            state |= {"decisionTime": millis(self._store.clock()), "launchedGroupID": str(body["id"])}
            state["decisionReason"] = body["decisionReason"]
        visible = state if kind in _WITH_STATE else {}  # of others nothing tells that they were archived
        self._store.save(kind, definition_id, visible)
        self._on_change(kind, definition_id, "updated")
        if kind in _ANSWERED_WITH_MESSAGE:
            return JSONResponse({"message": "Done."})
        return single_object(self._store.get(kind, definition_id), "Done.")

    def _conditional(self, call: Call, definition_id: str) -> Response:
        """Replaces the rules of a segment, which only this call changes."""
        if self._store.get("segments", definition_id) is None:
            raise Refusal(404, "Not found")
        segment = self._store.save("segments", definition_id, {"rules": call.rows()})
        self._on_change("segments", definition_id, "updated")
        return single_object(segment, "Updated.")

    def _pulse(self, call: Call, definition_id: str) -> Response:
        if self._store.get("experiments", definition_id) is None:
            raise Refusal(404, "Not found")
        if not call.text("control") or not call.text("test"):
            raise Refusal(400, "control and test are required")
        lift = SeededRandom(self._store.seed, definition_id, call.text("test")).number("lift", 900)
        metric_members = {"metricID": "sendt::event_count", "metricName": "sendt", "directionality": "increase"}
        metric = {**metric_members, "absoluteChange": lift / 100}
        return single_object({"ds": "2026-01-10", "primaryMetrics": [metric], "secondaryMetrics": []}, "Read.")

    def _people(self, call: Call, definition_id: str) -> Response:
        if self._store.get("segments", definition_id) is None:
            raise Refusal(404, "Not found")
        if call.method == "PATCH":
            self._store.save("segments", definition_id, {})
            self._on_change("segments", definition_id, "updated")
            return JSONResponse({"message": "Updated."})
        self.people_read += 1
        pagination = {"itemsPerPage": MOST, "pageNumber": 1, "nextPage": None, "previousPage": None}
        people = {"name": definition_id, "count": 2, "ids": ["user-1", "user-2"]}
        return JSONResponse({"message": "Read.", "data": people, "pagination": pagination})

    def _keys(self, call: Call) -> Response:
        self.keys_read += 1
        return whole_list([{"key": "secret-canary-0123456789", "type": "SERVER"}])

    def _audit(self, call: Call) -> Response:
        begin, end = _day(call, "startDate", date.min), _day(call, "endDate", date.max)
        return list_page(self._store.audit_ids(begin, end, call.query.get("actionType", "")), call.query, call.path,
                      self._store.entry)  # fmt: skip

    def _logs(self, call: Call) -> Response:
        limit = min(call.number("limit", 100), 1_000)
        begin = call.number("after", 0)
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

    def _lookup_of(self, kind: str) -> Callable[[str], Record | None]:
        return lambda definition_id: self._store.get(kind, definition_id)


def _check_groups(kind: str, values: Record) -> None:
    """Raises `Refusal` for groups of an experiment that lack what every group has."""
    groups = values.get("groups") if kind == "experiments" else None
    if groups is not None and not isinstance(groups, list):
        raise Refusal(400, "groups must be a list")
    for number, group in enumerate(groups or []):
        missing = [name for name in _GROUP_FIELDS if not isinstance(group, dict) or name not in group]
        if missing:
            raise Refusal(400, f"groups[{number}].{missing[0]} is required")


def object_type(kind: str) -> str:
    """Returns the name that webhooks use for a kind."""
    return "".join(part.capitalize() for part in SINGULAR[kind].split("_"))


def _day(call: Call, name: str, default: date) -> date:
    try:
        return date.fromisoformat(call.query[name]) if call.query.get(name) else default
    except ValueError as error:
        raise Refusal(400, f"{name} must be YYYY-MM-DD") from error
