"""The calls of the CRM: settings, records, what hangs on them, deletions, writing, notifications."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any  # facts of a request, as JSON has them

from tests.strict_services.crm import USER_ROW, Crm, attachment_fields, note_fields
from tests.strict_services.crm_data import FIELDS, USER, Attachment, Bin, Email, Note, Record, local, now
from tests.strict_services.serving import Handler, Refused, Reply, Request

_GONE = (404, "RESOURCE_NOT_FOUND", "the record is not there")
_EMAILS_PER_PAGE = 10
_CHANNEL_MOST = timedelta(days=7)


def calls(crm: Crm) -> Mapping[tuple[str, str], Handler]:
    """The calls that are answered."""
    served = {
        ("POST", "/oauth/v2/token"): crm.token,
        ("GET", "/crm/v8/{module}"): crm.records,
        ("POST", "/crm/v8/coql"): crm.coql,
        ("GET", "/crm/v8/settings/fields"): crm.field_rows,
    }
    return {**served, **{name: partial(handler, crm) for name, handler in _CALLS.items()}}


def _org(crm: Crm, request: Request) -> Reply:
    return Reply(
        200, {"org": [{"id": crm.org_id, "zgid": crm.org_id, "company_name": "Strengt AS", "type": "production"}]}
    )


def _users(crm: Crm, request: Request) -> Reply:
    info = {"per_page": 200, "count": 1, "page": 1, "more_records": False}
    return Reply(200, {"users": [USER_ROW], "info": info})


def _user(crm: Crm, request: Request) -> Reply:
    return Reply(200, {"users": [USER_ROW]}) if request.names["user"] == USER["id"] else Reply(204)


def _modules(crm: Crm, request: Request) -> Reply:
    return Reply(
        200, {"modules": [_module_row(name, number) for number, name in enumerate((*FIELDS, "Notes", "Attachments"))]}
    )


def _module_row(name: str, number: int) -> dict[str, object]:
    return {
        "id": f"4150000000009{number:03}",
        "api_name": name,
        "module_name": name,
        "singular_label": name[:25],
        "plural_label": name[:25],
        "generated_type": "default",
        "api_supported": True,
        "viewable": True,
        "creatable": True,
        "editable": True,
        "deletable": True,
        "visible": True,
        "status": "visible",
    }


def _count(crm: Crm, request: Request) -> Reply:
    return Reply(200, {"count": len(crm.data.visible(request.names["moduleApiName"]))})


def _record(crm: Crm, request: Request) -> Reply:
    found = crm.data.live(request.names["module"], request.names["recordID"])
    return Reply(200, {"data": [crm.shown(found)]}) if found else Reply(204)


def _deleted(crm: Crm, request: Request) -> Reply:
    wanted = request.parameter("type", "all")
    rows = [
        each
        for each in crm.data.bin[request.names["module"]].values()
        if wanted == "all" or (wanted == "permanent") == each.is_permanent
    ]
    since = request.headers.get("if-modified-since")
    if since is not None:
        moment = crm.moment(since)
        rows = [each for each in rows if each.deleted >= moment]
        if not rows:
            return Reply(304)
    return crm.page(request, [_BinRow(each) for each in rows], _BinRow.shown, has_token=False)


class _BinRow:
    """A deleted record as a row: newest first."""

    def __init__(self, found: Bin) -> None:
        self.found = found
        self.id = found.record.id

    def shown(self) -> dict[str, object]:
        """The row."""
        return {
            "id": self.id,
            "display_name": None if self.found.is_permanent else self.found.record.name,
            "type": "permanent" if self.found.is_permanent else "recycle",
            "deleted_time": local(self.found.deleted),
            "deleted_by": {"id": USER["id"], "name": USER["name"]},
            "created_by": {"id": USER["id"], "name": USER["name"]},
        }


# what hangs on a record


def _parent(crm: Crm, request: Request, module: str, id: str) -> Record:
    found = crm.data.live(request.names[module], request.names[id])
    if found is None:
        raise Refused(crm.refuse(*_GONE))
    return found


def _note_shown(crm: Crm, names: list[str], note: Note) -> dict[str, object]:
    parent = crm.data.live(note.module, note.parent)
    module = {"api_name": note.module, "id": "4150000000000001"}
    whole: dict[str, object] = {
        "id": note.id,
        "Note_Title": note.title,
        "Note_Content": note.content,
        "Parent_Id": {"id": note.parent, "name": parent.name if parent else "", "module": module},
        "Owner": USER,
        "Created_By": USER,
        "Modified_By": USER,
        "Created_Time": local(note.created),
        "Modified_Time": local(note.modified),
        "$se_module": note.module,
    }
    return {name: whole[name] for name in {"id": 0, **dict.fromkeys(names)} if name in whole}


def _notes(crm: Crm, request: Request) -> Reply:
    names = crm.field_names(request, note_fields())
    rows = [note for note in crm.data.notes.values() if crm.data.live(note.module, note.parent)]
    ids = request.parameter("ids")
    if ids:
        rows = [note for note in rows if note.id in ids.split(",")]
    return crm.page(request, rows, partial(_note_shown, crm, names))


def _note(crm: Crm, request: Request) -> Reply:
    note = crm.data.notes.get(request.names["id"])
    if note is None or not crm.data.live(note.module, note.parent):
        return Reply(204)
    return Reply(200, {"data": [_note_shown(crm, sorted(note_fields()), note)]})


def _notes_of(crm: Crm, request: Request) -> Reply:
    parent = _parent(crm, request, "parentRecordModule", "parentRecordId")
    names = crm.field_names(request, note_fields())
    rows = [note for note in crm.data.notes.values() if note.parent == parent.id]
    return crm.page(request, rows, partial(_note_shown, crm, names))


def _related(crm: Crm, request: Request) -> Reply:
    parent = _parent(crm, request, "parentRecordModule", "parentRecord")
    name = request.names["relatedList"]
    if name not in FIELDS:
        return crm.refuse(400, "INVALID_DATA", f"the related list {name} is not there")
    names = crm.field_names(request, crm.known_fields(name))
    rows = [row for row in crm.data.visible(name) if any(_points(value, parent.id) for value in row.values.values())]
    return crm.page(request, rows, lambda row: crm.shown(row, names))


def _points(value: object, id: str) -> bool:
    return isinstance(value, dict) and value.get("id") == id


def _attachments(crm: Crm, request: Request) -> Reply:
    parent = _parent(crm, request, "moduleApiName", "recordId")
    names = crm.field_names(request, attachment_fields())
    rows = [each for each in crm.data.attachments.values() if each.parent == parent.id]
    return crm.page(request, rows, partial(_attachment_shown, parent, names))


def _attachment_shown(parent: Record, names: list[str], each: Attachment) -> dict[str, object]:
    whole: dict[str, object] = {
        "id": each.id,
        "File_Name": each.name,
        "Size": str(len(each.content)),
        "Created_Time": local(each.created),
        "Modified_Time": local(each.modified),
        "Owner": USER,
        "Created_By": USER,
        "Modified_By": USER,
        "Parent_Id": {"id": parent.id, "name": parent.name},
        "$file_id": f"file{each.id}",
        "$type": "Attachment" if each.link is None else "Link URL",
        "$se_module": parent.module,
        "$state": "save",
        "$link_url": each.link,
        "$editable": True,
    }
    always = ("id", "Created_Time", "Created_By", "Modified_Time", "Modified_By")
    return {name: whole[name] for name in dict.fromkeys((*always, *names)) if name in whole}


def _attachment(crm: Crm, request: Request) -> Reply:
    parent = crm.data.live(request.names["moduleApiName"], request.names["recordId"])
    found = crm.data.attachments.get(request.names["id"])
    if parent is None or found is None or found.parent != parent.id or found.link is not None:
        return Reply(204)
    return Reply(200, found.content)


def _emails(crm: Crm, request: Request) -> Reply:
    parent = _parent(crm, request, "module_name", "record_id")
    _need_owner(crm, request)
    if request.parameter("type", "sent_from_crm") != "sent_from_crm" and "contacts" not in request.parameter("type"):
        rows = [each for each in _emails_of(crm, parent) if (request.parameter("type") == "user_emails")]
    else:
        rows = _emails_of(crm, parent)
    begin = int(request.parameter("index") or 0)
    here = rows[begin : begin + _EMAILS_PER_PAGE]
    if not here:
        return Reply(204)
    end = begin + _EMAILS_PER_PAGE
    more = end < len(rows)
    info = {
        "count": len(here),
        "next_index": str(end) if more else None,
        "prev_index": str(begin - _EMAILS_PER_PAGE) if begin else None,
        "per_page": _EMAILS_PER_PAGE,
        "more_records": more,
    }
    return Reply(200, {"Emails": [_email_shown(parent, each) for each in here], "info": info})


def _need_owner(crm: Crm, request: Request) -> None:
    if request.parameter("owner_id") != USER["id"]:
        crm.breaches.append(
            f"{request.path}: owner_id {request.parameter('owner_id')!r} is not the owner of the record"
        )
        raise Refused(crm.refuse(400, "INVALID_DATA", "owner_id"))


def _emails_of(crm: Crm, parent: Record) -> list[Email]:
    rows = [each for each in crm.data.emails.values() if each.parent == parent.id]
    return sorted(rows, key=lambda each: each.sent_at, reverse=True)


def _email_shown(parent: Record, each: Email, *, is_whole: bool = False) -> dict[str, object]:
    own = {"user_name": USER["name"], "email": USER["email"]}
    other = {"user_name": "Ola Kunde", "email": "ola@kunde.example"}
    shown: dict[str, object] = {
        "message_id": each.id,
        "subject": each.subject,
        "from": own if each.is_sent else other,
        "to": [other if each.is_sent else own],
        "cc": [],
        "time": local(each.sent_at),
        "sent": each.is_sent,
        "has_attachment": bool(each.attachments),
        "owner": {"id": USER["id"], "name": USER["name"]},
        "linked_record": {"id": parent.id, "name": parent.name, "module": {"api_name": parent.module, "id": "1"}},
        "status": [{"type": "sent", "bounced_time": None, "bounced_reason": None}] if each.is_sent else [],
    }
    if is_whole:
        shown["content"] = each.content
        shown["mail_format"] = "text"
        shown["attachments"] = [
            {"id": id, "name": name, "size": str(len(content))} for id, (name, content) in each.attachments.items()
        ]
    return shown


def _email(crm: Crm, request: Request) -> Reply:
    parent = _parent(crm, request, "module_name", "record_id")
    _need_owner(crm, request)
    found = crm.data.emails.get(request.names["message_id"])
    if found is None or found.parent != parent.id:
        return Reply(204)
    info = {"count": 1, "next_index": None, "prev_index": None, "per_page": 1, "more_records": False}
    return Reply(200, {"Emails": [_email_shown(parent, found, is_whole=True)], "info": info})


def _email_attachment(crm: Crm, request: Request) -> Reply:
    _parent(crm, request, "module", "recordId")
    email = crm.data.emails.get(request.parameter("message_id"))
    name, content = email.attachments.get(request.parameter("id"), ("", b"")) if email else ("", b"")
    if not name or name != request.parameter("name") or request.parameter("user_id") != USER["id"]:
        return crm.refuse(400, "INVALID_DATA", "there is no such attachment")
    return Reply(200, content)


# writing


def _update(crm: Crm, request: Request) -> Reply:
    rows = request.members["data"]
    assert isinstance(rows, list)
    if request.members.get("trigger") != []:
        crm.breaches.append("records are written without an empty trigger: workflows would run")
    crm.writes.append(request)
    answers = [_updated(crm, request.names["module"], row) for row in rows]
    is_whole = all(answer["code"] == "SUCCESS" for answer in answers)
    return Reply(200 if is_whole else 207, {"data": answers})


def _updated(crm: Crm, module: str, row: Mapping[str, Any]) -> dict[str, object]:  # Any: as the request has it
    found = crm.data.live(module, str(row.get("id")))
    if found is None:
        return {"code": "INVALID_DATA", "message": "the id given seems to be invalid", "status": "error", "details": {}}
    crm.data.edit(found, **{name: value for name, value in row.items() if name != "id"})
    person = {"id": USER["id"], "name": USER["name"]}
    details = {
        "id": found.id,
        "Created_Time": local(found.created),
        "Modified_Time": local(found.modified),
        "Created_By": person,
        "Modified_By": person,
        "$approval_state": "approved",
    }
    return {"code": "SUCCESS", "message": "record updated", "status": "success", "details": details}


# notifications


def _watch(crm: Crm, request: Request) -> Reply:
    from tests.strict_services.crm import Channel

    rows = request.members["watch"]
    assert isinstance(rows, list)
    answers = []
    for row in rows:
        token = row.get("token")
        expiry = row.get("channel_expiry") or local(now() + timedelta(hours=1))
        if not str(row.get("channel_id", "")).isdigit() or (token is not None and len(token) > 50):
            crm.breaches.append(f"a channel with the id {row.get('channel_id')!r} and a token of {len(token or '')}")
            return crm.refuse(400, "INVALID_DATA", "channel_id or token")
        if crm.moment(expiry) > now() + _CHANNEL_MOST + timedelta(minutes=1):
            crm.breaches.append(f"a channel until {expiry}: a week is the most")
            return crm.refuse(400, "INVALID_DATA", "channel_expiry")
        crm.channels[row["channel_id"]] = Channel(
            row["channel_id"], row["notify_url"], tuple(row["events"]), token, expiry
        )
        details = {"events": [_event_row(row["channel_id"], name, expiry) for name in row["events"]]}
        answers.append({"code": "SUCCESS", "message": "done", "status": "success", "details": details})
    return Reply(201 if request.method == "POST" else 200, {"watch": answers})


def _event_row(channel_id: str, event: str, expiry: str) -> dict[str, object]:
    module = event.partition(".")[0]
    return {
        "channel_expiry": expiry,
        "resource_uri": f"https://crm.example/crm/v8/{module}",
        "resource_id": "4150000000000777",
        "resource_name": module,
        "channel_id": channel_id,
    }


def _watched(crm: Crm, request: Request) -> Reply:
    rows = [
        {
            **_event_row(each.id, each.events[0], each.ends),
            "notify_url": each.url,
            "events": list(each.events),
            "token": each.token,
        }
        for each in crm.channels.values()
        if request.parameter("channel_id", each.id) == each.id
    ]
    info = {"per_page": 200, "count": len(rows), "page": 1, "more_records": False}
    return Reply(200, {"watch": rows, "info": info}) if rows else Reply(204)


def message(crm: Crm, channel_id: str, module: str, operation: str, ids: list[str]) -> dict[str, object]:
    """What the CRM sends to a channel: ids alone, proven by nothing but the channel's token."""
    channel = crm.channels[channel_id]
    return {
        "server_time": int(now().timestamp() * 1000),
        "query_params": {},
        "module": module,
        "resource_uri": f"https://crm.example/crm/v8/{module}",
        "ids": ids,
        "affected_fields": [],
        "operation": operation,
        "channel_id": channel_id,
        "token": channel.token,
    }


