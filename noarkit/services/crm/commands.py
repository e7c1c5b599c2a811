"""Commands of a CRM connection: `COMMANDS` lists them.

Arguments hold what is created or changed: `records`, and `unique` with the field or fields that identify them; `events`
and `fields` of a notification.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from urllib.parse import urlsplit

from noarkit.errors import ServiceRefused, UsageFault
from noarkit.services.canonical import without_secrets
from noarkit.services.commands import CommandTable, Invocation, JsonObject, Verb
from noarkit.services.crm import channels, listing, write_calls
from noarkit.services.crm.service import Crm, open_service
from noarkit.services.inbox import webhooks
from noarkit.services.paging import Row

_DO = "noarkit connect crm:NAME records list MODULE"
_CHANNEL = '{"events": ["Deals.edit"], "fields": {"Deals": ["Stage"]}}'
_RECORDS = '{"records": [{"Deal_Name": "…"}]}'
_BIN_LASTS = timedelta(days=60)


def _list_records(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    module = _name(used.words[0])
    return listing.records_by_page(crm.calls, module, crm.fields(module), f"{crm.connection.full_name} {module}")


def _get_record(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    module, record_id = used.words
    return _existing_row(crm.calls.record(_name(module), _id(record_id)), record_id)


def _count_records(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    return ({"count": crm.calls.count(_name(used.words[0]))},)


def _list_deleted(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    module, since = _name(used.words[0]), datetime.now(UTC) - _BIN_LASTS
    return listing.deleted_records(crm.calls, module, since, f"{crm.connection.full_name} {module}")


def _list_related(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    module, record_id, list_name = used.words
    fields = crm.fields(_name(list_name)) if list_name in _module_names(crm) else None
    return listing.related_records(crm.calls, _name(module), _id(record_id), _name(list_name), fields)


def _create_records(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    unique = "".join(_texts(used.values.get("unique"))[:1])
    return _describe_results(
        crm, write_calls.insert(crm.calls, _name(used.words[0]), _records_argument(used.values), unique)
    )


def _update_records(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    return _describe_results(crm, write_calls.update(crm.calls, _name(used.words[0]), _records_argument(used.values)))


def _upsert_records(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    unique = _texts(used.values.get("unique"))
    return _describe_results(
        crm, write_calls.upsert(crm.calls, _name(used.words[0]), _records_argument(used.values), unique)
    )


def _delete_records(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    module, ids = used.words
    return _describe_results(
        crm, write_calls.delete(crm.calls, _name(module), [_id(record_id) for record_id in ids.split(",")])
    )


def _renew_channels(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    renewed = channels.renew_webhooks(crm.connection, datetime.now(UTC) + channels.LONGEST)
    return (_describe_channel(entry) for entry in renewed)


def _close_channels(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    channel_ids = [_id(entry) for entry in used.words[0].split(",")]
    channels.close_channels(crm.calls, channel_ids)
    webhooks.forget_webhooks(crm.connection, channel_ids)
    return ({"closed": entry} for entry in channel_ids)


def _open_named_channel(crm: Crm, used: Invocation) -> Iterable[JsonObject]:
    return (_open_channel(crm, used.words[0], used.values),)


def _open_channel(crm: Crm, url: str, arguments: JsonObject) -> JsonObject:
    """Opens a notification channel and stores it, so that it is listened for and renewed. An address without a path
    gets a random one: messages are not signed."""
    if urlsplit(url).path in ("", "/"):
        url = f"{url.rstrip('/')}/{crm.connection.service}/{crm.connection.name}/{secrets.token_hex(12)}"
    events, fields = _texts(arguments.get("events")), arguments.get("fields")
    if not events or not (fields is None or isinstance(fields, Mapping)):
        raise UsageFault(what="bad-value", where="events", fix="--arguments", own="json", example=_CHANNEL)
    watched_fields = {str(module): _texts(names) for module, names in (fields or {}).items()}
    channel = channels.open_channel(crm.calls, url, events, datetime.now(UTC), watched_fields)
    webhooks.save_webhook(crm.connection, channel)
    return _describe_channel(channel)


def _describe_channel(channel: webhooks.Webhook) -> JsonObject:
    ends = channel.ends.isoformat(timespec="seconds") if channel.ends is not None else ""
    return {"id": channel.id, "events": list(channel.events), "ends": ends, "path": channel.path}


def _describe_results(crm: Crm, results: Iterable[write_calls.WriteResult]) -> Iterator[JsonObject]:
    """Yields what became of each record. Raises `ServiceRefused` in the end unless all of it was done."""
    total = failed = 0
    for result in results:
        total, failed = total + 1, failed + (not result.good)
        yield _describe_result(result)
    if failed:
        raise ServiceRefused(where=crm.connection.full_name, why="not-all-done", found=failed, total=total)


def _describe_result(result: write_calls.WriteResult) -> JsonObject:
    description = {"place": result.place, "id": result.id, "done": result.good, "code": result.code}
    return (
        description
        | ({"field": result.field} if result.field else {})
        | ({"doubtful": True} if result.doubtful else {})
    )


def _module_names(crm: Crm) -> frozenset[str]:
    return frozenset(str(module.get("api_name")) for module in crm.calls.modules())


def _existing_row(row: Row | None, record_id: str) -> Iterable[JsonObject]:
    if row is None:
        raise ServiceRefused(where=record_id, why="not-there")
    return chain((row,))


def _records_argument(arguments: JsonObject) -> Sequence[JsonObject]:
    records = arguments.get("records")
    if not isinstance(records, list) or not records or not all(isinstance(record, Mapping) for record in records):
        raise UsageFault(what="bad-value", where="records", fix="--arguments", own="json", example=_RECORDS)
    return records


def _texts(value: object) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    return tuple(str(text) for text in values) if isinstance(values, list) else ()


def _name(word: str) -> str:
    if not word.isascii() or not word.replace("_", "").isalnum():
        raise UsageFault(what="bad-value", where=word, do=_DO)
    return word


def _id(word: str) -> str:
    if not word.isascii() or not word.isalnum():
        raise UsageFault(what="bad-value", where=word, do=_DO)
    return word


def _without_secrets(crm: Crm, row: JsonObject) -> object:
    return crm.calls.client.wire.scrubber.hide_in(without_secrets(row))


COMMANDS = CommandTable(
    "crm",
    open_service,
    {
        "modules": (Verb("list", "", lambda crm, used: crm.calls.modules()),),
        "fields": (Verb("list", "MODULE", lambda crm, used: crm.calls.fields(_name(used.words[0]))),),
        "records": (
            Verb("list", "MODULE", _list_records),
            Verb("get", "MODULE ID", _get_record),
            Verb("count", "MODULE", _count_records),
            Verb("deleted", "MODULE", _list_deleted),
            Verb("related", "MODULE ID LIST", _list_related),
            Verb("create", "MODULE", _create_records, ("records", "unique")),
            Verb("update", "MODULE", _update_records, ("records",)),
            Verb("upsert", "MODULE", _upsert_records, ("records", "unique")),
            Verb("delete", "MODULE ID,ID…", _delete_records),
        ),
        "notifications": (
            Verb("list", "", lambda crm, used: channels.channels(crm.calls)),
            Verb("open", "URL", _open_named_channel, ("events", "fields")),
            Verb("renew", "", _renew_channels),
            Verb("close", "ID,ID…", _close_channels),
        ),
    },
    _without_secrets,
)
