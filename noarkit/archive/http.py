"""HTTP client of the archive: one session of one account, on connections that are kept and shared by threads.

The hot calls (transaction, query, upload, download) use the transport directly; all others go through httpx over the
same transport. Only one thing is retried here: a read or an upload whose token was refused is repeated once with a new
one. All other retries are in `retry`.
"""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, quote_plus, urlencode

import httpx

from noarkit.archive import wire
from noarkit.archive.answers import (
    CallContext,
    Refusal,
    broken_exchange,
    parse_http_date,
    parse_json,
    refused_answer,
    require_object,
    strange_answer,
)
from noarkit.archive.connection import Reply
from noarkit.archive.settings import ArchiveSettings, Proxy, addresses_of, route_of
from noarkit.archive.stream import BrokenExchange
from noarkit.archive.token import Grant, Tokens, grant_of, request_form
from noarkit.archive.transfer import Body, disposition, receive_download
from noarkit.archive.transport import OutgoingRequest, Transport, origin_of
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
from noarkit.errors import ArchiveAway, ArchiveBusy, ArchiveFault, ArchiveStrange, NotLetIn

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
        # Identity: a compressed download could not be held against its length while it streams, and a small answer
        # could unpack to gigabytes.
        headers = {"Accept-Encoding": "identity", "User-Agent": "noarkit", settings.error_header: "application/json"}
        self._settings = settings
        self._now = now
        self._heard_date = heard_date
        self._transport = Transport(route_of(settings, addresses), settings.patience)
        # httpx's own time-outs would be for httpx's own transport; ours watches over progress itself
        self._client = httpx.Client(transport=self._transport, headers=headers, trust_env=False)
        self._tokens = Tokens(self._fetch_token, clock)
        # An archive or proxy may repeat what it was sent in an error text, and error texts end in logs and on screens.
        self._echoes = EchoScrubber()
        self._echoes.learn(settings.credentials.secret.reveal(), settings.credentials.client_id)
        if isinstance(settings.proxy, Proxy) and settings.proxy.secret is not None:
            self._echoes.learn(settings.proxy.secret.reveal(), settings.proxy.user or "")
        self._service = addresses.service
        self._token_url, self._other_token_url = addresses.token, addresses.other_token
        self._origin = origin_of(addresses.service)
        # The headers of the hot calls are the same for the whole session: built once, as bytes, since a load makes
        # millions of calls.
        lines = {"Host": addresses.service.netloc.decode("ascii"), **headers}
        self._headers = _header_lines(lines)
        self._json_headers = _header_lines({**lines, "Content-Type": _JSON})

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """See `Archive.transaction`."""
        context = CallContext("transaction", changes=True, host=self._origin.host)
        return wire.saved_of(self._post("transaction", wire.transaction_body(actions), context), context)

    def query(self, query: Query) -> Page:
        """See `Archive.query`."""
        context = CallContext("query", host=self._origin.host)
        return wire.page_of(self._post("query", wire.query_body(query), context), context)

    def upload(self, content: Upload) -> Uploaded:
        """See `Archive.upload`."""
        context = CallContext("upload", changes=True, host=self._origin.host)
        header_lines = self._headers + b"Content-Type: %b\r\nContent-Disposition: %b\r\n" % (
            (content.media_type if _MEDIA_TYPE.match(content.media_type) else "application/octet-stream").encode(),
            disposition(content.name),
        )
        was_opened = False

        def attempt(token: bytes) -> Uploaded:
            nonlocal was_opened
            # The token ended after the bytes were read, and they cannot be read again. Nothing was stored, hence
            # «away».
            if was_opened and not content.reopenable:
                raise ArchiveAway(call=context.call, why="token-ended")
            was_opened = True
            return self._send_upload(content, header_lines, token, context)

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
        context = CallContext("download", host=self._origin.host)
        query = {"id": file_id} if rendition == "original" else {"id": file_id, "type": rendition}
        path = self._path("download") + b"?" + urlencode(query, quote_via=quote).encode("ascii")

        def receiving(reply: Reply) -> Downloaded:
            return receive_download(reply, target, context, expected_sha256=expected_sha256, durable=durable)

        def attempt(token: bytes) -> Downloaded:
            request = OutgoingRequest(self._origin, b"GET", path, self._headers + _authorization_line(token))
            return self._exchange(request, receiving, context)

        return self._with_token(attempt)

    def call(self, call: Call) -> Json:
        """See `Archive.call`."""
        context = CallContext(call.name, changes=call.changes, host=self._origin.host)
        url = self._service.copy_with(raw_path=self._path(*call.path))
        body = None if call.body is None else wire.json_body(call.body)
        headers = {} if body is None else {"Content-Type": _JSON}

        def attempt(token: bytes) -> bytes:
            authorized = {**headers, "Authorization": token.decode("ascii")}
            params = dict(call.query) or None
            return self._request(
                self._client.build_request(call.method, url, params=params, content=body, headers=authorized), context
            )

        return wire.as_json(parse_json(self._with_token(attempt), context), context)

    def close(self) -> None:
        """See `Archive.close`."""
        self._client.close()

    def __enter__(self) -> HttpArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, name: str, body: bytes, context: CallContext) -> dict[str, object]:
        path, length = self._path(name), b"Content-Length: %d\r\n" % len(body)

        def attempt(token: bytes) -> bytes:
            request = OutgoingRequest(
                self._origin, b"POST", path, self._json_headers + length + _authorization_line(token), body
            )
            return self._exchange(request, self._read_all, context)

        # A 401 to a transaction may come from a proxy that has passed it on. So no second send here; whoever sent it
        # settles first (invariant 5).
        answer = self._with_token_once(attempt) if context.changes else self._with_token(attempt)
        return require_object(parse_json(answer, context), context)

    def _send_upload(self, content: Upload, header_lines: bytes, token: bytes, context: CallContext) -> Uploaded:
        with content.open() as stream:
            body = Body(content, stream)
            size = body.promised_bytes
            framing = b"Transfer-Encoding: chunked\r\n" if size is None else b"Content-Length: %d\r\n" % size
            headers = header_lines + framing + _authorization_line(token)
            request = OutgoingRequest(
                self._origin, b"POST", self._path("upload"), headers, body.content(), chunked=size is None
            )
            answer = self._exchange(request, self._read_all, context)
        file_id = wire.file_id_of(require_object(parse_json(answer, context), context), context)
        # An answer before the last byte: the archive stored something else than what was read, so its checksum is of no
        # use.
        if not body.whole:
            raise strange_answer(context, "answered-before-the-end")
        return Uploaded(file_id, body.sha256, body.size_bytes)

    def _path(self, *parts: str) -> bytes:
        return self._service.raw_path + b"".join(b"/" + quote(part, safe="").encode("ascii") for part in parts)

    def _read_all(self, reply: Reply) -> bytes:
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
            # The new token is for the next call. If none is to be had, this call's own fault still tells more.
            with suppress(ArchiveFault):
                self._tokens.after_refusal(token)
                renewed = True
            raise NotLetIn(**{**fault.data, "renewed": renewed}) from fault

    def _exchange(self, request: OutgoingRequest, read: Callable[[Reply], T], context: CallContext) -> T:
        try:
            with self._transport.exchange(request) as reply:
                if self._heard_date is not None and (date_s := parse_http_date(reply.header(b"date"))) is not None:
                    self._heard_date(date_s)
                if 200 <= reply.status < 300:
                    return read(reply)
                body, headers = self._echoes.hide(_read_error_body(reply)), _headers_by_name(reply)
                raise refused_answer(Refusal(reply.status, body, headers), context, self._now())
        except BrokenExchange as error:
            raise broken_exchange(error, context) from error

    def _request(self, request: httpx.Request, context: CallContext) -> bytes:
        try:
            answer = self._client.send(request)
        except BrokenExchange as error:
            raise broken_exchange(error, context) from error
        if answer.is_success:
            return answer.content
        refusal = Refusal(answer.status_code, self._echoes.hide(answer.content), answer.headers)
        raise refused_answer(refusal, context, self._now())

    def _fetch_token(self) -> Grant:
        """Fetches a new token. A fault that may pass becomes `ArchiveAway`: of the call itself nothing was sent."""
        context = CallContext("token", host=self._token_url.host)
        try:
            answer = self._ask_for_token(self._token_url, context)
        except ArchiveFault as fault:
            # Tried once a session, and only where nothing is at the first path: any other refusal is about us, and
            # sending the secret to a second address would not help.
            other_url, self._other_token_url = self._other_token_url, None
            if other_url is None or fault.data.get("status") not in (404, 405):
                raise _token_fault(fault) from fault
            answer = self._ask_at_other_path(other_url, context, fault)
        grant = grant_of(parse_json(answer, context), context)
        self._echoes.learn(grant.access_token)
        return grant

    def _ask_for_token(self, url: httpx.URL, context: CallContext) -> bytes:
        body, headers = request_form(self._settings.credentials)
        return self._request(self._client.build_request("POST", url, content=body, headers=headers), context)

    def _ask_at_other_path(self, url: httpx.URL, context: CallContext, first: ArchiveFault) -> bytes:
        """The answer of the other documented path, which is kept to from then on; where nothing is there either, the
        fault tells of the first."""
        try:
            answer = self._ask_for_token(url, context)
        except ArchiveFault as fault:
            # a page at the first path may be a proxy's: then only a token service's own word counts at the other
            is_nothing = fault.data.get("status") in (404, 405)
            is_doubtful = isinstance(first, ArchiveStrange) and "error" not in fault.data
            raise _token_fault(first if is_nothing or is_doubtful else fault) from fault
        self._token_url = url
        return answer


