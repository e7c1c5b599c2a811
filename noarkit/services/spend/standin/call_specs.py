"""The calls that the spend service publishes, with what each takes; those of its older export jobs among them."""

from __future__ import annotations

from noarkit.services.standins.published_calls import CallSpec, CallSpecs

_SORTING = "sorting_keys* sorting_order*"
_CURSOR = f"before after limit {_SORTING}"
_PAGING = f"{_CURSOR} offset"
_SCOPE = "company_id organization_id"
_ENTRIES = (
    "includeDeleted! accountIds bookkeepingDateEnd bookkeepingDateStart employeeIds exportStatus families"
    " foreignExtensionIds hasAccount hasBookkeepingDate hasNote performedAtEnd performedAtStart reviewStatus settled"
    " settledAtEnd settledAtStart status subFamilies tagGroupIdsUnset tagRowIds taxCodeIds teamIds"
    " transactionValueCurrencies"
)
_TAX_CODE = "archived! companyId! name! rate! type! code ingoingTaxAccount outgoingTaxAccount"
_SUBSCRIPTION = "endpointUrl! eventTypes! customHeaders endpointAuth status"


def _jobs(version: int) -> list[CallSpec]:
    base = f"/v{version}/export-jobs"
    return [
        CallSpec("GET", base, f"company_id statuses* status* {_PAGING}"),
        CallSpec("POST", base, body="accountingEntryIds! companyId! employeeId isInteractive options"),
        CallSpec("GET", f"{base}/{{job}}"),
        CallSpec("GET", f"{base}/{{job}}/items", f"status* {_PAGING}"),
        CallSpec("GET", f"/v{version}/export-items", f"job_id! {_PAGING}"),
    ]


DOORS = CallSpecs(
    [
        CallSpec("POST", "/v1/accounting-entries:search", f"{_SCOPE} {_CURSOR}", _ENTRIES),
        CallSpec("GET", "/v1/accounting-entries/{id}", "include_deleted"),
        CallSpec(
            "POST",
            "/v1/accounting-entries/receipts:search",
            f"{_SCOPE} partner_id {_CURSOR}",
            "includeDeleted! accountingEntryIds employeeIds fileType mimeType source",
        ),
        CallSpec("GET", "/v1/accounting-entries/{id}/receipts", "source file_type before after limit"),
        CallSpec("GET", "/v1/accounting-entries/{id}/receipts/{receipt}", "file_type"),
        *(door for version in range(4) for door in _jobs(version)),
        CallSpec("GET", "/v1/companies", f"organization_id {_PAGING}"),
        CallSpec("GET", "/v1/companies/{id}"),
        CallSpec("GET", "/v2/employees", f"companyId email code {_PAGING}"),
        CallSpec("GET", "/v2/employees/{id}"),
        CallSpec(
            "POST",
            "/v1/chart-of-accounts",
            body="archived! companyId! externalId! name! code metadata taxCodeExternalId",
        ),
        CallSpec(
            "POST",
            "/v1/chart-of-accounts:search",
            _PAGING,
            "companyId! excludeIfAssignedToCategory! excludeIfAssignedToContraAccount! archived code codes externalId"
            " ids name",
        ),
        CallSpec("GET", "/v1/chart-of-accounts/{id}"),
        CallSpec("PUT", "/v1/chart-of-accounts/{id}", body="archived! name! code metadata taxCodeExternalId"),
        CallSpec("DELETE", "/v1/chart-of-accounts/{id}"),
        CallSpec(
            "POST",
            "/v1/vendors",
            body="companyId! defaultCurrency! name! code country externalId registrationNumber taxRegistrationNumber",
        ),
        CallSpec(
            "POST",
            "/v1/vendors:search",
            f"company_id! {_PAGING}",
            "accountingSystems codes countries externalIds ids name states taxRegistrationNumbers",
        ),
        CallSpec("GET", "/v1/vendors/{id}"),
        CallSpec(
            "PUT",
            "/v1/vendors/{id}",
            body="companyId! defaultCurrency! externalId! name! state! code country registrationNumber"
            " taxRegistrationNumber",
        ),
        CallSpec("POST", "/v1/vendors/{id}:archive"),
        CallSpec("GET", "/v0/tag-groups", f"{_SCOPE} include_archived include_tags_count"),
        CallSpec("POST", "/v0/tag-groups", "company_id", "archived! code! name! metadata"),
        CallSpec("GET", "/v0/tag-groups/{id}"),
        CallSpec("PUT", "/v0/tag-groups/{id}", body="archived! code! metadata! name!"),
        CallSpec("DELETE", "/v0/tag-groups/{id}"),
        CallSpec("GET", "/v0/tag-groups/{id}/tags", f"include_archived {_PAGING}"),
        CallSpec("POST", "/v0/tag-groups/{id}/tags", body="archived! code! name otherDimensionValues"),
        CallSpec(
            "POST",
            "/v0/tags:search",
            f"{_SCOPE} {_PAGING}",
            "archived includeArchived tagGroupIds tagIds textSearch",
        ),
        CallSpec("GET", "/v0/tags/{id}"),
        CallSpec("PUT", "/v0/tags/{id}", body="archived! code! name otherDimensionValues"),
        CallSpec("DELETE", "/v0/tags/{id}"),
        CallSpec("POST", "/v0/tax-codes", body=_TAX_CODE),
        CallSpec("POST", "/v0/tax-codes:search", f"company_id {_PAGING}", "archived code taxCodeIds type"),
        CallSpec("GET", "/v0/tax-codes/{id}"),
        CallSpec("PUT", "/v0/tax-codes/{id}", body=_TAX_CODE),
        CallSpec("DELETE", "/v0/tax-codes/{id}"),
        CallSpec("GET", "/v1/subscriptions", f"status event_types[]* {_PAGING}"),
        CallSpec("POST", "/v1/subscriptions", body=_SUBSCRIPTION),
        CallSpec("GET", "/v1/subscriptions/{id}"),
        CallSpec("PUT", "/v1/subscriptions/{id}", body=_SUBSCRIPTION),
        CallSpec("DELETE", "/v1/subscriptions/{id}"),
        CallSpec("GET", "/v1/subscriptions/{id}/secret"),
        CallSpec("GET", "/v1/installations/me", "company_id"),
        CallSpec("PUT", "/v1/installations/me", body="status! errorCode metadata"),
        CallSpec("POST", "/v1/installations/me:activate"),
        CallSpec("GET", "/v1/introspect"),
    ]
)

# The read scope of each path prefix; writing needs the write scope of the same name.
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
    """The scope that a call needs; empty if it needs none."""
    name = next((scope for begin, scope in SCOPES.items() if path.startswith(begin)), "")
    reads = method == "GET" or path.endswith(":search")
    return f"{name}:{'read' if reads else 'write'}" if name else ""