_CALLS: Mapping[tuple[str, str], Any] = {  # Any: handlers of this module, which take the CRM first
    ("GET", "/crm/v8/org"): _org,
    ("GET", "/crm/v8/users"): _users,
    ("GET", "/crm/v8/users/{user}"): _user,
    ("GET", "/crm/v8/settings/modules"): _modules,
    ("GET", "/crm/v8/{moduleApiName}/actions/count"): _count,
    ("GET", "/crm/v8/{module}/{recordID}"): _record,
    ("GET", "/crm/v8/{module}/deleted"): _deleted,
    ("PUT", "/crm/v8/{module}"): _update,
    ("GET", "/crm/v8/Notes"): _notes,
    ("GET", "/crm/v8/Notes/{id}"): _note,
    ("GET", "/crm/v8/{parentRecordModule}/{parentRecordId}/Notes"): _notes_of,
    ("GET", "/crm/v8/{parentRecordModule}/{parentRecord}/{relatedList}"): _related,
    ("GET", "/crm/v8/{moduleApiName}/{recordId}/Attachments"): _attachments,
    ("GET", "/crm/v8/{moduleApiName}/{recordId}/Attachments/{id}"): _attachment,
    ("GET", "/crm/v8/{module_name}/{record_id}/Emails"): _emails,
    ("GET", "/crm/v8/{module_name}/{record_id}/Emails/{message_id}"): _email,
    ("GET", "/crm/v8/{module}/{recordId}/Emails/actions/download_attachments"): _email_attachment,
    ("POST", "/crm/v8/actions/watch"): _watch,
    ("PATCH", "/crm/v8/actions/watch"): _watch,
    ("PUT", "/crm/v8/actions/watch"): _watch,
    ("GET", "/crm/v8/actions/watch"): _watched,
}
