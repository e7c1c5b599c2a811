"""The interface of the application security service, row by row, over real sockets; and the troubles a client bears."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.errors import (
    ConfigFault,
    NoarkitError,
    ServiceBroken,
    ServiceDenied,
    ServiceRefused,
)
from noarkit.events import Event
from noarkit.services.appsec import write_calls
from noarkit.services.appsec.service import AppSec, open_service
from noarkit.services.appsec.standin.data import canary
from noarkit.services.port import FetchFailure, Item
from noarkit.services.standins.server import StandinSpec
from tests.services.appsec.there import LATER, all_of, connected, newest, papers, said, scripted
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, standing


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service that nobody changes for good."""
    with standing("appsec", tmp_path_factory.mktemp("appsec"), StandinSpec(60)) as found:
        yield found


@pytest.fixture
def appsec(held: Standing, tmp_path: Path) -> Iterator[AppSec]:
    """A connection of its own."""
    with connected(held, tmp_path) as service:
        yield service


def test_threads_that_find_a_token_used_up_cause_one_exchange(held: Standing, appsec: AppSec) -> None:
    appsec.introduce()
    before = int(str(held.control("expire")["exchanges"]))
    threads = [threading.Thread(target=lambda: list(appsec.calls.projects())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held.control("counts")["exchanges"] == before + 1


def test_errors_that_echo_our_token_are_told_without_it(held: Standing, appsec: AppSec) -> None:
    with pytest.raises(ServiceRefused) as caught:
        write_calls.create(appsec.calls, "projects", {})
    assert "name is required" in str(caught.value.data["why"])
    kept = json.loads((appsec.connection.state_file("grant.json")).read_text())
    assert kept["access_token"] not in repr(caught.value)


def test_a_wrong_tenant_is_told_as_such(held: Standing, tmp_path: Path) -> None:
    with connected(held, tmp_path, tenant="nobody") as service:
        with pytest.raises(ServiceDenied) as caught:
            service.introduce()
        assert caught.value.data["why"] == "no-such-tenant"


def test_a_key_may_tell_its_host_and_tenant_but_not_lead_us_elsewhere(held: Standing, tmp_path: Path) -> None:
    with connected(held, tmp_path, auth_url="", tenant="") as service:
        assert service.tenant == "tenant-one"
        assert list(service.calls.projects())
    forged = tmp_path / "forged"
    forged.write_text("e30.eyJpc3MiOiJodHRwczovL2V2aWwuZXhhbXBsZS9hdXRoL3JlYWxtcy90In0.x")
    forged.chmod(0o600)
    with pytest.raises(ConfigFault) as caught:
        open_service(held.connection({"auth_url": "", "api_key": {"file": str(forged)}}))
    assert caught.value.data["why"] == "host"


def test_an_order_whose_answer_is_lost_is_looked_for_and_not_sent_again() -> None:
    orders: list[Asked] = []

    def answer(asked: Asked) -> Told:
        if asked.path.endswith("/token"):
            return told({"access_token": "t" * 20, "expires_in": 600})
        if asked.method == "POST":
            orders.append(asked)
            return Told(None)
        return told({"scans": [{"id": "s-1", "tags": json.loads(orders[0].body)["tags"]}]})

    with serving(answer) as lossy:
        service = scripted(lossy.url)
        order = write_calls.Order("p", repository="https://kode.example/a.git")
        assert write_calls.start(service.calls, order)["id"] == "s-1"
        assert len(orders) == 1
        service.close()


@pytest.mark.parametrize("offset", ["page", "row"])
@pytest.mark.parametrize("most", ["3", "4", "10", "10000"])
def test_results_are_all_there_whichever_way_offsets_count(tmp_path: Path, offset: str, most: str) -> None:
    options = {"offset": offset, "most-results": most, "container-findings": "listed"}
    with (
        standing("appsec", tmp_path, StandinSpec(66, options=options)) as other,
        connected(other, tmp_path) as service,
    ):
        scan = newest(other, 1)["id"]
        assert len(service.calls.findings(scan)) == 11


def test_results_that_cannot_be_proven_complete_are_set_aside_never_shortened(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(60)) as other, connected(other, tmp_path) as service:
        other.control("set", short=1)  # one answer that promises more than there is: asked for again
        assert not [one for one in all_of(service, "scans") if isinstance(one, FetchFailure)]
        other.control("set", short=100)
        left = [one for one in all_of(service, "scans") if isinstance(one, FetchFailure)]
        assert {one.reason for one in left} == {"list-incomplete"}
        assert left[0].data["total"] == int(str(left[0].data["found"])) + 1


def test_a_finished_scan_is_a_record_with_report_results_sarif_scan_and_bill_of_materials(appsec: AppSec) -> None:
    item = all_of(appsec, "scans")[0]
    assert isinstance(item, Item)
    assert item.key.startswith("tenant-one:scan:")
    found = papers(item)
    always = ["report.pdf", "results.json", "results.sarif", "scan.txt", "scan.json"]
    assert list(found) == [*always, "sbom.cdx.json", "policy.json"]
    assert found["report.pdf"].startswith(b"%PDF")
    results = json.loads(found["results.json"])
    assert len(results) == json.loads(found["scan.json"])["totalCount"] == 8
    assert json.loads(found["sbom.cdx.json"])["bomFormat"] == "CycloneDX"


def test_numbers_of_nineteen_digits_stay_exact(appsec: AppSec) -> None:
    found = papers(all_of(appsec, "scans")[0])["results.json"]
    assert b'"queryId":1234567890123456789' in found


def test_no_secret_of_a_scan_or_finding_is_taken(appsec: AppSec) -> None:
    taken = b"".join(b"".join(papers(item).values()) for item in all_of(appsec, "scans"))
    taken += repr([item for item in all_of(appsec, "projects")]).encode()
    for name in ("credential", "upload", "snippet"):
        assert canary(name).encode() not in taken
    assert taken.count(b"[REDACTED sha256:") > 2


def test_a_scan_read_twice_has_the_same_bytes_though_reports_differ_each_time(appsec: AppSec) -> None:
    first, second = (papers(all_of(appsec, "scans")[0]) for _ in range(2))
    assert first == second
    scan = all_of(appsec, "scans")[0].key.rpartition(":")[2]
    assert appsec.papers.report(scan) != first["report.pdf"]


def test_unfinished_scans_wait_and_a_partial_one_that_still_runs_too(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(60)) as other, connected(other, tmp_path) as service:
        scans = all_of(service, "scans")
        keys = {one.key.rpartition(":")[2] for one in scans}
        running, partial = newest(other, 0), newest(other, 3)
        assert partial["status"] == "Partial" and len(scans) == 4
        assert not {running["id"], partial["id"]} & keys
        other.control("finish", scan=partial["id"], status="Partial")
        # it began before the days that are looked back on: it is known by its id
        later = {one.key.rpartition(":")[2] for one in all_of(service, "scans", datetime.now(UTC) - timedelta(7))}
        assert partial["id"] in later


def test_a_state_nobody_knows_is_waited_for_and_told(tmp_path: Path) -> None:
    heard: list[Event] = []
    with standing("appsec", tmp_path, StandinSpec(6)) as other:
        other.control("finish", scan=newest(other)["id"], status="Simmering")
        with connected(other, tmp_path) as service:
            assert len(all_of(service, "scans", tell=heard.append)) == 4
    assert said(heard) == ["scan-state"]


def test_a_mark_that_lags_raises_the_alarm_of_retention(appsec: AppSec) -> None:
    now = datetime.now(UTC)

    def alarm(days: int) -> list[object]:
        heard: list[Event] = []
        all_of(appsec, "scans", now - timedelta(days=days) - appsec.look_back, heard.append, now)
        return said(heard)

    assert [alarm(29), alarm(31), alarm(91)] == [[], ["mark-lags"], ["scans-forgotten"]]


def test_what_the_service_has_forgotten_is_no_fault(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6)) as other, connected(other, tmp_path) as service:
        all_of(service, "scans")
        other.control("age", scan=newest(other, 3)["id"], created="2020-01-01T00:00:00.000000Z")
        assert all_of(service, "scans", datetime.now(UTC)) == []


def test_a_report_that_fails_sets_its_scan_aside_and_the_next_run_takes_it(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6)) as other, connected(other, tmp_path) as service:
        other.control("set", failing=1)
        kinds = [type(one) for one in all_of(service, "scans")]
        assert kinds.count(FetchFailure) == 1
        assert FetchFailure not in [type(one) for one in all_of(service, "scans")]


