"""Notifications: a channel tells us that records changed, by ids alone. Channels end after a while and are renewed at
half their life; what they say is a hint, and the next plan reads what there is."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta

from noarkit.connectors.crm.calls import Calls
from noarkit.connectors.crm.service import open_service
from noarkit.connectors.inbox.agreed import Agreed, agree, agreed
from noarkit.connectors.paging import Row
from noarkit.connectors.settings import Connection
from noarkit.connectors.wire import Answer
from noarkit.errors import ServiceRefused, ServiceStrange
from noarkit.secrets import Secret

LONGEST = timedelta(days=7)
_TOKEN_BYTES = 24
EVENTS = ("create", "edit", "delete", "all")


def needs_renewal(channel: Agreed, now: datetime) -> bool:
    """True from half of the longest life before its end."""
    return channel.ends is not None and channel.ends - now < LONGEST / 2


def open_channel(
    calls: Calls, url: str, events: Sequence[str], now: datetime, fields: Mapping[str, Sequence[str]] | None = None
) -> Agreed:
    """Opens a channel for events such as `Deals.edit`; `fields` names, by module, the fields whose change is told."""
    watched = {module: tuple(names) for module, names in (fields or {}).items()}
    channel = Agreed(
        str(secrets.randbelow(10**15) + 10**15), url, tuple(events), _token(), None, now + LONGEST, watched
    )
    _done(calls.write("POST", "/actions/watch", {"watch": [_told(channel)]}, repeatable=True))
    return channel


def renew(calls: Calls, channel: Agreed, now: datetime) -> Agreed:
    """The same channel for as long as may be, with a new token; messages under way still bear the one before."""
    renewed = replace(channel, secret=_token(), secret_before=channel.secret, ends=now + LONGEST)
    _done(calls.write("PUT", "/actions/watch", {"watch": [_told(renewed)]}, repeatable=True))
    return renewed


def renew_webhooks(to: Connection, now: datetime) -> Iterator[Agreed]:
    """Renews the channels of a connection that would end, and keeps them. Raises a ServiceFault."""
    due = [one for one in agreed(to) if needs_renewal(one, now)]
    if due:
        with closing(open_service(to)) as crm:
            for one in due:
                renewed = renew(crm.calls, one, now)
                agree(to, renewed)
                yield renewed


def close_channels(calls: Calls, ids: Iterable[str]) -> None:
    """Ends channels."""
    _done(calls.delete("/actions/watch", ("channel_ids", ",".join(ids))))


def channels(calls: Calls) -> Sequence[Row]:
    """The channels that are open."""
    answer = calls.get("/actions/watch")
    if answer.status == 204:
        return ()
    found = answer.members().get("watch")
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else ()


def _token() -> Secret:
    return Secret(secrets.token_urlsafe(_TOKEN_BYTES))


def _told(channel: Agreed) -> dict[str, object]:
    told: dict[str, object] = {
        "channel_id": channel.id,
        "notify_url": channel.url,
        "events": list(channel.events),
        "token": channel.secret.reveal(),
    }
    if channel.ends is not None:
        told["channel_expiry"] = channel.ends.isoformat(timespec="seconds")
    if channel.fields:
        told["notification_condition"] = [
            {
                "type": "field_selection",
                "module": {"api_name": module},
                "field_selection": _selection(names),
            }
            for module, names in channel.fields.items()
        ]
    return told


def _selection(names: Sequence[str]) -> dict[str, object]:
    fields: list[dict[str, object]] = [{"field": {"api_name": name}} for name in names]
    return fields[0] if len(fields) == 1 else {"group_operator": "or", "group": fields}


def _done(answer: Answer) -> None:
    members = answer.members()
    found = members.get("watch")
    if members.get("status") == "error":
        raise ServiceRefused(where=answer.where, status=answer.status, why=str(members.get("code") or "refused"))
    if not isinstance(found, list) or not found:
        raise ServiceStrange(where=answer.where, why="not-an-object")
    for one in found:
        if isinstance(one, Mapping) and one.get("status") != "success":
            raise ServiceRefused(where=answer.where, status=answer.status, why=str(one.get("code") or "refused"))
