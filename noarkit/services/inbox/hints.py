"""Reads what a webhook message says: its event, and the ids it is about. Nothing else of it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from noarkit.services.registry import find_kind

MOST_IDS = 1_000
_LONGEST = 200
_LONGEST_CODE = 100
_EVENT_HEADER = "-webhook-event"  # whatever a service puts before it
_EVENTS = ("eventType", "operation", "event", "eventName")
_IDS = ("scanId", "projectId", "ID", "id", "companyId")


def read(service: str, headers: Mapping[str, str], body: bytes) -> tuple[str, tuple[str, ...]]:
    """Reads the event and the ids of a verified message; empty if it has none. Never fails."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "", ()
    prefix = _event_prefix(service)
    event = next((text for name, text in sorted(headers.items()) if name.endswith(_EVENT_HEADER)), "")[:_LONGEST]
    ids: list[str] = []
    for message in _messages(value):
        event = event or _event(prefix, message)
        ids += _ids_of(message)
    return event, tuple(dict.fromkeys(ids))[:MOST_IDS]


def verification(body: bytes) -> str:
    """Returns the code that a service wants echoed when a webhook is set up; empty for any other message."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    data = value.get("data") if isinstance(value, Mapping) else None
    if not isinstance(data, Mapping) or data.get("event") != "url_verification":
        return ""
    code = data.get("verification_code")
    good = isinstance(code, str) and len(code) <= _LONGEST_CODE and code.isascii() and code.isprintable()
    return code if good and isinstance(code, str) else ""


def _messages(value: object) -> Iterator[Mapping[str, object]]:
    """Returns a single event, a list of them, or either below `data`, as a list."""
    if isinstance(value, Mapping):
        data = value.get("data")
        yield value
        yield from _messages(data) if isinstance(data, list | Mapping) else ()
    elif isinstance(value, list):
        for entry in value[:MOST_IDS]:
            if isinstance(entry, Mapping):
                yield entry


def _event_prefix(service: str) -> str:
    webhooks = find_kind(service).webhooks
    return webhooks.event_prefix if webhooks is not None else ""


def _event(prefix: str, message: Mapping[str, object]) -> str:
    event = next((str(message[name]) for name in _EVENTS if isinstance(message.get(name), str)), "")
    module = message.get(prefix) if prefix else None
    return f"{module}.{event}"[:_LONGEST] if isinstance(module, str) else event[:_LONGEST]


def _ids_of(message: Mapping[str, object]) -> list[str]:
    ids = message.get("ids")
    if isinstance(ids, list):
        return [str(entry)[:_LONGEST] for entry in ids[:MOST_IDS] if isinstance(entry, str | int)]
    metadata = message.get("metadata")
    if isinstance(metadata, Mapping) and isinstance(metadata.get("name"), str):
        return [f"{metadata.get('type')}:{metadata['name']}"[:_LONGEST]]
    return [str(message[name])[:_LONGEST] for name in _IDS[:4] if isinstance(message.get(name), str | int)][:1]
