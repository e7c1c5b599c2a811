"""The REST calls of the spend service: entries and receipts, export jobs and items, registers, subscriptions."""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.services.spend.standin.call_specs import DOORS, scope_of
from noarkit.services.spend.standin.data import Record, Register, Store
from noarkit.services.spend.standin.lists import Refusal, list_page, single_object, sort_records
from noarkit.services.standins.call import Call
from noarkit.services.standins.published_calls import UnpublishedCall

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
ACTIVATED_STATE = "ACTIVATED"


class Calls:
    """Answers authenticated calls."""

    def __init__(
        self,
        store: Store,
        webhook_secrets: dict[str, str],
        sign_url: Callable[[str, str], str],
        installation: dict[str, str],
        scopes: frozenset[str] | None = None,
    ) -> None:
        self._store = store
        self._scopes = scopes
        self._installed = installation
        self._webhook_secrets = webhook_secrets
        self._sign_url = sign_url
        self._last_search: dict[str, list[str]] = {}
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
            (re.compile(r"/v\d/([a-z-]+)/([^/:]+)"), self._single_object),
        )

    def answer(self, call: Call) -> Response:
        """Answers a call. Raises `Refusal`, `UnreadableCall`."""
        try:
            DOORS.check(call)
        except UnpublishedCall as fault:
            raise Refusal("NOT_FOUND", fault.status) from fault
        if call.path == "/v1/introspect":
            return single_object(self._introspection())
        if self._installed["status"] != ACTIVATED_STATE and not call.path.startswith("/v1/installations/"):
            raise Refusal("FORBIDDEN", 403, "the installation is not active")
        scope = scope_of(call.method, call.path)
        if scope and self._scopes is not None and scope not in self._scopes:
            raise Refusal("FORBIDDEN", 403, f"scope {scope} is missing")
        for pattern, handler in self._routes:
            match = pattern.fullmatch(call.path)
            if match is not None:
                return handler(call, *match.groups())
        raise Refusal("NOT_FOUND", 404)

    def _introspection(self) -> Record:
        scope = "accounting-entries:read" if self._scopes is None else " ".join(sorted(self._scopes))
        urn = f"urn:standin:company:{self._store.company_id}"
        return {"authMethod": "OAUTH2", "clientId": "standin-client", "scope": scope, "subjectURN": urn}

    def _search(self, call: Call) -> Response:
        body = call.members()
        if not (call.queries.get("company_id") or call.queries.get("organization_id")):
            raise Refusal("PARAMETER_VALIDATION_FAILED", 400, "company_id or organization_id")
        pairs = [name for name in _PAIRS if f"{name}Start" in body or f"{name}End" in body]
        if len(pairs) > 1:
            raise Refusal("VALIDATION_FAILED", 400, "one window only")
        self._of_company(call)
        filters = {name: body[name] for name in ("exportStatus", "status", "families") if body.get(name)}
        windows = {name: body.get(name) for pair in pairs for name in (f"{pair}Start", f"{pair}End")}
        sorts = {name: call.queries.get(name) for name in ("sorting_keys", "sorting_order")}
        key = json.dumps([self._store.version, filters, windows, sorts], sort_keys=True)
        with self._store.lock:
            ids = self._last_search.get(key)
            if ids is None:
                entries = [entry for entry in self._store.briefs() if _fits(entry, body, pairs, filters)]
                ids = [str(entry["id"]) for entry in sort_records(entries, call.queries, _SORTS)]
                self._last_search = {key: ids}  # what the next pages are taken from
        return list_page(ids, call.queries, self._store.entry)

    def _entry(self, call: Call, entry_id: str) -> Response:
        return single_object(self._store.entry(entry_id))

    def _receipts(self, call: Call, entry_id: str) -> Response:
        kinds = [call.text("file_type")] if call.text("file_type") else ["ORIGINAL", "PREVIEW"]
        receipts: dict[str, Record] = {}
        for receipt in self._store.receipts(entry_id):
            for kind in kinds:
                receipts[f"{receipt['id']}/{kind}"] = self._describe_receipt(entry_id, receipt, kind)
        return list_page(list(receipts), call.queries, receipts.get, default=10)

    def _receipt_search(self, call: Call) -> Response:
        body = call.members()
        ids, kind = body.get("accountingEntryIds") or [], body.get("fileType", "ORIGINAL")
        if not isinstance(kind, str):
            raise Refusal("VALIDATION_FAILED", 400, "fileType is one value")
        receipts = {
            str(receipt["id"]): self._describe_receipt(entry_id, receipt, kind)
            for entry_id in ids
            for receipt in self._store.receipts(entry_id)
        }
        return list_page(list(receipts), call.queries, receipts.get, default=10)

    def _receipt(self, call: Call, entry_id: str, receipt_id: str) -> Response:
        match = next((receipt for receipt in self._store.receipts(entry_id) if receipt["id"] == receipt_id), None)
        return single_object(None if match is None else self._describe_receipt(entry_id, match, "ORIGINAL"))

    def _describe_receipt(self, entry: str, receipt: Record, kind: str) -> Record:
        members = {name: value for name, value in receipt.items() if name != "place"}
        return {**members, "fileType": kind, "url": self._sign_url(entry, str(receipt["id"]))}

    def _jobs(self, call: Call, version: str) -> Response:
        if call.method != "GET":
            raise Refusal("EXPORT_ALREADY_IN_PROGRESS", 409)  # an archiver must not start one
        statuses = call.queries.get("statuses") or []
        jobs = {
            str(job["id"]): _job(job, version)
            for job in self._store.jobs()
            if not statuses or job["status"] in statuses
        }
        sorted_jobs = sort_records(list(jobs.values()), call.queries, _JOB_SORTS)
        return list_page([str(job["id"]) for job in sorted_jobs], call.queries, jobs.get)

    def _job(self, call: Call, version: str, job_id: str) -> Response:
        job = self._job_of(job_id)
        return single_object(_job(job, version))

    def _items(self, call: Call, version: str, job_id: str) -> Response:
        if call.method != "GET":
            raise Refusal("EXPORT_JOB_STATUS_UNPROCESSABLE", 422)
        job = self._job_of(job_id)
        items = {str(item["accountingEntryId"]): item for item in self._store.job_items(job)}
        return list_page(list(items), call.queries, items.get)

    def _open_items(self, call: Call, version: str) -> Response:
        job = self._job_of(call.text("job_id"))
        if job["status"] not in ("pending", "in_progress"):
            raise Refusal("EXPORT_JOB_STATUS_UNPROCESSABLE", 422)
        entries = [self._store.entry(str(item["accountingEntryId"])) for item in self._store.job_items(job)]
        items = {str(entry["id"]): _open_item(entry) for entry in entries if entry is not None}
        return list_page(list(items), call.queries, items.get)

    def _job_of(self, job_id: str) -> Record:
        job = self._store.job_of(job_id)
        if job is None:
            raise Refusal("EXPORT_NOT_FOUND", 404)
        return job

    def _secret(self, call: Call, record_id: str) -> Response:
        secret = self._webhook_secrets.get(record_id)
        return single_object(None if secret is None else {"secretKey": secret})

    def _tags(self, call: Call, group: str) -> Response:
        register = self._store.registers["tags"]
        if self._store.registers["tag-groups"].get(group) is None:
            raise Refusal("NOT_FOUND", 404)
        if call.method == "POST":
            return JSONResponse({"data": register.save({**call.members(), "groupId": group})}, 201)
        archived_too = call.text("include_archived") == "true"
        tags = {
            str(tag["id"]): tag
            for tag in register.all()
            if tag["groupId"] == group and (archived_too or not tag["archived"])
        }
        return list_page(list(tags), call.queries, tags.get)

    def _register(self, call: Call, name: str) -> Response:
        register = self._register_of(name)
        if call.method == "POST" and not call.path.endswith(":search"):
            return JSONResponse({"data": self._make(name, call.members())}, 200 if name == "subscriptions" else 201)
        self._of_company(call)
        records = {str(record["id"]): record for record in register.all() if self._is_listed(call, name, record)}
        if name == "tag-groups":
            return JSONResponse({"data": list(records.values())})
        return list_page(list(records), call.queries, records.get)

    def _is_listed(self, call: Call, name: str, record: Record) -> bool:
        """True unless the record is an archived tag or group that was not asked for."""
        if name == "tags":
            return call.members().get("includeArchived") is True or not record["archived"]
        return name != "tag-groups" or call.text("include_archived") == "true" or not record["archived"]

    def _of_company(self, call: Call) -> None:
        """Checks that the call is about our own company. Raises `Refusal`."""
        body = call.members() if call.path.endswith(":search") else {}
        company_id = (
            call.text("company_id") or call.text("companyId") or body.get("companyId")
        ) or self._store.company_id
        if company_id != self._store.company_id or call.text("organization_id", "") not in (
            "",
            self._store.organization_id,
        ):
            raise Refusal("FORBIDDEN", 403, "another company")
        if call.path in ("/v0/tag-groups", "/v0/tags:search") and not {"company_id", "organization_id"} & set(
            call.queries
        ):
            raise Refusal("PARAMETER_VALIDATION_FAILED", 400, "company_id or organization_id")

    def _register_of(self, name: str) -> Register:
        register = self._store.registers.get(_REGISTERS.get(name, ""))
        if register is None:
            raise Refusal("NOT_FOUND", 404)
        return register

    def _installation(self, call: Call, verb: str) -> Response:
        """Answers with the installation of an integration, without an envelope. Those of partners must be activated
        first."""
        if verb:
            self._installed["status"] = ACTIVATED_STATE
        if call.method == "PUT":
            self._installed["status"] = str(call.members()["status"])
        return JSONResponse({**self._installed, "metadata": {}})

    def _archive(self, call: Call, record_id: str) -> Response:
        register = self._store.registers["vendors"]
        if register.get(record_id) is None:
            raise Refusal("NOT_FOUND", 404)
        register.save({"id": record_id, "state": "ARCHIVED"})
        return Response(status_code=204)

    def _single_object(self, call: Call, name: str, record_id: str) -> Response:
        register = self._register_of(name)
        record = register.get(record_id)
        if record is None:
            raise Refusal("NOT_FOUND", 404)
        if call.method == "DELETE":
            register.delete(record_id)
            return Response(status_code=204)
        if call.method == "PUT":
            return JSONResponse({"data": register.save({**call.members(), "id": record_id})})
        return single_object(record)

    def _make(self, name: str, values: dict[str, Any]) -> Record:
        if name == "subscriptions":
            values.setdefault("status", "ACTIVE")
        if name == "tag-groups":
            values = {"metadata": {}, "companyId": self._store.company_id, **values}
        if name == "vendors":
            values = {"state": "ACTIVE", **values}
        record = self._store.registers[_REGISTERS[name]].save(values)
        if name == "subscriptions":
            self._webhook_secrets[str(record["id"])] = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        return record


def _fits(entry: Record, query: Mapping[str, Any], pairs: list[str], filters: Mapping[str, Any]) -> bool:
    names = {"exportStatus": "exportStatus", "status": "status", "families": "family"}
    if any(entry[names[name]] not in choices for name, choices in filters.items()):
        return False
    for name in pairs:
        value = entry.get(name)
        if value is None:
            return False
        timestamp = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        begin, end = query.get(f"{name}Start"), query.get(f"{name}End")
        if (begin and timestamp < _moment(begin)) or (end and timestamp >= _moment(end)):
            return False
    return True


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _job(job: Record, version: str) -> Record:
    members = {name: value for name, value in job.items() if name != "number"}
    return (
        members
        if version in ("2", "3")
        else {name: members[name] for name in ("id", "companyId", "createdAt", "status")}
    )


def _open_item(entry: Record) -> Record:
    """Builds an entry as the bookkeeping gets it while an export runs."""
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
