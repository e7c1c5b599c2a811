"""CRM notification channels, which report the ids of changed records. Channels expire and are renewed at half of their
life; their messages are hints, and the next plan reads the records themselves."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta

from noarkit.errors import ServiceRefused, ServiceStrange
from noarkit.secrets import Secret
from noarkit.services.crm.calls import Calls
from noarkit.services.crm.service import open_service
from noarkit.services.inbox.webhooks import Webhook, read_webhooks, save_webhook
from noarkit.services.paging import Row
from noarkit.services.settings import Connection
from noarkit.services.wire import Answer

LONGEST = timedelta(days=7)
_TOKEN_BYTES = 24
EVENTS = ("create", "edit", "delete", "all")


def needs_renewal(channel: Webhook, now: datetime) -> bool:
    """True once a channel has less than half of the longest life left."""
    return channel.ends is not None and channel.ends - now < LONGEST / 2


def open_channel(
    calls: Calls, url: str, events: Sequence[str], now: datetime, fields: Mapping[str, Sequence[str]] | None = None
) -> Webhook:
    """Opens a channel for events such as `Deals.edit`; `fields` names, by module, the fields to watch."""
    watched_fields = {module: tuple(names) for module, names in (fields or {}).items()}
    channel = Webhook(
        str(secrets.randbelow(10**15) + 10**15), url, tuple(events), _token(), None, now + LONGEST, watched_fields
    )
    _check_result(calls.write("POST", "/actions/watch", {"watch": [_watch_payload(channel)]}, repeatable=True))
    return channel


def renew(calls: Calls, channel: Webhook, now: datetime) -> Webhook:
    """Renews a channel for as long as possible, with a new token; messages under way still hold the old one."""
    renewed = replace(channel, secret=_token(), secret_before=channel.secret, ends=now + LONGEST)
    _check_result(calls.write("PUT", "/actions/watch", {"watch": [_watch_payload(renewed)]}, repeatable=True))
    return renewed


def renew_webhooks(connection: Connection, now: datetime) -> Iterator[Webhook]:
    """Renews and stores the channels of a connection that would soon end. Raises a ServiceFault."""
    expiring = [channel for channel in read_webhooks(connection) if needs_renewal(channel, now)]
    if expiring:
        with closing(open_service(connection)) as crm:
            for channel in expiring:
                renewed = renew(crm.calls, channel, now)
                save_webhook(connection, renewed)
                yield renewed


def close_channels(calls: Calls, ids: Iterable[str]) -> None:
    """Closes channels."""
    _check_result(calls.delete("/actions/watch", ("channel_ids", ",".join(ids))))


def channels(calls: Calls) -> Sequence[Row]:
    """Lists the open channels."""
    answer = calls.get("/actions/watch")
    if answer.status == 204:
        return ()
    watches = answer.members().get("watch")
    return [row for row in watches if isinstance(row, Mapping)] if isinstance(watches, list) else ()


def _token() -> Secret:
    return Secret(secrets.token_urlsafe(_TOKEN_BYTES))


def _watch_payload(channel: Webhook) -> dict[str, object]:
    watch: dict[str, object] = {
        "channel_id": channel.id,
        "notify_url": channel.url,
        "events": list(channel.events),
        "token": channel.secret.reveal(),
    }
    if channel.ends is not None:
        watch["channel_expiry"] = channel.ends.isoformat(timespec="seconds")
    if channel.fields:
        watch["notification_condition"] = [
            {
                "type": "field_selection",
                "module": {"api_name": module},
                "field_selection": _selection(names),
            }
            for module, names in channel.fields.items()
        ]
    return watch


def _selection(names: Sequence[str]) -> dict[str, object]:
    fields: list[dict[str, object]] = [{"field": {"api_name": name}} for name in names]
    return fields[0] if len(fields) == 1 else {"group_operator": "or", "group": fields}


def _check_result(answer: Answer) -> None:
    members = answer.members()
    results = members.get("watch")
    if members.get("status") == "error":
        raise ServiceRefused(where=answer.label, status=answer.status, why=str(members.get("code") or "refused"))
    if not isinstance(results, list) or not results:
        raise ServiceStrange(where=answer.label, why="not-an-object")
    for result in results:
        if isinstance(result, Mapping) and result.get("status") != "success":
            raise ServiceRefused(where=answer.label, status=answer.status, why=str(result.get("code") or "refused"))
