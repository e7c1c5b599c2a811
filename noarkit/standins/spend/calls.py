"""The calls of the spend service: entries and receipts, export jobs and items, registers, subscriptions."""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.standins.calling import Call
from noarkit.standins.published import Unpublished
from noarkit.standins.spend.data import Record, Register, Store
from noarkit.standins.spend.doors import DOORS, scope_of
from noarkit.standins.spend.lists import Refusal, in_order, listed, one_of

_PAIRS = ("performedAt", "settledAt", "bookkeepingDate")
_SORTS = ("settledAt", "performedAt", "id", "bookkeepingDate")
_JOB_SORTS = ("createdAt", "id", "status")
_REGISTERS = {
    "companies": "companies",
    "employees": "employees",
    "vendors": "vendors",
    "chart-of-accounts": "accounts",
    "tax-codes": "tax-codes",
    "tag-groups": "tag-groups",
    "tags": "tags",
    "subscriptions": "subscriptions",
}
ACTIVATED = "ACTIVATED"


class Calls:
    """Answers calls that were let in."""

    def __init__(
        self,
        store: Store,
        webhook_secrets: dict[str, str],
        signed: Callable[[str, str], str],
        installed: dict[str, str],
        scopes: frozenset[str] | None = None,
    ) -> None:
        self._store = store
        self._scopes = scopes
        self._installed = installed
        self._webhook_secrets = webhook_secrets
        self._signed = signed
        self._found: dict[str, list[str]] = {}
        self._routes: tuple[tuple[re.Pattern[str], Callable[..., Response]], ...] = (
            (re.compile(r"/v1/accounting-entries:search"), self._search),
            (re.compile(r"/v1/accounting-entries/receipts:search"), self._receipt_search),
            (re.compile(r"/v1/accounting-entries/([^/]+)"), self._entry),
            (re.compile(r"/v1/accounting-entries/([^/]+)/receipts"), self._receipts),
            (re.compile(r"/v1/accounting-entries/([^/]+)/receipts/([^/]+)"), self._receipt),
            (re.compile(r"/v([0-3])/export-jobs"), self._jobs),
            (re.compile(r"/v([0-3])/export-jobs/([^/]+)"), self._job),
            (re.compile(r"/v([0-3])/export-jobs/([^/]+)/items"), self._items),
            (re.compile(r"/v([0-3])/export-items"), self._open_items),
            (re.compile(r"/v1/subscriptions/([^/]+)/secret"), self._secret),
            (re.compile(r"/v0/tag-groups/([^/]+)/tags"), self._tags),
            (re.compile(r"/v1/installations/me(:activate)?"), self._installation),
            (re.compile(r"/v\d/([a-z-]+)(?::search)?"), self._register),
            (re.compile(r"/v1/vendors/([^/:]+):archive"), self._archive),
            (re.compile(r"/v\d/([a-z-]+)/([^/:]+)"), self._one),
        )

    def answer(self, call: Call) -> Response:
        """The answer. Raises `Refusal`, `Unreadable`."""
        try:
            DOORS.check(call)
        except Unpublished as unpublished:
            raise Refusal("NOT_FOUND", unpublished.status) from unpublished
        if call.path == "/v1/introspect":
            return one_of(self._introspection())
        if self._installed["status"] != ACTIVATED and not call.path.startswith("/v1/installations/"):
            raise Refusal("FORBIDDEN", 403, "the installation is not active")
        needed = scope_of(call.method, call.path)
        if needed and self._scopes is not None and needed not in self._scopes:
            raise Refusal("FORBIDDEN", 403, f"scope {needed} is missing")
        for pattern, answering in self._routes:
            found = pattern.fullmatch(call.path)
            if found is not None:
                return answering(call, *found.groups())
        raise Refusal("NOT_FOUND", 404)

    def _introspection(self) -> Record:
        scope = "accounting-entries:read" if self._scopes is None else " ".join(sorted(self._scopes))
        urn = f"urn:standin:company:{self._store.company_id}"
        return {"authMethod": "OAUTH2", "clientId": "standin-client", "scope": scope, "subjectURN": urn}

    def _search(self, call: Call) -> Response:
        asked = call.members()
        if not (call.queries.get("company_id") or call.queries.get("organization_id")):
            raise Refusal("PARAMETER_VALIDATION_FAILED", 400, "company_id or organization_id")
        pairs = [name for name in _PAIRS if f"{name}Start" in asked or f"{name}End" in asked]
        if len(pairs) > 1:
            raise Refusal("VALIDATION_FAILED", 400, "one window only")
        self._of_company(call)
        filters = {name: asked[name] for name in ("exportStatus", "status", "families") if asked.get(name)}
        windows = {name: asked.get(name) for pair in pairs for name in (f"{pair}Start", f"{pair}End")}
        sorts = {name: call.queries.get(name) for name in ("sorting_keys", "sorting_order")}
        key = json.dumps([self._store.version, filters, windows, sorts], sort_keys=True)
        with self._store.lock:
            ids = self._found.get(key)
            if ids is None:
                found = [entry for entry in self._store.briefs() if _fits(entry, asked, pairs, filters)]
                ids = [str(entry["id"]) for entry in in_order(found, call.queries, _SORTS)]
                self._found = {key: ids}  # what the next pages are taken from
        return listed(ids, call.queries, self._store.entry)

    def _entry(self, call: Call, one: str) -> Response:
        return one_of(self._store.entry(one))

    def _receipts(self, call: Call, one: str) -> Response:
        kinds = [call.text("file_type")] if call.text("file_type") else ["ORIGINAL", "PREVIEW"]
        shown: dict[str, Record] = {}
        for receipt in self._store.receipts(one):
            for kind in kinds:
                shown[f"{receipt['id']}/{kind}"] = self._shown(one, receipt, kind)
        return listed(list(shown), call.queries, shown.get, default=10)

    def _receipt_search(self, call: Call) -> Response:
        asked = call.members()
        ids, kind = asked.get("accountingEntryIds") or [], asked.get("fileType", "ORIGINAL")
        if not isinstance(kind, str):
            raise Refusal("VALIDATION_FAILED", 400, "fileType is one value")
        shown = {
            str(receipt["id"]): self._shown(one, receipt, kind) for one in ids for receipt in self._store.receipts(one)
        }
        return listed(list(shown), call.queries, shown.get, default=10)

    def _receipt(self, call: Call, one: str, receipt_id: str) -> Response:
        found = next((receipt for receipt in self._store.receipts(one) if receipt["id"] == receipt_id), None)
        return one_of(None if found is None else self._shown(one, found, "ORIGINAL"))

    def _shown(self, entry: str, receipt: Record, kind: str) -> Record:
        told = {name: value for name, value in receipt.items() if name != "place"}
        return {**told, "fileType": kind, "url": self._signed(entry, str(receipt["id"]))}

    def _jobs(self, call: Call, version: str) -> Response:
        if call.method != "GET":
            raise Refusal("EXPORT_ALREADY_IN_PROGRESS", 409)  # an archiver must not start one
        wanted = call.queries.get("statuses") or []
        jobs = {
            str(job["id"]): _job(job, version) for job in self._store.jobs() if not wanted or job["status"] in wanted
        }
        ordered = in_order(list(jobs.values()), call.queries, _JOB_SORTS)
        return listed([str(job["id"]) for job in ordered], call.queries, jobs.get)

    def _job(self, call: Call, version: str, one: str) -> Response:
        job = self._job_of(one)
        return one_of(_job(job, version))

    def _items(self, call: Call, version: str, one: str) -> Response:
        if call.method != "GET":
            raise Refusal("EXPORT_JOB_STATUS_UNPROCESSABLE", 422)
        job = self._job_of(one)
        items = {str(item["accountingEntryId"]): item for item in self._store.job_items(job)}
        return listed(list(items), call.queries, items.get)

    def _open_items(self, call: Call, version: str) -> Response:
        job = self._job_of(call.text("job_id"))
        if job["status"] not in ("pending", "in_progress"):
            raise Refusal("EXPORT_JOB_STATUS_UNPROCESSABLE", 422)
        entries = [self._store.entry(str(item["accountingEntryId"])) for item in self._store.job_items(job)]
        items = {str(entry["id"]): _open_item(entry) for entry in entries if entry is not None}
        return listed(list(items), call.queries, items.get)

    def _job_of(self, one: str) -> Record:
        found = self._store.job_of(one)
        if found is None:
            raise Refusal("EXPORT_NOT_FOUND", 404)
        return found

    def _secret(self, call: Call, one: str) -> Response:
        secret = self._webhook_secrets.get(one)
        return one_of(None if secret is None else {"secretKey": secret})

    def _tags(self, call: Call, group: str) -> Response:
        register = self._store.registers["tags"]
        if self._store.registers["tag-groups"].get(group) is None:
            raise Refusal("NOT_FOUND", 404)
        if call.method == "POST":
            return JSONResponse({"data": register.put({**call.members(), "groupId": group})}, 201)
        archived_too = call.text("include_archived") == "true"
        found = {
            str(tag["id"]): tag
            for tag in register.all()
            if tag["groupId"] == group and (archived_too or not tag["archived"])
        }
        return listed(list(found), call.queries, found.get)

    def _register(self, call: Call, name: str) -> Response:
        register = self._held(name)
        if call.method == "POST" and not call.path.endswith(":search"):
            return JSONResponse({"data": self._made(name, call.members())}, 200 if name == "subscriptions" else 201)
        self._of_company(call)
        found = {str(one["id"]): one for one in register.all() if self._is_shown(call, name, one)}
        if name == "tag-groups":
            return JSONResponse({"data": list(found.values())})
        return listed(list(found), call.queries, found.get)

    def _is_shown(self, call: Call, name: str, one: Record) -> bool:
        """Archived tags and groups are left out where nobody asks for them."""
        if name == "tags":
            return call.members().get("includeArchived") is True or not one["archived"]
        return name != "tag-groups" or call.text("include_archived") == "true" or not one["archived"]

    def _of_company(self, call: Call) -> None:
        """Nobody sees the books of another company. Raises `Refusal`."""
        asked = call.members() if call.path.endswith(":search") else {}
        told = (call.text("company_id") or call.text("companyId") or asked.get("companyId")) or self._store.company_id
        if told != self._store.company_id or call.text("organization_id", "") not in ("", self._store.organization_id):
            raise Refusal("FORBIDDEN", 403, "another company")
        if call.path in ("/v0/tag-groups", "/v0/tags:search") and not {"company_id", "organization_id"} & set(
            call.queries
        ):
            raise Refusal("PARAMETER_VALIDATION_FAILED", 400, "company_id or organization_id")

    def _held(self, name: str) -> Register:
        register = self._store.registers.get(_REGISTERS.get(name, ""))
        if register is None:
            raise Refusal("NOT_FOUND", 404)
        return register

    def _installation(self, call: Call, verb: str) -> Response:
        """What an integration is here, without an envelope. Those of partners do nothing before they are activated."""
        if verb:
            self._installed["status"] = ACTIVATED
        if call.method == "PUT":
            self._installed["status"] = str(call.members()["status"])
        return JSONResponse({**self._installed, "metadata": {}})

    def _archive(self, call: Call, one: str) -> Response:
        register = self._store.registers["vendors"]
        if register.get(one) is None:
            raise Refusal("NOT_FOUND", 404)
        register.put({"id": one, "state": "ARCHIVED"})
        return Response(status_code=204)

    def _one(self, call: Call, name: str, one: str) -> Response:
        register = self._held(name)
        known = register.get(one)
        if known is None:
            raise Refusal("NOT_FOUND", 404)
        if call.method == "DELETE":
            register.delete(one)
            return Response(status_code=204)
        if call.method == "PUT":
            return JSONResponse({"data": register.put({**call.members(), "id": one})})
        return one_of(known)

    def _made(self, name: str, told: dict[str, Any]) -> Record:
        if name == "subscriptions":
            told.setdefault("status", "ACTIVE")
        if name == "tag-groups":
            told = {"metadata": {}, "companyId": self._store.company_id, **told}
        if name == "vendors":
            told = {"state": "ACTIVE", **told}
        made = self._store.registers[_REGISTERS[name]].put(told)
        if name == "subscriptions":
            self._webhook_secrets[str(made["id"])] = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        return made


