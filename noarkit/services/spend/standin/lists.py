"""Paged lists of the spend service: by cursor or offset, with a total, sorted by keys that may be empty."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.services.standins.call import read_number
from noarkit.services.standins.paging import cut_page

Record = Mapping[str, Any]
_LONGEST = 100


class Refusal(Exception):
    """An error answer of the service."""

    def __init__(self, kind: str, status: int = 400, message: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.status = status
        self.message = message or kind.casefold().replace("_", " ")


def refusal_response(kind: str, status: int, message: str = "") -> Response:
    """Builds an error answer in the service's format."""
    return JSONResponse({"type": kind, "message": message or kind.casefold()}, status)


def list_page(
    ids: Sequence[str],
    query: Mapping[str, list[str]],
    read: Callable[[str], Record | None],
    *,
    default: int = 20,
) -> Response:
    """Builds a page of records by id."""
    limit = min(_LONGEST, read_number("limit", (query.get("limit") or [""])[0], default, least=1))
    after = (query.get("after") or [""])[0]
    begin = _place(after) if after else read_number("offset", (query.get("offset") or [""])[0], 0)
    page = cut_page(ids, begin, limit)
    data = [record for record_id in page.rows if (record := read(record_id)) is not None]
    request: dict[str, Any] = {"parameters": {}, "limit": limit}
    request |= {"after": after} if after else {"offset": begin} if query.get("offset") else {}
    pagination: dict[str, Any] = {
        "currentRequestPagination": request,
        "hasNextPage": page.has_more,
        "hasPreviousPage": begin > 0,
        "total": page.total,
    }
    if page.rows:
        pagination |= {"startCursor": _cursor(page.begin), "endCursor": _cursor(page.end)}
    return JSONResponse({"data": data, "pagination": pagination})


def sort_records(rows: Sequence[Record], query: Mapping[str, list[str]], allowed_keys: Sequence[str]) -> list[Record]:
    """Sorts rows by the requested keys. Raises `Refusal` for one that is not allowed."""
    keys = query.get("sorting_keys") or []
    orders = query.get("sorting_order") or []
    if len(keys) != len(orders) or not set(keys) <= set(allowed_keys):
        raise Refusal("PARAMETER_VALIDATION_FAILED", 400, "sorting")
    sorted_rows = list(rows)
    for key, order in reversed(list(zip(keys, orders, strict=True))):
        sorted_rows.sort(key=_sort_key(key), reverse=order.startswith("DESC"))
    return sorted_rows


def _sort_key(key: str) -> Callable[[Record], str]:
    return lambda record: str(record.get(key) or "")


def single_object(record: Record | None) -> Response:
    """Builds the answer with one record. Raises `Refusal` if there is none."""
    if record is None:
        raise Refusal("NOT_FOUND", 404)
    return JSONResponse({"data": dict(record)})


def _cursor(place: int) -> str:
    return base64.b32encode(json.dumps([place]).encode()).decode()


def _place(cursor: str) -> int:
    try:
        return int(json.loads(base64.b32decode(cursor))[0])
    except ValueError as error:
        raise Refusal("PARAMETER_VALIDATION_FAILED", 400, "after") from error
