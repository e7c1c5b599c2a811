"""What a message tells: its event, and the ids of what it is about. Nothing else of it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

MOST_IDS = 1_000
_LONGEST = 200
_LONGEST_CODE = 100
_EVENT_HEADER = "-webhook-event"  # whatever a service puts before it
_EVENTS = ("eventType", "operation", "event", "eventName")
_IDS = ("scanId", "projectId", "ID", "id", "companyId")


def read(service: str, headers: Mapping[str, str], body: bytes) -> tuple[str, tuple[str, ...]]:
    """The event and the ids of a message that was proven; empty where it tells none. Never fails."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return "", ()
    event = next((text for name, text in sorted(headers.items()) if name.endswith(_EVENT_HEADER)), "")[:_LONGEST]
    ids: list[str] = []
    for one in _messages(told):
        event = event or _event(service, one)
        ids += _ids_of(one)
    return event, tuple(dict.fromkeys(ids))[:MOST_IDS]


def verification(body: bytes) -> str:
    """The short code that a service wants back when a webhook is set up; empty for any other message."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    data = told.get("data") if isinstance(told, Mapping) else None
    if not isinstance(data, Mapping) or data.get("event") != "url_verification":
        return ""
    code = data.get("verification_code")
    good = isinstance(code, str) and len(code) <= _LONGEST_CODE and code.isascii() and code.isprintable()
    return code if good and isinstance(code, str) else ""


def _messages(told: object) -> Iterator[Mapping[str, object]]:
    """A lone event, a list of them, or either below `data`."""
    if isinstance(told, Mapping):
        data = told.get("data")
        yield told
        yield from _messages(data) if isinstance(data, list | Mapping) else ()
    elif isinstance(told, list):
        for one in told[:MOST_IDS]:
            if isinstance(one, Mapping):
                yield one


def _event(service: str, one: Mapping[str, object]) -> str:
    found = next((str(one[name]) for name in _EVENTS if isinstance(one.get(name), str)), "")
    module = one.get("module")
    return f"{module}.{found}"[:_LONGEST] if service == "crm" and isinstance(module, str) else found[:_LONGEST]


def _ids_of(one: Mapping[str, object]) -> list[str]:
    found = one.get("ids")
    if isinstance(found, list):
        return [str(each)[:_LONGEST] for each in found[:MOST_IDS] if isinstance(each, str | int)]
    metadata = one.get("metadata")
    if isinstance(metadata, Mapping) and isinstance(metadata.get("name"), str):
        return [f"{metadata.get('type')}:{metadata['name']}"[:_LONGEST]]
    return [str(one[name])[:_LONGEST] for name in _IDS[:4] if isinstance(one.get(name), str | int)][:1]
