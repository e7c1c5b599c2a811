"""What a service's older published document tells and its newer one, from which a table is made, leaves out."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]  # Any: what JSON holds
_ANYTHING: Json = {}


def with_older(service: str, table: Json) -> Json:
    """The table, with what the older document of the service allows besides. Changes it in place."""
    if service == "crm":
        _crm(table)
    return table


def _crm(table: Json) -> None:
    """Pages of two hundred, nothing new, mixed results, what an upsert did, conditions of notifications, and bulk reads
    that go on or fail."""
    schemas = table["schemas"]
    schemas["S2"]["max"] = 200  # as the table's own rules of paging say
    results = schemas["S8"]
    results["properties"] |= {"action": _ANYTHING, "duplicate_field": _ANYTHING}
    mixed = _of(table, "DELETE", "/crm/v8/{module}")["responses"]["207"]
    for method, path in (
        ("POST", "/crm/v8/{module}"),
        ("PUT", "/crm/v8/{module}"),
        ("POST", "/crm/v8/{module}/upsert"),
    ):
        _of(table, method, path)["responses"]["207"] = {"schema": _either(results, mixed)}
    for method in ("POST", "PUT"):
        body = _of(table, method, "/crm/v8/actions/watch")["body"]["schema"]
        body["properties"]["watch"]["items"]["properties"]["notification_condition"] = _CONDITIONS
    listed = _of(table, "GET", "/crm/v8/actions/watch")["responses"]["200"]["schema"]["properties"]["watch"]
    listed["items"]["properties"]["notification_condition"] = {"anyOf": [_CONDITIONS, {"type": "null"}]}
    _of(table, "GET", "/crm/v8/{module}")["responses"]["304"] = {"empty": True}  # to If-Modified-Since
    asked = _of(table, "POST", "/crm/bulk/v8/read")["body"]["schema"]["properties"]["query"]
    asked["properties"]["page_token"] = {"type": "string"}
    job = _of(table, "GET", "/crm/bulk/v8/read/{jobId}")["responses"]["200"]["schema"]["properties"]["data"]
    job["items"]["properties"]["state"]["enum"].append("FAILURE")


_CONDITIONS: Json = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["type", "module", "field_selection"],
        "properties": {
            "type": {"type": "string", "enum": ["field_selection"]},
            "module": {"type": "object", "required": ["api_name"], "properties": {"api_name": {}, "id": {}}},
            "field_selection": {
                "type": "object",
                "properties": {"field": {"type": "object"}, "group": {"type": "array"}, "group_operator": {}},
            },
        },
    },
}


def _either(results: Json, mixed: Json) -> Json:
    failed = mixed["schema"]["properties"]["data"]["items"]["anyOf"][1]
    refused = {**failed, "properties": {**failed["properties"], "code": {"type": "string"}}}
    items = {"anyOf": [results, refused]}
    return {
        "type": "object",
        "required": ["data"],
        "properties": {"data": {"type": "array", "max": 100, "items": items}},
    }


def _of(table: Json, method: str, path: str) -> Json:
    found: Json = next(one for one in table["endpoints"] if (one["method"], one["path"]) == (method, path))
    return found
