"""An archive on the wire: one session of one account, on connections that are kept and shared by threads.

Nothing is tried again here but one thing: a call refused for its token alone is made once more with a new token.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlencode

import httpcore

from noarkit.archive import wire
from noarkit.archive.answers import Asked, broken_exchange, json_of, members_of, refused_answer, strange
from noarkit.archive.settings import ArchiveSettings, addresses_of, pool_url, route_of
from noarkit.archive.token import Grant, Tokens, grant_of, request_form
from noarkit.archive.transfer import Body, disposition, receive
from noarkit.archive.transport import Broken, Reply, Transport
from noarkit.archive.values import (
    Action,
    Call,
    Downloaded,
    Json,
    Page,
    Query,
    Rendition,
    SavedObject,
    Upload,
    Uploaded,
)
from noarkit.errors import ArchiveAway, ArchiveBusy, ArchiveFault, NotLetIn

T = TypeVar("T")
Headers = list[tuple[bytes, bytes]]

_JSON: Headers = [(b"Content-Type", b"application/json; charset=UTF-8")]
_MAX_TOKEN_BYTES = 256 * 1024


class HttpArchive:
    """`Archive` over HTTP. Make it with `connect`."""

    def __init__(
        self,
        settings: ArchiveSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        addresses = addresses_of(settings)
        self._settings = settings
        self._now = now
        self._transport = Transport(route_of(settings, addresses), settings.patience)
        self._tokens = Tokens(self._fetch_token, clock)
        self._service = addresses.service
        self._token_url = addresses.token
        self._host = addresses.service.host
        self._headers: Headers = [
            (b"Host", addresses.service.netloc),
            (b"Accept-Encoding", b"identity"),
            (settings.error_header.encode("ascii"), b"application/json"),
        ]
        self._transaction_url = self._url("transaction")
        self._query_url = self._url("query")
        self._upload_url = self._url("upload")

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """See `Archive.transaction`."""
        asked = Asked("transaction", changes=True, host=self._host)
        body = wire.transaction_body(actions)
        return wire.saved_of(self._post(self._transaction_url, body, asked), asked)

    def query(self, query: Query) -> Page:
        """See `Archive.query`."""
        asked = Asked("query", host=self._host)
        return wire.page_of(self._post(self._query_url, wire.query_body(query), asked), asked)

    def upload(self, content: Upload) -> Uploaded:
        """See `Archive.upload`."""
        asked = Asked("upload", changes=True, host=self._host)
        name = disposition(content.name)
        opened = False

        def attempt(token: bytes) -> Uploaded:
            nonlocal opened
            if opened and not content.reopenable:
                raise ArchiveAway(call=asked.call, why="token-ended")
            opened = True
            return self._send_upload(content, name, token, asked)

        return self._with_token(attempt)

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        """See `Archive.download`."""
        asked = Asked("download", host=self._host)
        query = {"id": file_id} if rendition == "original" else {"id": file_id, "type": rendition}
        url = self._url("download", query=query)

        def attempt(token: bytes) -> Downloaded:
            request = httpcore.Request(b"GET", url, headers=self._with(token))
            return self._exchange(
                request,
                lambda reply: receive(reply, target, asked, expected_sha256=expected_sha256, durable=durable),
                asked,
            )

        return self._with_token(attempt)

    def call(self, call: Call) -> Json:
        """See `Archive.call`."""
        asked = Asked(call.name, changes=call.changes, host=self._host)
        body = None if call.body is None else wire.json_body(call.body)
        url = self._url(*call.path, query=call.query)
        answer = json_of(self._json_call(call.method.encode(), url, body, asked), asked)
        return wire.as_json(answer, asked)

    def close(self) -> None:
        """See `Archive.close`."""
        self._transport.close()

    def __enter__(self) -> HttpArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, url: httpcore.URL, body: bytes, asked: Asked) -> dict[str, object]:
        return members_of(json_of(self._json_call(b"POST", url, body, asked), asked), asked)

    def _json_call(self, method: bytes, url: httpcore.URL, body: bytes | None, asked: Asked) -> bytes:
        extra: Headers = [] if body is None else [*_JSON, (b"Content-Length", b"%d" % len(body))]
        limit = self._settings.max_answer_bytes

        def attempt(token: bytes) -> bytes:
            request = httpcore.Request(method, url, headers=self._with(token, extra), content=body)
            return self._exchange(request, lambda reply: reply.read(limit), asked)

        return self._with_token(attempt)

    def _send_upload(self, content: Upload, name: bytes, token: bytes, asked: Asked) -> Uploaded:
        with content.open() as stream:
            body = Body(content, stream)
            sent = body.content()
            extra: Headers = [
                (b"Content-Type", content.media_type.encode("ascii", "replace")),
                (b"Content-Disposition", name),
                (b"Transfer-Encoding", b"chunked")
                if body.promised_bytes is None
                else (b"Content-Length", b"%d" % body.promised_bytes),
            ]
            request = httpcore.Request(b"POST", self._upload_url, headers=self._with(token, extra), content=sent)
            answer = self._exchange(request, lambda reply: reply.read(self._settings.max_answer_bytes), asked)
        file_id = wire.file_id_of(members_of(json_of(answer, asked), asked), asked)
        if not body.whole:
            raise strange(asked, "answered-before-the-end")
        return Uploaded(file_id, body.sha256, body.size_bytes)

    def _with(self, token: bytes, extra: Iterable[tuple[bytes, bytes]] = ()) -> Headers:
        return [*self._headers, (b"Authorization", token), *extra]

    def _url(self, *path: str, query: Mapping[str, str] | None = None) -> httpcore.URL:
        target = self._service.raw_path + b"".join(b"/" + quote(part, safe="").encode("ascii") for part in path)
        if query:
            target += b"?" + urlencode(query, quote_via=quote).encode("ascii")
        base = pool_url(self._service)
        return httpcore.URL(scheme=base.scheme, host=base.host, port=base.port, target=target)

    def _with_token(self, attempt: Callable[[bytes], T]) -> T:
        """Makes an attempt with the token, and once more with a new one where the archive refused the first."""
        token = self._tokens.current()
        try:
            return attempt(token)
        except NotLetIn as fault:
            if fault.data.get("status") != 401:
                raise
            token = self._tokens.after_refusal(token)
        return attempt(token)

    def _exchange(self, request: httpcore.Request, read: Callable[[Reply], T], asked: Asked) -> T:
        try:
            with self._transport.exchange(request) as reply:
                if 200 <= reply.status < 300:
                    return read(reply)
                raise refused_answer(reply, asked, self._now())
        except Broken as broken:
            raise broken_exchange(broken, asked) from broken

    def _fetch_token(self) -> Grant:
        """A new token. Whatever passes by itself is `ArchiveAway`: of the call that wanted it, nothing was sent."""
        asked = Asked("token", host=self._token_url.host)
        body, headers = request_form(self._settings.credentials)
        headers = [
            (b"Host", self._token_url.netloc),
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"identity"),
            (b"Content-Length", b"%d" % len(body)),
            *headers,
        ]
        request = httpcore.Request(b"POST", pool_url(self._token_url), headers=headers, content=body)
        try:
            answer = self._exchange(request, lambda reply: reply.read(_MAX_TOKEN_BYTES), asked)
        except ArchiveFault as fault:
            raise _of_token(fault) from fault
        return grant_of(json_of(answer, asked), asked)


def connect(settings: ArchiveSettings) -> HttpArchive:
    """Opens a session. Nothing is sent before the first call. Raises `ConfigFault`, `SecretFault`."""
    return HttpArchive(settings)


def _of_token(fault: ArchiveFault) -> ArchiveFault:
    status = fault.data.get("status")
    if status in (400, 401, 403):
        return NotLetIn(**{**fault.data, "call": "token"})
    if fault.transient and not isinstance(fault, ArchiveAway):
        kept = {name: fault.data[name] for name in ("retry_after_s", "status") if name in fault.data}
        why = "busy" if isinstance(fault, ArchiveBusy) else "no-token"
        return ArchiveAway(call="token", why=why, **kept)
    return fault
