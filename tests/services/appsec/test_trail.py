"""What people did in a security service: decisions about findings, the audit trail, and what the policies say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest

from noarkit.events import Event, ignore_event
from noarkit.services.appsec.histories import Subject, decisions_about
from noarkit.services.appsec.service import AppSec
from noarkit.services.appsec.standin.data import canary
from noarkit.services.appsec.states import key_in
from noarkit.services.appsec.trail import Audit
from noarkit.services.paging import Page
from noarkit.services.port import FetchFailure, Item, ServiceItem, Window
from noarkit.services.standins.server import StandinSpec
from tests.services.appsec.there import all_of, connected, newest, papers, scripted
from tests.services.scripted import Answering, Asked, Told, serving, told
from tests.services.standing import Standing, standing

TODAY = datetime(2026, 1, 10, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service in which every other finding was decided about."""
    with standing("appsec", tmp_path_factory.mktemp("trail"), StandinSpec(120, options={"decided": "50"})) as found:
        yield found


@pytest.fixture
def appsec(held: Standing, tmp_path: Path) -> Iterator[AppSec]:
    """A connection of its own."""
    with connected(held, tmp_path) as service:
        yield service


def items(found: list[ServiceItem]) -> list[Item]:
    """All of them, each an item."""
    assert [one for one in found if not isinstance(one, Item)] == []
    return [one for one in found if isinstance(one, Item)]


def test_each_decision_is_an_item_of_its_own_with_who_when_and_why(appsec: AppSec) -> None:
    found = items(all_of(appsec, "decisions"))
    assert len({one.key for one in found}) == len(found) > 15
    assert {one.fields["engine"] for one in found} == {"sast", "kics", "sca", "sscs-secret-detection"}
    for one in found:
        tenant, kind, engine, project, similarity, *package, name = map(unquote, one.key.split(":"))
        assert (tenant, kind, engine) == ("tenant-one", "triage", one.fields["engine"])
        assert one.fields["project_key"] == f"tenant-one:project:{project}"
        document = json.loads(papers(one)[f"vurdering {name}.json"])
        assert document["decision"]["createdBy"] == one.fields["author"]
        parts = {"project": project, "engine": engine, "similarity": similarity}
        assert document["finding"] == (parts | {"package": package[0]} if engine == "sca" else parts)
        comment = document["decision"]["comment"]
        assert not comment or comment not in str(one.fields["title"])  # a comment stands in the document alone


def test_decisions_are_the_same_whether_scans_were_read_before_or_not(held: Standing, tmp_path: Path) -> None:
    with connected(held, tmp_path / "a") as service:
        alone = all_of(service, "decisions")
    with connected(held, tmp_path / "b") as service:
        all_of(service, "scans")
        before = held.control("counts")
        assert all_of(service, "decisions") == alone
        after = held.control("counts")
    asked = [int(str(counts["limits"]["calls"])) for counts in (before, after)]  # type: ignore[index]  # a table
    # the findings are not asked for a second time: the list of scans and each decided finding are
    assert asked[1] - asked[0] <= 1 + len({one.key.rpartition(":")[0] for one in alone})


def test_a_decision_about_a_scan_before_the_window_is_taken_and_so_is_that_it_was_taken_back(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(120, options={"decided": "0"})) as other:
        with connected(other, tmp_path) as service:
            until = datetime.now(UTC)
            assert all_of(service, "decisions", until=until) == []
            scan = newest(other, 1)
            similarity = next(
                str(one["similarityId"]) for one in service.calls.findings(scan["id"]) if one["type"] == "sast"
            )
            other.control("triage", project=scan["projectId"], similarity=similarity, state="NOT_EXPLOITABLE")
            assert all_of(service, "decisions", since=until, until=until) == []  # it was made after this window
            later = datetime.now(UTC) + timedelta(seconds=1)
            (taken,) = items(all_of(service, "decisions", since=until, until=later))
            assert taken.fields["state"] == "NOT_EXPLOITABLE"
            # somebody takes it back: the finding looks as if nobody ever decided, and is asked about all the same
            other.control("triage", project=scan["projectId"], similarity=similarity, state="TO_VERIFY")
            again = items(all_of(service, "decisions", since=until, until=datetime.now(UTC) + timedelta(seconds=1)))
            assert [one.fields["state"] for one in again] == ["NOT_EXPLOITABLE", "TO_VERIFY"]
        with connected(other, tmp_path) as service:  # another process, which knows it by what is kept
            until = datetime.now(UTC) + timedelta(seconds=1)
            assert len(all_of(service, "decisions", since=until - timedelta(days=1), until=until)) == 2


