"""Paged lists of the service: pages from 1, at most a hundred rows, and a `nextPage` in five spellings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from starlette.responses import JSONResponse, Response

from noarkit.services.features.standin.shapes import Record
from noarkit.services.standins.call import read_number
from noarkit.services.standins.paging import cut_numbered_page

MOST = 100


class Refusal(Exception):
    """An error answer of the service."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def refusal_response(refusal: Refusal) -> Response:
    """Builds an error answer."""
    return JSONResponse({"status": refusal.status, "message": refusal.message}, refusal.status)


def single_object(data: Mapping[str, object] | None, message: str, status: int = 200) -> Response:
    """Builds the answer with one object. Raises `Refusal` if there is none."""
    if data is None:
        raise Refusal(404, "Not found")
    return JSONResponse({"message": message, "data": dict(data)}, status)


def list_page(
    ids: Sequence[str], query: Mapping[str, str], path: str, show: Callable[[str], Record | None]
) -> Response:
    """Builds one page of objects looked up by id."""
    limit, page = (
        min(read_number("limit", query.get("limit"), MOST, least=1), MOST),
        read_number("page", query.get("page"), 1, least=1),
    )
    ids_page = cut_numbered_page(ids, page, limit)
    data = [item for item_id in ids_page.rows if (item := show(item_id)) is not None]
    pagination = {
        "itemsPerPage": limit,
        "pageNumber": page,
        "nextPage": _next(path, page + 1, limit) if ids_page.has_more else None,
        "previousPage": f"?page={page - 1}&limit={limit}" if page > 1 else None,
        "totalItems": ids_page.total,
    }
    return JSONResponse({"message": "Listed.", "data": data, "pagination": pagination})


def whole_list(rows: Sequence[Record], *, per_page: int | None = None) -> Response:
    """Builds an unpaged list, or one with its own pagination."""
    body: Record = {"message": "Listed.", "data": list(rows)}
    if per_page is not None:
        body["pagination"] = {"itemsPerPage": per_page, "pageNumber": 1, "nextPage": None, "previousPage": None}
    return JSONResponse(body)


def _next(path: str, page: int, limit: int) -> str:
    query = f"?page={page}&limit={limit}"
    spelt = (
        f"service.example{path}{query}",
        f"{path}{query}",
        query,
        f"/console/v1/wrong{query}",
        f"https://elsewhere.example{path}{query}",
    )
    return spelt[page % len(spelt)]
