"""Commands of a spend connection: `COMMANDS` lists them.

A register is one of tag-groups, tags, tax-codes, vendors, companies, employees, subscriptions and accounts. Companies
and employees are read only; vendors are archived, never deleted; subscriptions are deleted, never archived. Arguments
hold what is created or changed; a tag is created under the group that `groupId` names. A subscription's secret is
stored with the connection and never shown. Export jobs are read, never started; nothing here moves money.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from urllib.parse import urlsplit

from noarkit.errors import UsageFault
from noarkit.secrets import Secret
from noarkit.services.canonical import without_secrets
from noarkit.services.commands import CommandTable, Invocation, JsonObject, Verb
from noarkit.services.inbox import webhooks
from noarkit.services.spend import jobs, write_calls
from noarkit.services.spend.calls import PLACES, path_part
from noarkit.services.spend.service import Spend, open_service

_ADDRESSES = ("url",)


def _get_row(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.retrieve(spend.calls, used.resource, used.words[0]),)


def _create_row(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.create(spend.calls, used.resource, used.values),)


def _update_row(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.update(spend.calls, used.resource, used.words[0], used.values),)


def _archive_row(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.archive(spend.calls, used.resource, used.words[0]),)


def _delete_row(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    write_calls.delete(spend.calls, used.resource, used.words[0])
    return ({"deleted": used.words[0]},)


def _delete_subscription(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    deleted = _delete_row(spend, used)
    webhooks.forget_webhooks(spend.connection, used.words)
    return deleted


def _get_job(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    return (spend.calls.job(spend.settings.export_version, path_part(used.words[0])),)


def _list_job_items(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    return spend.calls.job_items(spend.settings.export_version, path_part(used.words[0]))


def _wait_for_job(spend: Spend, used: Invocation) -> Iterable[JsonObject]:
    return (jobs.wait_for(spend.calls, spend.settings.export_version, path_part(used.words[0])),)


def _subscribe(spend: Spend, arguments: JsonObject) -> JsonObject:
    """Creates a subscription, and stores the signing secret for `noarkit listen`. An address without a path gets a
    random one."""
    url, events = str(arguments.get("url") or ""), arguments.get("events", [write_calls.CREATED_JOB])
    if not url or not isinstance(events, list):
        raise UsageFault(
            what="bad-value", where="url", fix="--arguments", own="json", example='{"url": "https://hooks.example.org"}'
        )
    if urlsplit(url).path in ("", "/"):
        url = f"{url.rstrip('/')}/{spend.connection.service}/{spend.connection.name}/{secrets.token_hex(12)}"
    event_names = tuple(str(event) for event in events)
    subscription_id, secret = write_calls.subscribe(spend.calls, url, event_names)
    webhooks.save_webhook(spend.connection, webhooks.Webhook(subscription_id, url, event_names, Secret(secret)))
    return {"id": subscription_id, "events": list(event_names), "path": urlsplit(url).path}


def _without_secrets(spend: Spend, row: JsonObject) -> object:
    return spend.calls.client.wire.scrubber.hide_in(without_secrets(row, _ADDRESSES))


_READS: tuple[Verb[Spend], ...] = (
    Verb("list", "", lambda spend, used: spend.calls.register(used.resource)),
    Verb("get", "ID", _get_row),
)
# which register takes which change is judged by `write_calls`, which says what the service allows
_CHANGES: tuple[Verb[Spend], ...] = (
    Verb("create", "", _create_row, None),
    Verb("update", "ID", _update_row, None),
    Verb("archive", "ID", _archive_row),
    Verb("delete", "ID", _delete_row),
)
_SUBSCRIPTIONS: tuple[Verb[Spend], ...] = (
    *_READS,
    Verb("create", "", lambda spend, used: (_subscribe(spend, used.values),), ("url", "events")),
    Verb("update", "ID", _update_row, None),
    Verb("archive", "ID", _archive_row),
    Verb("delete", "ID", _delete_subscription),
)
COMMANDS = CommandTable(
    "spend",
    open_service,
    {
        **{register: (*_READS, *_CHANGES) for register in PLACES if register != "subscriptions"},
        "subscriptions": _SUBSCRIPTIONS,
        "jobs": (
            Verb("list", "", lambda spend, used: spend.calls.jobs(spend.settings.export_version)),
            Verb("get", "ID", _get_job),
            Verb("items", "ID", _list_job_items),
            Verb("wait", "ID", _wait_for_job),
        ),
        "entries": (Verb("get", "ID", lambda spend, used: (spend.calls.entry(path_part(used.words[0])),)),),
        "installation": (
            Verb("show", "", lambda spend, used: (spend.calls.installation(),)),
            Verb("activate", "", lambda spend, used: (spend.calls.installation(activate=True),)),
        ),
    },
    _without_secrets,
)
