"""What a person asks a CRM for in words.

    modules list · fields list MODULE
    records list MODULE · get MODULE ID · count MODULE · deleted MODULE · related MODULE ID LIST
    records create MODULE · update MODULE · upsert MODULE · delete MODULE ID,ID…
    notifications list · open URL · renew · close ID,ID…

What is made or changed stands in what is told beside: `records`, and `unique` with the field or fields that tell them
apart; `events` and `fields` of a notification.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import chain
from urllib.parse import urlsplit

from noarkit.connectors.canonical import without_secrets
from noarkit.connectors.crm import channels, listing, writing
from noarkit.connectors.crm.service import Crm, open_service
from noarkit.connectors.inbox import agreed
from noarkit.connectors.paging import Row
from noarkit.connectors.settings import Connection
from noarkit.errors import ServiceRefused, UsageFault

Told = Mapping[str, object]
_DO = "noarkit connect crm:NAME records list MODULE"
_DO_OPEN = """--arguments '{"events": ["Deals.edit"], "fields": {"Deals": ["Stage"]}}'"""
_BIN_LASTS = timedelta(days=60)


def carry_out(to: Connection, words: Sequence[str], told: Told) -> Iterator[Told]:
    """The answers to what was asked. Raises `UsageFault` for what cannot be asked, a ServiceFault."""
    with closing(open_service(to)) as crm:
        for found in _asked(crm, words, told):
            clean = crm.calls.client.wire.scrubber.hide_in(without_secrets(found))
            yield clean if isinstance(clean, Mapping) else {}


def _asked(crm: Crm, words: Sequence[str], told: Told) -> Iterable[Told]:
    match tuple(words):
        case ("modules", "list"):
            return crm.calls.modules()
        case ("fields", "list", module):
            return crm.calls.fields(_name(module))
        case ("records", verb, module, *rest):
            return _records(crm, verb, _name(module), rest, told)
        case ("notifications", verb, *rest):
            return _notifications(crm, verb, rest, told)
        case _:
            raise _unknown(words)


def _records(crm: Crm, verb: str, module: str, rest: Sequence[str], told: Told) -> Iterable[Told]:
    match (verb, *rest):
        case ("list",):
            return listing.everything(crm.calls, module, crm.fields(module), f"{crm.to.where} {module}")
        case ("get", one):
            return _found(crm.calls.record(module, _id(one)), one)
        case ("count",):
            return ({"count": crm.calls.count(module)},)
        case ("deleted",):
            since = datetime.now(UTC) - _BIN_LASTS
            return listing.deleted(crm.calls, module, since, f"{crm.to.where} {module}")
        case ("related", one, related):
            fields = crm.fields(_name(related)) if related in _known(crm) else None
            return listing.related(crm.calls, module, _id(one), _name(related), fields)
        case _:
            return (_result(one) for one in _written(crm, verb, module, rest, told))


def _written(crm: Crm, verb: str, module: str, rest: Sequence[str], told: Told) -> Iterator[writing.Written]:
    match (verb, *rest):
        case ("create",):
            return writing.insert(crm.calls, module, _told_records(told), "".join(_texts(told.get("unique"))[:1]))
        case ("update",):
            return writing.update(crm.calls, module, _told_records(told))
        case ("upsert",):
            return writing.upsert(crm.calls, module, _told_records(told), _texts(told.get("unique")))
        case ("delete", ids):
            return writing.delete(crm.calls, module, [_id(one) for one in ids.split(",")])
        case _:
            raise _unknown(("records", verb, module, *rest))


def _notifications(crm: Crm, verb: str, rest: Sequence[str], told: Told) -> Iterable[Told]:
    match (verb, *rest):
        case ("list",):
            return channels.channels(crm.calls)
        case ("open", url):
            return (_opened(crm, url, told),)
        case ("renew",):
            return (_shown(one) for one in channels.renew_webhooks(crm.to, datetime.now(UTC) + channels.LONGEST))
        case ("close", ids):
            chosen = [_id(one) for one in ids.split(",")]
            channels.close_channels(crm.calls, chosen)
            agreed.forget(crm.to, chosen)
            return ({"closed": one} for one in chosen)
        case _:
            raise _unknown(("notifications", verb, *rest))


def _opened(crm: Crm, url: str, told: Told) -> Told:
    """Opens a channel and keeps it, so that it is listened for and kept alive. An address without a path gets one that
    nobody guesses: messages are not signed."""
    if urlsplit(url).path in ("", "/"):
        url = f"{url.rstrip('/')}/{crm.to.service}/{crm.to.name}/{secrets.token_hex(12)}"
    events, fields = _texts(told.get("events")), told.get("fields")
    if not events or not (fields is None or isinstance(fields, Mapping)):
        raise UsageFault(what="bad-value", where="events", do=_DO_OPEN)
    watched = {str(module): _texts(names) for module, names in (fields or {}).items()}
    channel = channels.open_channel(crm.calls, url, events, datetime.now(UTC), watched)
    agreed.agree(crm.to, channel)
    return _shown(channel)


def _shown(channel: agreed.Agreed) -> Told:
    ends = channel.ends.isoformat(timespec="seconds") if channel.ends is not None else ""
    return {"id": channel.id, "events": list(channel.events), "ends": ends, "path": channel.path}


def _result(one: writing.Written) -> Told:
    told = {"place": one.place, "id": one.id, "done": one.good, "code": one.code}
    return told | ({"field": one.field} if one.field else {}) | ({"doubtful": True} if one.doubtful else {})


def _known(crm: Crm) -> frozenset[str]:
    return frozenset(str(module.get("api_name")) for module in crm.calls.modules())


def _found(row: Row | None, one: str) -> Iterable[Told]:
    if row is None:
        raise ServiceRefused(where=one, why="not-there")
    return chain((row,))


def _told_records(told: Told) -> Sequence[Told]:
    found = told.get("records")
    if not isinstance(found, list) or not found or not all(isinstance(one, Mapping) for one in found):
        raise UsageFault(what="bad-value", where="records", do="""--arguments '{"records": [{"Deal_Name": "…"}]}'""")
    return found


def _texts(value: object) -> tuple[str, ...]:
    found = [value] if isinstance(value, str) else value
    return tuple(str(one) for one in found) if isinstance(found, list) else ()


def _name(word: str) -> str:
    if not word.isascii() or not word.replace("_", "").isalnum():
        raise UsageFault(what="bad-value", where=word, do=_DO)
    return word


def _id(word: str) -> str:
    if not word.isascii() or not word.isalnum():
        raise UsageFault(what="bad-value", where=word, do=_DO)
    return word


def _unknown(words: Sequence[str]) -> UsageFault:
    return UsageFault(what="bad-value", where=" ".join(words), do=_DO)