def test_a_sweep_looks_for_decisions_in_scans_that_are_not_the_newest_of_their_branch() -> None:
    scan = {"projectId": "p", "branch": "main", "status": "Completed"}
    scans = [{**scan, "id": str(day), "createdAt": f"2026-01-0{day}T00:00:00Z"} for day in (1, 2)]

    def results(asked: Asked) -> Told:
        decided = {"type": "sast", "similarityId": "1", "state": "URGENT"}
        found = [decided] if asked.query["scan-id"] == ["1"] else []
        return told({"results": found, "totalCount": len(found)})

    history = {"projectId": "p", "similarityId": "1", "predicates": [{"ID": "a"}], "totalCount": 1}
    answer = _one_scan({"predicateHistoryPerProject": [history]}, scans=scans, results=results)
    with serving(answer) as service, closing(scripted(service.url)) as asked:
        (decisions,) = (stream for stream in asked.streams() if stream.name == "decisions")
        quiet, swept = (
            list(asked.items(decisions, Window(TODAY, TODAY + timedelta(days=1), sweep), ignore_event))
            for sweep in (False, True)
        )
    assert (quiet, [item.key for item in items(swept)]) == ([], ["t:triage:sast:p:1:a"])


def test_findings_in_containers_are_listed_as_not_fetched(appsec: AppSec) -> None:
    heard: list[Event] = []
    found = items(all_of(appsec, "scans", tell=heard.append))
    lacking = {name for one in found for name in str(one.fields["not_fetched"]).split(", ")}
    assert lacking == {"", "containers"}  # of all the others it is told who decided
    remarks = {one.data["key"]: one.data["count"] for one in heard if one.data.get("why") == "not-fetched"}
    with_containers = [one for one in found if "containers" in str(one.fields["not_fetched"])]
    assert remarks["containers"] == len(with_containers) > 0


def test_a_history_that_is_not_whole_is_set_aside() -> None:
    history = {"projectId": "p", "similarityId": "1", "predicates": [{"ID": "a"}], "totalCount": 2}
    answer = _one_scan({"predicateHistoryPerProject": [history]})
    with serving(answer) as service, closing(scripted(service.url)) as asked:
        (left,) = all_of(asked, "decisions")
        assert isinstance(left, FetchFailure)
        assert (left.reason, left.key) == ("list-incomplete", "t:triage:sast:p:1")


def test_a_weakness_is_asked_about_in_each_package_by_its_own_names() -> None:
    asked_for: list[dict[str, str]] = []
    action = {"actionType": "ChangeState", "actionValue": "NotExploitable", "createdAt": "2026-01-09T01:00:00Z"}
    packages = ("Npm-@scope/a-b-1.2.3", "Maven-org.x:y-2", "unnamed")
    found = [
        {"type": "sca", "similarityId": "CVE-1", "state": "URGENT", "data": {"packageIdentifier": one}}
        for one in packages
    ]

    def history(asked: Asked) -> Told:
        asked_for.append(json.loads(asked.body))
        told_by = {"userName": "kari@etaten.example", "message": "Ikke i bruk"}
        return told({"actions": [{**action, **told_by}, {**action, "actionType": "ChangeScore"}]})

    with serving(_one_scan(history, findings=found)) as service, closing(scripted(service.url)) as asked:
        taken = items(all_of(asked, "decisions"))
    named = {(one["packageManager"], one["packageName"], one["packageVersion"]) for one in asked_for}
    assert named == {("Npm", "@scope/a-b", "1.2.3"), ("Maven", "org.x:y", "2")}
    assert {one["vulnerabilityId"] for one in asked_for} == {"CVE-1"}
    assert len({one.key for one in taken}) == len(taken) == 2
    assert {(one.fields["state"], one.fields["author"]) for one in taken} == {("NotExploitable", "kari@etaten.example")}


