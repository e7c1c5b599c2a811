"""An archive on the wire: one session of one account, on connections that are kept and shared by threads.

The hot calls ask the transport directly; all others take httpx's whole road over the same transport. Nothing is tried
again here but one thing: a call that asks, or uploads, and is refused for its token is made once more with a new one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlencode

import httpx

from noarkit.archive import wire
from noarkit.archive.answers import Asked, broken_exchange, date_of, json_of, members_of, refused_answer, strange
from noarkit.archive.connection import Reply
from noarkit.archive.echoes import Echoes
from noarkit.archive.settings import ArchiveSettings, Proxy, addresses_of, route_of
from noarkit.archive.stream import Broken
from noarkit.archive.token import Grant, Tokens, grant_of, request_form
from noarkit.archive.transfer import Body, disposition, receive
from noarkit.archive.transport import Outgoing, Transport, origin_of
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

_JSON = "application/json; charset=UTF-8"
_MAX_ERROR_BYTES = 256 * 1024
_MEDIA_TYPE = re.compile(r"[\w.+*-]+/[\w.+*-]+(; ?[\w.-]+=[\w.\"-]+)*\Z", re.ASCII)


class HttpArchive:
    """`Archive` over HTTP. Make it with `connect`."""

    def __init__(
        self,
        settings: ArchiveSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        heard_date: Callable[[float], None] | None = None,
    ) -> None:
        addresses = addresses_of(settings)
        told = {"Accept-Encoding": "identity", "User-Agent": "noarkit", settings.error_header: "application/json"}
        self._settings = settings
        self._now = now
        self._heard_date = heard_date
        self._transport = Transport(route_of(settings, addresses), settings.patience)
        # httpx's own time-outs would be for httpx's own transport; ours watches over progress itself
        self._client = httpx.Client(transport=self._transport, headers=told, trust_env=False)
        self._tokens = Tokens(self._fetch_token, clock)
        self._echoes = Echoes()
        self._echoes.learn(settings.credentials.secret.reveal(), settings.credentials.client_id)
        if isinstance(settings.proxy, Proxy) and settings.proxy.secret is not None:
            self._echoes.learn(settings.proxy.secret.reveal(), settings.proxy.user or "")
        self._service = addresses.service
        self._token_url, self._other_token_url = addresses.token, addresses.other_token
        self._origin = origin_of(addresses.service)
        lines = {"Host": addresses.service.netloc.decode("ascii"), **told}
        self._headers = _lines(lines)
        self._json_headers = _lines({**lines, "Content-Type": _JSON})

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """See `Archive.transaction`."""
        asked = Asked("transaction", changes=True, host=self._origin.host)
        return wire.saved_of(self._post("transaction", wire.transaction_body(actions), asked), asked)

    def query(self, query: Query) -> Page:
        """See `Archive.query`."""
        asked = Asked("query", host=self._origin.host)
        return wire.page_of(self._post("query", wire.query_body(query), asked), asked)

    def upload(self, content: Upload) -> Uploaded:
        """See `Archive.upload`."""
        asked = Asked("upload", changes=True, host=self._origin.host)
        told = self._headers + b"Content-Type: %b\r\nContent-Disposition: %b\r\n" % (
            (content.media_type if _MEDIA_TYPE.match(content.media_type) else "application/octet-stream").encode(),
            disposition(content.name),
        )
        opened = False

        def attempt(token: bytes) -> Uploaded:
            nonlocal opened
            if opened and not content.reopenable:
                raise ArchiveAway(call=asked.call, why="token-ended")
            opened = True
            return self._send_upload(content, told, token, asked)

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
        asked = Asked("download", host=self._origin.host)
        query = {"id": file_id} if rendition == "original" else {"id": file_id, "type": rendition}
        path = self._path("download") + b"?" + urlencode(query, quote_via=quote).encode("ascii")

        def receiving(reply: Reply) -> Downloaded:
            return receive(reply, target, asked, expected_sha256=expected_sha256, durable=durable)

        def attempt(token: bytes) -> Downloaded:
            request = Outgoing(self._origin, b"GET", path, self._headers + _bearing(token))
            return self._exchange(request, receiving, asked)

        return self._with_token(attempt)

    def call(self, call: Call) -> Json:
        """See `Archive.call`."""
        asked = Asked(call.name, changes=call.changes, host=self._origin.host)
        url = self._service.copy_with(raw_path=self._path(*call.path))
        body = None if call.body is None else wire.json_body(call.body)
        headers = {} if body is None else {"Content-Type": _JSON}

        def attempt(token: bytes) -> bytes:
            bearing = {**headers, "Authorization": token.decode("ascii")}
            params = dict(call.query) or None
            return self._request(
                self._client.build_request(call.method, url, params=params, content=body, headers=bearing), asked
            )

        return wire.as_json(json_of(self._with_token(attempt), asked), asked)

    def close(self) -> None:
        """See `Archive.close`."""
        self._client.close()

    def __enter__(self) -> HttpArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, name: str, body: bytes, asked: Asked) -> dict[str, object]:
        path, length = self._path(name), b"Content-Length: %d\r\n" % len(body)

        def attempt(token: bytes) -> bytes:
            request = Outgoing(self._origin, b"POST", path, self._json_headers + length + _bearing(token), body)
            return self._exchange(request, self._whole, asked)

        answer = self._with_token_once(attempt) if asked.changes else self._with_token(attempt)
        return members_of(json_of(answer, asked), asked)

    def _send_upload(self, content: Upload, told: bytes, token: bytes, asked: Asked) -> Uploaded:
        with content.open() as stream:
            body = Body(content, stream)
            size = body.promised_bytes
            framing = b"Transfer-Encoding: chunked\r\n" if size is None else b"Content-Length: %d\r\n" % size
            headers = told + framing + _bearing(token)
            request = Outgoing(
                self._origin, b"POST", self._path("upload"), headers, body.content(), chunked=size is None
            )
            answer = self._exchange(request, self._whole, asked)
        file_id = wire.file_id_of(members_of(json_of(answer, asked), asked), asked)
        if not body.whole:
            raise strange(asked, "answered-before-the-end")
        return Uploaded(file_id, body.sha256, body.size_bytes)

    def _path(self, *parts: str) -> bytes:
        return self._service.raw_path + b"".join(b"/" + quote(part, safe="").encode("ascii") for part in parts)

    def _whole(self, reply: Reply) -> bytes:
        return reply.read(self._settings.max_answer_bytes)

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

    def _with_token_once(self, attempt: Callable[[bytes], T]) -> T:
        """Makes an attempt with the token. A refusal of it gets a new one for the next call, and is raised: what else
        stands between here and the archive may refuse a call that it has passed on."""
        token = self._tokens.current()
        try:
            return attempt(token)
        except NotLetIn as fault:
            if fault.data.get("status") != 401:
                raise
            renewed = False
            with suppress(ArchiveFault):
                self._tokens.after_refusal(token)
                renewed = True
            raise NotLetIn(**{**fault.data, "renewed": renewed}) from fault

    def _exchange(self, request: Outgoing, read: Callable[[Reply], T], asked: Asked) -> T:
        try:
            with self._transport.exchange(request) as reply:
                if self._heard_date is not None and (date_s := date_of(reply.header(b"date"))) is not None:
                    self._heard_date(date_s)
                if 200 <= reply.status < 300:
                    return read(reply)
                body, retry_after = self._echoes.hide(_excuse(reply)), reply.header(b"retry-after")
                raise refused_answer(reply.status, body, retry_after, asked, self._now())
        except Broken as broken:
            raise broken_exchange(broken, asked) from broken

    def _request(self, request: httpx.Request, asked: Asked) -> bytes:
        try:
            answer = self._client.send(request)
        except Broken as broken:
            raise broken_exchange(broken, asked) from broken
        if answer.is_success:
            return answer.content
        retry_after = answer.headers.get("retry-after")
        raise refused_answer(answer.status_code, self._echoes.hide(answer.content), retry_after, asked, self._now())

    def _fetch_token(self) -> Grant:
        """A new token. Whatever passes by itself is `ArchiveAway`: of the call that wanted it, nothing was sent."""
        asked = Asked("token", host=self._token_url.host)
        try:
            answer = self._ask_for_token(self._token_url, asked)
        except ArchiveFault as fault:
            other, self._other_token_url = self._other_token_url, None
            if other is None or fault.data.get("status") not in (404, 405):
                raise _of_token(fault) from fault
            answer = self._ask_at_other_path(other, asked, fault)
        grant = grant_of(json_of(answer, asked), asked)
        self._echoes.learn(grant.access_token)
        return grant

    def _ask_for_token(self, url: httpx.URL, asked: Asked) -> bytes:
        body, headers = request_form(self._settings.credentials)
        return self._request(self._client.build_request("POST", url, content=body, headers=headers), asked)

    def _ask_at_other_path(self, url: httpx.URL, asked: Asked, first: ArchiveFault) -> bytes:
        """The answer of the other documented path, which is kept to from then on; where nothing is there either, the
        fault tells of the first."""
        try:
            answer = self._ask_for_token(url, asked)
        except ArchiveFault as fault:
            raise _of_token(first if fault.data.get("status") in (404, 405) else fault) from fault
        self._token_url = url
        return answer


def connect(settings: ArchiveSettings, heard_date: Callable[[float], None] | None = None) -> HttpArchive:
    """Opens a session. Nothing is sent before the first call. Raises `ConfigFault`, `SecretFault`.

    `heard_date` is told the archive's own time with each answer.
    """
    return HttpArchive(settings, heard_date=heard_date)


def _lines(headers: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode("ascii")


def _bearing(token: bytes) -> bytes:
    return b"Authorization: %b\r\n" % token


def _excuse(reply: Reply) -> bytes:
    try:
        return reply.read(_MAX_ERROR_BYTES)
    except Broken:
        return b""  # the status says enough


def _of_token(fault: ArchiveFault) -> ArchiveFault:
    status = fault.data.get("status")
    if status in (400, 401, 403):
        return NotLetIn(**{**fault.data, "call": "token"})
    if fault.transient and not isinstance(fault, ArchiveAway):
        kept = {name: fault.data[name] for name in ("retry_after_s", "status") if name in fault.data}
        why = "busy" if isinstance(fault, ArchiveBusy) else "no-token"
        return ArchiveAway(call="token", why=why, **kept)
    return fault
