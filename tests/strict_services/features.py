"""The feature service: definitions with their versions, reviews and the log of who changed what; its main calls."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from tests.strict_services.serving import Handler, Refused, Reply, Request, Service
from tests.strict_services.tables import Call, Table

API_KEY = "console-strict-0123456789"
WEBHOOK_SECRET = "whsec_test_0123456789abcdef"
VERSIONED = ("gates", "dynamic_configs", "experiments")
REVIEWED = ("gates", "dynamic_configs", "experiments")
KINDS = (*VERSIONED, "layers", "segments", "param_stores", "autotunes", "holdouts")
BEGIN = datetime(2024, 3, 30, 9, 0, tzinfo=UTC)
_LOGGED = {"gates": "gate", "dynamic_configs": "dynamic_config", "experiments": "experiment", "segments": "segment"}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(slots=True)
class Definition:
    """A gate or another definition: every state it ever had, oldest first."""

    kind: str
    id: str
    states: list[dict[str, object]]
    is_deleted: bool = False
    reviews: list[dict[str, object]] = field(default_factory=list)

    @property
    def shown(self) -> dict[str, object]:
        """The newest state."""
        return self.states[-1]


class FeaturesData:
    """The definitions of a project."""

    def __init__(self) -> None:
        self.definitions: dict[str, dict[str, Definition]] = {kind: {} for kind in KINDS}
        self.audit: list[tuple[str, dict[str, object]]] = []
        self._numbers = itertools.count(1)

    def add(
        self, kind: str, id: str, *, at: datetime | None = None, logged_at: datetime | None = None, **values: object
    ) -> Definition:
        """A new definition, of the past unless a time is named."""
        at = at or BEGIN + timedelta(hours=next(self._numbers))
        state: dict[str, object] = {"id": id, "name": id, "createdTime": _milliseconds(at)}
        if kind != "param_stores":
            state["version"] = 1
        if kind == "gates":
            state |= {"isEnabled": False, "status": "In Progress", "type": "PERMANENT", "rules": []}
        made = Definition(kind, id, [])
        self.definitions[kind][id] = made
        self._change(made, {**state, **values}, "create", at, logged_at=logged_at)
        return made

    def edit(self, definition: Definition, *, at: datetime | None = None, **values: object) -> None:
        """Somebody changes a definition."""
        numbered = {"version": len(definition.states) + 1} if "version" in definition.shown else {}
        self._change(definition, {**definition.shown, **values, **numbered}, "update", at or now())

    def delete(self, definition: Definition) -> None:
        """Somebody deletes a definition: it is in no list, and only the log tells of it."""
        definition.is_deleted = True
        covered = definition.kind in ("gates", "dynamic_configs", "segments")
        self._log("config_delete" if covered else f"{_LOGGED.get(definition.kind, 'layer')}_delete", definition, now())

    def review(self, definition: Definition, status: str = "accepted") -> dict[str, object]:
        """Somebody reviews a definition."""
        made: dict[str, object] = {
            "review_id": f"review-{next(self._numbers)}",
            "status": status,
            "description": "Sett over",
            "created_at": _milliseconds(now()),
            "author": {"id": "user-1", "email": "kari@virksomhet.example"},
            "reviewers": [{"id": "user-2", "kind": "user"}],
        }
        definition.reviews.insert(0, made)
        self._log(f"{_LOGGED[definition.kind]}_review", definition, now())
        return made

    def _change(
        self,
        definition: Definition,
        state: dict[str, object],
        verb: str,
        at: datetime,
        logged_at: datetime | None = None,
    ) -> None:
        person = {
            "lastModifierID": "user-1",
            "lastModifierName": "Kari",
            "lastModifierEmail": "kari@virksomhet.example",
        }
        if definition.kind != "param_stores":
            state |= {"lastModifiedTime": _milliseconds(at), **person}
        definition.states.append(state)
        kind = _LOGGED.get(definition.kind, definition.kind.removesuffix("s"))
        self._log(f"{kind}_{verb}", definition, logged_at or at)

    def _log(self, action: str, definition: Definition, at: datetime) -> None:
        date = f"{_DAYS[at.weekday()]} {_MONTHS[at.month - 1]} {at.day:02} {at.year}"
        entry: dict[str, object] = {
            "id": f"audit-{next(self._numbers)}",
            "name": definition.id,
            "changeLog": f"{action} {definition.id}",
            "actionType": action,
            "date": date,
            "time": f"{at:%H:%M:%S} GMT+0000 (Coordinated Universal Time)",
            "updatedBy": "Kari",
            "updatedByUserID": "user-1",
            "modifierEmail": "kari@virksomhet.example",
            "changes": {},
            "tags": [],
        }
        self.audit.append((at.date().isoformat(), entry))


class Features(Service):
    """A project of the feature service."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.data = FeaturesData()
        self.project_id = "project-1"
        self.per_page = 100
        self.unlisted: set[str] = set()

    def admit(self, request: Request, call: Call) -> None:
        if request.headers.get("strict-api-key") != API_KEY:
            shown = request.headers.get("strict-api-key", "")
            raise Refused(self.refuse(401, "", f"This endpoint only accepts an active CONSOLE key. Key: {shown}"))
        if request.headers.get("strict-api-version") != "20240601":
            self.breaches.append(f"{request.path}: without its version")
        if request.method != "GET":
            self.breaches.append(f"{request.method} {request.path}: changes something")

    def refuse(self, status: int, code: str, message: str) -> Reply:
        return Reply(status, {"status": status, "message": message})

    def handlers(self) -> Mapping[tuple[str, str], Handler]:
        found: dict[tuple[str, str], Handler] = {
            ("GET", "/console/v1/audit_logs"): self.audit_logs,
            ("GET", "/console/v1/project"): lambda _: _single_page({"id": self.project_id}),
            ("GET", "/console/v1/company"): lambda _: _single_page({"companyID": "c1", "companyName": "Strengt AS"}),
            ("GET", "/console/v1/metrics/list"): lambda request: self.page(request, []),
            ("GET", "/console/v1/experiments/{id}/pulse_results"): self.pulse,
        }
        for kind in KINDS:
            one = "{name}" if kind == "param_stores" else "{id}"
            found["GET", f"/console/v1/{kind}"] = partial(self.list, kind)
            found["GET", f"/console/v1/{kind}/{one}"] = partial(self.shown_definition, kind)
        for kind in VERSIONED:
            found["GET", f"/console/v1/{kind}/{{id}}/versions"] = partial(self.versions, kind)
        for kind in REVIEWED:
            found["GET", f"/console/v1/{kind}/{{id}}/reviews"] = partial(self.reviews, kind)
        return found

    def page(self, request: Request, rows: Sequence[Mapping[str, object]]) -> Reply:
        """One page; what stands for the next is a sign that there is more, and no address."""
        number = int(request.parameter("page") or 1)
        limit = min(int(request.parameter("limit") or self.per_page), self.per_page)
        here = rows[(number - 1) * limit : number * limit]
        more = len(rows) > number * limit
        told = {
            "itemsPerPage": limit,
            "pageNumber": number,
            "nextPage": f"elsewhere.example/console/v9/wrong?page={number + 7}" if more else None,
            "previousPage": None,
            "totalItems": len(rows),
        }
        return Reply(200, {"message": "Read.", "data": list(here), "pagination": told})

    def list(self, kind: str, request: Request) -> Reply:
        rows = [each for each in self.data.definitions[kind].values() if not each.is_deleted]
        rows = [each for each in rows if each.id not in self.unlisted]
        if kind == "gates" and request.parameter("includeArchived") != "true":
            rows = [each for each in rows if each.shown["status"] != "Archived"]
        return self.page(request, [each.shown for each in rows])

    def definition(self, kind: str, request: Request) -> Definition:
        """The definition that a request names, or a refusal."""
        found = self.data.definitions[kind].get(request.names.get("id") or request.names["name"])
        if found is None or found.is_deleted:
            raise Refused(self.refuse(404, "", "Resource not found."))
        return found

    def shown_definition(self, kind: str, request: Request) -> Reply:
        return _single_page(self.definition(kind, request).shown)

    def versions(self, kind: str, request: Request) -> Reply:
        return self.page(request, list(reversed(self.definition(kind, request).states)))

    def reviews(self, kind: str, request: Request) -> Reply:
        return self.page(request, self.definition(kind, request).reviews)

    def pulse(self, request: Request) -> Reply:
        self.definition("experiments", request)
        return self.refuse(404, "", "No results.")

    def audit_logs(self, request: Request) -> Reply:
        begin, end = request.parameter("startDate"), request.parameter("endDate")
        for text in (begin, end):
            if text and (len(text) != 10 or datetime.fromisoformat(text).date().isoformat() != text):
                self.breaches.append(f"audit_logs: {text!r} is no day")
                return self.refuse(400, "", "startDate and endDate are days")
        rows = [entry for day, entry in self.data.audit if begin <= day <= (end or "9999")]
        return self.page(request, rows[::-1])

    def message(self, events: Sequence[Mapping[str, object]], sent_at: datetime) -> tuple[bytes, dict[str, str]]:
        """What is sent to an address of a customer, with its signature."""
        body = json.dumps({"data": list(events)}).encode()
        stamp = str(_milliseconds(sent_at))
        stated = b"v0:" + stamp.encode() + b":" + body
        signature = "v0=" + hmac.new(WEBHOOK_SECRET.encode(), stated, hashlib.sha256).hexdigest()
        return body, {"X-Service-Request-Timestamp": stamp, "X-Service-Signature": signature}


def change_event(definition: Definition, action: str, at: datetime) -> dict[str, object]:
    """The event of a change, as a message tells of it."""
    kinds = {"gates": "Gate", "experiments": "Experiment", "dynamic_configs": "DynamicConfig"}
    return {
        "user": {"name": "Kari", "email": "kari@virksomhet.example"},
        "timestamp": _milliseconds(at),
        "eventName": "strict::config_change",
        "metadata": {"type": kinds[definition.kind], "name": definition.id, "action": action},
    }


def now() -> datetime:
    """This moment, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def _single_page(value: Mapping[str, object]) -> Reply:
    return Reply(200, {"message": "Read.", "data": dict(value)})


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