def test_a_history_of_the_supply_chain_that_is_not_whole_is_set_aside() -> None:
    history = {"projectId": "p", "similarityId": "1", "predicates": [{"ID": "a"}], "totalCount": 2}
    finding: Mapping[str, object] = {"type": "sscs-scorecard", "similarityId": "1", "state": "URGENT"}
    answer = _one_scan({"predicateHistoryPerProject": [history]}, findings=[finding])
    with serving(answer) as service, closing(scripted(service.url)) as asked:
        (left,) = all_of(asked, "decisions")
        assert isinstance(left, FetchFailure)
        assert (left.reason, left.key) == ("list-incomplete", "t:triage:sscs-scorecard:p:1")


def test_histories_that_we_may_not_read_stop_nothing_else() -> None:
    with serving(_one_scan({"message": "no"}, 403)) as service, closing(scripted(service.url)) as asked:
        (left,) = all_of(asked, "decisions")
        assert isinstance(left, FetchFailure)
        assert left.key == "t:triage"


def _one_scan(
    predicates: object,
    status: int = 200,
    findings: Sequence[Mapping[str, object]] = (),
    *,
    scans: Sequence[Mapping[str, object]] = (),
    results: Answering | None = None,
) -> Answering:
    scan = {"id": "s", "projectId": "p", "status": "Completed", "createdAt": "2026-01-09T00:00:00Z"}
    listed = list(scans) or [scan]
    there = list(findings) or [{"type": "sast", "similarityId": "1", "state": "URGENT"}]

    def answer(asked: Asked) -> Told:
        if asked.path.endswith("/token"):
            return told({"access_token": "t" * 20, "expires_in": 600})
        if asked.path == "/api/scans":
            return told({"scans": listed, "filteredTotalCount": len(listed)})
        if asked.path == "/api/results":
            return results(asked) if results is not None else told({"results": there, "totalCount": len(there)})
        return predicates(asked) if callable(predicates) else told(predicates, status)

    return answer


def test_each_day_of_the_audit_trail_that_is_over_is_an_item(held: Standing, appsec: AppSec) -> None:
    until = datetime.now(UTC) + timedelta(days=1)
    found = items(all_of(appsec, "audit", until=until))
    days = [str(one.fields["date"]) for one in found]
    assert len(days) == 5
    assert days == sorted(days)
    assert [one.key for one in found] == [f"tenant-one:audit:{day}" for day in days]
    for one in found:
        events = json.loads(papers(one)[f"revisjonslogg {one.fields['date']}.json"])
        assert len(events) == one.fields["count"] == 3
        assert {str(event["eventDate"])[:10] for event in events} == {one.fields["date"]}
    assert canary("audit").encode() not in b"".join(b"".join(papers(one).values()) for one in found)
    assert all_of(appsec, "audit", until=until) == found
    today = datetime.now(UTC)  # a day that is not over is not told yet
    assert today.date().isoformat() not in [one.fields["date"] for one in items(all_of(appsec, "audit", until=today))]


def test_a_day_that_hears_of_more_later_is_told_again_with_other_bytes(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6)) as other, connected(other, tmp_path) as service:
        before = {one.key: papers(one) for one in items(all_of(service, "audit", until=datetime.now(UTC)))}
        day = max(before).rpartition(":")[2]
        other.control("act", day=day, deed="late")
        after = {one.key: papers(one) for one in items(all_of(service, "audit", until=datetime.now(UTC)))}
        assert [key for key in after if after[key] != before.get(key)] == [f"tenant-one:audit:{day}"]


def test_an_audit_trail_that_we_may_not_read_is_listed_as_not_fetched(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6, options={"audit": "no"})) as other:
        with connected(other, tmp_path) as service:
            (left,) = all_of(service, "audit")
            assert isinstance(left, FetchFailure)
            assert left.key == "tenant-one:audit"
        with connected(other, tmp_path, audit=False, decisions=False) as service:
            assert [stream.name for stream in service.streams()] == ["projects", "scans"]


class Moving:
    """A trail whose pages are asked for while others act: newest first, so that rows shift."""

    def __init__(self, count: int, most: int, busy: int) -> None:
        self.rows = [_event(number) for number in range(count)]
        self._most = most
        self._busy = busy

    def audit(self, begin: object, end: object) -> Iterator[Page]:
        """Pages; after each of the first somebody does something today."""
        offset = 0
        while True:
            total = len(self.rows)
            page = self.rows[offset : offset + self._most]
            offset += len(page)
            yield Page(page, "on", total)
            if not page or offset >= total:
                return
            if self._busy > 0:
                self._busy -= 1
                self.rows.insert(0, {**_event(-1 - self._busy), "eventDate": "2026-01-10T11:00:00Z"})


