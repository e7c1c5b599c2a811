"""The tools that the service offers to assistants, at {http_api_url}/v1/mcp: by a key or a person's consent, read and
write keys told apart, and only those called that are known to read."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from noarkit.cli.main import main
from noarkit.errors import ConfigFault, ConsentNeeded, ServiceDenied, ServiceRefused, UsageFault
from noarkit.services.access.consent import code_of
from noarkit.services.features.kind import FEATURES
from noarkit.services.features.service import Features, open_login
from noarkit.services.mcp.connection_tools import open_tools
from noarkit.services.mcp.rules import Rules
from noarkit.services.standins.server import StandinSpec
from tests.services.features.asking import connected
from tests.services.standing import Standing, standing


def consented(to: Standing, more: dict[str, object]) -> None:
    """A person agrees."""
    login = open_login(to.connection(more))
    consent = login.begin()
    answer = httpx.get(consent.url, follow_redirects=False, trust_env=False)
    login.finish(consent, code_of(answer.headers["location"], consent))
    login.close()


def test_tools_are_listed_by_the_key_and_only_those_that_read_are_called(held: Standing, features: Features) -> None:
    gate = str(next(features.calls.definitions("gates"))["id"])
    with open_tools(held.connection()) as tools:
        may = {tool.name: tool.is_allowed for tool in tools.list_tools()}
        assert may["Get_List_of_Gates"] and may["Get_Experiment_Details_by_ID"] and may["Get_Audit_Logs"]
        assert not may["Create_Gate"]
        assert not may["api_read"]  # the server says that it reads: it reads keys, too
        shown = tools.call("Get_Gate_Details_by_ID", {"id": gate})
        assert isinstance(shown, dict)
        assert shown["data"]["id"] == gate
        for name in ("Create_Gate", "api_read", "Get_Everything"):
            with pytest.raises(UsageFault):
                tools.call(name, {"name": "nei", "path": "/keys"})
    assert held.control("counts")["keys_read"] == 0


@pytest.mark.parametrize(
    ("name", "judged"),
    [
        ("Get_List_of_Gates", "reads"),
        ("get_list_of_gates", "reads"),
        ("Get_Dynamic_Config_Version_History", "reads"),
        ("gate_read", "reads"),
        ("Delete_Gate_read", "writes"),
        ("keys_gate_read", "writes"),
        ("My_Get_List_of_Gates", "writes"),
        ("api_read", "writes"),
        ("log_read", "writes"),
        ("Get_List_of_Keys", "writes"),
        ("Update_Gate_Entirely", "writes"),
        ("", "writes"),
    ],
)
def test_the_list_of_tools_that_read_is_explicit_and_names_are_compared_whole(name: str, judged: str) -> None:
    assert FEATURES.tools is not None
    assert Rules(FEATURES.tools).judge(name) == judged


def test_a_tool_that_writes_takes_the_key_that_writes_and_the_leave_to(held: Standing, tmp_path: Path) -> None:
    options = {"key": "read", "audit": "0"}
    with (
        standing("features", tmp_path, StandinSpec(15, limits=(), options=options)) as reading,
        open_tools(reading.connection({"mcp_write": True})) as tools,
        pytest.raises(ServiceRefused) as refused,
    ):
        tools.call("Create_Gate", {"name": "nei"})
    assert "may only read" in str(refused.value.data["why"])
    with open_tools(held.connection({"mcp_write": True})) as tools:
        made = tools.call("Create_Gate", {"name": "fra_verktoy"})
    assert isinstance(made, dict)
    assert made["data"]["id"] == "fra_verktoy"
    limits = held.control("counts")["limits"]
    assert isinstance(limits, dict)


def test_the_key_that_reads_is_shown_until_writing_is_switched_on(held: Standing, tmp_path: Path) -> None:
    for more, begin in (({}, "console-read"), ({"mcp_write": True}, "console-write")):
        with connected(held, tmp_path, **more) as service:
            key = service.tools_client().credential
            assert key is not None
            assert [shown.startswith(begin) for shown in key.headers().values()] == [True]
            # what a tool changes counts with all changes
            assert service.tools_client().pace is service.calls.write_client.pace


def test_a_person_consents_to_the_tools_where_the_owner_lets_them(held: Standing, tmp_path: Path) -> None:
    more: dict[str, object] = {"state": str(tmp_path / "state"), "mcp_auth": "oauth"}
    with open_tools(held.connection(more)) as tools, pytest.raises(ConsentNeeded):
        tools.list_tools()
    consented(held, more)
    with open_tools(held.connection(more)) as tools:
        assert "Get_List_of_Gates" in {tool.name for tool in tools.list_tools()}
        held.control("expire")
        assert tools.list_tools()  # the token is renewed
    with connected(held, tmp_path, mcp_auth="oauth") as service:
        assert service.introduce().tenant  # and the console goes by its key
    with pytest.raises(UsageFault):  # a key is all there is
        open_login(held.connection())


def test_an_owner_who_lets_nobody_have_a_key_is_told_plainly(tmp_path: Path) -> None:
    options = {"personal": "refused", "audit": "0"}
    with (
        standing("features", tmp_path, StandinSpec(15, limits=(), options=options)) as strict,
        pytest.raises(ConsentNeeded) as refused,
    ):
        consented(strict, {"state": str(tmp_path / "s"), "mcp_auth": "oauth"})
    assert refused.value.data["why"] == "consent-refused"


def test_the_address_is_that_of_the_service_unless_the_connection_names_another(held: Standing, tmp_path: Path) -> None:
    with pytest.raises(ConfigFault) as caught, open_tools(held.connection({"http_api_url": ""})):
        raise AssertionError
    assert caught.value.data["why"] == "not-set"
    place = tmp_path / "address.secret"
    place.write_text(f"{held.url}/v1/mcp")
    place.chmod(0o600)
    named = {"http_api_url": "", "mcp_url": {"file": str(place)}}
    with open_tools(held.connection(named)) as tools:
        assert tools.list_tools()


def test_the_command_lists_tools_calls_one_and_tells_no_key(
    held: Standing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["connect", "features:standin", "--mcp", "--config", str(held.config)]
    assert main(line, held.environment) == 0
    listed = capsys.readouterr()
    assert "Get_List_of_Gates  (may be called)" in listed.out
    assert "Create_Gate  (refused: it may change something)" in listed.out
    assert main([*line, "--call", "Get_List_of_Gates", "--arguments", '{"limit": 2}'], held.environment) == 0
    called = capsys.readouterr()
    assert len(json.loads(called.out)["data"]) == 2
    assert main([*line, "--call", "Create_Gate", "--arguments", '{"name": "x"}'], held.environment) == 2
    canary = tmp_path / "key.secret"
    canary.write_text("console-canary-0123456789")
    canary.chmod(0o600)
    with open_tools(held.connection({"api_key": {"file": str(canary)}})) as tools, pytest.raises(ServiceDenied) as bad:
        tools.list_tools()
    told = "".join([*listed, *called, *capsys.readouterr(), repr(bad.value.data)])
    secrets = [path.read_text().strip() for path in held.home.glob("*.secret")]
    assert len(secrets) == 5
    assert not [secret for secret in [*secrets, "console-canary"] if secret in told]
