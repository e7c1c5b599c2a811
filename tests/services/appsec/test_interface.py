"""The interface of the application security service, clause by clause, over real sockets: each test names its own."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from noarkit.cli.console import to_json
from noarkit.errors import (
    ConfigFault,
    ConsentNeeded,
    SecretOnTheLine,
    ServiceDenied,
    ServiceFault,
    ServiceRefused,
    UnsafeUrl,
    UsageFault,
)
from noarkit.secrets import Secret
from noarkit.services.access.consent import code_of
from noarkit.services.appsec import write_calls
from noarkit.services.appsec.access import open_login
from noarkit.services.appsec.commands import COMMANDS
from noarkit.services.appsec.service import AppSec, open_service
from noarkit.services.appsec.standin.registration import MOST
from noarkit.services.inbox.endpoints import inbox_endpoints
from noarkit.services.inbox.receiver import receiver
from noarkit.services.inbox.signatures import Seal, prove
from noarkit.services.inbox.store import Inbox
from noarkit.services.inbox.webhooks import read_webhooks
from noarkit.services.mcp.connection_tools import open_tools
from noarkit.services.overrides import SECRET_KEYS, apply_overrides, read_overrides
from noarkit.services.settings import Connection
from noarkit.services.standins.server import StandinSpec
from tests.package_code import PACKAGE, modules_with, text_of
from tests.services.appsec.sarif_rules import problems
from tests.services.appsec.there import all_of, connected, newest, papers, scripted
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service that nobody changes for good."""
    with standing("appsec", tmp_path_factory.mktemp("interface"), StandinSpec(60)) as found:
        yield found


@pytest.fixture
def appsec(held: Standing, tmp_path: Path) -> Iterator[AppSec]:
    """A connection of its own."""
    with connected(held, tmp_path) as service:
        yield service


def said(to: Connection, line: str, **arguments: object) -> list[Mapping[str, object]]:
    """The answers to a line of words."""
    found = list(COMMANDS.run(to, line.split(), arguments))
    to_json(found)  # whoever shows it can
    return found


def consented(to: Connection) -> None:
    """A person agrees in a browser."""
    with closing(open_login(to)) as login:
        consent = login.begin()
        answer = httpx.get(consent.url, follow_redirects=False, trust_env=False)
        login.finish(consent, code_of(answer.headers["location"], consent))


# -- Bearer token from an API key (exchange; dies when the tenant licence is renewed: say so)


def test_bearer_token_from_an_api_key_by_exchange_and_anew_when_it_ends(held: Standing, appsec: AppSec) -> None:
    assert appsec.introduce().tenant == "tenant-one"
    before = held.control("expire")["exchanges"]
    assert list(appsec.calls.projects())
    assert held.control("counts")["exchanges"] == int(str(before)) + 1


def test_an_api_key_dies_when_the_tenant_licence_is_renewed_and_that_is_said_with_no_key(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6)) as mortal:
        key = next(tmp_path.glob("*api_key.secret")).read_text().strip()
        with connected(mortal, tmp_path) as service:
            assert "key-dies" in [remark.word for remark in service.introduce().remarks]
            mortal.control("licence")
            with pytest.raises(ServiceDenied) as caught:
                service.introduce()
            assert caught.value.data["why"] == "key-dead"
            assert key not in repr(caught.value) + repr(caught.value.__cause__)


@pytest.mark.parametrize(
    ("status", "error", "why"),
    [
        (400, "invalid_grant", "key-dead"),
        (401, "unauthorized", "key-dead"),
        (404, "Realm does not exist", "no-such-tenant"),
        (400, "unauthorized_client", "unauthorized_client"),
    ],
)
def test_what_the_exchange_is_refused_with_says_what_to_do(status: int, error: str, why: str) -> None:
    refused = serving(lambda asked: told({"error": error}, status))
    with refused as service, closing(scripted(service.url)) as asking, pytest.raises(ServiceDenied) as caught:
        asking.introduce()
    assert caught.value.data["why"] == why


