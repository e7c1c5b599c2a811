"""The calls of the spend service: entries and receipts, export jobs, registers, subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any  # handlers, which take the service first

from tests.strict_services.serving import Handler, Refused, Reply, Request
from tests.strict_services.spend import CLIENT_ID, VENDOR, Spend
from tests.strict_services.spend_data import Entry, Job, now, stamp


def calls(spend: Spend) -> Mapping[tuple[str, str], Handler]:
    """The calls that are answered."""
    served = {
        ("POST", "/oauth/token"): spend.token,
        ("POST", "/v1/accounting-entries:search"): spend.entries,
    }
    return {**served, **{name: partial(handler, spend) for name, handler in _CALLS.items()}}


def _introspect(spend: Spend, request: Request) -> Reply:
    method = "OAUTH2" if request.headers["authorization"].startswith("Bearer") else "API_KEY"
    urn = f"urn:{VENDOR}:company:{spend.data.company_id}"
    scope = " ".join(sorted(spend.scopes))
    return Reply(200, {"data": {"authMethod": method, "clientId": CLIENT_ID, "scope": scope, "subjectURN": urn}})


def _installation(spend: Spend, request: Request) -> Reply:
    data = spend.data
    return Reply(
        200,
        {
            "applicationId": data.vendor_id,
            "createdAt": stamp(now()),
            "id": data.tag_id,
            "metadata": {},
            "resource": f"urn:{VENDOR}:company:{data.company_id}",
            "status": "ACTIVATED",
            "updatedAt": stamp(now()),
        },
    )


# entries


def _entry(spend: Spend, request: Request, *, with_deleted: bool = False) -> Entry:
    with_deleted = with_deleted or request.parameter("include_deleted") == "true"
    found = spend.data.live(request.names["id"], with_deleted=with_deleted)
    if found is None:
        raise Refused(spend.refuse(404, "NOT_FOUND", "There is no such entry."))
    return found


def _one_entry(spend: Spend, request: Request) -> Reply:
    return Reply(200, {"data": _entry(spend, request).shown()})


def _receipts_of(spend: Spend, request: Request) -> Reply:
    entry = _entry(spend, request)
    if request.parameter("file_type", "ORIGINAL") != "ORIGINAL":
        return spend.page(request, [], default=10)
    return spend.page(request, [spend.receipt_row(each) for each in entry.receipts.values()], default=10)


def _one_receipt(spend: Spend, request: Request) -> Reply:
    found = _entry(spend, request).receipts.get(request.names["receiptId"])
    if found is None:
        return spend.refuse(404, "NOT_FOUND", "There is no such receipt.")
    return Reply(200, {"data": spend.receipt_row(found)})


def _receipts(spend: Spend, request: Request) -> Reply:
    spend.company(request)
    asked = request.members
    entries = [
        each for id in spend.data.entries if (each := spend.data.live(id, with_deleted=bool(asked["includeDeleted"])))
    ]
    wanted = asked.get("accountingEntryIds")
    if isinstance(wanted, list):
        entries = [each for each in entries if each.id in wanted]
    rows = [spend.receipt_row(receipt) for each in entries for receipt in each.receipts.values()]
    if asked.get("fileType", "ORIGINAL") != "ORIGINAL":
        rows = []
    return spend.page(request, rows, default=10)


# export jobs


def _jobs(spend: Spend, request: Request) -> Reply:
    spend.company(request)
    statuses = request.parameters("statuses")
    rows = [spend.job_row(each) for each in spend.data.jobs.values() if not statuses or each.status in statuses]
    return spend.page(request, rows)


def _job(spend: Spend, id: str) -> Job:
    found = spend.data.jobs.get(id)
    if found is None:
        raise Refused(spend.refuse(404, "EXPORT_NOT_FOUND", "There is no such job."))
    return found


def _one_job(spend: Spend, request: Request) -> Reply:
    return Reply(200, {"data": spend.job_row(_job(spend, request.names["jobId"]))})


def _job_items(spend: Spend, request: Request) -> Reply:
    job = _job(spend, request.names["jobId"])
    wanted = request.parameter("status")
    rows: list[dict[str, object]] = [
        {"accountingEntryId": id, "exportJobId": job.id, "status": status}
        for id, status in job.items.items()
        if not wanted or status == wanted
    ]
    return spend.page(request, rows)


def _export_items(spend: Spend, request: Request) -> Reply:
    job = _job(spend, request.parameter("job_id"))
    if job.status not in ("pending", "in_progress"):
        return spend.refuse(422, "EXPORT_JOB_STATUS_UNPROCESSABLE", "The job has ended.")
    return spend.page(request, [_export_item(spend, id) for id in job.items])


def _export_item(spend: Spend, id: str) -> dict[str, object]:
    entry = spend.data.entries[id]
    amount = {"currency": "NOK", "value": "123.45"}
    return {
        "_links": {},
        "accountingEntryId": id,
        "accountingEntryLines": [],
        "additionalInformation": {"reconciliationId": None},
        "amount": {"inSupplierCurrency": amount, "inWalletCurrency": amount},
        "companyId": spend.data.company_id,
        "date": str(entry.shown()["performedAt"])[:10],
        "type": "card_purchase",
    }


# registers


def _companies(spend: Spend, request: Request) -> Reply:
    return spend.page(request, [_company_row(spend)])


def _company(spend: Spend, request: Request) -> Reply:
    if request.names["companyId"] != spend.data.company_id:
        return spend.refuse(404, "NOT_FOUND", "There is no such company.")
    return Reply(200, {"data": _company_row(spend)})


def _company_row(spend: Spend) -> dict[str, object]:
    address = {"addressLine1": "Storgata 1", "country": "NO", "locality": "Oslo", "postalCode": "0155"}
    return {
        "id": spend.data.company_id,
        "name": "Strengt AS",
        "organizationId": spend.data.organization_id,
        "registrationNumber": "923609016",
        "address": address,
    }


def _employees(spend: Spend, request: Request) -> Reply:
    if request.parameter("companyId", spend.data.company_id) != spend.data.company_id:
        return spend.refuse(403, "FORBIDDEN", "no access to this company")
    row = {
        "id": spend.data.employee_id,
        "companyId": spend.data.company_id,
        "email": "kari@virksomhet.example",
        "firstName": "Kari",
        "lastName": "Nordmann",
        "code": "E-17",
    }
    return spend.page(request, [row])


def _accounts(spend: Spend, request: Request) -> Reply:
    if request.members["companyId"] != spend.data.company_id:
        return spend.refuse(403, "FORBIDDEN", "no access to this company")
    row = {
        "id": spend.data.account_id,
        "companyId": spend.data.company_id,
        "code": "6800",
        "name": "Kontorrekvisita",
        "externalId": "6800",
        "archived": False,
    }
    return spend.page(request, [row])


def _vendors(spend: Spend, request: Request) -> Reply:
    spend.company(request)
    row = {
        "id": spend.data.vendor_id,
        "companyId": spend.data.company_id,
        "name": "Papir AS",
        "defaultCurrency": "NOK",
        "state": "ACTIVE",
        "registrationNumber": "987654325",
    }
    return spend.page(request, [row])


def _tag_groups(spend: Spend, request: Request) -> Reply:
    spend.company(request)
    row = {
        "id": spend.data.tag_group_id,
        "companyId": spend.data.company_id,
        "code": "PRO",
        "name": "Prosjekt",
        "archived": False,
        "metadata": {},
        "createdAt": stamp(now()),
        "updatedAt": "2024-01-01T00:00:00.000Z",
    }
    return Reply(200, {"data": [row]})


def _tags(spend: Spend, request: Request) -> Reply:
    spend.company(request)
    row = {
        "id": spend.data.tag_id,
        "groupId": spend.data.tag_group_id,
        "code": "P1",
        "name": "Arkivet",
        "archived": True,
        "createdAt": "2024-01-01T00:00:00.000Z",
        "updatedAt": "2024-01-01T00:00:00.000Z",
    }
    return spend.page(request, [row] if request.members.get("includeArchived") else [])


def _tax_codes(spend: Spend, request: Request) -> Reply:
    spend.company(request)
    row = {
        "id": spend.data.tax_code_id,
        "companyId": spend.data.company_id,
        "name": "Inngående, høy sats",
        "code": "1",
        "rate": 0.25,
        "type": "inclusive",
        "archived": False,
        "createdAt": "2024-01-01T00:00:00Z",
        "updatedAt": "2024-01-01T00:00:00Z",
    }
    return spend.page(request, [row])


# subscriptions


def _subscribe(spend: Spend, request: Request) -> Reply:
    id = spend.data.new_id()
    row = {"status": "ACTIVE", **request.members, "id": id, "createdAt": stamp(now()), "updatedAt": stamp(now())}
    spend.subscriptions[id] = row
    return Reply(200, {"data": row})


def _subscriptions(spend: Spend, request: Request) -> Reply:
    return spend.page(request, list(spend.subscriptions.values()))


def _secret(spend: Spend, request: Request) -> Reply:
    if request.names["id"] not in spend.subscriptions:
        return spend.refuse(404, "NOT_FOUND", "There is no such subscription.")
    return Reply(200, {"data": {"secretKey": spend.secret}})


_CALLS: Mapping[tuple[str, str], Any] = {
    ("GET", "/v1/introspect"): _introspect,
    ("GET", "/v1/installations/me"): _installation,
    ("GET", "/v1/accounting-entries/{id}"): _one_entry,
    ("GET", "/v1/accounting-entries/{id}/receipts"): _receipts_of,
    ("GET", "/v1/accounting-entries/{id}/receipts/{receiptId}"): _one_receipt,
    ("POST", "/v1/accounting-entries/receipts:search"): _receipts,
    **{("GET", f"/v{version}/export-jobs"): _jobs for version in (2, 3)},
    **{("GET", f"/v{version}/export-jobs/{{jobId}}"): _one_job for version in (2, 3)},
    **{("GET", f"/v{version}/export-jobs/{{jobId}}/items"): _job_items for version in (2, 3)},
    **{("GET", f"/v{version}/export-items"): _export_items for version in (2, 3)},
    ("GET", "/v1/companies"): _companies,
    ("GET", "/v1/companies/{companyId}"): _company,
    ("GET", "/v2/employees"): _employees,
    ("POST", "/v1/chart-of-accounts:search"): _accounts,
    ("POST", "/v1/vendors:search"): _vendors,
    ("GET", "/v0/tag-groups"): _tag_groups,
    ("POST", "/v0/tags:search"): _tags,
    ("POST", "/v0/tax-codes:search"): _tax_codes,
    ("POST", "/v1/subscriptions"): _subscribe,
    ("GET", "/v1/subscriptions"): _subscriptions,
    ("GET", "/v1/subscriptions/{id}/secret"): _secret,
}
