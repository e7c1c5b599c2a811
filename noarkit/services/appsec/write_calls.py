"""Changes on request: projects, applications, scans and webhooks, and uploads of sources to be scanned.

Used by commands, never by an archiving run. A scan whose order was lost on the way is not ordered twice: it is looked
up by a tag of our own.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from noarkit.errors import ServiceAway, ServiceBroken, ServiceFault, ServiceRefused, UsageFault
from noarkit.services.appsec.calls import Calls, code_of
from noarkit.services.appsec.states import has_ended
from noarkit.services.wire import Request

EVENTS = ("scan_completed_successfully", "scan_failed", "scan_partial", "project_created")
_PLACES = {"projects": "/api/projects", "applications": "/api/applications", "scans": "/api/scans"}
WRITABLE = {
    "projects": ("name", "groups", "repoUrl", "mainBranch", "origin", "tags", "criticality", "applicationIds",
                 "privatePackage", "scmRepoId"),
    "applications": ("name", "description", "criticality", "rules", "tags", "type"),
}  # fmt: skip
_QUEUE_FULL = "142"
_UPLOADS = 5
_ORDERS = 8
_FIRST_WAIT_S = 5.0
_LONGEST_POLL = 13  # times the first wait
_MARK = "noarkit-order"
_FRESH_LINK = (403, 410)
JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Order:
    """A scan to order: an uploaded source or a repository, and the scanners to run."""

    project: str
    upload_url: str = ""
    repository: str = ""
    branch: str = "main"
    scanners: tuple[str, ...] = ("sast",)


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook of the tenant: its address, events and secret (empty for none), and whether the receiver's certificate
    is verified."""

    name: str
    url: str
    secret: str = ""
    events: tuple[str, ...] = EVENTS
    verifies_tls: bool = True


def create(calls: Calls, kind: str, values: JsonObject) -> JsonObject:
    """Creates a project or an application."""
    return calls.write("POST", _place(kind), values)


def retrieve(calls: Calls, kind: str, object_id: str) -> JsonObject | None:
    """Reads one project, application or scan; None if there is none."""
    return calls.find(_object_path(kind, object_id))


def update(calls: Calls, kind: str, object_id: str, values: JsonObject) -> None:
    """Changes a project or an application. The service replaces it whole, so the current values are read and sent
    along."""
    current = retrieve(calls, kind, object_id) or {}
    unchanged = {name: current[name] for name in WRITABLE[kind] if current.get(name) is not None}
    calls.write("PUT", _object_path(kind, object_id), {**unchanged, **values})


def delete(calls: Calls, kind: str, object_id: str) -> None:
    """Deletes a project, an application or a scan, for good."""
    calls.write("DELETE", _object_path(kind, object_id))


def cancel(calls: Calls, scan: str) -> None:
    """Cancels a running scan."""
    calls.write("PATCH", _object_path("scans", scan), {"status": "Canceled"})


def poll(calls: Calls, scan: str, poll_s: float, most_s: float) -> JsonObject:
    """Polls a scan until it has ended, less often with time. Raises `ServiceRefused` if there is none, `ServiceFault`
    if it takes too long."""
    clock, location = calls.client.clock, calls.client.wire.settings.label
    started_s = clock.now_s()
    polls = 0
    while True:
        scan_row = calls.scan(scan)
        if scan_row is None:
            raise ServiceRefused(where=location, why="not-there", status=404)
        if has_ended(scan_row):
            return scan_row
        wait_s = poll_s * min(1 + polls / 25, _LONGEST_POLL)
        if clock.now_s() - started_s + wait_s > most_s:
            raise ServiceFault(where=location, why="scan-runs-on")
        calls.client.pause(wait_s, "job")
        polls += 1


def upload_file(calls: Calls, path: Path, part_bytes: int) -> str:
    """Uploads a zip, in parts if it is large; returns the address to name in an order. Raises `OSError` if it cannot be
    read."""
    if path.stat().st_size > part_bytes:
        return upload_parts(calls, path, part_bytes)
    return upload(calls, path.read_bytes())


def upload(calls: Calls, data: bytes) -> str:
    """Uploads a zip to a signed address, without our token; returns the address. An expired or broken link is replaced
    by a new one."""
    return _upload_bytes(calls, "/api/uploads", {}, "url", data)[0]


