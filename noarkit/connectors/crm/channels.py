"""Notifications: a channel tells us that records changed, by ids alone. Channels end after a while and are renewed at
half their life; what they say is a hint, and the next plan reads what there is."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from noarkit.connectors.crm.calls import Calls
from noarkit.connectors.paging import Row
from noarkit.connectors.wire import Answer
from noarkit.errors import ServiceRefused, ServiceStrange

LONGEST = timedelta(days=7)
_TOKEN_BYTES = 24
EVENTS = ("create", "edit", "delete", "all")


@dataclass(frozen=True, slots=True, repr=False)
class Channel:
    """A channel: what it tells of, whereto, until when, and the token that proves its messages."""

    id: str
    url: str
    events: tuple[str, ...]
    ends: datetime
    token: str

    def needs_renewal(self, now: datetime) -> bool:
        """True from half of the longest life before its end."""
        return self.ends - now < LONGEST / 2


def open_channel(
    calls: Calls, url: str, events: Sequence[str], now: datetime, fields: Mapping[str, Sequence[str]] | None = None
) -> Channel:
    """Opens a channel for events such as `Deals.edit`; `fields` names, by module, the fields whose change is told."""
    channel = Channel(str(secrets.randbelow(10**15) + 10**15), url, tuple(events), now + LONGEST, _token())
    _done(calls.write("POST", "/actions/watch", {"watch": [_told(channel, fields or {})]}, repeatable=True))
    return channel


def renew(calls: Calls, channel: Channel, now: datetime) -> Channel:
    """The same channel for as long as may be, with a new token."""
    renewed = Channel(channel.id, channel.url, channel.events, now + LONGEST, _token())
    _done(calls.write("PUT", "/actions/watch", {"watch": [_told(renewed, {})]}, repeatable=True))
    return renewed


def close_channels(calls: Calls, ids: Sequence[str]) -> None:
    """Ends channels."""
    _done(calls.delete("/actions/watch", ("channel_ids", ",".join(ids))))


def channels(calls: Calls) -> Sequence[Row]:
    """The channels that are open."""
    answer = calls.get("/actions/watch")
    if answer.status == 204:
        return ()
    found = answer.members().get("watch")
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else ()


def _token() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)


def _told(channel: Channel, fields: Mapping[str, Sequence[str]]) -> dict[str, object]:
    told: dict[str, object] = {
        "channel_id": channel.id,
        "notify_url": channel.url,
        "events": list(channel.events),
        "channel_expiry": channel.ends.isoformat(timespec="seconds"),
        "token": channel.token,
        "notify_on_related_action": True,
    }
    if fields:
        told["notification_condition"] = [
            {
                "type": "field_selection",
                "module": {"api_name": module},
                "field_selection": _selection(names),
            }
            for module, names in fields.items()
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
