"""What came back → the fault it means: status codes, error bodies and broken exchanges become faults here alone.

Error bodies come in two forms, a JSON object or plain text; both are read. Nothing of a login page is ever quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache

import orjson

from noarkit.archive.stream import Broken
from noarkit.errors import (
    AnswerLost,
    ArchiveAway,
    ArchiveBroken,
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ArchiveFull,
    ArchiveMediaType,
    ArchiveNotFound,
    ArchiveRefused,
    ArchiveStrange,
    NotAllowed,
    NotLetIn,
    ProxyDenied,
    TransferStalled,
    TrustFault,
)
from noarkit.model import metamodel
from noarkit.safe import tls

_MAX_DESCRIPTION = 1000
_ACTION = re.compile(r"\bactions?\s*(?:\[|#|no\.?|number)?\s*(\d+)", re.IGNORECASE)
_NAMED_FIELD = re.compile(
    r"(?:\bfield\s+(?:with\s+name\s+|named\s+)|\bfield\s+(?=[\"'«`])|\bfields\.)[\"'«`]?([A-Za-z]\w*)"
)
_FIELD = re.compile(r"\b(?:field|ref)\s+([A-Za-z]\w*)")
_BY_STATUS: Mapping[int, type[ArchiveFault]] = {
    401: NotLetIn,
    403: NotAllowed,
    404: ArchiveNotFound,
    407: ProxyDenied,
    408: ArchiveBusy,
    409: ArchiveConflict,
    410: ArchiveNotFound,
    412: ArchiveConflict,
    415: ArchiveMediaType,
    429: ArchiveBusy,
    503: ArchiveBusy,
    507: ArchiveFull,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, as far as its faults need to know."""

    call: str
    changes: bool = False
    host: str = ""


def broken_exchange(broken: Broken, asked: Asked) -> ArchiveFault:
    """The fault of an exchange that did not come to its end."""
    if broken.reason == "trust":
        return TrustFault(call=asked.call, host=asked.host, **tls.told(broken.why))
    if broken.reason == "denied":
        return ProxyDenied(call=asked.call, why=broken.why)
    if broken.reason == "away" or not broken.sent:
        return ArchiveAway(call=asked.call, why=broken.why)
    if broken.reason == "stalled":
        return TransferStalled(call=asked.call, why=broken.why)
    if broken.reason == "strange":
        return strange(asked, broken.why)
    return AnswerLost(call=asked.call, why=broken.why)


def refused_answer(status: int, body: bytes, retry_after: str | None, asked: Asked, now_s: float) -> ArchiveFault:
    """The fault that an answer without success means."""
    if status < 400:
        return ArchiveStrange(call=asked.call, status=status, why="redirect" if status >= 300 else "status")
    kind = _BY_STATUS.get(status, ArchiveBroken if status >= 500 else ArchiveRefused)
    data: dict[str, object] = {"call": asked.call, "status": status, **_told(body)}
    if kind is ProxyDenied:
        return ProxyDenied(call=asked.call, status=status, why="proxy-name-or-password")
    if kind is ArchiveBusy:
        retry_after_s = _retry_after_s(retry_after, now_s)
        data |= {} if retry_after_s is None else {"retry_after_s": retry_after_s}
    if kind is ArchiveRefused:
        data |= _blamed(str(data["description"]))
    return kind(**data)


def json_of(body: bytes, asked: Asked) -> object:
    """The JSON of a good answer, None where it has no body. Raises `ArchiveStrange`."""
    if not body:
        return None
    try:
        parsed: object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise strange(asked, "html" if body.lstrip()[:1] == b"<" else "not-json") from error
    return parsed


def members_of(value: object, asked: Asked) -> dict[str, object]:
    """A JSON object that must be one. Raises `ArchiveStrange`."""
    if not isinstance(value, dict):
        raise strange(asked, "no-object")
    return value


def strange(asked: Asked, why: str) -> ArchiveStrange:
    """An answer that is none. After a good status a call that changes something may well have taken effect."""
    if asked.changes:
        return ArchiveStrange(call=asked.call, why=why, fate="unknown")
    return ArchiveStrange(call=asked.call, why=why)


def _told(body: bytes) -> dict[str, object]:
    """Description and error id, from JSON or plain text."""
    try:
        parsed: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body.decode("utf-8", "replace").strip()
        return {"description": "" if text.startswith("<") else text[:_MAX_DESCRIPTION]}
    if not isinstance(parsed, dict):
        return {"description": ""}
    description = parsed.get("description") or parsed.get("error_description") or parsed.get("error") or ""
    told: dict[str, object] = {"description": str(description)[:_MAX_DESCRIPTION]}
    if isinstance(parsed.get("errorId"), str):
        told["error_id"] = parsed["errorId"]
    return told


def _blamed(description: str) -> dict[str, object]:
    """Which action and field a refusal names, where it does."""
    blamed: dict[str, object] = {}
    if action := _ACTION.search(description):
        blamed["action"] = int(action[1])
    named = _NAMED_FIELD.search(description)
    known = (found for found in _FIELD.finditer(description) if found[1] in _known_names())
    if field := named or next(known, None):
        blamed["field"] = field[1]
    return blamed


@cache
def _known_names() -> frozenset[str]:
    """Every field and reference of the model: what a sentence may mean by a word after «field»."""
    types = metamodel().types.values()
    return frozenset(name for one in types for name in (*one.fields, *one.references))


def _retry_after_s(value: str | None, now_s: float) -> float | None:
    """Seconds to wait, from seconds or a date; None where nothing sensible stands there."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    moment_s = date_of(value)
    return None if moment_s is None else max(0.0, moment_s - now_s)


def date_of(value: str | None) -> float | None:
    """The time that a header names; None where nothing sensible stands there."""
    try:
        moment = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
