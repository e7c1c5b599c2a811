"""Commands of an application security service, named as in its own command line: `COMMANDS` lists them.

Results of a scan come as JSON or SARIF, to a file where one is named.
The members of what is created or changed are given as arguments. For a scan: a zip to upload under `upload`, or
`repoUrl`; `branch`; `scanners`. For a webhook: `url`, and optionally `name`, `events`, `verify_tls`, `signed`; the
secret that proves its messages is stored with the connection and never shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.errors import ItemVanished, UsageFault
from noarkit.safe.atomic import write_bytes
from noarkit.secrets import Secret
from noarkit.services.appsec import write_calls
from noarkit.services.appsec.service import AppSec, open_service
from noarkit.services.appsec.vulnerabilities import vulnerabilities
from noarkit.services.appsec.write_calls import Hook, Order
from noarkit.services.canonical import canonical, parse, without_secrets
from noarkit.services.commands import CommandTable, Invocation, JsonObject, Verb, text_list
from noarkit.services.inbox import webhooks

_KINDS = {"project": "projects", "application": "applications", "scan": "scans"}
FORMATS = ("json", "sarif")
_SCAN_MEMBERS = ("upload", "repoUrl", "branch", "scanners")
_WEBHOOK_MEMBERS = ("url", "name", "events", "verify_tls", "signed")
_SCAN = '{"upload": "source.zip"}'
_SECRET_MEMBERS = ("url",)  # of a webhook: where nothing is signed, its path is the secret


def _list_objects(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    return service.calls.projects() if used.resource == "project" else service.calls.applications()


def _create_object(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.create(service.calls, _KINDS[used.resource], used.values),)


def _get_object(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.retrieve(service.calls, _KINDS[used.resource], used.words[0]) or {},)


def _set_object(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    write_calls.update(service.calls, _KINDS[used.resource], used.words[0], used.values)
    return _get_object(service, used)


def _delete_object(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    write_calls.delete(service.calls, _KINDS[used.resource], used.words[0])
    return ({"deleted": used.words[0]},)


def _list_tags(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    return (service.calls.tags(_KINDS[used.resource]),)


def _list_branches(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    return ({"branch": name} for name in service.calls.branches(used.words[0]))


def _create_scan(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    order = _order(service, used.words[0], used.values)
    return (write_calls.start(service.calls, order),)


def _wait_for_scan(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    settings = service.settings
    return (write_calls.poll(service.calls, used.words[0], settings.poll_s, settings.scan_timeout_s),)


def _cancel_scan(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    write_calls.cancel(service.calls, used.words[0])
    return ({"canceled": used.words[0]},)


def _delete_webhook(service: AppSec, used: Invocation) -> Iterable[JsonObject]:
    write_calls.delete_webhook(service.calls, used.words[0])
    webhooks.forget_webhooks(service.connection, used.words)
    return ({"deleted": used.words[0]},)


def _create_webhook(service: AppSec, arguments: JsonObject) -> JsonObject:
    """Creates a webhook, and stores the secret that proves its messages for `noarkit listen`. An unsigned one is proven
    by a path that cannot be guessed."""
    url = str(arguments.get("url") or "").rstrip("/")
    events = text_list(arguments.get("events", list(write_calls.EVENTS)), "events")
    flags = [arguments.get(name, True) for name in ("signed", "verify_tls")]
    split = urlsplit(url)
    if split.scheme not in ("http", "https") or not all(flag in (True, False) for flag in flags):
        raise UsageFault(
            what="bad-value", where="url", fix="--arguments", own="json", example='{"url": "https://hooks.example.org"}'
        )
    is_signed, verifies_tls = map(bool, flags)
    proof = secrets.token_hex(24)
    url += f"/{service.connection.service}/{service.connection.name}" if split.path in ("", "/") else ""
    url += "" if is_signed else f"/{proof}"
    name = str(arguments.get("name") or f"noarkit {service.connection.name}")
    hook = Hook(name, url, proof if is_signed else "", events, verifies_tls)
    created = write_calls.create_webhook(service.calls, hook)
    webhooks.save_webhook(service.connection, webhooks.Webhook(str(created["id"]), url, hook.events, Secret(proof)))
    return {"id": created["id"], "events": list(hook.events), "path": urlsplit(url).path, "signed": is_signed}


def _show_results(service: AppSec, used: Invocation) -> Iterator[JsonObject]:
    form, output = str(used.values.get("report_format") or "json"), str(used.values.get("output") or "")
    scan, engine = used.words[0], "".join(used.words[1:])
    if form not in FORMATS or (engine and form == "sarif"):
        where = " ".join(("results show", *used.words, form))
        raise UsageFault(what="bad-value", where=where, do="noarkit connect appsec:NAME results show SCAN")
    findings = [finding for finding in service.results(scan) if not engine or finding.get("type") == engine]
    data = service.sarif(scan) if form == "sarif" else canonical({"results": findings})
    if output:
        write_bytes(Path(output), data, mode=0o600)
        yield {"output": output}
    else:
        value = parse(data, service.connection.full_name)
        yield value if isinstance(value, Mapping) else {}


def _order(service: AppSec, project: str, arguments: JsonObject) -> Order:
    scanners = text_list(arguments.get("scanners", ["sast"]), "scanners")
    url, source = "", str(arguments.get("upload") or "")
    if not source and not arguments.get("repoUrl"):
        raise UsageFault(
            what="missing-argument", where="--arguments: upload", fix="--arguments", own="json", example=_SCAN
        )
    if source:
        try:
            url = write_calls.upload_file(service.calls, Path(source), service.settings.upload_part_bytes)
        except OSError as error:
            raise ItemVanished(key=source, why="not-there") from error
    repository, branch = str(arguments.get("repoUrl") or ""), str(arguments.get("branch") or "main")
    return Order(project, url, repository, branch, scanners)


def _without_secrets(service: AppSec, value: JsonObject) -> object:
    """Removes keys, credentials, and secrets of ours that the service repeats."""
    return service.calls.client.wire.scrubber.hide_in(without_secrets(value, _SECRET_MEMBERS))


def _object_verbs(kind: str) -> tuple[Verb[AppSec], ...]:
    members = write_calls.WRITABLE[kind]
    return (
        Verb("list", "", _list_objects),
        Verb("create", "", _create_object, members),
        Verb("get", "ID", _get_object),
        Verb("set", "ID", _set_object, members),
        Verb("delete", "ID", _delete_object),
    )


COMMANDS = CommandTable(
    "appsec",
    open_service,
    {
        "project": (
            *_object_verbs("projects"),
            Verb("tags", "", _list_tags),
            Verb("last-scan", "ID", lambda service, used: (service.calls.last_scan(used.words[0]),)),
            Verb("branches", "ID", _list_branches),
        ),
        "application": _object_verbs("applications"),
        "scan": (
            Verb("list", "", lambda service, used: service.calls.scans(None, datetime.now(UTC))),
            Verb("create", "PROJECT", _create_scan, _SCAN_MEMBERS),
            Verb("get", "ID", _get_object),
            Verb("wait", "ID", _wait_for_scan),
            Verb("cancel", "ID", _cancel_scan),
            Verb("delete", "ID", _delete_object),
            Verb("tags", "", _list_tags),
        ),
        "results": (Verb("show", "SCAN [ENGINE]", _show_results, formats=FORMATS, returns_clean=True),),
        "vulnerability": (Verb("list", "SCAN", lambda service, used: vulnerabilities(service.results(used.words[0]))),),
        "webhook": (
            Verb("list", "", lambda service, used: service.calls.webhooks()),
            Verb("create", "", lambda service, used: (_create_webhook(service, used.values),), _WEBHOOK_MEMBERS),
            Verb("delete", "ID", _delete_webhook),
        ),
    },
    _without_secrets,
)
