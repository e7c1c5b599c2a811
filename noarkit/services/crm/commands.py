"""Commands of a CRM connection.

    modules list · fields list MODULE
    records list MODULE · get MODULE ID · count MODULE · deleted MODULE · related MODULE ID LIST
    records create MODULE · update MODULE · upsert MODULE · delete MODULE ID,ID…
    notifications list · open URL · renew · close ID,ID…

Arguments hold what is created or changed: `records`, and `unique` with the field or fields that identify them; `events`
and `fields` of a notification.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import chain
from urllib.parse import urlsplit

from noarkit.errors import ServiceRefused, UsageFault
from noarkit.services.canonical import without_secrets
from noarkit.services.crm import channels, listing, write_calls
from noarkit.services.crm.service import Crm, open_service
from noarkit.services.inbox import webhooks
from noarkit.services.paging import Row
from noarkit.services.settings import Connection

JsonObject = Mapping[str, object]
_DO = "noarkit connect crm:NAME records list MODULE"
_DO_OPEN = """--arguments '{"events": ["Deals.edit"], "fields": {"Deals": ["Stage"]}}'"""
_BIN_LASTS = timedelta(days=60)


def run_command(connection: Connection, words: Sequence[str], arguments: JsonObject) -> Iterator[JsonObject]:
    """Runs one command and yields its results. Raises `UsageFault` for an unknown command, a ServiceFault."""
    with closing(open_service(connection)) as crm:
        for row in _dispatch(crm, words, arguments):
            clean = crm.calls.client.wire.scrubber.hide_in(without_secrets(row))
            yield clean if isinstance(clean, Mapping) else {}


def _dispatch(crm: Crm, words: Sequence[str], arguments: JsonObject) -> Iterable[JsonObject]:
    match tuple(words):
        case ("modules", "list"):
            return crm.calls.modules()
        case ("fields", "list", module):
            return crm.calls.fields(_name(module))
        case ("records", verb, module, *remaining):
            return _run_records(crm, verb, _name(module), remaining, arguments)
        case ("notifications", verb, *remaining):
            return _run_notifications(crm, verb, remaining, arguments)
        case _:
            raise _unknown_command(words)


def _run_records(
    crm: Crm, verb: str, module: str, remaining: Sequence[str], arguments: JsonObject
) -> Iterable[JsonObject]:
    match (verb, *remaining):
        case ("list",):
            return listing.records_by_page(
                crm.calls, module, crm.fields(module), f"{crm.connection.full_name} {module}"
            )
        case ("get", record_id):
            return _existing_row(crm.calls.record(module, _id(record_id)), record_id)
        case ("count",):
            return ({"count": crm.calls.count(module)},)
        case ("deleted",):
            since = datetime.now(UTC) - _BIN_LASTS
            return listing.deleted_records(crm.calls, module, since, f"{crm.connection.full_name} {module}")
        case ("related", record_id, list_name):
            fields = crm.fields(_name(list_name)) if list_name in _module_names(crm) else None
            return listing.related_records(crm.calls, module, _id(record_id), _name(list_name), fields)
        case _:
            return (
                _describe_result(record_id) for record_id in _write_records(crm, verb, module, remaining, arguments)
            )


def _write_records(
    crm: Crm, verb: str, module: str, remaining: Sequence[str], arguments: JsonObject
) -> Iterator[write_calls.WriteResult]:
    match (verb, *remaining):
        case ("create",):
            return write_calls.insert(
                crm.calls, module, _records_argument(arguments), "".join(_texts(arguments.get("unique"))[:1])
            )
        case ("update",):
            return write_calls.update(crm.calls, module, _records_argument(arguments))
        case ("upsert",):
            return write_calls.upsert(crm.calls, module, _records_argument(arguments), _texts(arguments.get("unique")))
        case ("delete", ids):
            return write_calls.delete(crm.calls, module, [_id(record_id) for record_id in ids.split(",")])
        case _:
            raise _unknown_command(("records", verb, module, *remaining))


def _run_notifications(crm: Crm, verb: str, remaining: Sequence[str], arguments: JsonObject) -> Iterable[JsonObject]:
    match (verb, *remaining):
        case ("list",):
            return channels.channels(crm.calls)
        case ("open", url):
            return (_open_channel(crm, url, arguments),)
        case ("renew",):
            return (
                _describe_channel(entry)
                for entry in channels.renew_webhooks(crm.connection, datetime.now(UTC) + channels.LONGEST)
            )
        case ("close", ids):
            channel_ids = [_id(entry) for entry in ids.split(",")]
            channels.close_channels(crm.calls, channel_ids)
            webhooks.forget_webhooks(crm.connection, channel_ids)
            return ({"closed": entry} for entry in channel_ids)
        case _:
            raise _unknown_command(("notifications", verb, *remaining))


def _open_channel(crm: Crm, url: str, arguments: JsonObject) -> JsonObject:
    """Opens a notification channel and stores it, so that it is listened for and renewed. An address without a path
    gets a random one: messages are not signed."""
    if urlsplit(url).path in ("", "/"):
        url = f"{url.rstrip('/')}/{crm.connection.service}/{crm.connection.name}/{secrets.token_hex(12)}"
    events, fields = _texts(arguments.get("events")), arguments.get("fields")
    if not events or not (fields is None or isinstance(fields, Mapping)):
        raise UsageFault(what="bad-value", where="events", do=_DO_OPEN)
    watched_fields = {str(module): _texts(names) for module, names in (fields or {}).items()}
    channel = channels.open_channel(crm.calls, url, events, datetime.now(UTC), watched_fields)
    webhooks.save_webhook(crm.connection, channel)
    return _describe_channel(channel)


def _describe_channel(channel: webhooks.Webhook) -> JsonObject:
    ends = channel.ends.isoformat(timespec="seconds") if channel.ends is not None else ""
    return {"id": channel.id, "events": list(channel.events), "ends": ends, "path": channel.path}


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
        raise UsageFault(what="bad-value", where="records", do="""--arguments '{"records": [{"Deal_Name": "…"}]}'""")
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


def _unknown_command(words: Sequence[str]) -> UsageFault:
    return UsageFault(what="bad-value", where=" ".join(words), do=_DO)
