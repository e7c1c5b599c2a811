"""The calls that the spend service publishes, with what each takes; those of its older export jobs among them."""

from __future__ import annotations

from noarkit.standins.published import Door, Doors

_SORTED = "sorting_keys* sorting_order*"
_CURSOR = f"before after limit {_SORTED}"
_PAGED = f"{_CURSOR} offset"
_SCOPE = "company_id organization_id"
_ENTRIES = (
    "includeDeleted! accountIds bookkeepingDateEnd bookkeepingDateStart employeeIds exportStatus families"
    " foreignExtensionIds hasAccount hasBookkeepingDate hasNote performedAtEnd performedAtStart reviewStatus settled"
    " settledAtEnd settledAtStart status subFamilies tagGroupIdsUnset tagRowIds taxCodeIds teamIds"
    " transactionValueCurrencies"
)
_TAX_CODE = "archived! companyId! name! rate! type! code ingoingTaxAccount outgoingTaxAccount"
_SUBSCRIPTION = "endpointUrl! eventTypes! customHeaders endpointAuth status"


def _jobs(version: int) -> list[Door]:
    base = f"/v{version}/export-jobs"
    return [
        Door("GET", base, f"company_id statuses* status* {_PAGED}"),
        Door("POST", base, body="accountingEntryIds! companyId! employeeId isInteractive options"),
        Door("GET", f"{base}/{{job}}"),
        Door("GET", f"{base}/{{job}}/items", f"status* {_PAGED}"),
        Door("GET", f"/v{version}/export-items", f"job_id! {_PAGED}"),
    ]


DOORS = Doors(
    [
        Door("POST", "/v1/accounting-entries:search", f"{_SCOPE} {_CURSOR}", _ENTRIES),
        Door("GET", "/v1/accounting-entries/{id}", "include_deleted"),
        Door(
            "POST",
            "/v1/accounting-entries/receipts:search",
            f"{_SCOPE} partner_id {_CURSOR}",
            "includeDeleted! accountingEntryIds employeeIds fileType mimeType source",
        ),
        Door("GET", "/v1/accounting-entries/{id}/receipts", "source file_type before after limit"),
        Door("GET", "/v1/accounting-entries/{id}/receipts/{receipt}", "file_type"),
        *(door for version in range(4) for door in _jobs(version)),
        Door("GET", "/v1/companies", f"organization_id {_PAGED}"),
        Door("GET", "/v1/companies/{id}"),
        Door("GET", "/v2/employees", f"companyId email code {_PAGED}"),
        Door("GET", "/v2/employees/{id}"),
        Door(
            "POST",
            "/v1/chart-of-accounts",
            body="archived! companyId! externalId! name! code metadata taxCodeExternalId",
        ),
        Door(
            "POST",
            "/v1/chart-of-accounts:search",
            _PAGED,
            "companyId! excludeIfAssignedToCategory! excludeIfAssignedToContraAccount! archived code codes externalId"
            " ids name",
        ),
        Door("GET", "/v1/chart-of-accounts/{id}"),
        Door("PUT", "/v1/chart-of-accounts/{id}", body="archived! name! code metadata taxCodeExternalId"),
        Door("DELETE", "/v1/chart-of-accounts/{id}"),
        Door(
            "POST",
            "/v1/vendors",
            body="companyId! defaultCurrency! name! code country externalId registrationNumber taxRegistrationNumber",
        ),
        Door(
            "POST",
            "/v1/vendors:search",
            f"company_id! {_PAGED}",
            "accountingSystems codes countries externalIds ids name states taxRegistrationNumbers",
        ),
        Door("GET", "/v1/vendors/{id}"),
        Door(
            "PUT",
            "/v1/vendors/{id}",
            body="companyId! defaultCurrency! externalId! name! state! code country registrationNumber"
            " taxRegistrationNumber",
        ),
        Door("POST", "/v1/vendors/{id}:archive"),
        Door("GET", "/v0/tag-groups", f"{_SCOPE} include_archived include_tags_count"),
        Door("POST", "/v0/tag-groups", "company_id", "archived! code! name! metadata"),
        Door("GET", "/v0/tag-groups/{id}"),
        Door("PUT", "/v0/tag-groups/{id}", body="archived! code! metadata! name!"),
        Door("DELETE", "/v0/tag-groups/{id}"),
        Door("GET", "/v0/tag-groups/{id}/tags", f"include_archived {_PAGED}"),
        Door("POST", "/v0/tag-groups/{id}/tags", body="archived! code! name otherDimensionValues"),
        Door(
            "POST",
            "/v0/tags:search",
            f"{_SCOPE} {_PAGED}",
            "archived includeArchived tagGroupIds tagIds textSearch",
        ),
        Door("GET", "/v0/tags/{id}"),
        Door("PUT", "/v0/tags/{id}", body="archived! code! name otherDimensionValues"),
        Door("DELETE", "/v0/tags/{id}"),
        Door("POST", "/v0/tax-codes", body=_TAX_CODE),
        Door("POST", "/v0/tax-codes:search", f"company_id {_PAGED}", "archived code taxCodeIds type"),
        Door("GET", "/v0/tax-codes/{id}"),
        Door("PUT", "/v0/tax-codes/{id}", body=_TAX_CODE),
        Door("DELETE", "/v0/tax-codes/{id}"),
        Door("GET", "/v1/subscriptions", f"status event_types[]* {_PAGED}"),
        Door("POST", "/v1/subscriptions", body=_SUBSCRIPTION),
        Door("GET", "/v1/subscriptions/{id}"),
        Door("PUT", "/v1/subscriptions/{id}", body=_SUBSCRIPTION),
        Door("DELETE", "/v1/subscriptions/{id}"),
        Door("GET", "/v1/subscriptions/{id}/secret"),
        Door("GET", "/v1/installations/me", "company_id"),
        Door("PUT", "/v1/installations/me", body="status! errorCode metadata"),
        Door("POST", "/v1/installations/me:activate"),
        Door("GET", "/v1/introspect"),
    ]
)

# Which scope lets somebody read a path, by how it begins; writing takes the scope of the same name for that.
SCOPES = {
    "/v1/accounting-entries": "accounting-entries",
    "/v1/companies": "companies",
    "/v2/employees": "users",
    "/v1/chart-of-accounts": "accounts",
    "/v1/vendors": "vendors",
    "/v0/tag-groups": "tag-groups",
    "/v0/tags": "tag-groups",
    "/v0/tax-codes": "tax-codes",
} | {f"/v{version}/export-{what}": f"export-{what}" for version in range(4) for what in ("jobs", "items")}


def scope_of(method: str, path: str) -> str:
    """The scope that a call needs; empty where it needs none."""
    name = next((scope for begin, scope in SCOPES.items() if path.startswith(begin)), "")
    reads = method == "GET" or path.endswith(":search")
    return f"{name}:{'read' if reads else 'write'}" if name else ""