def test_a_scan_of_a_project_that_is_gone_brings_its_project_along(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6)) as other, connected(other, tmp_path) as service:
        write_calls.delete(service.calls, "projects", newest(other, 1)["projectId"])
        kinds = [one.kind for one in all_of(service, "scans") if isinstance(one, Item)]
        assert kinds.count("project") == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_what_passes_is_tried_again(held: Standing, appsec: AppSec, status: int) -> None:
    held.control("trouble", path="/api/projects", status=status, times=2, retry_after="0")
    assert len(list(appsec.calls.projects())) == 2


@pytest.mark.parametrize(
    ("status", "fault"), [(400, ServiceRefused), (403, ServiceDenied), (404, ServiceRefused), (409, ServiceRefused)]
)
def test_what_does_not_pass_is_told_at_once(
    held: Standing, appsec: AppSec, status: int, fault: type[NoarkitError]
) -> None:
    appsec.introduce()
    held.control("trouble", path="/api/projects", status=status, times=1, body="<html>gateway</html>")
    with pytest.raises(fault):
        list(appsec.calls.projects())


def test_a_scan_is_not_ordered_again_for_a_fault_of_the_service(held: Standing, appsec: AppSec) -> None:
    project = newest(held)["projectId"]
    held.control("trouble", path="/api/scans", status=500, times=1)
    before = len(list(appsec.calls.scans(None, LATER)))
    held.control("trouble", path="/api/scans", status=500, times=1)
    with pytest.raises(ServiceBroken):
        write_calls.start(appsec.calls, write_calls.Order(project, repository="https://a.example"))
    assert len(list(appsec.calls.scans(None, LATER))) == before


def test_limits_are_kept(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6, limits=((15, 1.0),))) as strict:
        service = open_service(strict.connection({"state": str(tmp_path / "s")}))
        threads = [
            threading.Thread(target=lambda: [service.calls.find("/api/projects") for _ in range(8)]) for _ in "ab"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        limits = strict.control("counts")["limits"]
        assert isinstance(limits, dict)
        assert (limits["refused"], limits["calls"]) == (0, 16)
        service.close()
