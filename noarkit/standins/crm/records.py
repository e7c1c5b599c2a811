"""Modules, fields, and records: listed, queried, counted, written."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.standins.calling import Call
from noarkit.standins.crm import describing, query
from noarkit.standins.crm.data import Holdings, Record, Store, by_name, user
from noarkit.standins.crm.refusal import LONGEST, Refusal, bounded, known_names
from noarkit.standins.crm.shapes import USERS, Module
from noarkit.standins.crm.watching import Watching

NOTHING = 204
_LONGEST_PAGE = 200
_BY_PAGE = 2_000
_BY_TOKEN = 100_000
_MOST_FIELDS = 50
_MOST_WRITTEN = 100
_TOKEN_LIFE_S = 86_400
_READ_ONLY = frozenset({"org", "users", "settings"})
_LISTED_BY = (
    "fields", "territory_id", "ids", "cvid", "per_page", "page", "page_token", "sort_order", "sort_by", "converted",
    "include_child", "approved", "uid", "startDateTime", "endDateTime",
)  # fmt: skip


class Records:
    """Answers calls below /crm/v8 that are about modules and records."""

    def __init__(self, store: Store, watching: Watching) -> None:
        self._store = store
        self._watching = watching

    def answer(self, call: Call) -> Response:
        """The answer. Raises `Refusal`."""
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
        if not holdings.count:
            raise Refusal("NO_PERMISSION", 403, "permission denied to read")
        if len(parts) == 1:
            return self._many(holdings, call)
        if parts[1] == "deleted":
            return self._deleted(holdings, call)
        if parts[1:] == ["actions", "count"]:
            return JSONResponse({"count": len(holdings.ordered())})
        if parts[1] == "upsert" and call.method == "POST":
            return self._write(holdings, call, upsert=True)
        if len(parts) == 2:
            return self._one(holdings, parts[1], call)
        raise Refusal("INVALID_URL_PATTERN", 404)

    def _modules(self) -> list[Module]:
        return [holdings.module for holdings in self._store.holdings.values()]

    def _settings(self, parts: Sequence[str], call: Call) -> Response:
        if parts[:1] == ["modules"]:
            wanted = [module for module in self._modules() if len(parts) < 2 or module.name == parts[1]]
            if not wanted:
                raise Refusal("INVALID_MODULE")
            return JSONResponse({"modules": [describing.module(one) for one in wanted]})
        if parts[:1] in (["fields"], ["related_lists"]):
            known_names(call, "module", "type", "include", "layout_id", "status")
            found = next((module for module in self._modules() if module.name == call.query.get("module")), None)
            if found is None:
                raise Refusal("INVALID_MODULE" if "module" in call.query else "REQUIRED_PARAM_MISSING")
            if parts == ["related_lists"]:
                return JSONResponse({"related_lists": describing.related_lists(found)})
            return JSONResponse({"fields": [describing.field(found, name, kind) for name, kind in found.all_fields]})
        raise Refusal("INVALID_URL_PATTERN", 404)

    def _many(self, holdings: Holdings, call: Call) -> Response:
        if call.method in ("POST", "PUT"):
            return self._write(holdings, call)
        if call.method == "DELETE":
            return self._delete(holdings, call)
        if call.method != "GET":
            raise Refusal("INVALID_REQUEST_METHOD", 405, "the request method is not supported here")
        known_names(call, *_LISTED_BY)
        fields = _fields(call.query)
        with self._store.lock:
            order = self._ordered(holdings, call)
            if not order:
                since = call.headers.get("if-modified-since")
                return Response(status_code=304) if since else Response(status_code=NOTHING)
            page = _Page.asked(call.query, fields)
            rows = order[page.begin : page.begin + page.size]
            if not rows:
                return Response(status_code=NOTHING)
            more = len(order) > page.begin + page.size
            data = [_chosen(holdings.get(one) or {}, fields) for one in rows]
        return JSONResponse({"data": data, "info": page.info(len(rows), more)})

    def _ordered(self, holdings: Holdings, call: Call) -> list[str]:
        ids = bounded(call, "ids")
        if ids:
            return [one for one in ids.split(",") if holdings.get(one) is not None]
        order = holdings.ordered()
        since = call.headers.get("if-modified-since")
        if since:
            try:
                bound = datetime.fromisoformat(since)
            except ValueError as error:
                raise Refusal("INVALID_DATA", 400, "If-Modified-Since") from error
            order = [one for one in order if _moment(holdings, one) >= bound]
        by = call.query.get("sort_by", "id")
        if by == "id":
            order = sorted(order, key=int)
        if call.query.get("sort_order", "desc") == "desc":
            order = order[::-1]
        return order

    def _one(self, holdings: Holdings, record_id: str, call: Call) -> Response:
        if call.method == "DELETE":
            return self._deletes(holdings, [record_id])
        if call.method == "PUT":
            return self._write(holdings, call, record_id)
        record = holdings.get(record_id)
        return Response(status_code=NOTHING) if record is None else JSONResponse({"data": [record]})

    def _deleted(self, holdings: Holdings, call: Call) -> Response:
        known_names(call, "type", "page", "per_page")
        since = call.headers.get("if-modified-since")
        found = sorted(holdings.deleted.values(), key=lambda one: str(one["deleted_time"]))
        if since:
            found = [
                one
                for one in found
                if datetime.fromisoformat(str(one["deleted_time"])) >= datetime.fromisoformat(since)
            ]
        page = _Page.asked(call.query, ())
        rows = found[page.begin : page.begin + page.size]
        if not rows:
            return Response(status_code=NOTHING)
        info = page.info(len(rows), len(found) > page.begin + page.size)
        told = {name: info[name] for name in ("per_page", "count", "page", "more_records")}
        return JSONResponse({"data": rows, "info": told})

    def _query(self, call: Call) -> Response:
        try:
            asked = query.read(str(_members(call.body).get("select_query", "")))
        except query.Wrong as wrong:
            raise Refusal(str(wrong)) from wrong
        holdings = self._store.holdings.get(asked.module)
        if holdings is None or not holdings.count:
            raise Refusal("INVALID_QUERY", 400, "the module is not supported")
        known = {name for name, _ in holdings.module.all_fields}
        if not {*asked.fields, *(name for name, _ in asked.order)} <= known:
            raise Refusal("INVALID_QUERY", 400, "invalid field")
        with self._store.lock:
            found = [record for one in holdings.ordered() if asked.where(record := holdings.get(one) or {})]
        for key, down in query.sort_key(asked.order):
            found.sort(key=key, reverse=down)
        rows = found[asked.offset : asked.offset + asked.limit]
        if not rows:
            return Response(status_code=NOTHING)
        more = len(found) > asked.offset + asked.limit
        data = [_chosen(record, ("id", *asked.fields)) for record in rows]
        return JSONResponse({"data": data, "info": {"count": len(rows), "more_records": more}})

    def _write(self, holdings: Holdings, call: Call, record_id: str = "", *, upsert: bool = False) -> Response:
        told = _members(call.body)
        data = told.get("data")
        if not isinstance(data, list) or not data:
            raise Refusal("MANDATORY_NOT_FOUND", 400, "data")
        if len(data) > _MOST_WRITTEN:
            raise Refusal("LIMIT_EXCEEDED", 400, "maximum 100 records per call", {"limit": _MOST_WRITTEN})
        check = told.get("duplicate_check_fields") or []
        results = [self._written(holdings, one, record_id, call.method, check if upsert else None) for one in data]
        bad = sum(one["status"] == "error" for one in results)
        good = 200 if call.method == "PUT" or upsert else 201
        status = 207 if 0 < bad < len(results) else 400 if bad else good
        return JSONResponse({"data": results}, status)

    def _written(
        self, holdings: Holdings, told: object, record_id: str, method: str, check: Sequence[str] | None
    ) -> dict[str, Any]:
        if not isinstance(told, Mapping):
            return _bad("INVALID_DATA", {})
        record: dict[str, Any] = dict(told)
        title = holdings.module.title
        found_id = record_id or str(record.get("id") or "")
        if check is not None and not found_id:
            found_id = self._twin(holdings, record, check)
        was = holdings.get(found_id) if found_id else None
        if found_id and was is None:
            return _bad("INVALID_DATA", {"api_name": "id"})
        if method == "PUT" and not found_id:
            return _bad("MANDATORY_NOT_FOUND", {"api_name": "id"})
        if was is None and not record.get(title):
            return _bad("MANDATORY_NOT_FOUND", {"api_name": title})
        unknown = [name for name in record if name not in {field for field, _ in holdings.module.all_fields}]
        if unknown:
            return _bad("INVALID_DATA", {"api_name": unknown[0]})
        whole = self._store.put(holdings.module.name, {**record, **({"id": found_id} if found_id else {})}, user(0))
        operation = "insert" if was is None else "update"
        self._watching.happened(holdings.module.name, operation, [str(whole["id"])], sorted(record))
        names = ("id", "Created_Time", "Modified_Time", "Created_By", "Modified_By")
        done: dict[str, Any] = {
            "code": "SUCCESS",
            "status": "success",
            "message": "record added" if was is None else "record updated",
            "details": {name: by_name(whole.get(name)) for name in names} | {"$approval_state": "approved"},
        }
        if check is not None:
            done |= {"action": operation, "duplicate_field": check[0] if was and check else None}
        return done

    def _twin(self, holdings: Holdings, record: Mapping[str, object], check: Sequence[str]) -> str:
        for name in check or (holdings.module.title,):
            if record.get(name):
                for one in holdings.ordered():
                    if (holdings.get(one) or {}).get(name) == record[name]:
                        return one
        return ""

    def _delete(self, holdings: Holdings, call: Call) -> Response:
        known_names(call, "ids")
        ids = [one for one in bounded(call, "ids").split(",") if one]
        if not ids or len(ids) > _MOST_WRITTEN:
            raise Refusal("INVALID_DATA", 400, "ids")
        return self._deletes(holdings, ids)

    def _deletes(self, holdings: Holdings, ids: Sequence[str]) -> Response:
        results = []
        for one in ids:
            if self._store.delete(holdings.module.name, one, user(0)):
                done = {"code": "SUCCESS", "status": "success", "message": "record deleted", "details": {"id": one}}
                results.append(done)
                self._watching.happened(holdings.module.name, "delete", [one], [])
            else:
                results.append(_bad("INVALID_DATA", {"id": one}))
        bad = sum(one["status"] == "error" for one in results)
        return JSONResponse({"data": results}, 207 if 0 < bad < len(results) else 400 if bad else 200)


class _Page:
    """Which rows of a list are asked for: by number as far as that goes, by token beyond."""

    def __init__(self, begin: int, size: int, number: int | None, key: str) -> None:
        self.begin = begin
        self.size = size
        self._number = number
        self._key = key

    @classmethod
    def asked(cls, asked: Mapping[str, str], fields: Sequence[str]) -> _Page:
        size = min(_LONGEST_PAGE, max(1, int(asked.get("per_page", "200"))))
        same_asked = [size, sorted(fields), asked.get("sort_by"), asked.get("sort_order"), asked.get("cvid")]
        key = hashlib.sha256(json.dumps(same_asked).encode()).hexdigest()[:8]
        token = asked.get("page_token")
        if token is None:
            number = max(1, int(asked.get("page", "1")))
            if number * size > _BY_PAGE:
                raise Refusal("DISCRETE_PAGINATION_LIMIT_EXCEEDED", 400, "use page_token")
            return cls((number - 1) * size, size, number, key)
        try:
            begin, made, same = json.loads(base64.urlsafe_b64decode(token))
        except ValueError as error:
            raise Refusal("INVALID_DATA", 400, "page_token") from error
        if made < time.time() - _TOKEN_LIFE_S:
            raise Refusal("EXPIRED_VALUE", 400, "page_token")
        if same != key:
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


def _fields(asked: Mapping[str, str]) -> tuple[str, ...]:
    fields = tuple(name for name in asked.get("fields", "").split(",") if name)
    if not fields:
        raise Refusal("REQUIRED_PARAM_MISSING", 400, "fields", {"param_name": "fields"})
    if len(fields) > _MOST_FIELDS or len(asked["fields"]) > LONGEST:
        raise Refusal("LIMIT_EXCEEDED", 400, "fields", {"limit": _MOST_FIELDS})
    return fields


def _chosen(record: Mapping[str, object], fields: Sequence[str]) -> Record:
    people = ("Owner", "Created_By", "Modified_By")  # nobody stands there as nothing, never as null
    found = {name: record.get(name) for name in fields if name not in people or record.get(name) is not None}
    return {"id": record.get("id"), **found}


def _members(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise Refusal("INVALID_DATA", 400, "not JSON") from error
    if not isinstance(found, Mapping):
        raise Refusal("INVALID_DATA")
    return found


def _moment(holdings: Holdings, record_id: str) -> datetime:
    return datetime.fromisoformat(str((holdings.get(record_id) or {})["Modified_Time"]))


def _bad(code: str, details: Mapping[str, object]) -> dict[str, Any]:
    return {"code": code, "status": "error", "message": code.casefold().replace("_", " "), "details": dict(details)}