@pytest.mark.parametrize(("said_s", "asked"), [(None, 2), (3_600, 1), (60, 3)])
def test_a_token_lives_1800_s_where_expires_in_is_absent(said_s: int | None, asked: int) -> None:
    exchanges = []

    def answer(one: Asked) -> Told:
        if one.path.endswith("/token"):
            exchanges.append(one)
            return told({"access_token": f"t{len(exchanges):020d}", **({"expires_in": said_s} if said_s else {})})
        return told({"applications": [], "totalCount": 0})

    with serving(answer) as service, closing(scripted(service.url)) as asking:
        for _ in range(3):
            asking.introduce()
            asking.calls.client.clock.sleep_s(900)
    assert len(exchanges) == asked  # at 0 s; at 1800 s, for that is less than a minute before its end; each time


def test_a_token_service_that_is_away_for_a_moment_is_asked_again() -> None:
    met = []

    def answer(one: Asked) -> Told:
        if one.path.endswith("/token"):
            met.append(one)
            return told({"access_token": "t" * 20}) if len(met) > 3 else told({}, 503)
        return told({"applications": [], "totalCount": 0})

    with serving(answer) as service, closing(scripted(service.url)) as asking:
        asking.introduce()
    assert len(met) == 4


# -- OAuth client, or interactive browser login


def test_an_oauth_client_gets_its_own_token(tmp_path: Path) -> None:
    with (
        standing("appsec", tmp_path, StandinSpec(6, options={"auth": "client"})) as other,
        connected(other, tmp_path) as service,
    ):
        assert len(list(service.calls.projects())) == 2


@pytest.mark.parametrize("auth", ["key", "client", "login"])
def test_who_we_are_is_told_by_the_key_or_the_connection_and_never_guessed(auth: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigFault) as fault:
        scripted("http://127.0.0.1:9", tmp_path, auth=auth, client_id="")
    assert fault.value.data["where"] == "connections.appsec.x.client_id"


def test_interactive_browser_login(held: Standing, tmp_path: Path) -> None:
    to = held.connection({"state": str(tmp_path / "state"), "auth": "login", "client_id": "noarkit"})
    with closing(open_service(to)) as service, pytest.raises(ConsentNeeded):
        service.introduce()
    consented(to)
    with closing(open_service(to)) as service:
        assert list(service.calls.projects())
    with pytest.raises(UsageFault):
        open_login(held.connection())


# -- POST /api/uploads → url, upload of a zip to it, POST /api/scans, GET /api/scans/{scanId} polled, GET /api/results


def test_post_api_uploads_then_the_zip_without_our_token_post_api_scans_polled_and_get_api_results(
    tmp_path: Path,
) -> None:
    slowly = StandinSpec(6, options={"scan-s": "3600"})
    with standing("appsec", tmp_path, slowly) as other, connected(other, tmp_path) as service:
        project = str(write_calls.create(service.calls, "projects", {"name": "nytt"})["id"])
        other.control("trouble", path="/store/", status=503, times=1)
        url = write_calls.upload(service.calls, b"PK" + b"x" * 1000)
        other.control("set", full=2)  # the queue is full twice
        scan = str(write_calls.start(service.calls, write_calls.Order(project, url))["id"])
        polling = Ending(other, service, scan)
        found = write_calls.poll(polling, scan, 5.0, 3_600.0)  # type: ignore[arg-type]  # all that polling asks
        assert (found["status"], polling.asked) == ("Completed", 3)
        assert len(service.calls.findings(scan)) == 1
        assert other.control("counts")["leaked"] == 0


class Ending:
    """Calls for a scan that ends after it was asked for twice."""

    def __init__(self, held: Standing, service: AppSec, scan: str) -> None:
        self._held = held
        self._service = service
        self.client = service.calls.client
        self._scan = scan
        self.asked = 0

    def scan(self, one: str) -> Mapping[str, object] | None:
        """The scan as it is now."""
        self.asked += 1
        if self.asked == 3:
            self._held.control("finish", scan=self._scan)
        return self._service.calls.scan(one)


def test_a_scan_that_runs_on_is_polled_less_often_and_not_for_ever(held: Standing, appsec: AppSec) -> None:
    running = newest(held)["id"]
    clock = appsec.calls.client.clock
    begun_s = clock.now_s()
    before = held.control("counts")["limits"]
    with pytest.raises(ServiceFault) as caught:
        write_calls.poll(appsec.calls, running, 5.0, 3_600.0)
    assert caught.value.data["why"] == "scan-runs-on"
    after = held.control("counts")["limits"]
    assert isinstance(before, dict) and isinstance(after, dict)
    assert 50 < after["calls"] - before["calls"] < 3_600 / 5 / 2
    assert clock.now_s() - begun_s <= 3_600
    with pytest.raises(ServiceRefused):
        write_calls.poll(appsec.calls, "nothing", 5.0, 60.0)