def upload_parts(calls: Calls, path: Path, part_bytes: int) -> str:
    """Uploads a large zip in parts, one of them in memory at a time; returns the address of the first part. A failed
    upload is aborted."""
    upload = calls.write("POST", "/api/uploads/start-multipart-upload", {"fileSize": path.stat().st_size})
    names = {"objectName": upload["objectName"], "UploadID": upload["UploadID"]}
    parts: list[JsonObject] = []
    first = ""
    try:
        with path.open("rb") as file:
            while data := file.read(part_bytes):
                part = {**names, "partNumber": len(parts) + 1}
                url, tag = _upload_bytes(calls, "/api/uploads/multipart-presigned", part, "presignedURL", data)
                first = first or url
                parts.append({"eTag": tag, "partNumber": len(parts) + 1})
        calls.write("POST", "/api/uploads/complete-multipart-upload", {**names, "partList": parts})
    except (ServiceFault, OSError):
        with suppress(ServiceFault):  # the first fault is the one to raise
            # the service's own clients spell it both ways
            calls.write("POST", "/api/uploads/abort-multipart-upload", {**names, "uploadID": upload["UploadID"]})
        raise
    return first


def start(calls: Calls, order: Order) -> JsonObject:
    """Orders a scan. A full queue is waited for, longer each time; an order whose answer was lost is looked up by its
    tag, and the fault is raised if it cannot be found."""
    mark = secrets.token_hex(8)
    body = _body(order, mark)
    for attempt in range(_ORDERS):
        try:
            return calls.write("POST", "/api/scans", body)
        except ServiceRefused as fault:
            if code_of(fault) != _QUEUE_FULL or attempt == _ORDERS - 1:
                raise
            calls.client.pause(_FIRST_WAIT_S * 2**attempt, "again")
        except (ServiceAway, ServiceBroken) as fault:
            scan = _find_lost_scan(calls, order, mark, fault)
            if scan is not None:
                return scan
            raise
    raise AssertionError("unreachable")


def create_webhook(calls: Calls, hook: Hook) -> JsonObject:
    """Creates a webhook of the tenant. Raises `UsageFault` for unknown events."""
    if not hook.events or not set(hook.events) <= set(EVENTS):
        raise UsageFault(what="bad-value", where=",".join(hook.events), do=",".join(EVENTS))
    calls.client.wire.scrubber.learn(hook.secret)
    config = {"contentType": "json", "insecureSsl": not hook.verifies_tls, "url": hook.url}
    hook_body = {"name": hook.name, "active": True, "enabledEvents": list(hook.events)}
    secret = {"secret": hook.secret} if hook.secret else {}
    return calls.write("POST", "/api/webhooks/tenant", {**hook_body, "config": {**config, **secret}})


def delete_webhook(calls: Calls, webhook_id: str) -> None:
    """Deletes a webhook."""
    calls.write("DELETE", f"/api/webhooks/{quote(webhook_id, safe='')}")


def _find_lost_scan(calls: Calls, order: Order, mark: str, fault: ServiceFault) -> JsonObject | None:
    """Looks up a scan whose order was accepted but whose answer was lost."""
    if isinstance(fault, ServiceAway) and not fault.data.get("sent"):
        return None
    answer = calls.ask("GET", "/api/scans", (("project-id", order.project), ("limit", "20")))
    scans = answer.members().get("scans")
    for scan in scans if isinstance(scans, list) else []:
        tags = scan.get("tags") if isinstance(scan, Mapping) else None
        if isinstance(tags, Mapping) and tags.get(_MARK) == mark and isinstance(scan, Mapping):
            return scan
    return None


def _body(order: Order, mark: str) -> JsonObject:
    handler = {"branch": order.branch}
    handler |= {"uploadUrl": order.upload_url} if order.upload_url else {"repoUrl": order.repository}
    config = [{"type": scanner, "value": {}} for scanner in order.scanners]
    kind = "upload" if order.upload_url else "git"
    project = {"id": order.project, "tags": {}}
    return {"type": kind, "handler": handler, "project": project, "config": config, "tags": {_MARK: mark}}


def _upload_bytes(calls: Calls, place: str, body: JsonObject, member: str, data: bytes) -> tuple[str, str]:
    """Requests a signed address and uploads bytes there; returns the address and the ETag. An expired or broken address
    is replaced."""
    for attempt in range(_UPLOADS):
        url = str(calls.write("POST", place, body or None, repeatable=True)[member])
        try:
            return url, _put_bytes(calls, url, data)
        except ServiceFault as fault:
            again = isinstance(fault, ServiceAway | ServiceBroken) or fault.data.get("status") in _FRESH_LINK
            if attempt == _UPLOADS - 1 or not again:
                raise
    raise AssertionError("unreachable")


def _put_bytes(calls: Calls, url: str, data: bytes) -> str:
    """Uploads bytes to a signed address and returns their ETag, with its quotes."""
    client = calls.client
    answer = client.wire.send(Request("PUT", url, body=data, media_type="application/octet-stream"))
    if answer.status >= 300:
        raise client.fault(Request("PUT", url), answer)
    return answer.headers.get("etag", "")


def _place(kind: str) -> str:
    if kind not in _PLACES:
        raise UsageFault(what="bad-value", where=kind)
    return _PLACES[kind]


def _object_path(kind: str, object_id: str) -> str:
    return f"{_place(kind)}/{quote(object_id, safe='')}"