def connect(settings: ArchiveSettings, heard_date: Callable[[float], None] | None = None) -> HttpArchive:
    """Opens a session. Nothing is sent before the first call. Raises `ConfigFault`, `SecretFault`.

    `heard_date` is told the archive's own time with each answer.
    """
    return HttpArchive(settings, heard_date=heard_date)


def _header_lines(headers: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode("ascii")


def _authorization_line(token: bytes) -> bytes:
    return b"Authorization: %b\r\n" % token


def _headers_by_name(reply: Reply) -> dict[str, str]:
    """The headers by lower-case name, the first of each."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reversed(reply.headers)}


def _read_error_body(reply: Reply) -> bytes:
    try:
        return reply.read(_MAX_ERROR_BYTES)
    except BrokenExchange:
        return b""  # the status says enough


def _token_fault(fault: ArchiveFault) -> ArchiveFault:
    status = fault.data.get("status")
    if status in (400, 401, 403) and not isinstance(fault, ArchiveStrange):
        return NotLetIn(**{**fault.data, "call": "token"})
    if fault.transient and not isinstance(fault, ArchiveAway):
        kept_data = {name: fault.data[name] for name in ("retry_after_s", "status") if name in fault.data}
        reason = "busy" if isinstance(fault, ArchiveBusy) else "no-token"
        # The call itself never left, so even a transaction may be repeated: «away» says so, «busy» would not.
        return ArchiveAway(call="token", why=reason, **kept_data)
    return fault


HIDDEN = b"***"
_SHORTEST = 6


class EchoScrubber:
    """Hides secrets in answers, in every form in which they were sent. Safe for threads."""

    def __init__(self) -> None:
        self._known: tuple[bytes, ...] = ()
        self._lock = threading.Lock()

    def learn(self, secret: str, account: str = "") -> None:
        """A secret or token from now on, and the two together as an authorization. One too short to be told from a
        common word is not taken."""
        # Hiding a secret like «test» would tear holes into every honest message.
        if len(secret) < _SHORTEST:
            return
        with self._lock:
            # Longest first: a short secret inside a longer form would otherwise leave the rest of it readable. A new
            # tuple, so that `hide` reads without the lock.
            self._known = tuple(sorted({*self._known, *_forms(secret, account)}, key=len, reverse=True))

    def hide(self, answer: bytes) -> bytes:
        """The answer without any of them."""
        for secret in self._known:
            answer = answer.replace(secret, HIDDEN)
        return answer


def _forms(secret: str, account: str) -> Iterator[bytes]:
    # As it stands, as in a query, as in a form, as in JSON that escapes slashes; and each as the user:password of an
    # Authorization header.
    for form in (secret, quote(secret, safe=""), quote_plus(secret), secret.replace("/", "\\/")):
        yield form.encode()
        pair = base64.b64encode(f"{account}:{form}".encode())
        yield from (pair, quote(pair, safe="").encode())