def _event(number: int) -> dict[str, object]:
    return {"eventDate": f"2026-01-0{1 + number % 9}T10:00:00Z", "actionType": "a", "data": {"number": number}}


def _days(moving: Moving) -> list[ServiceItem]:
    trail = Audit(moving, key_in("t"))  # type: ignore[arg-type]  # all that it asks of the calls
    return list(trail.items(Window(TODAY - timedelta(days=30), TODAY)))


@pytest.mark.parametrize("busy", [0, 1, 3, 9, 12])
def test_rows_that_shift_while_the_trail_is_read_are_neither_lost_nor_doubled(busy: int) -> None:
    quiet = _days(Moving(40, 7, 0))
    assert sum(int(str(one.fields["count"])) for one in items(quiet)) == 40
    assert _days(Moving(40, 7, busy)) == quiet


def test_a_trail_that_never_stands_still_long_enough_is_set_aside_never_shortened() -> None:
    class Short(Moving):
        def audit(self, begin: object, end: object) -> Iterator[Page]:
            for page in super().audit(begin, end):
                yield replace(page, total=(page.total or 0) + 1)

    (left,) = _days(Short(40, 7, 0))
    assert isinstance(left, FetchFailure)
    assert left.reason == "list-incomplete"


def test_equal_events_are_kept_as_often_as_they_were_told() -> None:
    moving = Moving(5, 100, 0)
    moving.rows.append(dict(moving.rows[0]))
    assert sum(int(str(one.fields["count"])) for one in items(_days(moving))) == 6


def test_an_event_without_a_day_is_listed_as_not_fetched() -> None:
    moving = Moving(3, 100, 0)
    moving.rows.append({"eventDate": None, "actionType": "a"})
    left = [one for one in _days(moving) if isinstance(one, FetchFailure)]
    assert [(one.reason, one.data["found"]) for one in left] == [("undated", 1)]


def test_how_a_scan_stands_by_the_policies_is_a_document_of_it(appsec: AppSec) -> None:
    found = [one for one in items(all_of(appsec, "scans")) if one.fields["status"] == "Completed"]
    assert found
    for one in found:
        standing_by = json.loads(papers(one)["policy.json"])
        assert standing_by["status"] == "COMPLETED"
        assert standing_by["policies"][0]["policyName"]


@pytest.mark.parametrize(("status", "lacks"), [(404, False), (403, True)])
def test_a_tenant_without_policies_lacks_nothing_and_one_that_hides_them_does(
    tmp_path: Path, status: int, lacks: bool
) -> None:
    with standing("appsec", tmp_path, StandinSpec(6)) as other:
        with connected(other, tmp_path) as service:
            other.control("trouble", path="/evaluation", status=status, times=100)
            for one in items(all_of(service, "scans")):
                assert "policy.json" not in papers(one)
                with_findings = one.fields["status"] in ("Completed", "Partial")
                assert ("policies" in str(one.fields["not_fetched"])) == (lacks and with_findings)
        with connected(other, tmp_path, policies=False) as service:
            assert not [one for one in items(all_of(service, "scans")) if "policies" in str(one.fields["not_fetched"])]


def test_a_401_for_the_policies_alone_says_that_they_are_not_for_us(tmp_path: Path) -> None:
    with (
        standing("appsec", tmp_path, StandinSpec(6, options={"policies": "no"})) as other,
        connected(other, tmp_path) as service,
    ):
        found = [one for one in items(all_of(service, "scans")) if one.fields["status"] == "Completed"]
        assert found, "the run goes on"
        assert all("policies" in str(one.fields["not_fetched"]) for one in found)


def test_decisions_of_more_than_one_page_are_all_read(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6)) as other, connected(other, tmp_path) as service:
        project = str(next(service.calls.projects())["id"])
        for number in range(205):
            other.control("triage", project=project, similarity="77", state="CONFIRMED", comment=str(number))
        told = [one["comment"] for one in decisions_about(service.calls, Subject(project, "sast", "77"))]
        assert told[-205:] == [str(number) for number in range(205)]
