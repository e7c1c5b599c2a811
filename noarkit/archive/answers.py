"""Translates answers of the archive to faults: status codes, error bodies and broken exchanges, here alone.

Error bodies come in two forms, a JSON object or plain text; both are read. A page of HTML, or an answer that a proxy
says is its own, comes from something in between, whatever its status: what the archive would say is not known, so the
fault is one that passes. Nothing of such a page is ever quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache

import orjson

from noarkit.archive.stream import BrokenExchange
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
_FINAL = (ArchiveRefused, NotAllowed, ArchiveNotFound, ArchiveMediaType)
_PROXY_MAY_REFUSE = 413
"""A transaction or file that is too large for what stands in between stays so: it is refused, and split."""
_PAGE_TYPES = ("text/html", "application/xhtml+xml")
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
class CallContext:
    """The context of a call that its faults need: its name, host, and whether it changes anything."""

    call: str
    changes: bool = False
    host: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer without success: its status, its body with no secret in it, and its headers by lower-case name."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_from_between(self) -> bool:
        """True for the page of a proxy or a login, and for an answer that a proxy says it made itself."""
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_page = media_type in _PAGE_TYPES or self.body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"
        names_proxy = "x-squid-error" in self.headers or "error=" in self.headers.get("proxy-status", "")
        return is_page or names_proxy


def broken_exchange(error: BrokenExchange, context: CallContext) -> ArchiveFault:
    """The fault of an exchange that did not come to its end."""
    if error.reason == "trust":
        return TrustFault(call=context.call, host=context.host, **tls.fault_details(error.detail))
    if error.reason == "denied":
        return ProxyDenied(call=context.call, why=error.detail)
    if error.reason == "away" or not error.sent:
        return ArchiveAway(call=context.call, why=error.detail)
    if error.reason == "stalled":
        return TransferStalled(call=context.call, why=error.detail)
    if error.reason == "strange":
        return strange_answer(context, error.detail)
    return AnswerLost(call=context.call, why=error.detail)


def refused_answer(refusal: Refusal, context: CallContext, now_s: float) -> ArchiveFault:
    """The fault that an answer without success means."""
    status = refusal.status
    if status < 400:
        return ArchiveStrange(call=context.call, status=status, why="redirect" if status >= 300 else "status")
    kind = _BY_STATUS.get(status, ArchiveBroken if status >= 500 else ArchiveRefused)
    if issubclass(kind, _FINAL) and status != _PROXY_MAY_REFUSE and refusal.is_from_between:
        fate = {"fate": "unknown"} if context.changes else {}
        return ArchiveStrange(call=context.call, status=status, why="between", host=context.host, **fate)
    data: dict[str, object] = {"call": context.call, "status": status, **_error_details(refusal.body)}
    if kind is ProxyDenied:
        return ProxyDenied(call=context.call, status=status, why="proxy-name-or-password")
    if kind is ArchiveBusy:
        retry_after_s = _retry_after_s(refusal.headers.get("retry-after"), now_s)
        data |= {} if retry_after_s is None else {"retry_after_s": retry_after_s}
    if kind is ArchiveRefused:
        data |= _named_action_and_field(str(data["description"]))
    return kind(**data)


def parse_json(body: bytes, context: CallContext) -> object:
    """Parses the JSON of a good answer, None if it has no body. Raises `ArchiveStrange`."""
    if not body:
        return None
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise strange_answer(context, "html" if body.lstrip()[:1] == b"<" else "not-json") from error
    return value


def require_object(value: object, context: CallContext) -> dict[str, object]:
    """The members of a value that must be a JSON object. Raises `ArchiveStrange`."""
    if not isinstance(value, dict):
        raise strange_answer(context, "no-object")
    return value


def strange_answer(context: CallContext, reason: str) -> ArchiveStrange:
    """The fault of an answer that makes no sense. After a good status a changing call may well have taken effect."""
    if context.changes:
        return ArchiveStrange(call=context.call, why=reason, fate="unknown")
    return ArchiveStrange(call=context.call, why=reason)


def _error_details(body: bytes) -> dict[str, object]:
    """Description and error id, from JSON or plain text."""
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body.decode("utf-8", "replace").strip()
        return {"description": "" if text.startswith("<") else text[:_MAX_DESCRIPTION]}
    if not isinstance(value, dict):
        return {"description": ""}
    description = value.get("description") or value.get("error_description") or value.get("error") or ""
    details: dict[str, object] = {"description": str(description)[:_MAX_DESCRIPTION]}
    if isinstance(value.get("errorId"), str):
        details["error_id"] = value["errorId"]
    if isinstance(value.get("error"), str):
        details["error"] = value["error"][:_MAX_DESCRIPTION]
    return details


def _named_action_and_field(description: str) -> dict[str, object]:
    """Finds the action and the field that a refusal names, if it names any."""
    blamed: dict[str, object] = {}
    if action := _ACTION.search(description):
        blamed["action"] = int(action[1])
    named_field = _NAMED_FIELD.search(description)
    field_matches = (match for match in _FIELD.finditer(description) if match[1] in _known_names())
    if match := named_field or next(field_matches, None):
        blamed["field"] = match[1]
    return blamed


@cache
def _known_names() -> frozenset[str]:
    """Every field and reference of the model: what a sentence may mean by a word after «field»."""
    types = metamodel().types.values()
    return frozenset(name for object_type in types for name in (*object_type.fields, *object_type.references))


def _retry_after_s(value: str | None, now_s: float) -> float | None:
    """Seconds to wait, from seconds or a date; None if nothing sensible stands there."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    moment_s = parse_http_date(value)
    return None if moment_s is None else max(0.0, moment_s - now_s)


def parse_http_date(value: str | None) -> float | None:
    """Parses an HTTP date as seconds since 1970; None for any other text."""
    try:
        moment = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