def test_a_large_zip_is_uploaded_in_parts(held: Standing, appsec: AppSec, tmp_path: Path) -> None:
    source = tmp_path / "source.zip"
    source.write_bytes(b"0123456789" * 10)
    project = newest(held)["projectId"]
    held.control("trouble", path="/store/", status=403, times=1, after=1)  # a link that was used up
    name = write_calls.upload_file(appsec.calls, source, part_bytes=32)
    order = write_calls.Order(project, name, scanners=("sast", "sca"))
    scan = str(write_calls.start(appsec.calls, order)["id"])
    write_calls.cancel(appsec.calls, scan)
    found = appsec.calls.scan(scan)
    assert found is not None and found["status"] == "Canceled"
    write_calls.delete(appsec.calls, "scans", scan)
    assert held.control("counts")["leaked"] == 0


def test_parts_of_an_upload_that_fails_are_called_off(tmp_path: Path) -> None:
    source = tmp_path / "source.zip"
    source.write_bytes(b"x" * 100)
    asked: list[str] = []

    def answer(one: Asked) -> Told:
        asked.append(one.path)
        if one.path.endswith("/token"):
            return told({"access_token": "t" * 20})
        if one.path.endswith("start-multipart-upload"):
            return told({"objectName": "o", "UploadID": "u"})
        if one.path.endswith("multipart-presigned"):
            return told({"presignedURL": f"{url[0]}/store/1"})
        return told({}, 400) if one.method == "PUT" else Told(204, b"")

    with serving(answer) as service, closing(scripted(service.url)) as asking:
        url = [service.url]
        with pytest.raises(ServiceRefused):
            write_calls.upload_parts(asking.calls, source, 40)
    assert asked[-1] == "/api/uploads/abort-multipart-upload"


# -- container findings live behind a separate GraphQL interface: listed as "not fetched"


def test_container_findings_behind_graphql_are_listed_as_not_fetched(appsec: AppSec) -> None:
    item = all_of(appsec, "scans")[0]
    assert item.fields["not_fetched"] == "containers"  # type: ignore[union-attr]  # it is an item
    assert json.loads(papers(item)["scan.json"])["notFetched"] == ["containers"]
    assert "containers-apart" in [remark.word for remark in appsec.introduce().remarks]


# -- projects (create, get, set, delete), applications (create, read, update, delete)


@pytest.mark.parametrize("kind", ["project", "application"])
def test_projects_and_applications_are_created_read_set_listed_and_deleted(held: Standing, kind: str) -> None:
    to = held.connection()
    one = str(said(to, f"{kind} create", name=f"prøve-{kind}", criticality=2)[0]["id"])
    assert said(to, f"{kind} get {one}")[0]["criticality"] == 2
    assert said(to, f"{kind} set {one}", criticality=5)[0]["criticality"] == 5
    assert one in [found["id"] for found in said(to, f"{kind} list")]
    assert said(to, f"{kind} delete {one}") == [{"deleted": one}]
    assert said(to, f"{kind} get {one}") == [{}]


# -- scans (create, get, delete), results per scan, vulnerabilities


def test_scans_are_created_got_listed_waited_for_cancelled_and_deleted(tmp_path: Path) -> None:
    source = tmp_path / "source.zip"
    source.write_bytes(b"PK\x05\x06" + bytes(18))
    slowly = StandinSpec(60, options={"queue-s": "3600"})
    with standing("appsec", tmp_path / "standin", slowly) as held:
        to = held.connection({"scan_timeout_s": 0.05})
        project = newest(held)["projectId"]
        scan = str(said(to, f"scan create {project}", upload=str(source), branch="utvikling")[0]["id"])
        assert said(to, f"scan get {scan}")[0]["status"] == "Queued"
        with pytest.raises(ServiceFault):
            said(to, f"scan wait {scan}")
        held.control("finish", scan=scan)
        assert said(to, f"scan wait {scan}")[0]["status"] == "Completed"
        assert scan in [found["id"] for found in said(to, "scan list")]
        git = str(said(to, f"scan create {project}", repoUrl="https://kode.example/a.git")[0]["id"])
        assert said(to, f"scan cancel {git}") == [{"canceled": git}]
        assert said(to, f"scan get {git}")[0]["status"] == "Canceled"
        assert said(to, f"scan delete {git}") == [{"deleted": git}]
        assert said(to, f"scan get {git}") == [{}]


