"""Reads the decision history of findings. Each kind of scanner has a call of its own; for containers there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from noarkit.errors import ServiceStrange
from noarkit.services.appsec.calls import Calls, Params
from noarkit.services.appsec.findings import Finding
from noarkit.services.canonical import canonical
from noarkit.services.paging import Row
from noarkit.services.wire import Answer, Request

_PAGED = frozenset({"sast", "kics"})
_SUPPLY_CHAIN = "sscs"
_PACKAGES = "sca"
_PACKAGES_PATH = "/api/sca/management-of-risk/package-vulnerabilities/entity-profile/search"
_STATE = "ChangeState"
_PER_PAGE = 100


class Subject(NamedTuple):
    """What a decision is about: a finding of a project in any scan; for packages, a weakness in each package."""

    project: str
    engine: str
    similarity: str
    package: str = ""


def subject_of(project: str, finding: Finding) -> Subject | None:
    """Returns the subject that the history of a finding is read by; None if there is no history for it."""
    engine, similarity = str(finding.get("type")), str(finding.get("similarityId") or "")
    if not similarity:
        return None
    if engine == _PACKAGES:
        data = finding.get("data")
        package = str(data.get("packageIdentifier") or "") if isinstance(data, Mapping) else ""
        return Subject(project, engine, similarity, package) if _package_key(package) else None
    return Subject(project, engine, similarity) if engine in _PAGED or _of_supply_chain(engine) else None


def decisions_about(calls: Calls, subject: Subject) -> Sequence[Row]:
    """Reads every decision, with its author and time. Raises `ServiceStrange` if the list is incomplete."""
    if subject.engine == _PACKAGES:
        return _about_package(calls, subject)
    projects: Params = (("project-ids", subject.project),)
    similarity = quote(subject.similarity, safe="")
    if _of_supply_chain(subject.engine):
        return _whole_history(calls, f"/api/micro-engines/read/predicates/{similarity}", projects, subject.project)
    return _history_by_pages(calls, f"/api/{subject.engine}-results-predicates/{similarity}", projects, subject.project)


def _of_supply_chain(engine: str) -> bool:
    return engine.partition("-")[0] == _SUPPLY_CHAIN


def _package_key(package: str) -> tuple[str, str, str] | None:
    """Splits a package id into manager, name and version; None if it has no name."""
    manager, _, name_and_version = package.partition("-")
    name, _, version = name_and_version.rpartition("-")
    return (manager, name, version) if manager and name and version else None


def _history_by_pages(calls: Calls, path: str, projects: Params, project: str) -> Sequence[Row]:
    decisions = list[Row]()
    while True:
        params = (*projects, ("offset", str(len(decisions))), ("limit", str(_PER_PAGE)))
        answer = calls.ask("GET", path, params, accepts=frozenset({404}))
        if answer.status == 404:
            return []
        page, total = _page(answer, project)
        repeats = any(row in decisions for row in page)
        decisions += [] if repeats else page
        if total is None or len(decisions) == total:
            return decisions
        if repeats or not page or len(decisions) > total:
            raise ServiceStrange(where=answer.label, why="list-incomplete", found=len(decisions), total=total)


def _whole_history(calls: Calls, path: str, projects: Params, project: str) -> Sequence[Row]:
    """Reads a history that comes in one answer."""
    answer = calls.ask("GET", path, projects, accepts=frozenset({404}))
    if answer.status == 404:
        return []
    decisions, total = _page(answer, project)
    if total is not None and total != len(decisions):
        raise ServiceStrange(where=answer.label, why="list-incomplete", found=len(decisions), total=total)
    return decisions


def _page(answer: Answer, project: str) -> tuple[list[Row], int | None]:
    """Reads the decisions of a project in one answer, and their total."""
    histories = answer.members().get("predicateHistoryPerProject") or []
    decisions, total = list[Row](), None
    for history in histories if isinstance(histories, list) else [None]:
        predicates = history.get("predicates") or [] if isinstance(history, Mapping) else None
        if not isinstance(history, Mapping) or not isinstance(predicates, list):
            raise ServiceStrange(where=answer.label, why="not-an-object")
        if str(history.get("projectId")) == project:
            decisions += [predicate for predicate in predicates if isinstance(predicate, Mapping)]
            total = history["totalCount"] if isinstance(history.get("totalCount"), int) else total
    return decisions, total


def _about_package(calls: Calls, subject: Subject) -> Sequence[Row]:
    """Reads the decisions about a weakness in a package, with the usual member names added."""
    manager, name, version = _package_key(subject.package) or ("", "", "")
    query = {
        "packageManager": manager,
        "packageName": name,
        "packageVersion": version,
        "vulnerabilityId": subject.similarity,
        "projectId": subject.project,
        "actionType": _STATE,
    }
    url, body = calls.client.url(_PACKAGES_PATH), canonical(query)
    accepts, kind = frozenset({204, 404}), "application/json"
    answer = calls.client.ask(Request("POST", url, body=body, media_type=kind, repeatable=True, accepts=accepts))
    if answer.status in accepts or not answer.body:
        return []
    actions = answer.members().get("actions") or []
    if not isinstance(actions, list) or not all(isinstance(action, Mapping) for action in actions):
        raise ServiceStrange(where=answer.label, why="not-an-object")
    return [
        {
            **action,
            "state": action.get("actionValue"),
            "createdBy": action.get("userName"),
            "comment": action.get("message"),
        }
        for action in actions
        if str(action.get("actionType") or _STATE) == _STATE
    ]
