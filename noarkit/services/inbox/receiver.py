"""The HTTP receiver of webhooks: message sizes are capped, signatures are verified over the raw bytes, and each message
is stored and answered at once. No input makes it fail.

An unverified message gets 401, one too large 413, an unknown path 404; what cannot be stored gets 503, so that the
service sends it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from noarkit.errors import JournalFault
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.services.inbox import hints
from noarkit.services.inbox.signatures import Seal, prove
from noarkit.services.inbox.store import Inbox

EVENTS: EventFields = {
    "webhook_taken": {"connection": "text", "event": "text", "ids": "count", "fresh": "flag"},
    "webhook_refused": {"connection": "text", "why": "text"},
    "webhook_lost": {"connection": "text", "why": "text"},
}

MAX_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class InboxEndpoint:
    """An endpoint for the messages of one connection: a path that cannot be guessed if the service signs nothing."""

    connection: str
    path: str
    seal: Seal


def receiver(
    endpoints: Mapping[str, InboxEndpoint],
    inbox: Inbox,
    emit: Listener = ignore_event,
    now_s: Callable[[], float] = time.time,
) -> Starlette:
    """Builds the receiving application; `endpoints` are keyed by path."""

    async def take(request: Request) -> Response:
        endpoint = endpoints.get(request.url.path)
        if endpoint is None:
            return Response(status_code=404)
        body = await _body(request)
        if body is None:
            return Response(status_code=413)
        headers = {name.casefold(): value for name, value in request.headers.items()}
        return await run_in_threadpool(_answer, endpoint, headers, body)

    def _answer(endpoint: InboxEndpoint, headers: Mapping[str, str], body: bytes) -> Response:
        service = endpoint.connection.partition(":")[0]
        code = hints.verification(body) if endpoint.seal.scheme == "stamped" else ""
        if code:
            return JSONResponse({"verification_code": code})
        proof = prove(endpoint.seal, headers, body, now_s())
        if proof.reason:
            emit(Event("webhook_refused", {"connection": endpoint.connection, "why": proof.reason}))
            return Response(status_code=401)
        event, ids = hints.read(service, headers, body)
        try:
            fresh = inbox.add(endpoint.connection, proof.id, event, ids, now_s())
        except JournalFault as fault:
            emit(Event("webhook_lost", {"connection": endpoint.connection, "why": str(fault.data.get("why"))}))
            return Response(status_code=503, headers={"Retry-After": "60"})
        payload = {"connection": endpoint.connection, "event": event, "ids": len(ids), "fresh": fresh}
        emit(Event("webhook_taken", payload))
        return Response(status_code=204)

    return Starlette(routes=[Route("/{rest:path}", take, methods=["POST"])])


async def _body(request: Request) -> bytes | None:
    """Reads the raw bytes of a message; None if it is too large or broke off."""
    content = bytearray()
    try:
        async for block in request.stream():
            content += block
            if len(content) > MAX_BODY_BYTES:
                return None
    except ClientDisconnect:
        return None
    return bytes(content)
