"""Notes, attachments, emails, files and timelines: what hangs on a record."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from starlette.responses import JSONResponse, Response

from noarkit.standins.calling import Call
from noarkit.standins.crm.data import Record, Store
from noarkit.standins.crm.refusal import Refusal, bounded, known_names, needed
from noarkit.standins.crm.shapes import HANGING
from noarkit.standins.dice import Dice

_NOTHING = 204
_EMAILS = 10
_PAGE = 200
_ROLES = "Contact_Roles"
_ROLE_NAMES = ("Beslutter", "Rådgiver", "Bruker")
RELATED = frozenset(module.name for module in HANGING)


def _deal_of(record: Record) -> object:
    deal = record.get("Deal_Name") or record.get("What_Id")
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
            known_names(call, "fields", "ids", "per_page", "page", "page_token", "sort_order", "sort_by")
            return self._all_notes(call)
        if parts == ["files"]:
            needed(call, "id")
            return _bytes(self._store.extra_files.get(call.query.get("id", "")), "file")
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
        if what == _ROLES and parts[0] == "Deals" and not rest:
            return self._roles(record_id, call)
        if what in RELATED and not rest:
            return self._related(record_id, what, call)
        raise Refusal("INVALID_URL_PATTERN", 404)

    def _roles(self, record_id: str, call: Call) -> Response:
        """Who has a role in a deal: up to three contacts."""
        needed(call, "fields")
        contacts, dice = self._store.holdings["Contacts"], Dice(self._store.seed, "roles", record_id)
        places = dict.fromkeys(dice.number(f"who{one}", max(1, contacts.count)) for one in range(dice.number("n", 4)))
        order = contacts.ordered()
        found = [held for place in places if (held := contacts.get(order[place])) is not None]
        roles = ({"id": str(900 + place), "name": name} for place, name in enumerate(_ROLE_NAMES))
        rows = [
            {"id": held["id"], "Full_Name": held["Full_Name"], "Contact_Role": role}
            for held, role in zip(found, roles, strict=False)
        ]
        return self._page(rows, call)

    def _related(self, record_id: str, name: str, call: Call) -> Response:
        """A related list: what names this record as its deal; products belong to all."""
        needed(call, "fields")
        fields = [name for name in bounded(call, "fields").split(",") if name]
        held = self._store.holdings[name]
        found = [record for one in held.ordered() if (record := held.get(one)) is not None]
        hanging = [record for record in found if name == "Products" or _deal_of(record) == record_id]
        return self._page(
            [{"id": record["id"], **{one: record.get(one) for one in fields}} for record in hanging], call
        )

    def _all_notes(self, call: Call) -> Response:
        needed(call, "fields")
        found = self._store.note_order()
        if call.query.get("sort_order", "desc") == "desc":
            found = found[::-1]
        begin, size = _wanted(call)
        rows = [self._store.noted(where) for where in found[begin : begin + size]]
        return _page(rows, begin, size, len(found))

    def _attachments(self, record_id: str, rest: Sequence[str], call: Call) -> Response:
        found = self._store.attachments(record_id)
        if rest:
            name = next((str(row["File_Name"]) for row in found if row["id"] == rest[0]), "")
            return _bytes(self._store.attachment(record_id, rest[0]), name)
        known_names(call, "fields", "ids", "page", "per_page", "page_token")
        needed(call, "fields")
        begin, size = _wanted(call)
        info: Record = {"per_page": size, "count": len(found[begin : begin + size]), "page": begin // size + 1}
        more = len(found) > begin + size
        info |= {"more_records": more, "next_page_token": f"p{begin + size}" if more else None}
        info |= {"previous_page_token": None, "page_token_expiry": None}
        return JSONResponse({"data": found[begin : begin + size], "info": info})

    def _emails(self, record_id: str, rest: Sequence[str], call: Call) -> Response:
        if rest[:2] == ["actions", "download_attachments"]:
            needed(call, "user_id", "message_id", "id", "name")
            wanted = (call.query["message_id"], call.query["id"], call.query["name"])
            return self._enclosure(record_id, *wanted)
        needed(call, "owner_id")
        known_names(call, "type", "index", "owner_id")
        if rest:
            letter = self._store.letter(record_id, rest[0])
            one = {"count": 1, "next_index": None, "prev_index": None, "per_page": 1, "more_records": False}
            return Response(status_code=_NOTHING) if letter is None else JSONResponse({"Emails": [letter], "info": one})
        found = self._store.emails(record_id)
        begin = int(call.query.get("index", "0") or 0)
        rows = found[begin : begin + _EMAILS]
        if not rows:
            return Response(status_code=_NOTHING)
        more = len(found) > begin + _EMAILS
        info = {"count": len(rows), "next_index": str(begin + _EMAILS) if more else None, "prev_index": None}
        return JSONResponse({"Emails": rows, "info": {**info, "per_page": _EMAILS, "more_records": more}})

    def _enclosure(self, record_id: str, message_id: str, file_id: str, call_name: str) -> Response:
        for place, email in enumerate(self._store.emails(record_id)):
            if email["message_id"] == message_id:
                for found_id, name, data in self._store.enclosures(record_id, place, email):
                    if found_id == file_id and name == call_name:
                        return _bytes(data, name)
        return Response(status_code=_NOTHING)

    def _page(self, found: Sequence[Record], call: Call) -> Response:
        begin, size = _wanted(call)
        return _page(found[begin : begin + size], begin, size, len(found))


def _bytes(data: bytes | None, name: str) -> Response:
    """A file, with the name that it was given there."""
    if data is None:
        return Response(status_code=_NOTHING)
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(data, media_type="application/octet-stream", headers={"Content-Disposition": disposition})


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
    info = {"per_page": size, "count": len(rows), "page": begin // size + 1, "more_records": more}
    return JSONResponse({"data": list(rows), "info": {**info, "next_page_token": f"p{begin + size}" if more else None}})
