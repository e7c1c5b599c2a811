"""What a person asks a security service for in its own words, as its own command line does.

    project list · project create · project get ID · project set ID · project delete ID      (application likewise)
    scan create PROJECT · scan get ID · scan cancel ID · scan delete ID · results show SCAN [sarif]

What is made or set stands in what is told beside: a zip to upload under `upload`, or `repoUrl`; `branch`; `scanners`.
Results go to a file where `output` names one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from noarkit.connectors.appsec import writing
from noarkit.connectors.appsec.service import AppSec, open_service
from noarkit.connectors.appsec.writing import Order, Told
from noarkit.connectors.canonical import canonical, without_secrets
from noarkit.connectors.settings import Connection
from noarkit.errors import ItemVanished, UsageFault
from noarkit.safe.atomic import write_bytes

_KINDS = {"project": "projects", "application": "applications", "scan": "scans"}
_FORMATS = ("json", "sarif")
_DO = "noarkit connect appsec:NAME project list"


def carry_out(to: Connection, words: Sequence[str], told: Told) -> Iterator[Mapping[str, object]]:
    """The answers to what was asked. Raises `UsageFault` for what cannot be asked, a ServiceFault."""
    asked = (*words, "", "", "")
    with closing(open_service(to)) as service:
        if asked[0] == "results" and asked[1] == "show" and asked[2] and len(words) < 5:
            yield from _results(service, asked[2], asked[3] or "json", str(told.get("output") or ""))
        elif asked[0] in _KINDS and len(words) < 4:
            for found in _asked(service, _KINDS[asked[0]], (asked[1], asked[2]), told):
                yield _shown(found)
        else:
            raise UsageFault(what="bad-value", where=" ".join(words), do=_DO)


def _results(service: AppSec, scan: str, form: str, output: str) -> Iterator[Mapping[str, object]]:
    if form not in _FORMATS:
        raise UsageFault(what="bad-value", where=form, do=_DO)
    data = service.sarif(scan) if form == "sarif" else canonical({"results": service.results(scan)})
    if output:
        write_bytes(Path(output), data, mode=0o600)
        yield {"output": output}
    else:
        yield json.loads(data)


def _asked(service: AppSec, kind: str, asked: tuple[str, str], told: Told) -> Iterator[Told]:
    calls = service.calls
    match asked:
        case ("list", "") if kind != "scans":
            yield from calls.projects() if kind == "projects" else calls.applications()
        case ("create", project) if kind == "scans" and project:
            yield writing.start(calls, _order(service, project, told), calls.client.clock)
        case ("create", "") if kind != "scans":
            yield writing.create(calls, kind, told)
        case ("get", one) if one:
            yield writing.retrieve(calls, kind, one) or {}
        case ("set", one) if one and kind != "scans":
            writing.update(calls, kind, one, told)
            yield writing.retrieve(calls, kind, one) or {}
        case ("cancel", one) if one and kind == "scans":
            writing.cancel(calls, one)
        case ("delete", one) if one:
            writing.delete(calls, kind, one)
        case _:
            raise UsageFault(what="bad-value", where=" ".join(asked), do=_DO)


def _order(service: AppSec, project: str, told: Told) -> Order:
    url, source = "", str(told.get("upload") or "")
    if source:
        try:
            url = writing.upload(service.calls, Path(source).read_bytes())
        except OSError as error:
            raise ItemVanished(key=source, why="not-there") from error
    scanners = told.get("scanners")
    names = tuple(str(one) for one in scanners) if isinstance(scanners, list) else ("sast",)
    return Order(project, url, str(told.get("repoUrl") or ""), str(told.get("branch") or "main"), names)


def _shown(found: Told) -> Mapping[str, object]:
    """Without keys and credentials."""
    shown: Mapping[str, object] = json.loads(canonical(without_secrets(found, ("credentials", "uploadUrl"))))
    return shown
