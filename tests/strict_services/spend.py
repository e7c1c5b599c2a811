"""The spend service: who is let in, how lists are paged, and what becomes of what is asked for."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, quote

from tests.strict_services.serving import Handler, Refused, Reply, Request, Service
from tests.strict_services.spend_data import Job, Receipt, SpendData, stamp
from tests.strict_services.tables import Call, Table

VENDOR = "strict"
API_KEY = "strict_key_0123456789"
CLIENT_ID, CLIENT_SECRET = "strict-client", "not-so-secret"
SCOPES = (
    *("accounting-entries:read", "export-jobs:read", "export-items:read", "users:read", "companies:read"),
    *("tag-groups:read", "tax-codes:read", "accounts:read", "vendors:read"),
)
_UNLISTED_SCOPES = {
    "/v1/accounting-entries": "accounting-entries:read",
    "/v2/employees": "users:read",
    "/v1/chart-of-accounts": "accounts:read",
    "/v1/vendors": "vendors:read",
}
_PAIRS = ("performedAt", "settledAt", "bookkeepingDate")
_MOST_A_PAGE = 100
_URL_LIFE = timedelta(hours=24)


class FileHost(Service):
    """Another host, where the bytes of receipts lie behind signed addresses. No credentials may come here."""

    def __init__(self, table: Table, data: SpendData) -> None:
        super().__init__(table)
        self.data = data
        self._key = b"key of the file host"

    def address(self, receipt: Receipt, ends: datetime) -> str:
        """The signed address of a receipt, good until it ends."""
        stated = f"{receipt.id}.{int(ends.timestamp())}"
        return f"{self.url}/files/{receipt.id}?expires={int(ends.timestamp())}&signature={self._sign(stated)}"

    def _sign(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def outside(self, request: Request) -> Reply | None:
        if "authorization" in request.headers:
            self.breaches.append(f"{request.path}: credentials of the service are shown to another host")
            return Reply(400, b"only one way of signing is allowed")
        id, ends = request.path.removeprefix("/files/"), request.parameter("expires", "0")
        signature = self._sign(f"{id}.{ends}")
        if int(ends) < datetime.now(UTC).timestamp() or not hmac.compare_digest(
            signature, request.parameter("signature")
        ):
            return Reply(403, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
        found = self.data.find_receipt(id)
        if found is None or found.is_gone:
            return Reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
        return Reply(200, found.content)

    def refuse(self, status: int, code: str, message: str) -> Reply:
        return Reply(status, message.encode())


class Spend(Service):
    """A company of the spend service."""

    def __init__(self, table: Table, files: FileHost) -> None:
        super().__init__(table)
        self.files = files
        self.data = files.data
        self.scopes = set(SCOPES)
        self.url_life = _URL_LIFE
        self.rows_a_page = _MOST_A_PAGE
        self.codes: dict[str, str] = {}
        self.access: dict[str, datetime] = {}
        self.refresh_token = "refresh-0"
        self.used_refresh_tokens: set[str] = set()
        self.refreshes = 0
        self.subscriptions: dict[str, dict[str, object]] = {}
        self.secret = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes, yes").decode()

    # who is let in

    def admit(self, request: Request, call: Call) -> None:
        if call.name[1].startswith("/oauth/"):
            return
        shown = request.headers.get("authorization", "")
        if "access_token" in dict(request.query) or API_KEY in str(request.query):
            self.breaches.append(f"{request.path}: a secret stands in the address")
        basic = "Basic " + base64.b64encode(f"{API_KEY}:".encode()).decode()
        ends = self.access.get(shown.removeprefix("Bearer "))
        if shown != basic and (not shown.startswith("Bearer ") or ends is None or ends <= datetime.now(UTC)):
            raise Refused(self.refuse(401, "UNAUTHORIZED", "The credentials are not valid."))
        path = call.name[1]
        listed = [_UNLISTED_SCOPES[each] for each in _UNLISTED_SCOPES if path.startswith(each)]
        for scope in (*call.rule.get("scopes", ()), *listed):
            if scope not in self.scopes:
                raise Refused(self.refuse(403, "FORBIDDEN", f"The scope {scope} is missing."))

    def refuse(self, status: int, code: str, message: str) -> Reply:
        return Reply(status, {"type": code, "message": message})

    def outside(self, request: Request) -> Reply | None:
        """The page where a person consents: it hands out a code by redirecting."""
        if (request.method, request.path) != ("GET", "/oauth/authorize"):
            return None
        asked = dict(request.query)
        needed = {"response_type": "code", "client_id": CLIENT_ID, "code_challenge_method": "S256"}
        if any(asked.get(name) != value for name, value in needed.items()) or "," in asked.get("scope", ""):
            self.breaches.append(f"consent: {asked}")
            return self.refuse(400, "VALIDATION_FAILED", "The request for consent is not as published.")
        code = f"code-{self.data.new_id()}"
        self.codes[code] = asked["code_challenge"]
        return Reply(302, None, {"Location": f"{asked['redirect_uri']}?code={code}&state={quote(asked['state'])}"})

    def token(self, request: Request) -> Reply:
        asked = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        basic = "Basic " + base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("authorization") != basic or "client_secret" in asked:
            self.breaches.append("token: the client is not told by Basic alone")
            return Reply(400, {"error": "invalid_client"})
        if asked["grant_type"] == "authorization_code":
            challenge = self.codes.pop(asked.get("code", ""), None)
            if challenge is None or challenge != _challenge(asked.get("code_verifier", "")):
                return Reply(400, {"error": "invalid_grant"})
        elif asked.get("refresh_token") != self.refresh_token:
            if asked.get("refresh_token") in self.used_refresh_tokens:
                self.breaches.append("token: a refresh token was used twice, which ends them all")
                self.access.clear()
                self.refresh_token = ""
            return Reply(400, {"error": "invalid_grant"})
        self.refreshes += 1
        self.used_refresh_tokens.add(self.refresh_token)
        self.refresh_token = f"refresh-{self.data.new_id()}"
        access = f"access-{self.data.new_id()}"
        self.access[access] = datetime.now(UTC) + timedelta(seconds=3600)
        return Reply(
            200,
            {"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": self.refresh_token},
        )

    # lists

    def handlers(self) -> Mapping[tuple[str, str], Handler]:
        from tests.strict_services.spend_calls import calls

        return calls(self)

    def page(
        self, request: Request, rows: Sequence[Mapping[str, object]], *, default: int = 20, most: int = _MOST_A_PAGE
    ) -> Reply:
        """One page of rows, after or before a cursor, or from an offset."""
        limit = int(request.parameter("limit") or default)
        if limit > most:
            self.breaches.append(f"{request.path}: limit {limit}")
            raise Refused(self.refuse(400, "PARAMETER_VALIDATION_FAILED", "limit"))
        limit = min(limit, self.rows_a_page)
        keys, orders = request.parameters("sorting_keys"), request.parameters("sorting_order")
        if len(keys) != len(orders):
            self.breaches.append(f"{request.path}: {len(keys)} keys and {len(orders)} orders")
            raise Refused(self.refuse(400, "PARAMETER_VALIDATION_FAILED", "sorting_keys and sorting_order"))
        rows = sorted(rows, key=lambda row: str(row["id"] if "id" in row else row["accountingEntryId"]))
        for key, order in reversed([*zip(keys, orders, strict=True)]):
            rows.sort(key=lambda row: str(row.get(key) or ""), reverse=order.startswith("DESC"))
        begin = int(request.parameter("offset") or 0)
        if request.parameter("after"):
            begin = self._place(rows, request.parameter("after")) + 1
        here = rows[begin : begin + limit]
        asked: dict[str, object] = {"parameters": {}, "limit": limit}
        if keys:
            asked |= {"sortingKeys": keys, "sortingOrder": orders}
        more = len(rows) > begin + limit
        pagination: dict[str, object] = {
            "currentRequestPagination": asked,
            "hasNextPage": more,
            "hasPreviousPage": begin > 0,
            "total": len(rows),
        }
        if here:
            pagination["startCursor"] = _cursor(here[0])
        if more:
            pagination["endCursor"] = _cursor(here[-1])
        return Reply(200, {"data": here, "pagination": pagination})

    def _place(self, rows: Sequence[Mapping[str, object]], cursor: str) -> int:
        wanted = base64.b32decode(cursor).decode()
        for place, row in enumerate(rows):
            if wanted == str(row.get("id") or row.get("accountingEntryId")):
                return place
        raise Refused(self.refuse(400, "PARAMETER_VALIDATION_FAILED", "the cursor is of another list"))

    def company(self, request: Request) -> None:
        """What is asked for another company than the one whose key this is, is refused."""
        for name, own in (("company_id", self.data.company_id), ("organization_id", self.data.organization_id)):
            if request.parameter(name, own) != own:
                raise Refused(self.refuse(403, "FORBIDDEN", f"no access to this {name}"))

    def entries(self, request: Request) -> Reply:
        """Entries, by a window of one kind of time at most."""
        self.company(request)
        asked = request.members
        pairs = [name for name in _PAIRS if f"{name}Start" in asked or f"{name}End" in asked]
        if len(pairs) > 1:
            self.breaches.append(f"entries are asked for by {pairs} at once")
            raise Refused(self.refuse(400, "VALIDATION_FAILED", "one pair of times"))
        with_deleted = bool(asked["includeDeleted"])
        rows = [each for id in self.data.entries if (each := self.data.live(id, with_deleted=with_deleted))]
        for name, member in (("status", "status"), ("exportStatus", "exportStatus"), ("families", "family")):
            wanted = asked.get(name)
            if isinstance(wanted, list):
                rows = [each for each in rows if each.values[member] in wanted]
        if pairs:
            begin, end = (_moment(asked.get(f"{pairs[0]}{end}")) for end in ("Start", "End"))
            rows = [each for each in rows if _is_within(each.time(pairs[0]), begin, end)]
        return self.page(request, [each.shown() for each in rows])

    def receipt_row(self, receipt: Receipt) -> dict[str, object]:
        """A receipt as it is told, with an address that ends."""
        return {
            "id": receipt.id,
            "accountingEntryId": receipt.entry_id,
            "createdAt": stamp(receipt.created),
            "fileType": "ORIGINAL",
            "mimeType": receipt.mime_type,
            "sizeInBytes": len(receipt.content),
            "source": "CAMERA",
            "url": self.files.address(receipt, datetime.now(UTC) + self.url_life),
        }

    def job_row(self, job: Job) -> dict[str, object]:
        """A job as it is told."""
        return {
            "id": job.id,
            "companyId": self.data.company_id,
            "createdAt": stamp(job.created),
            "createdBy": self.data.employee_id,
            "expiresIn": 3600,
            "isInteractive": False,
            "numberOfItems": len(job.items),
            "status": job.status,
            "vendorBasedBookkeeping": False,
            "completedAt": stamp(job.completed) if job.completed else None,
            "lastUpdatedAt": stamp(job.completed or job.created),
        }

    def message(
        self, event: str, data: Mapping[str, object], message_id: str, sent_at: datetime
    ) -> tuple[bytes, dict[str, str]]:
        """What is sent to a subscriber, with its signature."""
        body = json.dumps({"data": data, "eventType": event, "eventId": self.data.new_id()}).encode()
        stated = f"{message_id}.{int(sent_at.timestamp())}.".encode() + body
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        signature = base64.b64encode(hmac.new(key, stated, hashlib.sha256).digest()).decode()
        headers = {
            "webhook-id": message_id,
            "webhook-timestamp": str(int(sent_at.timestamp())),
            "webhook-signature": f"v1,{signature}",
            "content-type": "application/json",
        }
        return body, headers


def _challenge(verifier: str) -> str:
    if not 43 <= len(verifier) <= 128:
        return ""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def _cursor(row: Mapping[str, object]) -> str:
    return base64.b32encode(str(row.get("id") or row.get("accountingEntryId")).encode()).decode()


def _moment(text: object) -> datetime | None:
    return None if text is None else datetime.fromisoformat(str(text))


def _is_within(moment: datetime | None, begin: datetime | None, end: datetime | None) -> bool:
    if moment is None:
        return False
    return (begin is None or begin <= moment) and (end is None or moment <= end)


Page = Callable[[Request, Sequence[Mapping[str, object]]], Reply]
