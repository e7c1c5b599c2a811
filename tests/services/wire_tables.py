"""Judges what goes over the wire by the published tables of each service: every request of ours, every answer of a
stand-in. The tables and their judge lie in the reference folder; where there is none, nothing is recorded.

    with standing("spend", folder) as there:      # judged when the block ends
        …
"""

from __future__ import annotations

import importlib.util
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import parse_qs, parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.conftest import reference_folder
from tests.services.wire_older import with_older

# A service stands here once both its sides keep to its table; from then on every test of it is held to that.
HELD: frozenset[str] = frozenset({"appsec", "crm", "features", "spend"})
OURS = "noarkit"  # what our connectors call themselves in User-Agent
TROUBLE = "x-standin-trouble"  # an answer that a test asked for; it is nobody's published one
# Told by standards and not by tables: tool servers, consent by a person, registration of clients; and bytes of files.
_BESIDE = re.compile(
    r"^/(standin|files|store|paper|grants)/|/mcp\b|/message$|/auth(orize)?$|/\.well-known/|/clients-reg"
)
_OLDER = re.compile(r"^/v[01]/export-")  # the oldest export jobs, which the service has and no document tells of
_BY_CODE = {"appsec"}  # whose tables leave out the exchange of a person's consent, as RFC 6749 has it
_CONSENT = {"features": "/oauth/"}  # whose tables leave a person's consent out whole
_OF_A_KIND = 25  # exchanges of one kind are judged so many times: a scale test makes a hundred thousand
_NOT_THERE = (401, 404, 405)
_REFUSED = 400
Json = dict[str, Any]  # Any: what JSON holds


class Checker(Protocol):
    """What the reference's own judge offers."""

    def breaches(self, table: Json, seen: Json) -> list[str]: ...

    def endpoint(self, table: Json, method: str, path: str) -> tuple[Json | None, bool]: ...


@cache
def checker(reference: Path) -> Checker:
    """The judge of the reference folder."""
    spec = importlib.util.spec_from_file_location("wire_check", reference / "wire" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Checker, module)


@cache
def table(reference: Path, service: str) -> Json:
    """The published table of a service."""
    return with_older(service, json.loads((reference / "wire" / f"{service}.json").read_text(encoding="utf-8")))


@dataclass(slots=True)
class Recorder:
    """What was asked and answered, as it went over the wire."""

    exchanges: list[Json] = field(default_factory=list)
    _seen: Counter[tuple[str, str, int, bool]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application, listened to."""

        async def recorded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or _BESIDE.search(scope["path"]) or _OLDER.search(scope["path"]):
                await app(scope, receive, send)
                return
            asked, answered = bytearray(), bytearray()
            start: Json = {}

            async def heard() -> Message:
                message = await receive()
                asked.extend(message.get("body") or b"")
                return message

            async def said(message: Message) -> None:
                if message["type"] == "http.response.start":
                    start.update(message)
                answered.extend(message.get("body") or b"")
                await send(message)

            try:
                await app(scope, heard, said)
            finally:
                self._keep(scope, bytes(asked), start, bytes(answered))

        return recorded

    def _keep(self, scope: Scope, asked: bytes, start: Mapping[str, Any], answered: bytes) -> None:
        headers = {name.decode().casefold(): value.decode("latin-1") for name, value in scope["headers"]}
        back = {name.decode().casefold(): value.decode("latin-1") for name, value in start.get("headers", ())}
        path = scope.get("raw_path", scope["path"].encode()).decode().split("?")[0]
        status, ours = int(start.get("status", 0)), headers.get("user-agent", "").startswith(OURS)
        kind = (scope["method"], re.sub(r"/[^/:]*\d[^/:]*", "/*", path), status, ours)
        with self._lock:
            self._seen[kind] += 1
            if self._seen[kind] > _OF_A_KIND:
                return
        exchange: Json = {
            "method": scope["method"],
            "path": path,
            "query": parse_qsl(scope["query_string"].decode(), keep_blank_values=True),
            "headers": sorted(headers),
            "body": content(asked, headers.get("content-type", "")),
            "unheard": not asked and headers.get("content-length", "0") != "0",  # it was answered before it was read
            "ours": ours,
            "trouble": TROUBLE in back or not status,
            "status": status or None,
            "response": content(answered, back.get("content-type", "")),
        }
        with self._lock:
            self.exchanges.append(exchange)

    def breaches(self, reference: Path, service: str) -> list[str]:
        """Every breach of the service's table, each once."""
        found = (
            f"{one['method']} {one['path']} -> {one['status']} {'(ours)' if one['ours'] else ''}: {breach}"
            for one in self.exchanges
            for breach in judged(reference, service, one)
        )
        return sorted(set(found))


def judged(reference: Path, service: str, exchange: Json) -> list[str]:
    """The breaches of one exchange: a request is ours to answer for only where we sent it, an answer where nobody
    asked the stand-in for trouble."""
    check, told = checker(reference), table(reference, service)
    rule, _ = check.endpoint(told, exchange["method"], exchange["path"].replace("%3A", ":"))
    if rule is None and not exchange["ours"] and exchange["status"] in _NOT_THERE:
        return []
    if exchange["path"].startswith(_CONSENT.get(service, "\0")):
        return []
    if service in _BY_CODE and isinstance(exchange["body"], dict) and "code_verifier" in exchange["body"]:
        return []
    sides = [*(["request"] if exchange["ours"] else []), *([] if exchange["trouble"] else ["response"])]
    found = dict.fromkeys(one for side in sides for one in check.breaches(told, {**exchange, "side": side}))
    excused = exchange["unheard"] or exchange["status"] == _REFUSED  # what a person told was refused, as it should be
    return [one for one in found if not (excused and one.startswith("body"))]


def content(data: bytes, kind: str) -> object:
    """A body as the judge reads it: parsed JSON, an object for a form, text for all else, None for nothing."""
    if not data:
        return None
    if "json" in kind:
        try:
            return json.loads(data)
        except ValueError:
            return data.decode("utf-8", "replace")
    if "x-www-form-urlencoded" in kind:
        return {name: values[0] for name, values in parse_qs(data.decode(), keep_blank_values=True).items()}
    return data[:200].decode("utf-8", "replace")


def recorder() -> Recorder | None:
    """A new recorder; None where there are no tables to judge by."""
    return Recorder() if reference_folder() is not None else None


def hold_to_table(recorded: Recorder | None, service: str, *, requests_alone: bool = False) -> None:
    """Fails where what was recorded breaks the table of a service that is held to it."""
    reference = reference_folder()
    if recorded is None or reference is None or service not in HELD:
        return
    if requests_alone:
        for one in recorded.exchanges:
            one["trouble"] = True
    found = recorded.breaches(reference, service)
    assert not found, f"{len(found)} breaches of the published table of {service}:\n" + "\n".join(found[:40])


def endpoints(reference: Path, service: str) -> Iterator[Json]:
    """The published endpoints of a service."""
    yield from table(reference, service)["endpoints"]