def test_results_per_scan_and_its_vulnerabilities_gravest_first(held: Standing) -> None:
    to, scan = held.connection(), newest(held, 1)["id"]
    results = said(to, f"results show {scan}")[0]["results"]
    assert isinstance(results, list)
    found = said(to, f"vulnerability list {scan}")
    assert sum(int(str(one["findings"])) for one in found) == len(results) == 8
    order = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO")
    ranks = [order.index(str(one["severity"])) for one in found]
    assert ranks == sorted(ranks)
    assert {str(one["vulnerability"])[:4] for one in found if one["type"] == "sca"} == {"CVE-"}
    assert all(sum(dict(one["states"]).values()) == one["findings"] for one in found)  # type: ignore[call-overload]  # counts


# -- export as JSON and SARIF


def test_export_as_json_and_sarif(held: Standing, tmp_path: Path) -> None:
    to, scan = held.connection(), newest(held, 1)["id"]
    out = tmp_path / "results"
    assert said(to, f"results show {scan}", report_format="json", output=str(out)) == [{"output": str(out)}]
    assert len(json.loads(out.read_bytes())["results"]) == 8
    assert (out.stat().st_mode & 0o777) == 0o600
    said(to, f"results show {scan}", report_format="sarif", output=str(out))
    assert list(problems(out.read_bytes())) == []
    with pytest.raises(UsageFault):
        said(to, f"results show {scan}", report_format="pdf")
    with pytest.raises(UsageFault):
        said(to, "project list", report_format="sarif")


# -- webhook creation; tenant webhooks Completed Scan, Failed Scan, Partial Scan, Project Created


def test_tenant_webhooks_of_all_four_kinds_are_created_signed_proven_listed_and_deleted(tmp_path: Path) -> None:
    heard: list[Asked] = []
    came = threading.Event()

    def receive(asked: Asked) -> Told:
        heard.append(asked)
        if len(heard) == 4:
            came.set()
        return told({})

    with standing("appsec", tmp_path, StandinSpec(6)) as other, serving(receive) as receiving:
        to = other.connection({"state": str(tmp_path / "state")})
        (hook,) = said(to, "webhook create", url=receiving.url)
        assert hook["path"] == "/appsec/standin"
        (one,) = read_webhooks(to)
        assert one.secret.reveal() not in repr(said(to, "webhook list")) + repr(hook)
        for status in ("Completed", "Failed", "Partial"):
            other.control("finish", scan=newest(other)["id"], status=status)
        said(to, "project create", name="ny")
        assert came.wait(PATIENCE_S)
        events = [asked.headers["x-webhook-event"] for asked in heard]
        assert sorted(events) == sorted(write_calls.EVENTS)
        (door,) = inbox_endpoints([to]).values()
        for asked in heard:
            assert prove(door.seal, asked.headers, asked.body, 0.0).reason == ""
            assert prove(door.seal, asked.headers, asked.body + b" ", 0.0).reason == "signature"
        said(to, f"webhook delete {hook['id']}")
        assert said(to, "webhook list") == []
        assert read_webhooks(to) == ()
        with pytest.raises(UsageFault):
            said(to, "webhook create", url=receiving.url, events=["scan_eaten"])
        with pytest.raises(UsageFault):
            said(to, "webhook create", url="hooks.example.org")


