"""The history of what was decided about a finding. Each kind of scanner has a call of its own for it; of findings in
containers nothing tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from noarkit.connectors.appsec.calls import Calls, Params
from noarkit.connectors.appsec.findings import Finding
from noarkit.connectors.canonical import canonical
from noarkit.connectors.paging import Row
from noarkit.connectors.wire import Answer, Request
from noarkit.errors import ServiceStrange

_PAGED = frozenset({"sast", "kics"})
_SUPPLY_CHAIN = "sscs"
_PACKAGES = "sca"
_PACKAGES_PATH = "/api/sca/management-of-risk/package-vulnerabilities/entity-profile/search"
_STATE = "ChangeState"
_PER_PAGE = 100


class Subject(NamedTuple):
    """What was decided about: a finding of a project, wherever it stands; a weakness in each package for itself."""

    project: str
    engine: str
    similarity: str
    package: str = ""


def subject_of(project: str, finding: Finding) -> Subject | None:
    """What the history of a finding is asked for by; None where nothing tells of it."""
    engine, similarity = str(finding.get("type")), str(finding.get("similarityId") or "")
    if not similarity:
        return None
    if engine == _PACKAGES:
        data = finding.get("data")
        package = str(data.get("packageIdentifier") or "") if isinstance(data, Mapping) else ""
        return Subject(project, engine, similarity, package) if _named(package) else None
    return Subject(project, engine, similarity) if engine in _PAGED or _of_supply_chain(engine) else None


def decisions_about(calls: Calls, subject: Subject) -> Sequence[Row]:
    """Every decision, with who made it and when. Raises `ServiceStrange` where that is not all of them."""
    if subject.engine == _PACKAGES:
        return _about_package(calls, subject)
    projects: Params = (("project-ids", subject.project),)
    similarity = quote(subject.similarity, safe="")
    if _of_supply_chain(subject.engine):
        return _whole(calls, f"/api/micro-engines/read/predicates/{similarity}", projects, subject.project)
    return _by_pages(calls, f"/api/{subject.engine}-results-predicates/{similarity}", projects, subject.project)


def _of_supply_chain(engine: str) -> bool:
    return engine.partition("-")[0] == _SUPPLY_CHAIN


def _named(package: str) -> tuple[str, str, str] | None:
    """Manager, name and version of a package; None for what names none."""
    manager, _, rest = package.partition("-")
    name, _, version = rest.rpartition("-")
    return (manager, name, version) if manager and name and version else None


def _by_pages(calls: Calls, path: str, projects: Params, project: str) -> Sequence[Row]:
    found = list[Row]()
    while True:
        params = (*projects, ("offset", str(len(found))), ("limit", str(_PER_PAGE)))
        answer = calls.ask("GET", path, params, accepts=frozenset({404}))
        if answer.status == 404:
            return []
        page, total = _page(answer, project)
        repeats = any(row in found for row in page)
        found += [] if repeats else page
        if total is None or len(found) == total:
            return found
        if repeats or not page or len(found) > total:
            raise ServiceStrange(where=answer.where, why="list-incomplete", found=len(found), total=total)


def _whole(calls: Calls, path: str, projects: Params, project: str) -> Sequence[Row]:
    """A history that comes in one answer."""
    answer = calls.ask("GET", path, projects, accepts=frozenset({404}))
    if answer.status == 404:
        return []
    found, total = _page(answer, project)
    if total is not None and total != len(found):
        raise ServiceStrange(where=answer.where, why="list-incomplete", found=len(found), total=total)
    return found


def _page(answer: Answer, project: str) -> tuple[list[Row], int | None]:
    """A page of decisions in a project, and how many there are of them in all."""
    histories = answer.members().get("predicateHistoryPerProject") or []
    found, total = list[Row](), None
    for one in histories if isinstance(histories, list) else [None]:
        told = one.get("predicates") or [] if isinstance(one, Mapping) else None
        if not isinstance(one, Mapping) or not isinstance(told, list):
            raise ServiceStrange(where=answer.where, why="not-an-object")
        if str(one.get("projectId")) == project:
            found += [each for each in told if isinstance(each, Mapping)]
            total = one["totalCount"] if isinstance(one.get("totalCount"), int) else total
    return found, total


def _about_package(calls: Calls, subject: Subject) -> Sequence[Row]:
    """What was decided about a weakness in a package, as the service tells it, with the names of a decision beside."""
    manager, name, version = _named(subject.package) or ("", "", "")
    wanted = {
        "packageManager": manager,
        "packageName": name,
        "packageVersion": version,
        "vulnerabilityId": subject.similarity,
        "projectId": subject.project,
        "actionType": _STATE,
    }
    url, body = calls.client.url(_PACKAGES_PATH), canonical(wanted)
    accepts, kind = frozenset({204, 404}), "application/json"
    answer = calls.client.ask(Request("POST", url, body=body, media_type=kind, repeatable=True, accepts=accepts))
    if answer.status in accepts or not answer.body:
        return []
    actions = answer.members().get("actions") or []
    if not isinstance(actions, list) or not all(isinstance(one, Mapping) for one in actions):
        raise ServiceStrange(where=answer.where, why="not-an-object")
    return [
        {**one, "state": one.get("actionValue"), "createdBy": one.get("userName"), "comment": one.get("message")}
        for one in actions
        if str(one.get("actionType") or _STATE) == _STATE
    ]
