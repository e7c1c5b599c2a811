"""Calls about what belongs to a record: notes, attachments, emails, files and timelines."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from starlette.responses import JSONResponse, Response

from noarkit.services.crm.standin.data import Record, Store
from noarkit.services.crm.standin.refusal import Refusal, check_known_names, check_length, check_required
from noarkit.services.crm.standin.shapes import RELATED_SHAPES
from noarkit.services.standins.call import Call, read_number
from noarkit.services.standins.fake_data import SeededRandom

_NO_CONTENT = 204
_EMAILS = 10
_PAGE = 200
_ROLES = "Contact_Roles"
_ROLE_NAMES = ("Beslutter", "Rådgiver", "Bruker")
RELATED_MODULES = frozenset(module.name for module in RELATED_SHAPES)


def _deal_of(record: Record) -> object:
    deal = record.get("Deal_Name") or record.get("What_Id")
    return deal.get("id") if isinstance(deal, dict) else None


class Papers:
    """Answers calls below /crm/v8 about what belongs to a record; None for all others."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def answer(self, call: Call) -> Response | None:
        """Answers a call, or returns None if it is about something else. Raises `Refusal`."""
        parts = call.path.removeprefix("/crm/v8/").strip("/").split("/")
        if call.method != "GET":
            return None
        if parts == ["Notes"]:
            check_known_names(call, "fields", "ids", "per_page", "page", "page_token", "sort_order", "sort_by")
            return self._all_notes(call)
        if parts == ["files"]:
            check_required(call, "id")
            return _bytes(self._store.extra_files.get(call.query.get("id", "")), "file")
        if len(parts) < 3 or parts[0] not in self._store.holdings or not parts[1].isdigit():
            return None
        record_id, list_name, remaining = parts[1], parts[2], parts[3:]
        if self._store.holdings[parts[0]].is_refused:
            raise Refusal("NO_PERMISSION", 403, "permission denied to read")
        if self._store.holdings[parts[0]].get(record_id) is None:
            return Response(status_code=_NO_CONTENT)
        if list_name == "Notes":
            return self._page(self._store.notes(record_id), call)
        if list_name == "Attachments":
            return self._attachments(record_id, remaining, call)
        if list_name == "Emails":
            return self._emails(record_id, remaining, call)
        if list_name == "__timeline":
            return JSONResponse({"__timeline": [], "info": {"more_records": False}})
        if list_name == _ROLES and parts[0] == "Deals" and not remaining:
            return self._roles(record_id, call)
        if list_name in RELATED_MODULES and not remaining:
            return self._related_list(record_id, list_name, call)
        raise Refusal("INVALID_URL_PATTERN", 404)

    def _roles(self, record_id: str, call: Call) -> Response:
        """Lists the contact roles of a deal: up to three contacts."""
        check_required(call, "fields")
        contacts, dice = self._store.holdings["Contacts"], SeededRandom(self._store.seed, "roles", record_id)
        places = dict.fromkeys(
            dice.number(f"who{role_number}", max(1, contacts.count)) for role_number in range(dice.number("n", 4))
        )
        order = contacts.ordered_ids()
        role_contacts = [contact for place in places if (contact := contacts.get(order[place])) is not None]
        roles = ({"id": str(900 + place), "name": name} for place, name in enumerate(_ROLE_NAMES))
        rows = [
            {"id": contact["id"], "Full_Name": contact["Full_Name"], "Contact_Role": role}
            for contact, role in zip(role_contacts, roles, strict=False)
        ]
        return self._page(rows, call)

    def _related_list(self, record_id: str, name: str, call: Call) -> Response:
        """Lists the related records of a deal; products belong to all."""
        check_required(call, "fields")
        fields = [name for name in check_length(call, "fields").split(",") if name]
        holdings = self._store.holdings[name]
        records = [record for related_id in holdings.ordered_ids() if (record := holdings.get(related_id)) is not None]
        related = [record for record in records if name == "Products" or _deal_of(record) == record_id]
        return self._page(
            [{"id": record["id"], **{field: record.get(field) for field in fields}} for record in related],
            call,
        )

    def _all_notes(self, call: Call) -> Response:
        check_required(call, "fields")
        places = self._store.note_order()
        if ids := check_length(call, "ids"):
            chosen_ids = frozenset(ids.split(","))
            places = [place for place in places if place[1] in chosen_ids]
        if call.query.get("sort_by", "id") == "id":
            places = sorted(places, key=lambda place: int(place[1]))
        if call.query.get("sort_order", "desc") == "desc":
            places = places[::-1]
        begin, size = _requested_range(call, self._store.page_rows)
        rows = [self._store.note_at(place) for place in places[begin : begin + size]]
        return _page(rows, begin, size, len(places))

    def _attachments(self, record_id: str, remaining: Sequence[str], call: Call) -> Response:
        attachments = self._store.attachments(record_id)
        if remaining:
            name = next((str(row["File_Name"]) for row in attachments if row["id"] == remaining[0]), "")
            return _bytes(self._store.attachment(record_id, remaining[0]), name)
        check_known_names(call, "fields", "ids", "page", "per_page", "page_token")
        check_required(call, "fields")
        begin, size = _requested_range(call, self._store.page_rows)
        info: Record = {"per_page": size, "count": len(attachments[begin : begin + size]), "page": begin // size + 1}
        more = len(attachments) > begin + size
        info |= {"more_records": more, "next_page_token": f"p{begin + size}" if more else None}
        info |= {"previous_page_token": None, "page_token_expiry": None}
        return JSONResponse({"data": attachments[begin : begin + size], "info": info})

    def _emails(self, record_id: str, remaining: Sequence[str], call: Call) -> Response:
        if remaining[:2] == ["actions", "download_attachments"]:
            check_required(call, "user_id", "message_id", "id", "name")
            keys = (call.query["message_id"], call.query["id"], call.query["name"])
            return self._enclosure(record_id, *keys)
        check_required(call, "owner_id")
        check_known_names(call, "type", "index", "owner_id")
        if remaining:
            letter = self._store.letter(record_id, remaining[0])
            page_info = {"count": 1, "next_index": None, "prev_index": None, "per_page": 1, "more_records": False}
            return (
                Response(status_code=_NO_CONTENT)
                if letter is None
                else JSONResponse({"Emails": [letter], "info": page_info})
            )
        emails = self._store.emails(record_id)
        begin = call.number("index", 0)
        rows = emails[begin : begin + _EMAILS]
        if not rows:
            return Response(status_code=_NO_CONTENT)
        more = len(emails) > begin + _EMAILS
        info = {"count": len(rows), "next_index": str(begin + _EMAILS) if more else None, "prev_index": None}
        return JSONResponse({"Emails": rows, "info": {**info, "per_page": _EMAILS, "more_records": more}})

    def _enclosure(self, record_id: str, message_id: str, file_id: str, call_name: str) -> Response:
        if message_id in self._store.absent_ids:
            return Response(status_code=_NO_CONTENT)
        for place, email in enumerate(self._store.emails_by_place(record_id)):
            if email["message_id"] == message_id:
                for enclosure_id, name, data in self._store.enclosures(record_id, place, email):
                    if enclosure_id == file_id and name == call_name:
                        return _bytes(data, name)
        return Response(status_code=_NO_CONTENT)

    def _page(self, records: Sequence[Record], call: Call) -> Response:
        begin, size = _requested_range(call, self._store.page_rows)
        return _page(records[begin : begin + size], begin, size, len(records))


def _bytes(data: bytes | None, name: str) -> Response:
    """Builds a download with its file name."""
    if data is None:
        return Response(status_code=_NO_CONTENT)
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(data, media_type="application/octet-stream", headers={"Content-Disposition": disposition})


def _requested_range(call: Call, most: int) -> tuple[int, int]:
    """Returns the requested range of a list: first row and count."""
    size = min(most, read_number("per_page", call.query.get("per_page"), _PAGE, least=1))
    token = call.query.get("page_token")
    begin = (
        read_number("page_token", token.removeprefix("p"), 0)
        if token
        else (read_number("page", call.query.get("page"), 1, least=1) - 1) * size
    )
    if not token and begin + size > 2_000:
        raise Refusal("DISCRETE_PAGINATION_LIMIT_EXCEEDED", 400, "use page_token")
    return begin, size


def _page(rows: Sequence[Record], begin: int, size: int, total: int) -> Response:
    if not rows:
        return Response(status_code=_NO_CONTENT)
    more = total > begin + size
    info = {"per_page": size, "count": len(rows), "page": begin // size + 1, "more_records": more}
    return JSONResponse({"data": list(rows), "info": {**info, "next_page_token": f"p{begin + size}" if more else None}})