def test_optional_secret_a_webhook_without_one_comes_in_at_a_path_that_nobody_guesses(tmp_path: Path) -> None:
    heard: list[Asked] = []
    came = threading.Event()

    def receive(asked: Asked) -> Told:
        heard.append(asked)
        came.set()
        return told({})

    with standing("appsec", tmp_path, StandinSpec(6)) as other, serving(receive) as receiving:
        to = other.connection({"state": str(tmp_path / "state")})
        (hook,) = said(to, "webhook create", url=receiving.url, signed=False, events=["scan_failed"])
        other.control("finish", scan=newest(other)["id"], status="Failed")
        assert came.wait(PATIENCE_S)
        assert "x-webhook-signature" not in heard[0].headers
        (door,) = inbox_endpoints([to]).values()
        assert door.path == hook["path"] == heard[0].path
        assert len(door.path.rpartition("/")[2]) == 48
        inbox = Inbox(tmp_path / "inbox.db")
        client = TestClient(receiver(inbox_endpoints([to]), inbox))
        assert client.post(door.path, content=heard[0].body).status_code == 204
        assert client.post("/appsec/standin", content=heard[0].body).status_code == 404
        assert client.post(door.path[:-1] + "x", content=heard[0].body).status_code == 404
        assert dict(inbox.counts()) == {to.full_name: 1}
        inbox.close()


@pytest.mark.parametrize("verify", [True, False])
def test_tls_verification_of_a_webhook_is_on_unless_it_is_asked_for_without(tmp_path: Path, verify: bool) -> None:
    with standing("appsec", tmp_path, StandinSpec(6)) as other:
        to = other.connection({"state": str(tmp_path / "state")})
        more = {} if verify else {"verify_tls": False}
        said(to, "webhook create", url="https://hooks.example.org", **more)
        with closing(open_service(to)) as service:
            (hook,) = service.calls.webhooks()
        assert hook["config"]["insecureSsl"] is not verify  # type: ignore[index]  # a table


def test_the_signature_of_the_reference_passes() -> None:
    body = (
        b'{"scanId":"11111111-2222-3333-4444-555555555555","projectId":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",'
        b'"statusInfo":[{"name":"general","status":"Completed","details":""},{"name":"sast","status":"Completed",'
        b'"details":"","loc":1503}],"branch":"main","projectName":"test"}'
    )
    seal = Seal("body", (Secret("whsec_test_0123456789abcdef"),), "x-webhook-signature")
    for shown in (
        "sha256=mvUjs6Co/raxy7nuCxToA6heZlGuFy9Ff1wL5cqLuwY=",
        "9af523b3a0a8feb6b1cbb9ee0b14e803a85e6651ae172f457f5c0be5ca8bbb06",
    ):
        assert prove(seal, {"x-webhook-signature": shown}, body, 0.0).reason == ""


# -- MCP at {base_url}/api/security-mcp/mcp and under /mcp/{tenant_name} with API key, predefined client or dynamic
# -- registration (cap of 500 clients)


def tools_of(to: Connection) -> dict[str, bool]:
    """The tools there are, and whether they may be called; one of them is."""
    with open_tools(to) as tools:
        found = tools.call("listProjects", {})
        assert isinstance(found, dict)
        assert len(found["projects"]) == 2
        with pytest.raises(UsageFault):
            tools.call("changeFindingState", {"project": "p", "similarity": "1", "state": "x"})
        return {tool.name: tool.is_allowed for tool in tools.list_tools()}


READ = {"listProjects": True, "listFindings": True, "listScans": True, "getTriageHistory": True}
TOOLS = READ | {"triggerScan": False, "changeFindingState": False}


def test_mcp_at_its_own_path_with_the_api_key_as_it_is_and_only_what_reads_is_called(held: Standing) -> None:
    assert tools_of(held.connection()) == TOOLS


def test_a_scan_of_a_project_that_nobody_knows_is_refused_by_name(held: Standing) -> None:
    with open_tools(held.connection({"mcp_write": True})) as tools, pytest.raises(ServiceRefused) as refused:
        tools.call("triggerScan", {"project_id": "no-such"})
    assert "no such project: no-such" in str(refused.value.data["why"])


@pytest.mark.parametrize("path", ["", "/mcp/tenant-one"])
def test_mcp_under_the_tenant_name_with_an_oauth_client(tmp_path: Path, path: str) -> None:
    with standing("appsec", tmp_path, StandinSpec(6, options={"auth": "client"})) as other:
        assert tools_of(other.connection({"mcp_path": path} if path else {})) == TOOLS


