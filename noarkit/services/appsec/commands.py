"""Commands of an application security service, named as in its own command line.

    project list · create · get ID · set ID · delete ID                  application likewise
    project tags · last-scan ID · branches ID · scan tags
    scan list · create PROJECT · get ID · wait ID · cancel ID · delete ID
    results show SCAN [ENGINE]                                           as JSON or SARIF, to a file where one is named
    vulnerability list SCAN
    webhook list · create · delete ID

The members of what is created or changed are given as arguments. For a scan: a zip to upload under `upload`, or
`repoUrl`; `branch`; `scanners`. For a webhook: `url`, and optionally `name`, `events`, `verify_tls`, `signed`; the
secret that proves its messages is stored with the connection and never shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.errors import ItemVanished, UsageFault
from noarkit.safe.atomic import write_bytes
from noarkit.secrets import Secret
from noarkit.services.appsec import write_calls
from noarkit.services.appsec.service import AppSec, open_service
from noarkit.services.appsec.vulnerabilities import vulnerabilities
from noarkit.services.appsec.write_calls import Hook, JsonObject, Order
from noarkit.services.canonical import canonical, parse, without_secrets
from noarkit.services.inbox import webhooks
from noarkit.services.settings import Connection

_KINDS = {"project": "projects", "application": "applications"}
FORMATS = ("json", "sarif")
_DO = "noarkit connect appsec:NAME project list"
_SECRET_MEMBERS = ("url",)  # of a webhook: where nothing is signed, its path is the secret


def run_command(connection: Connection, words: Sequence[str], arguments: JsonObject) -> Iterator[Mapping[str, object]]:
    """Runs one command and yields its results. Raises `UsageFault` for an unknown command, a ServiceFault."""
    form, output = str(arguments.get("report_format") or ""), str(arguments.get("output") or "")
    if (form or output) and tuple(words[:2]) != ("results", "show"):
        raise _unknown_command((*words, form or output))
    with closing(open_service(connection)) as service:
        if tuple(words[:2]) == ("results", "show"):
            yield from _show_results(service, words[2:], form or "json", output)
            return
        for row in _dispatch(service, words, arguments):
            yield _without_secrets(service, row)


def _dispatch(service: AppSec, words: Sequence[str], arguments: JsonObject) -> Iterable[JsonObject]:
    match tuple(words):
        case ("scan", *remaining):
            return _run_scan(service, remaining, arguments)
        case ("vulnerability", "list", scan):
            return vulnerabilities(service.results(scan))
        case ("webhook", *remaining):
            return _run_webhook(service, remaining, arguments)
        case (kind, *remaining) if kind in _KINDS:
            return _run_object(service, _KINDS[kind], remaining, arguments)
        case _:
            raise _unknown_command(words)


def _run_object(service: AppSec, kind: str, remaining: Sequence[str], arguments: JsonObject) -> Iterable[JsonObject]:
    """Runs a command on projects or applications."""
    calls = service.calls
    match tuple(remaining):
        case ("tags",) if kind == "projects":
            return (calls.tags(kind),)
        case ("last-scan", object_id) if kind == "projects":
            return (calls.last_scan(object_id),)
        case ("branches", object_id) if kind == "projects":
            return ({"branch": name} for name in calls.branches(object_id))
        case ("list",):
            return calls.projects() if kind == "projects" else calls.applications()
        case ("create",):
            return (write_calls.create(calls, kind, arguments),)
        case ("get", object_id):
            return (write_calls.retrieve(calls, kind, object_id) or {},)
        case ("set", object_id):
            write_calls.update(calls, kind, object_id, arguments)
            return (write_calls.retrieve(calls, kind, object_id) or {},)
        case ("delete", object_id):
            write_calls.delete(calls, kind, object_id)
            return ({"deleted": object_id},)
        case _:
            raise _unknown_command((kind, *remaining))


def _run_scan(service: AppSec, remaining: Sequence[str], arguments: JsonObject) -> Iterable[JsonObject]:
    calls, clock = service.calls, service.calls.client.clock
    match tuple(remaining):
        case ("list",):
            return calls.scans(None, datetime.now(UTC))
        case ("tags",):
            return (calls.tags("scans"),)
        case ("create", project):
            return (write_calls.start(calls, _order(service, project, arguments), clock),)
        case ("get", scan_id):
            return (write_calls.retrieve(calls, "scans", scan_id) or {},)
        case ("wait", scan_id):
            settings = service.settings
            return (write_calls.poll(calls, scan_id, clock, settings.poll_s, settings.scan_timeout_s),)
        case ("cancel", scan_id):
            write_calls.cancel(calls, scan_id)
            return ({"canceled": scan_id},)
        case ("delete", scan_id):
            write_calls.delete(calls, "scans", scan_id)
            return ({"deleted": scan_id},)
        case _:
            raise _unknown_command(("scan", *remaining))


def _run_webhook(service: AppSec, remaining: Sequence[str], arguments: JsonObject) -> Iterable[JsonObject]:
    match tuple(remaining):
        case ("list",):
            return service.calls.webhooks()
        case ("create",):
            return (_create_webhook(service, arguments),)
        case ("delete", webhook_id):
            write_calls.delete_webhook(service.calls, webhook_id)
            webhooks.forget_webhooks(service.connection, (webhook_id,))
            return ({"deleted": webhook_id},)
        case _:
            raise _unknown_command(("webhook", *remaining))


def _create_webhook(service: AppSec, arguments: JsonObject) -> JsonObject:
    """Creates a webhook, and stores the secret that proves its messages for `noarkit listen`. An unsigned one is proven
    by a path that cannot be guessed."""
    url, events = str(arguments.get("url") or "").rstrip("/"), arguments.get("events", list(write_calls.EVENTS))
    flags = [arguments.get(name, True) for name in ("signed", "verify_tls")]
    split = urlsplit(url)
    if (
        split.scheme not in ("http", "https")
        or not isinstance(events, list)
        or not all(flag in (True, False) for flag in flags)
    ):
        raise UsageFault(what="bad-value", where="url", do="""--arguments '{"url": "https://hooks.example.org"}'""")
    is_signed, verifies_tls = map(bool, flags)
    proof = secrets.token_hex(24)
    url += f"/{service.connection.service}/{service.connection.name}" if split.path in ("", "/") else ""
    url += "" if is_signed else f"/{proof}"
    name = str(arguments.get("name") or f"noarkit {service.connection.name}")
    hook = Hook(name, url, proof if is_signed else "", tuple(str(event) for event in events), verifies_tls)
    created = write_calls.create_webhook(service.calls, hook)
    webhooks.save_webhook(service.connection, webhooks.Webhook(str(created["id"]), url, hook.events, Secret(proof)))
    return {"id": created["id"], "events": list(hook.events), "path": urlsplit(url).path, "signed": is_signed}


def _show_results(service: AppSec, remaining: Sequence[str], form: str, output: str) -> Iterator[Mapping[str, object]]:
    if form not in FORMATS or not 1 <= len(remaining) <= 2 or (len(remaining) == 2 and form == "sarif"):
        raise _unknown_command(("results", "show", *remaining, form))
    scan, engine = remaining[0], "".join(remaining[1:])
    findings = [finding for finding in service.results(scan) if not engine or finding.get("type") == engine]
    data = service.sarif(scan) if form == "sarif" else canonical({"results": findings})
    if output:
        write_bytes(Path(output), data, mode=0o600)
        yield {"output": output}
    else:
        value = parse(data, service.connection.full_name)
        yield value if isinstance(value, Mapping) else {}


def _order(service: AppSec, project: str, arguments: JsonObject) -> Order:
    url, source = "", str(arguments.get("upload") or "")
    if source:
        try:
            url = write_calls.upload_file(service.calls, Path(source), service.settings.upload_part_bytes)
        except OSError as error:
            raise ItemVanished(key=source, why="not-there") from error
    scanners = arguments.get("scanners")
    names = tuple(str(scanner) for scanner in scanners) if isinstance(scanners, list) else ("sast",)
    return Order(project, url, str(arguments.get("repoUrl") or ""), str(arguments.get("branch") or "main"), names)


def _without_secrets(service: AppSec, value: JsonObject) -> Mapping[str, object]:
    """Removes keys, credentials, and secrets of ours that the service repeats."""
    clean = service.calls.client.wire.scrubber.hide_in(without_secrets(value, _SECRET_MEMBERS))
    return clean if isinstance(clean, Mapping) else {}


def _unknown_command(words: Sequence[str]) -> UsageFault:
    return UsageFault(what="bad-value", where=" ".join(word for word in words if word), do=_DO)
