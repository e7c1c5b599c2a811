"""Projects, applications, scans and webhooks that are changed on request, and sources that are uploaded to be scanned.

What a command asks for, never what an archiving run does. A scan whose order was lost on the way is not ordered twice:
its fate is looked for by a tag of our own.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from noarkit.connectors.appsec.calls import Calls, code_of
from noarkit.connectors.pace import Clock
from noarkit.connectors.wire import Request
from noarkit.errors import ServiceAway, ServiceBroken, ServiceFault, ServiceRefused, UsageFault

EVENTS = ("scan_completed_successfully", "scan_failed", "scan_partial", "project_created")
PART_BYTES = 64 * 1024 * 1024
_PLACES = {"projects": "/api/projects", "applications": "/api/applications", "scans": "/api/scans"}
_QUEUE_FULL = "142"
_UPLOADS = 5
_ORDERS = 8
_FIRST_WAIT_S = 5.0
_MARK = "noarkit-order"
_FRESH_LINK = (403, 410)
Told = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be scanned: a source that was uploaded, or one that lies in a repository, by which scanners."""

    project: str
    upload_url: str = ""
    repository: str = ""
    branch: str = "main"
    scanners: tuple[str, ...] = ("sast",)


def create(calls: Calls, kind: str, told: Told) -> Told:
    """Makes a project or an application."""
    return calls.write("POST", _place(kind), told)


def retrieve(calls: Calls, kind: str, one: str) -> Told | None:
    """One project, application or scan; None where there is none."""
    return calls.one(_one(kind, one))


def update(calls: Calls, kind: str, one: str, told: Told) -> None:
    """Changes a project or an application."""
    calls.write("PUT", _one(kind, one), told)


def delete(calls: Calls, kind: str, one: str) -> None:
    """Takes away a project, an application or a scan, for good."""
    calls.write("DELETE", _one(kind, one))


def cancel(calls: Calls, scan: str) -> None:
    """Ends a scan that runs."""
    calls.write("PATCH", _one("scans", scan), {"status": "Canceled"})


def upload(calls: Calls, data: bytes) -> str:
    """Uploads a zip; the address to name in an order. Our token does not go there. A link that is used up or breaks is
    asked for anew, and all is sent again."""
    for attempt in range(_UPLOADS):
        url = str(calls.write("POST", "/api/uploads", repeatable=True)["url"])
        try:
            _put(calls, url, data)
        except (ServiceAway, ServiceBroken, ServiceRefused) as fault:
            fresh = not isinstance(fault, ServiceRefused) or fault.data.get("status") in _FRESH_LINK
            if attempt == _UPLOADS - 1 or not fresh:
                raise
            continue
        return url
    raise AssertionError("unreachable")


def upload_parts(calls: Calls, data: bytes, part_bytes: int = PART_BYTES) -> str:
    """Uploads a large zip in parts; the name to give in an order. What was begun and fails is left to the service."""
    begun = calls.write("POST", "/api/uploads/start-multipart-upload", {"fileSize": len(data)})
    named = {"objectName": begun["objectName"], "UploadID": begun["UploadID"]}
    parts = []
    for number, begin in enumerate(range(0, len(data), part_bytes), 1):
        told = {**named, "partNumber": number}
        url = str(calls.write("POST", "/api/uploads/multipart-presigned", told, repeatable=True)["presignedURL"])
        parts.append({"eTag": _put(calls, url, data[begin : begin + part_bytes]), "partNumber": number})
    calls.write("POST", "/api/uploads/complete-multipart-upload", {**named, "partList": parts})
    return str(begun["objectName"])


def start(calls: Calls, order: Order, clock: Clock) -> Told:
    """Orders a scan. A full queue is waited for, longer each time; an order whose answer was lost is looked for, and
    raises what was met where it cannot be found."""
    mark = secrets.token_hex(8)
    body = _body(order, mark)
    for attempt in range(_ORDERS):
        try:
            return calls.write("POST", "/api/scans", body)
        except ServiceRefused as fault:
            if code_of(fault) != _QUEUE_FULL or attempt == _ORDERS - 1:
                raise
            clock.sleep_s(_FIRST_WAIT_S * 2**attempt)
        except (ServiceAway, ServiceBroken) as fault:
            found = _found(calls, order, mark, fault)
            if found is not None:
                return found
            raise
    raise AssertionError("unreachable")


def webhook(calls: Calls, name: str, url: str, secret: str, events: Sequence[str] = EVENTS) -> Told:
    """Asks for webhooks of the tenant, signed with a secret, to a receiver whose certificate is verified."""
    if not set(events) <= set(EVENTS):
        raise UsageFault(what="bad-value", where=",".join(events))
    calls.client.wire.scrubber.learn(secret)
    config = {"contentType": "json", "insecureSsl": False, "url": url, "secret": secret}
    told = {"name": name, "active": True, "enabledEvents": list(events), "config": config}
    return calls.write("POST", "/api/webhooks/tenant", told)


def delete_webhook(calls: Calls, one: str) -> None:
    """Ends a webhook."""
    calls.write("DELETE", f"/api/webhooks/{quote(one, safe='')}")


def _found(calls: Calls, order: Order, mark: str, fault: ServiceFault) -> Told | None:
    """A scan that was ordered although we never heard so."""
    if isinstance(fault, ServiceAway) and not fault.data.get("sent"):
        return None
    answer = calls.ask("GET", "/api/scans", (("project-id", order.project), ("limit", "20")))
    scans = answer.members().get("scans")
    for scan in scans if isinstance(scans, list) else []:
        tags = scan.get("tags") if isinstance(scan, Mapping) else None
        if isinstance(tags, Mapping) and tags.get(_MARK) == mark and isinstance(scan, Mapping):
            return scan
    return None


def _body(order: Order, mark: str) -> Told:
    handler = {"branch": order.branch}
    handler |= {"uploadUrl": order.upload_url} if order.upload_url else {"repoUrl": order.repository}
    config = [{"type": scanner, "value": {}} for scanner in order.scanners]
    kind = "upload" if order.upload_url else "git"
    project = {"id": order.project, "tags": {}}
    return {"type": kind, "handler": handler, "project": project, "config": config, "tags": {_MARK: mark}}


def _put(calls: Calls, url: str, data: bytes) -> str:
    """Puts bytes at a signed address, and answers with their tag."""
    client = calls.client
    answer = client.wire.send(Request("PUT", url, body=data, media_type="application/octet-stream"))
    if answer.status >= 300:
        raise client.fault(Request("PUT", url), answer)
    return answer.headers.get("etag", "").strip('"')


def _place(kind: str) -> str:
    if kind not in _PLACES:
        raise UsageFault(what="bad-value", where=kind)
    return _PLACES[kind]


def _one(kind: str, one: str) -> str:
    return f"{_place(kind)}/{quote(one, safe='')}"