def test_mcp_with_a_predefined_client_and_a_persons_consent(held: Standing, tmp_path: Path) -> None:
    to = held.connection({"state": str(tmp_path / "state"), "auth": "login", "client_id": "noarkit"})
    consented(to)
    assert tools_of(to) == TOOLS


def test_mcp_with_dynamic_registration_which_is_done_once(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6, options={"clients": str(MOST - 1)})) as other:
        to = other.connection({"state": str(tmp_path / "state"), "auth": "register"})
        with pytest.raises(ConsentNeeded), open_tools(to) as tools:
            tools.list_tools()
        consented(to)
        assert tools_of(to) == TOOLS
        consented(to)  # a person agrees anew: the client is the one it was
        assert other.control("counts")["clients"] == MOST


def test_the_cap_of_500_clients_is_told_plainly(tmp_path: Path) -> None:
    with standing("appsec", tmp_path, StandinSpec(6, options={"clients": str(MOST)})) as full:
        to = full.connection({"state": str(tmp_path / "state"), "auth": "register"})
        with pytest.raises(ServiceDenied) as caught:
            open_login(to)
        assert caught.value.data["why"] == "too-many-clients"
        assert full.control("counts")["clients"] == MOST


def test_a_registration_place_at_a_host_that_nobody_named_is_not_asked(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(one: Asked) -> Told:
        asked.append(one.method)
        return told({"registration_endpoint": "https://evil.example/register"})

    with serving(answer) as service:
        values = {"api_url": service.url, "tenant": "t", "state": str(tmp_path), "auth": "register"}
        with pytest.raises(UnsafeUrl):
            open_login(Connection("appsec", "x", values, {"HOME": str(tmp_path)}))
    assert asked == ["GET"]


# -- settings from flag, environment and file with our precedence


def test_settings_come_from_a_flag_then_the_environment_then_the_file(held: Standing) -> None:
    to = held.connection()
    environment = {**to.environment, "NOARKIT_APPSEC_STANDIN_TENANT": "of-the-environment"}
    told_there = Connection(to.service, to.name, to.values, environment)
    flagged = apply_overrides(told_there, read_overrides(["tenant=of-the-flag"]))
    tenants = []
    for one in (flagged, told_there, to):
        with closing(open_service(one)) as service:
            tenants.append(service.tenant)
    assert tenants == ["of-the-flag", "of-the-environment", "tenant-one"]


@pytest.mark.parametrize("key", ["tennant", "--tenant"])
def test_a_setting_that_nobody_reads_is_refused_wherever_it_stands(held: Standing, key: str) -> None:
    with pytest.raises(ConfigFault):
        open_service(held.connection({key: "x"}))
    with pytest.raises(ConfigFault):
        open_service(apply_overrides(held.connection(), read_overrides([f"{key}=x"])))


@pytest.mark.parametrize("key", sorted(SECRET_KEYS))
def test_a_secret_is_never_a_flag_only_where_it_lies_is(key: str, tmp_path: Path) -> None:
    with pytest.raises(SecretOnTheLine) as caught:
        read_overrides([f"{key}=canary-0451"])
    assert "canary" not in repr(caught.value)
    file = tmp_path / "secret"
    file.write_text("of-the-file\n")
    file.chmod(0o600)
    to = Connection("appsec", "x", {}, {f"NOARKIT_APPSEC_X_{key.upper()}": "of-the-environment"})
    found = apply_overrides(to, read_overrides([f"{key}.file={file}"]))
    shown = found.secrets(key)[0] if key == "mcp_urls" else found.secret(key)
    assert shown is not None and shown.reveal() == "of-the-file"


def test_every_secret_that_a_connector_reads_is_known_as_one() -> None:
    read = set()
    for path in modules_with(".secret"):
        if path.is_relative_to(PACKAGE / "services"):
            read |= set(re.findall(r'\.secrets?\(\s*"([a-z_]+)"', text_of(path)))
    assert len(read) > 8
    assert read <= SECRET_KEYS


@pytest.mark.parametrize("wrong", ["tenant", "tenant=", "=x", "tenant.file=x", "api_key.somewhere=x", "api_key.file="])
def test_what_is_no_setting_is_refused(wrong: str) -> None:
    with pytest.raises(UsageFault):
        read_overrides([wrong])
