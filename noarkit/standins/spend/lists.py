"""Lists as the spend service gives them: by cursor or offset, with a total, sorted by keys that may have nothing."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse, Response

Record = Mapping[str, Any]
_LONGEST = 100


class Refusal(Exception):
    """What the service says no with."""

    def __init__(self, kind: str, status: int = 400, message: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.status = status
        self.message = message or kind.casefold().replace("_", " ")


def refused(kind: str, status: int, message: str = "") -> Response:
    """A refusal as the service writes it."""
    return JSONResponse({"type": kind, "message": message or kind.casefold()}, status)


def listed(
    ids: Sequence[str],
    asked: Mapping[str, list[str]],
    read: Callable[[str], Record | None],
    *,
    default: int = 20,
) -> Response:
    """A page of things by their ids."""
    limit = min(_LONGEST, max(1, int((asked.get("limit") or [str(default)])[0])))
    after = (asked.get("after") or [""])[0]
    begin = _place(after) if after else int((asked.get("offset") or ["0"])[0])
    chosen = ids[begin : begin + limit]
    more = len(ids) > begin + limit
    data = [record for one in chosen if (record := read(one)) is not None]
    asked_for: dict[str, Any] = {"parameters": {}, "limit": limit}
    asked_for |= {"after": after} if after else {"offset": begin} if asked.get("offset") else {}
    pagination: dict[str, Any] = {
        "currentRequestPagination": asked_for,
        "hasNextPage": more,
        "hasPreviousPage": begin > 0,
        "total": len(ids),
    }
    if chosen:
        pagination |= {"startCursor": _cursor(begin), "endCursor": _cursor(begin + len(chosen))}
    return JSONResponse({"data": data, "pagination": pagination})


def in_order(found: Sequence[Record], asked: Mapping[str, list[str]], allowed: Sequence[str]) -> list[Record]:
    """Sorted by the keys that are asked for. Raises `Refusal` for one that is not allowed."""
    keys = asked.get("sorting_keys") or []
    orders = asked.get("sorting_order") or []
    if len(keys) != len(orders) or not set(keys) <= set(allowed):
        raise Refusal("PARAMETER_VALIDATION_FAILED", 400, "sorting")
    ordered = list(found)
    for key, order in reversed(list(zip(keys, orders, strict=True))):
        ordered.sort(key=_by(key), reverse=order.startswith("DESC"))
    return ordered


def _by(key: str) -> Callable[[Record], str]:
    return lambda one: str(one.get(key) or "")


def one_of(record: Record | None) -> Response:
    """A single thing. Raises `Refusal` where there is none."""
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
