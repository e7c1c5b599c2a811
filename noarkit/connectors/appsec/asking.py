"""What a person asks a security service for in its own words, as its own command line does.

    project list · create · get ID · set ID · delete ID                  application likewise
    project tags · last-scan ID · branches ID · scan tags
    scan list · create PROJECT · get ID · wait ID · cancel ID · delete ID
    results show SCAN [ENGINE]                                           as JSON or SARIF, to a file where one is named
    vulnerability list SCAN
    webhook list · create · delete ID

What is made or set stands in what is told beside. For a scan: a zip to upload under `upload`, or `repoUrl`; `branch`;
`scanners`. For a webhook: `url`, and where wanted `name`, `events`, `verify_tls`, `signed`; what its messages are
proven by is kept with the connection and never shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.connectors.appsec import writing
from noarkit.connectors.appsec.service import AppSec, open_service
from noarkit.connectors.appsec.vulnerabilities import vulnerabilities
from noarkit.connectors.appsec.writing import Hook, Order, Told
from noarkit.connectors.canonical import canonical, parse, without_secrets
from noarkit.connectors.inbox import agreed
from noarkit.connectors.settings import Connection
from noarkit.errors import ItemVanished, UsageFault
from noarkit.safe.atomic import write_bytes
from noarkit.secrets import Secret

_KINDS = {"project": "projects", "application": "applications"}
FORMATS = ("json", "sarif")
_DO = "noarkit connect appsec:NAME project list"
_HIDDEN = ("url",)  # of a webhook: where nothing is signed, its path is the secret


def carry_out(to: Connection, words: Sequence[str], told: Told) -> Iterator[Mapping[str, object]]:
    """The answers to what was asked. Raises `UsageFault` for what cannot be asked, a ServiceFault."""
    form, output = str(told.get("report_format") or ""), str(told.get("output") or "")
    if (form or output) and tuple(words[:2]) != ("results", "show"):
        raise _unknown((*words, form or output))
    with closing(open_service(to)) as service:
        if tuple(words[:2]) == ("results", "show"):
            yield from _results(service, words[2:], form or "json", output)
            return
        for found in _asked(service, words, told):
            yield _shown(service, found)


def _asked(service: AppSec, words: Sequence[str], told: Told) -> Iterable[Told]:
    match tuple(words):
        case ("scan", *rest):
            return _scan(service, rest, told)
        case ("vulnerability", "list", scan):
            return vulnerabilities(service.results(scan))
        case ("webhook", *rest):
            return _webhook(service, rest, told)
        case (kind, *rest) if kind in _KINDS:
            return _thing(service, _KINDS[kind], rest, told)
        case _:
            raise _unknown(words)


def _thing(service: AppSec, kind: str, rest: Sequence[str], told: Told) -> Iterable[Told]:
    """A project or an application."""
    calls = service.calls
    match tuple(rest):
        case ("tags",) if kind == "projects":
            return (calls.tags(kind),)
        case ("last-scan", one) if kind == "projects":
            return (calls.last_scan(one),)
        case ("branches", one) if kind == "projects":
            return ({"branch": name} for name in calls.branches(one))
        case ("list",):
            return calls.projects() if kind == "projects" else calls.applications()
        case ("create",):
            return (writing.create(calls, kind, told),)
        case ("get", one):
            return (writing.retrieve(calls, kind, one) or {},)
        case ("set", one):
            writing.update(calls, kind, one, told)
            return (writing.retrieve(calls, kind, one) or {},)
        case ("delete", one):
            writing.delete(calls, kind, one)
            return ({"deleted": one},)
        case _:
            raise _unknown((kind, *rest))


def _scan(service: AppSec, rest: Sequence[str], told: Told) -> Iterable[Told]:
    calls, clock = service.calls, service.calls.client.clock
    match tuple(rest):
        case ("list",):
            return calls.scans(None, datetime.now(UTC))
        case ("tags",):
            return (calls.tags("scans"),)
        case ("create", project):
            return (writing.start(calls, _order(service, project, told), clock),)
        case ("get", one):
            return (writing.retrieve(calls, "scans", one) or {},)
        case ("wait", one):
            settings = service.settings
            return (writing.poll(calls, one, clock, settings.poll_s, settings.scan_timeout_s),)
        case ("cancel", one):
            writing.cancel(calls, one)
            return ({"canceled": one},)
        case ("delete", one):
            writing.delete(calls, "scans", one)
            return ({"deleted": one},)
        case _:
            raise _unknown(("scan", *rest))


def _webhook(service: AppSec, rest: Sequence[str], told: Told) -> Iterable[Told]:
    match tuple(rest):
        case ("list",):
            return service.calls.webhooks()
        case ("create",):
            return (_hooked(service, told),)
        case ("delete", one):
            writing.delete_webhook(service.calls, one)
            agreed.forget(service.to, (one,))
            return ({"deleted": one},)
        case _:
            raise _unknown(("webhook", *rest))


def _hooked(service: AppSec, told: Told) -> Told:
    """Asks for a webhook, and keeps what proves its messages where `noarkit listen` looks. An unsigned one is proven by
    a path that nobody guesses."""
    url, events = str(told.get("url") or "").rstrip("/"), told.get("events", list(writing.EVENTS))
    flags = [told.get(name, True) for name in ("signed", "verify_tls")]
    split = urlsplit(url)
    if (
        split.scheme not in ("http", "https")
        or not isinstance(events, list)
        or not all(one in (True, False) for one in flags)
    ):
        raise UsageFault(what="bad-value", where="url", do="""--arguments '{"url": "https://hooks.example.org"}'""")
    signed, verifies = map(bool, flags)
    proof = secrets.token_hex(24)
    url += f"/{service.to.service}/{service.to.name}" if split.path in ("", "/") else ""
    url += "" if signed else f"/{proof}"
    name = str(told.get("name") or f"noarkit {service.to.name}")
    hook = Hook(name, url, proof if signed else "", tuple(str(event) for event in events), verifies)
    made = writing.webhook(service.calls, hook)
    agreed.agree(service.to, agreed.Agreed(str(made["id"]), url, hook.events, Secret(proof)))
    return {"id": made["id"], "events": list(hook.events), "path": urlsplit(url).path, "signed": signed}


def _results(service: AppSec, rest: Sequence[str], form: str, output: str) -> Iterator[Mapping[str, object]]:
    if form not in FORMATS or not 1 <= len(rest) <= 2 or (len(rest) == 2 and form == "sarif"):
        raise _unknown(("results", "show", *rest, form))
    scan, engine = rest[0], "".join(rest[1:])
    found = [one for one in service.results(scan) if not engine or one.get("type") == engine]
    data = service.sarif(scan) if form == "sarif" else canonical({"results": found})
    if output:
        write_bytes(Path(output), data, mode=0o600)
        yield {"output": output}
    else:
        told = parse(data, service.to.where)
        yield told if isinstance(told, Mapping) else {}


def _order(service: AppSec, project: str, told: Told) -> Order:
    url, source = "", str(told.get("upload") or "")
    if source:
        try:
            url = writing.upload_file(service.calls, Path(source), service.settings.upload_part_bytes)
        except OSError as error:
            raise ItemVanished(key=source, why="not-there") from error
    scanners = told.get("scanners")
    names = tuple(str(one) for one in scanners) if isinstance(scanners, list) else ("sast",)
    return Order(project, url, str(told.get("repoUrl") or ""), str(told.get("branch") or "main"), names)


def _shown(service: AppSec, found: Told) -> Mapping[str, object]:
    """Without keys and credentials, and without a secret of ours that the service repeats."""
    shown = service.calls.client.wire.scrubber.hide_in(without_secrets(found, _HIDDEN))
    return shown if isinstance(shown, Mapping) else {}


def _unknown(words: Sequence[str]) -> UsageFault:
    return UsageFault(what="bad-value", where=" ".join(word for word in words if word), do=_DO)
