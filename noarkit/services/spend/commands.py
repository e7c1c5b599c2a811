"""Commands of a spend connection.

    REGISTER list · get ID · create · update ID · archive ID · delete ID
    jobs list · get ID · items ID · wait ID
    entries get ID
    installation show · activate

A register is one of tag-groups, tags, tax-codes, vendors, companies, employees, subscriptions and accounts. Companies
and employees are read only; vendors are archived, never deleted; subscriptions are deleted, never archived. Arguments
hold what is created or changed; a tag is created under the group that `groupId` names. A subscription's secret is
stored with the connection and never shown. Export jobs are read, never started; nothing here moves money.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from urllib.parse import urlsplit

from noarkit.errors import UsageFault
from noarkit.secrets import Secret
from noarkit.services.canonical import without_secrets
from noarkit.services.inbox import webhooks
from noarkit.services.settings import Connection
from noarkit.services.spend import jobs, write_calls
from noarkit.services.spend.calls import PLACES, path_part
from noarkit.services.spend.service import Spend, open_service

JsonObject = Mapping[str, object]
_DO = "noarkit connect spend:NAME tag-groups list"
_ADDRESSES = ("url",)


def run_command(connection: Connection, words: Sequence[str], arguments: JsonObject) -> Iterator[JsonObject]:
    """Runs one command and yields its results. Raises `UsageFault` for an unknown command, a ServiceFault."""
    with closing(open_service(connection)) as spend:
        for row in _dispatch(spend, words, arguments):
            clean = spend.calls.client.wire.scrubber.hide_in(without_secrets(row, _ADDRESSES))
            yield clean if isinstance(clean, Mapping) else {}


def _dispatch(spend: Spend, words: Sequence[str], arguments: JsonObject) -> Iterable[JsonObject]:
    match tuple(words):
        case ("jobs", *remaining):
            return _run_jobs(spend, remaining)
        case ("entries", "get", entry_id):
            return (spend.calls.entry(path_part(entry_id)),)
        case ("installation", "show"):
            return (spend.calls.installation(),)
        case ("installation", "activate"):
            return (spend.calls.installation(activate=True),)
        case ("subscriptions", "create"):
            return (_subscribe(spend, arguments),)
        case (register, *remaining) if register in PLACES:
            return _run_register(spend, register, remaining, arguments)
        case _:
            raise _unknown_command(words)


def _run_register(spend: Spend, register: str, remaining: Sequence[str], arguments: JsonObject) -> Iterable[JsonObject]:
    calls = spend.calls
    match tuple(remaining):
        case ("list",):
            return calls.register(register)
        case ("get", record_id):
            return (write_calls.retrieve(calls, register, record_id),)
        case ("create",):
            return (write_calls.create(calls, register, arguments),)
        case ("update", record_id):
            return (write_calls.update(calls, register, record_id, arguments),)
        case ("archive", record_id):
            return (write_calls.archive(calls, register, record_id),)
        case ("delete", record_id):
            write_calls.delete(calls, register, record_id)
            if register == "subscriptions":
                webhooks.forget_webhooks(spend.connection, (record_id,))
            return ({"deleted": record_id},)
        case _:
            raise _unknown_command((register, *remaining))


def _run_jobs(spend: Spend, remaining: Sequence[str]) -> Iterable[JsonObject]:
    calls, version = spend.calls, spend.settings.export_version
    match tuple(remaining):
        case ("list",):
            return calls.jobs(version)
        case ("get", job_id):
            return (calls.job(version, path_part(job_id)),)
        case ("items", job_id):
            return calls.job_items(version, path_part(job_id))
        case ("wait", job_id):
            return (jobs.wait_for(calls, version, path_part(job_id)),)
        case _:
            raise _unknown_command(("jobs", *remaining))


def _subscribe(spend: Spend, arguments: JsonObject) -> JsonObject:
    """Creates a subscription, and stores the signing secret for `noarkit listen`. An address without a path gets a
    random one."""
    url, events = str(arguments.get("url") or ""), arguments.get("events", [write_calls.CREATED_JOB])
    if not url or not isinstance(events, list):
        raise UsageFault(what="bad-value", where="url", do="""--arguments '{"url": "https://hooks.example.org"}'""")
    if urlsplit(url).path in ("", "/"):
        url = f"{url.rstrip('/')}/{spend.connection.service}/{spend.connection.name}/{secrets.token_hex(12)}"
    event_names = tuple(str(event) for event in events)
    subscription_id, secret = write_calls.subscribe(spend.calls, url, event_names)
    webhooks.save_webhook(spend.connection, webhooks.Webhook(subscription_id, url, event_names, Secret(secret)))
    return {"id": subscription_id, "events": list(event_names), "path": urlsplit(url).path}


def _unknown_command(words: Sequence[str]) -> UsageFault:
    return UsageFault(what="bad-value", where=" ".join(words), do=_DO)