def _fits(entry: Record, asked: Mapping[str, Any], pairs: list[str], filters: Mapping[str, Any]) -> bool:
    names = {"exportStatus": "exportStatus", "status": "status", "families": "family"}
    if any(entry[names[name]] not in wanted for name, wanted in filters.items()):
        return False
    for name in pairs:
        value = entry.get(name)
        if value is None:
            return False
        when = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        begin, end = asked.get(f"{name}Start"), asked.get(f"{name}End")
        if (begin and when < _moment(begin)) or (end and when >= _moment(end)):
            return False
    return True


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _job(job: Record, version: str) -> Record:
    told = {name: value for name, value in job.items() if name != "number"}
    return told if version in ("2", "3") else {name: told[name] for name in ("id", "companyId", "createdAt", "status")}


def _open_item(entry: Record) -> Record:
    """An entry as the bookkeeping gets it while an export runs."""
    value = entry["transactionValue"]
    amount = {"currency": value["currency"], "value": str(value["minors"])}
    return {
        "_links": {},
        "accountingEntryId": entry["id"],
        "accountingEntryLines": [],
        "additionalInformation": {"reconciliationId": None},
        "amount": {"inSupplierCurrency": amount, "inWalletCurrency": amount},
        "companyId": entry["companyId"],
        "date": entry["performedAt"],
        "type": str(entry["family"]).casefold(),
        "files": [{"url": f"https://files.example/{entry['id']}?signature=s", "type": "image/jpeg", "size": 1}],
    }
