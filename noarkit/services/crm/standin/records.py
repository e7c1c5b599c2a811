"""Calls about modules, fields and records: list, query, count, write."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.services.crm.standin import descriptions, query
from noarkit.services.crm.standin.channels import NotificationChannels
from noarkit.services.crm.standin.data import ModuleRecords, Record, Store, by_name, user
from noarkit.services.crm.standin.refusal import LONGEST, Refusal, check_known_names, check_length
from noarkit.services.crm.standin.shapes import USERS, Module
from noarkit.services.standins.call import Call, read_number
from noarkit.services.standins.paging import cut_page

NO_CONTENT = 204
_LONGEST_PAGE = 200
_BY_PAGE = 2_000
_BY_TOKEN = 100_000
_MOST_FIELDS = 50
_MAX_WRITTEN = 100
_TOKEN_LIFE_S = 86_400
_READ_ONLY = frozenset({"org", "users", "settings"})
_SORT_FIELDS = (
    "fields", "territory_id", "ids", "cvid", "per_page", "page", "page_token", "sort_order", "sort_by", "converted",
    "include_child", "approved", "uid", "startDateTime", "endDateTime",
)  # fmt: skip


class Records:
    """Answers calls below /crm/v8 that are about modules and records."""

    def __init__(self, store: Store, channels: NotificationChannels) -> None:
        self._store = store
        self._watching = channels

    def answer(self, call: Call) -> Response:
        """Answers a call. Raises `Refusal`."""
        parts = call.path.removeprefix("/crm/v8/").strip("/").split("/")
        if parts[0] in _READ_ONLY and call.method != "GET":
            raise Refusal("INVALID_REQUEST_METHOD", 405, "the request method is not supported here")
        if parts[0] == "org":
            return JSONResponse({"org": [{"zgid": self._store.org_id, "company_name": "Fjord Utvikling AS"}]})
        if parts[0] == "users":
            info = {"per_page": 200, "count": USERS, "page": 1, "more_records": False}
            return JSONResponse({"users": [user(number) for number in range(USERS)], "info": info})
        if parts[0] == "settings":
            return self._settings(parts[1:], call)
        if parts[0] == "coql" and call.method == "POST":
            return self._query(call)
        holdings = self._store.holdings.get(parts[0])
        if holdings is None:
            raise Refusal("INVALID_MODULE", 400, "the module name given seems to be invalid")
        if not holdings.count or holdings.is_refused:
            raise Refusal("NO_PERMISSION", 403, "permission denied to read")
        if len(parts) == 1:
            return self._list_records(holdings, call)
        if parts[1] == "deleted":
            return self._list_deleted(holdings, call)
        if parts[1:] == ["actions", "count"]:
            return JSONResponse({"count": len(holdings.ordered_ids())})
        if parts[1] == "upsert" and call.method == "POST":
            return self._write(holdings, call, upsert=True)
        if len(parts) == 2:
            return self._single_record(holdings, parts[1], call)
        raise Refusal("INVALID_URL_PATTERN", 404)

    def _modules(self) -> list[Module]:
        return [holdings.module for holdings in self._store.holdings.values()]

    def _settings(self, parts: Sequence[str], call: Call) -> Response:
        if parts[:1] == ["modules"]:
            modules = [module for module in self._modules() if len(parts) < 2 or module.name == parts[1]]
            if not modules:
                raise Refusal("INVALID_MODULE")
            return JSONResponse({"modules": [descriptions.describe_module(shape) for shape in modules]})
        if parts[:1] in (["fields"], ["related_lists"]):
            check_known_names(call, "module", "type", "include", "layout_id", "status")
            match = next((module for module in self._modules() if module.name == call.query.get("module")), None)
            if match is None:
                raise Refusal("INVALID_MODULE" if "module" in call.query else "REQUIRED_PARAM_MISSING")
            if parts == ["related_lists"]:
                return JSONResponse({"related_lists": descriptions.related_lists(match)})
            return JSONResponse(
                {"fields": [descriptions.describe_field(match, name, kind) for name, kind in match.all_fields]}
            )
        raise Refusal("INVALID_URL_PATTERN", 404)

    def _list_records(self, holdings: ModuleRecords, call: Call) -> Response:
        if call.method in ("POST", "PUT"):
            return self._write(holdings, call)
        if call.method == "DELETE":
            return self._delete(holdings, call)
        if call.method != "GET":
            raise Refusal("INVALID_REQUEST_METHOD", 405, "the request method is not supported here")
        check_known_names(call, *_SORT_FIELDS)
        fields = _fields(call.query)
        with self._store.lock:
            order = self._sorted_ids(holdings, call)
            if not order:
                since = call.headers.get("if-modified-since")
                return Response(status_code=304) if since else Response(status_code=NO_CONTENT)
            page = _Page.from_query(call.query, fields, self._store.page_rows)
            list_page = cut_page(order, page.begin, page.size)
            if not list_page.rows:
                return Response(status_code=NO_CONTENT)
            data = [_only_fields(holdings.get(record_id) or {}, fields) for record_id in list_page.rows]
        return JSONResponse({"data": data, "info": page.info(len(list_page.rows), list_page.has_more)})

    def _sorted_ids(self, holdings: ModuleRecords, call: Call) -> list[str]:
        ids = check_length(call, "ids")
        if ids:
            return [record_id for record_id in ids.split(",") if holdings.get(record_id) is not None]
        order = holdings.ordered_ids()
        since = call.headers.get("if-modified-since")
        if since:
            try:
                lower_bound = datetime.fromisoformat(since)
            except ValueError as error:
                raise Refusal("INVALID_DATA", 400, "If-Modified-Since") from error
            order = [record_id for record_id in order if _moment(holdings, record_id) >= lower_bound]
        by = call.query.get("sort_by", "id")
        if by == "id":
            order = sorted(order, key=int)
        if call.query.get("sort_order", "desc") == "desc":
            order = order[::-1]
        return order

    def _single_record(self, holdings: ModuleRecords, record_id: str, call: Call) -> Response:
        if call.method == "DELETE":
            return self._deletes(holdings, [record_id])
        if call.method == "PUT":
            return self._write(holdings, call, record_id)
        record = holdings.get(record_id)
        return Response(status_code=NO_CONTENT) if record is None else JSONResponse({"data": [record]})

    def _list_deleted(self, holdings: ModuleRecords, call: Call) -> Response:
        check_known_names(call, "type", "page", "per_page")
        since = call.headers.get("if-modified-since")
        tombstones = sorted(holdings.deleted_records.values(), key=lambda tombstone: str(tombstone["deleted_time"]))
        if since:
            tombstones = [
                tombstone
                for tombstone in tombstones
                if datetime.fromisoformat(str(tombstone["deleted_time"])) >= datetime.fromisoformat(since)
            ]
        page = _Page.from_query(call.query, (), self._store.page_rows)
        list_page = cut_page(tombstones, page.begin, page.size)
        if not list_page.rows:
            return Response(status_code=NO_CONTENT)
        info = page.info(len(list_page.rows), list_page.has_more)
        page_info = {name: info[name] for name in ("per_page", "count", "page", "more_records")}
        return JSONResponse({"data": list_page.rows, "info": page_info})

    def _query(self, call: Call) -> Response:
        try:
            select = query.read(str(_members(call.body).get("select_query", "")))
        except query.InvalidQuery as wrong:
            raise Refusal(str(wrong)) from wrong
        holdings = self._store.holdings.get(select.module)
        if holdings is None or not holdings.count or holdings.is_refused:
            raise Refusal("INVALID_QUERY", 400, "the module is not supported")
        field_names = {name for name, _ in holdings.module.all_fields}
        if not {*select.fields, *(name for name, _ in select.order)} <= field_names:
            raise Refusal("INVALID_QUERY", 400, "invalid field")
        with self._store.lock:
            matches = [
                record for record_id in holdings.ordered_ids() if select.test(record := holdings.get(record_id) or {})
            ]
        for key, down in query.sort_key(select.order):
            matches.sort(key=key, reverse=down)
        list_page = cut_page(matches, select.offset, select.limit)
        if not list_page.rows:
            return Response(status_code=NO_CONTENT)
        data = [_only_fields(record, ("id", *select.fields)) for record in list_page.rows]
        return JSONResponse({"data": data, "info": {"count": len(list_page.rows), "more_records": list_page.has_more}})

    def _write(self, holdings: ModuleRecords, call: Call, record_id: str = "", *, upsert: bool = False) -> Response:
        body = _members(call.body)
        data = body.get("data")
        if not isinstance(data, list) or not data:
            raise Refusal("MANDATORY_NOT_FOUND", 400, "data")
        if len(data) > _MAX_WRITTEN:
            raise Refusal("LIMIT_EXCEEDED", 400, "maximum 100 records per call", {"limit": _MAX_WRITTEN})
        check = body.get("duplicate_check_fields") or []
        results = [
            self._write_record(holdings, values, record_id, call.method, check if upsert else None) for values in data
        ]
        bad = sum(values["status"] == "error" for values in results)
        good = 200 if call.method == "PUT" or upsert else 201
        status = 207 if 0 < bad < len(results) else 400 if bad else good
        return JSONResponse({"data": results}, status)

    def _write_record(
        self, holdings: ModuleRecords, values: object, record_id: str, method: str, check: Sequence[str] | None
    ) -> dict[str, Any]:
        if not isinstance(values, Mapping):
            return _invalid_data("INVALID_DATA", {})
        record: dict[str, Any] = dict(values)
        title = holdings.module.title
        written_id = record_id or str(record.get("id") or "")
        if check is not None and not written_id:
            written_id = self._twin(holdings, record, check)
        was = holdings.get(written_id) if written_id else None
        if written_id and was is None:
            return _invalid_data("INVALID_DATA", {"api_name": "id"})
        if method == "PUT" and not written_id:
            return _invalid_data("MANDATORY_NOT_FOUND", {"api_name": "id"})
        if was is None and not record.get(title):
            return _invalid_data("MANDATORY_NOT_FOUND", {"api_name": title})
        unknown = [name for name in record if name not in {field for field, _ in holdings.module.all_fields}]
        if unknown:
            return _invalid_data("INVALID_DATA", {"api_name": unknown[0]})
        saved_record = self._store.save(
            holdings.module.name, {**record, **({"id": written_id} if written_id else {})}, user(0)
        )
        operation = "insert" if was is None else "update"
        self._watching.notify(holdings.module.name, operation, [str(saved_record["id"])], sorted(record))
        names = ("id", "Created_Time", "Modified_Time", "Created_By", "Modified_By")
        result: dict[str, Any] = {
            "code": "SUCCESS",
            "status": "success",
            "message": "record added" if was is None else "record updated",
            "details": {name: by_name(saved_record.get(name)) for name in names} | {"$approval_state": "approved"},
        }
        if check is not None:
            result |= {"action": operation, "duplicate_field": check[0] if was and check else None}
        return result

    def _twin(self, holdings: ModuleRecords, record: Mapping[str, object], check: Sequence[str]) -> str:
        for name in check or (holdings.module.title,):
            if record.get(name):
                for record_id in holdings.ordered_ids():
                    if (holdings.get(record_id) or {}).get(name) == record[name]:
                        return record_id
        return ""

    def _delete(self, holdings: ModuleRecords, call: Call) -> Response:
        check_known_names(call, "ids")
        ids = [record_id for record_id in check_length(call, "ids").split(",") if record_id]
        if not ids or len(ids) > _MAX_WRITTEN:
            raise Refusal("INVALID_DATA", 400, "ids")
        return self._deletes(holdings, ids)

    def _deletes(self, holdings: ModuleRecords, ids: Sequence[str]) -> Response:
        results = []
        for record_id in ids:
            if self._store.delete(holdings.module.name, record_id, user(0)):
                result = {
                    "code": "SUCCESS",
                    "status": "success",
                    "message": "record deleted",
                    "details": {"id": record_id},
                }
                results.append(result)
                self._watching.notify(holdings.module.name, "delete", [record_id], [])
            else:
                results.append(_invalid_data("INVALID_DATA", {"id": record_id}))
        bad = sum(record_id["status"] == "error" for record_id in results)
        return JSONResponse({"data": results}, 207 if 0 < bad < len(results) else 400 if bad else 200)


class _Page:
    """The requested page of a list: by number as far as numbers go, by token beyond."""

    def __init__(self, begin: int, size: int, number: int | None, key: str) -> None:
        self.begin = begin
        self.size = size
        self._number = number
        self._key = key

    @classmethod
    def from_query(cls, query: Mapping[str, str], fields: Sequence[str], most: int) -> _Page:
        size = min(most, read_number("per_page", query.get("per_page"), _LONGEST_PAGE, least=1))
        expected_query = [size, sorted(fields), query.get("sort_by"), query.get("sort_order"), query.get("cvid")]
        key = hashlib.sha256(json.dumps(expected_query).encode()).hexdigest()[:8]
        token = query.get("page_token")
        if token is None:
            number = read_number("page", query.get("page"), 1, least=1)
            if number * size > _BY_PAGE:
                raise Refusal("DISCRETE_PAGINATION_LIMIT_EXCEEDED", 400, "use page_token")
            return cls((number - 1) * size, size, number, key)
        try:
            begin, created_s, token_query = json.loads(base64.urlsafe_b64decode(token))
        except ValueError as error:
            raise Refusal("INVALID_DATA", 400, "page_token") from error
        if created_s < time.time() - _TOKEN_LIFE_S:
            raise Refusal("EXPIRED_VALUE", 400, "page_token")
        if token_query != key:
            raise Refusal("INVALID_DATA", 400, "page_token belongs to other parameters")
        return cls(begin, size, None, key)

    def info(self, count: int, more: bool) -> dict[str, object]:
        end = self.begin + self.size
        token = base64.urlsafe_b64encode(json.dumps([end, int(time.time()), self._key]).encode()).decode()
        return {
            "per_page": self.size,
            "count": count,
            "page": self._number or self.begin // self.size + 1,
            "sort_by": "id",
            "more_records": more and end < _BY_TOKEN,
            "next_page_token": token if more and end < _BY_TOKEN else None,
            "previous_page_token": None,
            "page_token_expiry": None,
        }


def _fields(query: Mapping[str, str]) -> tuple[str, ...]:
    fields = tuple(name for name in query.get("fields", "").split(",") if name)
    if not fields:
        raise Refusal("REQUIRED_PARAM_MISSING", 400, "fields", {"param_name": "fields"})
    if len(fields) > _MOST_FIELDS or len(query["fields"]) > LONGEST:
        raise Refusal("LIMIT_EXCEEDED", 400, "fields", {"limit": _MOST_FIELDS})
    return fields


def _only_fields(record: Mapping[str, object], fields: Sequence[str]) -> Record:
    people = ("Owner", "Created_By", "Modified_By")  # an empty user is left out, never null
    values = {name: record.get(name) for name in fields if name not in people or record.get(name) is not None}
    return {"id": record.get("id"), **values}


def _members(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise Refusal("INVALID_DATA", 400, "not JSON") from error
    if not isinstance(value, Mapping):
        raise Refusal("INVALID_DATA")
    return value


def _moment(holdings: ModuleRecords, record_id: str) -> datetime:
    return datetime.fromisoformat(str((holdings.get(record_id) or {})["Modified_Time"]))


def _invalid_data(code: str, details: Mapping[str, object]) -> dict[str, Any]:
    return {"code": code, "status": "error", "message": code.casefold().replace("_", " "), "details": dict(details)}
