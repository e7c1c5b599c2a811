"""Notes, attachments, emails, files and timelines: what hangs on a record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from starlette.responses import JSONResponse, Response

from noarkit.standins.calling import Call
from noarkit.standins.crm.data import Record, Store
from noarkit.standins.crm.refusal import Refusal
from noarkit.standins.crm.shapes import INVENTORY

_NOTHING = 204
_EMAILS = 10
_PAGE = 200
RELATED = frozenset(module.name for module in INVENTORY)


def _deal_of(record: Record) -> object:
    deal = record.get("Deal_Name")
    return deal.get("id") if isinstance(deal, dict) else None


class Papers:
    """Answers calls below /crm/v8 that are about what hangs on a record; None for all others."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def answer(self, call: Call) -> Response | None:
        """The answer, or None where the call is about something else. Raises `Refusal`."""
        parts = call.path.removeprefix("/crm/v8/").strip("/").split("/")
        if call.method != "GET":
            return None
        if parts == ["Notes"]:
            return self._all_notes(call)
        if parts == ["files"]:
            return self._bytes(self._store.extra_files.get(call.query.get("id", "")))
        if len(parts) < 3 or parts[0] not in self._store.holdings or not parts[1].isdigit():
            return None
        record_id, what, rest = parts[1], parts[2], parts[3:]
        if self._store.holdings[parts[0]].get(record_id) is None:
            return Response(status_code=_NOTHING)
        if what == "Notes":
            return self._page(self._store.notes(record_id), call)
        if what == "Attachments":
            return self._attachments(record_id, rest, call)
        if what == "Emails":
            return self._emails(record_id, rest, call)
        if what == "__timeline":
            return JSONResponse({"__timeline": [], "info": {"more_records": False}})
        if what in RELATED and not rest:
            return self._related(record_id, what, call)
        raise Refusal("INVALID_URL_PATTERN", 404)

    def _related(self, record_id: str, name: str, call: Call) -> Response:
        """A related list: what names this record as its deal; products belong to all."""
        fields = [name for name in call.query.get("fields", "").split(",") if name]
        if not fields:
            raise Refusal("REQUIRED_PARAM_MISSING", 400, "fields", {"param_name": "fields"})
        held = self._store.holdings[name]
        found = [record for one in held.ordered() if (record := held.get(one)) is not None]
        hanging = [record for record in found if name == "Products" or _deal_of(record) == record_id]
        return self._page(
            [{"id": record["id"], **{one: record.get(one) for one in fields}} for record in hanging], call
        )

    def _all_notes(self, call: Call) -> Response:
        if not call.query.get("fields"):
            raise Refusal("REQUIRED_PARAM_MISSING", 400, "fields", {"param_name": "fields"})
        since = call.headers.get("if-modified-since")
        found = self._store.note_order()
        if since:
            bound = datetime.fromisoformat(since)
            found = [where for where in found if datetime.fromisoformat(where[0]) >= bound]
        begin, size = _wanted(call)
        rows = [self._store.noted(where) for where in found[begin : begin + size]]
        return _page(rows, begin, size, len(found))

    def _attachments(self, record_id: str, rest: Sequence[str], call: Call) -> Response:
        if rest:
            return self._bytes(self._store.attachment(record_id, rest[0]))
        if not call.query.get("fields"):
            raise Refusal("REQUIRED_PARAM_MISSING", 400, "fields", {"param_name": "fields"})
        return self._page(self._store.attachments(record_id), call)

    def _emails(self, record_id: str, rest: Sequence[str], call: Call) -> Response:
        if rest[:2] == ["actions", "download_attachments"]:
            return self._enclosure(record_id, call.query.get("message_id", ""), call.query.get("id", ""))
        if rest:
            letter = self._store.letter(record_id, rest[0])
            return Response(status_code=_NOTHING) if letter is None else JSONResponse({"Emails": [letter]})
        found = self._store.emails(record_id)
        begin = int(call.query.get("index", "0") or 0)
        rows = found[begin : begin + _EMAILS]
        if not rows:
            return Response(status_code=_NOTHING)
        more = len(found) > begin + _EMAILS
        info = {"count": len(rows), "next_index": str(begin + _EMAILS) if more else None, "prev_index": None}
        return JSONResponse({"Emails": rows, "info": {**info, "per_page": _EMAILS, "more_records": more}})

    def _enclosure(self, record_id: str, message_id: str, file_id: str) -> Response:
        for place, email in enumerate(self._store.emails(record_id)):
            if email["message_id"] == message_id:
                for found_id, _, data in self._store.enclosures(record_id, place, email):
                    if found_id == file_id:
                        return self._bytes(data)
        return Response(status_code=_NOTHING)

    def _bytes(self, data: bytes | None) -> Response:
        if data is None:
            return Response(status_code=_NOTHING)
        return Response(data, media_type="application/octet-stream")

    def _page(self, found: Sequence[Record], call: Call) -> Response:
        begin, size = _wanted(call)
        return _page(found[begin : begin + size], begin, size, len(found))


def _wanted(call: Call) -> tuple[int, int]:
    """Which rows of a list are asked for: from where, and how many."""
    size = min(_PAGE, int(call.query.get("per_page", "200")))
    token = call.query.get("page_token")
    begin = int(token.removeprefix("p")) if token else (int(call.query.get("page", "1")) - 1) * size
    if not token and begin + size > 2_000:
        raise Refusal("DISCRETE_PAGINATION_LIMIT_EXCEEDED", 400, "use page_token")
    return begin, size


def _page(rows: Sequence[Record], begin: int, size: int, total: int) -> Response:
    if not rows:
        return Response(status_code=_NOTHING)
    more = total > begin + size
    info = {"per_page": size, "count": len(rows), "more_records": more}
    return JSONResponse({"data": list(rows), "info": {**info, "next_page_token": f"p{begin + size}" if more else None}})
