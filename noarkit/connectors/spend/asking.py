"""What a person asks a spend service for in words.

    REGISTER list · get ID · create · update ID · archive ID · delete ID
    jobs list · get ID · items ID · wait ID
    entries get ID
    installation show · activate

A register is one of tag-groups, tags, tax-codes, vendors, companies, employees, subscriptions and accounts. Companies
and employees are read only; vendors are archived, never deleted; subscriptions are deleted, never archived. What is
made or changed stands in what is told beside; a tag is made under the group that `groupId` names. A subscription's
secret is kept with the connection and never shown. Export jobs are read, never started; nothing here moves money.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from urllib.parse import urlsplit

from noarkit.connectors.canonical import without_secrets
from noarkit.connectors.inbox import agreed
from noarkit.connectors.settings import Connection
from noarkit.connectors.spend import jobs, writing
from noarkit.connectors.spend.calls import PLACES, part
from noarkit.connectors.spend.service import Spend, open_service
from noarkit.errors import UsageFault
from noarkit.secrets import Secret

Told = Mapping[str, object]
_DO = "noarkit connect spend:NAME tag-groups list"
_ADDRESSES = ("url",)


def carry_out(to: Connection, words: Sequence[str], told: Told) -> Iterator[Told]:
    """The answers to what was asked. Raises `UsageFault` for what cannot be asked, a ServiceFault."""
    with closing(open_service(to)) as spend:
        for found in _asked(spend, words, told):
            clean = spend.calls.client.wire.scrubber.hide_in(without_secrets(found, _ADDRESSES))
            yield clean if isinstance(clean, Mapping) else {}


def _asked(spend: Spend, words: Sequence[str], told: Told) -> Iterable[Told]:
    match tuple(words):
        case ("jobs", *rest):
            return _jobs(spend, rest)
        case ("entries", "get", one):
            return (spend.calls.entry(part(one)),)
        case ("installation", "show"):
            return (spend.calls.installation(),)
        case ("installation", "activate"):
            return (spend.calls.installation(activate=True),)
        case ("subscriptions", "create"):
            return (_subscribed(spend, told),)
        case (register, *rest) if register in PLACES:
            return _register(spend, register, rest, told)
        case _:
            raise _unknown(words)


def _register(spend: Spend, register: str, rest: Sequence[str], told: Told) -> Iterable[Told]:
    calls = spend.calls
    match tuple(rest):
        case ("list",):
            return calls.register(register)
        case ("get", one):
            return (writing.retrieve(calls, register, one),)
        case ("create",):
            return (writing.create(calls, register, told),)
        case ("update", one):
            return (writing.update(calls, register, one, told),)
        case ("archive", one):
            return (writing.archive(calls, register, one),)
        case ("delete", one):
            writing.delete(calls, register, one)
            if register == "subscriptions":
                agreed.forget(spend.to, (one,))
            return ({"deleted": one},)
        case _:
            raise _unknown((register, *rest))


def _jobs(spend: Spend, rest: Sequence[str]) -> Iterable[Told]:
    calls, version = spend.calls, spend.settings.export_version
    match tuple(rest):
        case ("list",):
            return calls.jobs(version)
        case ("get", one):
            return (calls.job(version, part(one)),)
        case ("items", one):
            return calls.job_items(version, part(one))
        case ("wait", one):
            return (jobs.wait_for(calls, version, part(one)),)
        case _:
            raise _unknown(("jobs", *rest))


def _subscribed(spend: Spend, told: Told) -> Told:
    """Subscribes, and keeps what the messages are signed with where `noarkit listen` looks. An address without a path
    gets one that nobody guesses."""
    url, events = str(told.get("url") or ""), told.get("events", [writing.CREATED_JOB])
    if not url or not isinstance(events, list):
        raise UsageFault(what="bad-value", where="url", do="""--arguments '{"url": "https://hooks.example.org"}'""")
    if urlsplit(url).path in ("", "/"):
        url = f"{url.rstrip('/')}/{spend.to.service}/{spend.to.name}/{secrets.token_hex(12)}"
    wanted = tuple(str(event) for event in events)
    one, secret = writing.subscribe(spend.calls, url, wanted)
    agreed.agree(spend.to, agreed.Agreed(one, url, wanted, Secret(secret)))
    return {"id": one, "events": list(wanted), "path": urlsplit(url).path}


def _unknown(words: Sequence[str]) -> UsageFault:
    return UsageFault(what="bad-value", where=" ".join(words), do=_DO)
