"""The archive behind its address: each published call is answered, and any other is not known."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
import traceback
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlsplit

from tests.strict_archive.account import Account
from tests.strict_archive.changes import note_changes
from tests.strict_archive.query import answer_query
from tests.strict_archive.services import CALLS, Answer, Handler, withheld
from tests.strict_archive.store import FILE_LIFE_S, Store, StoredFile
from tests.strict_archive.tables import read_code_lists, read_tables
from tests.strict_archive.transaction import Transaction
from tests.strict_archive.values import RefusedRequest, bad

BASE = "/rms/api/public/noark5/v1/"
TOKEN_PATH = "/idp/oauth2/token"
TOKEN_LIFE_S = 3600
_ERROR_HEADER = "x-documaster-error-response-type"
_GRANTS = {"grant_type", "client_id", "client_secret", "scope", "username", "password", "refresh_token"}


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a call, from an account that was let in."""

    account: Account
    parts: tuple[str, ...]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes
    body: object = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Archive:
    """An archive in memory. One request at a time is carried out."""

    def __init__(self, reference: Path, accounts: Iterable[Account], *, bulk_delay_s: float = 0.02) -> None:
        self.store = Store(read_tables(reference))
        self.codes = read_code_lists(reference)
        self.accounts = {account.id: account for account in accounts}
        self.refuse: Callable[[str, str, object], int | None] = lambda method, name, body: None
        """The status that a call is answered with whatever it asks, by its method, name and body; else None."""
        self.refuses_with_page = False
        """True for a server that refuses an address it does not know with its own page for people."""
        self.requests: list[tuple[str, str, int]] = []
        self.crashes: list[str] = []
        self._bulk_delay_s = bulk_delay_s
        self._tokens: dict[str, tuple[Account, float]] = {}
        self._waiting: list[tuple[float, Callable[[datetime], None]]] = []
        self._lock = Lock()

    def later(self, work: Callable[[datetime], None]) -> None:
        """Has something done after the answer was given."""
        self._waiting.append((time.monotonic() + self._bulk_delay_s, work))

    def answer(self, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Reply:
        """Answers a request."""
        split = urlsplit(target)
        path = "/" + split.path.lstrip("/")
        with self._lock:
            self._work_off()
            try:
                if path == TOKEN_PATH and method == "POST":
                    reply = self._token(headers, raw)
                else:
                    reply = self._call(method, path, split.query, headers, raw)
            except RefusedRequest as refusal:
                reply = _refused(refusal, headers)
            except Exception as error:  # noqa: BLE001  # a fault of this archive, which no test may take for an answer
                self.crashes.append("".join(traceback.format_exception(error)))
                reply = _refused(RefusedRequest(500, "The archive failed."), headers)
            self.requests.append((method, path, reply.status))
            return reply

    def _work_off(self) -> None:
        due = [work for moment, work in self._waiting if moment <= time.monotonic()]
        self._waiting = [entry for entry in self._waiting if entry[0] > time.monotonic()]
        for work in due:
            work(datetime.now(UTC))

    def _call(self, method: str, path: str, query: str, headers: Mapping[str, str], raw: bytes) -> Reply:
        account = self._let_in(headers)
        if not path.startswith(BASE):
            raise RefusedRequest(404, "There is no such resource.")
        name = path.removeprefix(BASE)
        refused = self.refuse(method, name, json.loads(raw) if name == "query" else None)
        if refused is not None:
            if self.refuses_with_page and name != "query":
                return Reply(refused, b"<html><body>Not here</body></html>", {"Content-Type": "text/html"})
            raise RefusedRequest(refused, "This call is not answered here.")
        parts = tuple(unquote_plus(part) for part in name.split("/"))
        request = Request(account, parts, dict(parse_qsl(query, keep_blank_values=True)), headers, raw)
        if (method, name) == ("POST", "upload"):
            return self._upload(request)
        if (method, name) == ("GET", "download"):
            return self._download(request)
        handler = _handler(method, parts)
        body = _parsed(headers, raw) if method in ("POST", "PUT") else None
        status, answer = handler(self, Request(account, parts, request.query, headers, raw, body))
        return _json(status, answer)

    def _let_in(self, headers: Mapping[str, str]) -> Account:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        account, until_s = self._tokens.get(token, (None, 0.0))
        if scheme.lower() != "bearer" or account is None or until_s < time.monotonic():
            raise RefusedRequest(401, "The token is missing or invalid.")
        return account

    def _token(self, headers: Mapping[str, str], raw: bytes) -> Reply:
        if not headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            return _json(400, {"error": "invalid_request", "error_description": "The body is a form."})
        form = dict(parse_qsl(raw.decode("utf-8")))
        if form.get("grant_type") != "client_credentials" or set(form) - _GRANTS:
            return _json(400, {"error": "unsupported_grant_type", "error_description": "Not this grant."})
        account = self.accounts.get(form.get("client_id", ""))
        if account is None or account.secret != form.get("client_secret"):
            return _json(401, {"error": "invalid_client", "error_description": "The client is unknown."})
        token = secrets.token_hex(20)
        self._tokens[token] = (account, time.monotonic() + TOKEN_LIFE_S)
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": TOKEN_LIFE_S, "scope": "openid"}
        return _json(200, {**answer, "refresh_token": secrets.token_hex(20)})

    def _upload(self, request: Request) -> Reply:
        if not request.account.can("Store documents"):
            raise RefusedRequest(403, "The permission Store documents is missing.")
        name = _file_name(request.headers.get("content-disposition", ""))
        media_type = request.headers.get("content-type", "").partition(";")[0]
        if not media_type:
            raise RefusedRequest(415, "An upload has a content type.")
        file_id = str(self.store.new_id())
        digest = hashlib.sha256(request.raw).hexdigest()
        self.store.files[file_id] = StoredFile(
            file_id, request.account.id, name, media_type, request.raw, time.monotonic(), digest
        )
        return _json(200, {"id": file_id})

    def _download(self, request: Request) -> Reply:
        if set(request.query) - {"id", "type"}:
            raise bad("A download has the parameters id and type.")
        kind = request.query.get("type", "original")
        if kind not in ("original", "lightpdf"):
            raise bad(f"There is no rendition {kind}.")
        stored = self.store.files.get(request.query.get("id", ""))
        expired = stored is not None and not stored.is_used and time.monotonic() - stored.arrived_s > FILE_LIFE_S
        if stored is None or expired or kind == "lightpdf":
            raise RefusedRequest(404, "There is no such file.")
        if not stored.is_used and stored.owner != request.account.id:
            raise RefusedRequest(404, "There is no such file.")
        names = f"attachment; filename*=utf-8''{quote(stored.name)}"
        return Reply(200, stored.body, {"Content-Type": stored.media_type, "Content-Disposition": names})


def _handler(method: str, parts: tuple[str, ...]) -> Handler:
    if method == "POST" and parts == ("transaction",):
        return _transaction
    if method == "POST" and parts == ("query",):
        return _query
    for (known_method, pattern), handler in CALLS.items():
        steps = pattern.split("/")
        if (known_method, len(steps)) != (method, len(parts)):
            continue
        if all(step in ("*", part) for step, part in zip(steps, parts, strict=True)):
            return handler
    raise RefusedRequest(404, "There is no such resource.")


def _transaction(archive: Archive, request: Request) -> Answer:
    now = datetime.now(UTC)
    now = now.replace(microsecond=now.microsecond // 1000 * 1000)
    transaction = Transaction(archive.store, request.account, now, archive.codes)
    return 200, transaction.run(request.body, lambda draft: note_changes(draft, request.account, now))


def _query(archive: Archive, request: Request) -> Answer:
    if not request.account.can("Read"):
        return 200, {"hasMore": False, "results": []}
    return 200, answer_query(archive.store, request.body, lambda seen: withheld(archive, seen))


def _parsed(headers: Mapping[str, str], raw: bytes) -> object:
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedRequest(415, "The body is JSON.")
    try:
        return json.loads(raw)
    except ValueError as error:
        raise bad("The body is no JSON.") from error


def _file_name(disposition: str) -> str:
    kind = disposition.partition(";")[0].strip().lower()
    names = {}
    for part in disposition.split(";")[1:]:
        key, _, value = part.strip().partition("=")
        names[key.lower()] = value.strip('"')
    if kind != "attachment" or not names.keys() & {"filename", "filename*"}:
        raise bad("An upload has a Content-Disposition with a file name.")
    if "filename*" in names:
        charset, _, rest = names["filename*"].partition("''")
        if charset.lower() != "utf-8":
            raise bad("The file name is in UTF-8.")
        return unquote(rest, errors="strict")
    return names["filename"]


def _refused(refusal: RefusedRequest, headers: Mapping[str, str]) -> Reply:
    more = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    if headers.get(_ERROR_HEADER, "") != "application/json":
        return Reply(refusal.status, refusal.description.encode(), {"Content-Type": "text/plain", **more})
    body = {"errorId": str(uuid.uuid4()), "description": refusal.description, "status": refusal.status}
    return Reply(refusal.status, json.dumps(body).encode(), {"Content-Type": "application/json", **more})


def _json(status: int, answer: object) -> Reply:
    if answer is None:
        return Reply(status)
    return Reply(status, json.dumps(answer).encode(), {"Content-Type": "application/json"})
