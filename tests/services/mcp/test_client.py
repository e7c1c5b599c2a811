"""Tools of services, asked over real sockets: what is listed, what is refused, what goes wrong, what is never told."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import (
    AllowanceSpent,
    ConfigFault,
    NoarkitError,
    ServiceAway,
    ServiceBroken,
    ServiceBusy,
    ServiceDenied,
    ServiceRefused,
    UsageFault,
)
from noarkit.services.mcp.connection_tools import open_tools
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, standing

DEAL = {"path_variables": {"module": "Deals"}, "query_params": {"fields": "Deal_Name", "per_page": 2}}


@pytest.fixture(scope="module")
def crm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing("crm", tmp_path_factory.mktemp("crm"), StandinSpec(20, limits=())) as found:
        yield found


@pytest.fixture(scope="module")
def spend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing("spend", tmp_path_factory.mktemp("spend"), StandinSpec(20, limits=())) as found:
        yield found


def fault_of(there: Standing, more: Mapping[str, object] | None = None) -> NoarkitError:
    """What listing the tools ends with."""
    with open_tools(there.connection(more)) as tools, pytest.raises(NoarkitError) as caught:
        tools.list_tools()
    return caught.value


def secrets_of(there: Standing) -> list[str]:
    """Every secret of the connection, and the key within its addresses."""
    found = [place.read_text().strip() for place in there.home.glob("*.secret")]
    return [*found, *(one.partition("key=")[2] for one in found if "key=" in one)]


def test_the_four_servers_of_a_crm_list_their_tools_and_those_that_read_may_be_called(crm: Standing) -> None:
    with open_tools(crm.connection()) as tools:
        listed = tools.list_tools()
    assert {tool.server.label for tool in listed} == {f"crm:standin mcp {number}" for number in (1, 2, 3, 4)}
    may = {tool.name for tool in listed if tool.is_allowed}
    assert {"Crm_getRecords", "Crm_executeCOQLQuery", "Crm_getLayouts", "Crm_getWorkflowRules"} <= may
    refused = {"Crm_createRecords", "Crm_deleteRecords", "Crm_createCustomField", "Crm_createWorkflowRule"}
    assert refused.isdisjoint(may)
    assert refused <= {tool.name for tool in listed}


def test_a_tool_that_reads_is_answered_and_costs_a_credit(crm: Standing) -> None:
    before = crm.control("counts")["spent"]
    with open_tools(crm.connection()) as tools:
        found = tools.call("Crm_getRecords", DEAL)
    assert isinstance(found, dict)
    assert len(found["data"]) == 2
    spent = crm.control("counts")["spent"]
    assert isinstance(before, int)
    assert spent == before + 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Crm_getRecords", DEAL),
        ("Crm_executeCOQLQuery", {"body": {"select_query": "select id from Deals where id > 0 limit 200"}}),
        ("Crm_executeCOQLQuery", {"body": {"select_query": "select id from Deals where id > 0 limit 2000"}}),
    ],
)
def test_a_tool_costs_the_credits_that_its_call_would(crm: Standing, tool: str, arguments: dict[str, object]) -> None:
    with open_tools(crm.connection()) as tools:
        before = int(str(crm.control("counts")["spent"]))
        tools.call(tool, arguments)
        spent = int(str(crm.control("counts")["spent"])) - before
        assert tools.spent_credits == spent > 0
    with open_tools(crm.connection({"credits_most": 2 * spent - 1})) as tools:
        tools.call(tool, arguments)
        with pytest.raises(AllowanceSpent):
            tools.call(tool, arguments)


def test_a_tool_that_writes_is_refused_until_writing_is_switched_on(crm: Standing) -> None:
    made = {"path_variables": {"module": "Deals"}, "body": {"data": [{"Deal_Name": "Through a tool"}]}}
    with open_tools(crm.connection()) as tools, pytest.raises(UsageFault) as caught:
        tools.call("Crm_createRecords", made)
    assert caught.value.data["what"] == "tool-writes"
    with open_tools(crm.connection({"mcp_write": True})) as tools:
        found = tools.call("Crm_createRecords", made)
        assert isinstance(found, dict)
        assert found["data"][0]["code"] == "SUCCESS"
        field = tools.call("Crm_createCustomField", {"body": {"field_label": "Sak"}})
        rule = tools.call("Crm_createWorkflowRule", {"body": {"name": "Purring"}})
        held = tools.call("Crm_getWorkflowRules", {})
    assert isinstance(field, dict)
    assert field["fields"][0]["field_label"] == "Sak"
    assert held == rule


def test_what_a_tool_refuses_is_a_refusal_of_the_service(crm: Standing) -> None:
    with open_tools(crm.connection()) as tools, pytest.raises(ServiceRefused) as caught:
        tools.call("Crm_getRecords", {"path_variables": {"module": "Nothing"}, "query_params": {"fields": "Name"}})
    assert "INVALID_MODULE" in str(caught.value.data["why"])
    with open_tools(crm.connection()) as tools, pytest.raises(UsageFault) as unknown:
        tools.call("getNothing", {})
    assert unknown.value.data["what"] == "no-such-tool"


def test_expenses_can_be_searched_and_retrieved_but_not_completed(spend: Standing) -> None:
    with open_tools(spend.connection()) as tools:
        found = tools.call("search_expenses", {"limit": 1})
        assert isinstance(found, dict)
        one = found["expenses"][0]
        assert tools.call("retrieve_expense", {"id": one["id"]}) == one
        for name in ("complete_expense", "review_expense", "queue_expense_for_export"):
            with pytest.raises(UsageFault, match="F101"):
                tools.call(name, {"id": one["id"]})
    with open_tools(spend.connection({"mcp_write": True})) as tools:
        done = tools.call("complete_expense", {"id": one["id"]})
        with pytest.raises(UsageFault) as never:
            tools.call("create_payout", {})
    assert isinstance(done, dict)
    assert done["expenseState"] == "complete"
    assert never.value.data["what"] == "tool-never"


def test_what_the_line_answers_is_told_as_faults_of_the_service(crm: Standing) -> None:
    crm.control("trouble", path="/mcp/", status=429, times=1, retry_after="7")
    busy = fault_of(crm)
    assert isinstance(busy, ServiceBusy)
    assert busy.retry_after_s == 7
    assert busy.data["status"] == 429
    crm.control("trouble", path="/mcp/", status=503, times=2)
    broken = fault_of(crm)
    assert isinstance(broken, ServiceBroken)
    assert broken.data["status"] == 503
    crm.control("trouble", path="/mcp/", status=401, times=4)
    denied = fault_of(crm)
    assert isinstance(denied, ServiceDenied)
    assert denied.data["status"] == 401


def test_a_token_that_died_is_renewed_once_and_nobody_notices(crm: Standing) -> None:
    with open_tools(crm.connection()) as tools:
        assert tools.list_tools()
        before = crm.control("expire")["exchanges"]
        assert tools.list_tools()
    assert isinstance(before, int)
    assert crm.control("counts")["exchanges"] == before + 1


def test_nobody_there_and_nobody_answering_are_told_soon(crm: Standing, tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp?key=canary-of-the-dead"
        place = tmp_path / "address.secret"
        place.write_text(dead)
        place.chmod(0o600)
        more = {"mcp_urls": [{"file": str(place)}], "answer_timeout_s": 1}
        away = fault_of(crm, more)
        assert isinstance(away, ServiceAway)
        assert away.data["why"] == "no-connection"
        silent.listen(8)
        quiet = fault_of(crm, more)
        assert isinstance(quiet, ServiceAway)
        assert quiet.data["why"] == "timeout"
    assert "canary" not in repr((away.data, quiet.data, away.__cause__, away.__context__, quiet.__context__))


def test_a_server_that_sends_us_elsewhere_is_not_followed(crm: Standing, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for _ in range(3):
                try:
                    there, _ = listener.accept()
                except OSError:
                    return
                with there:
                    there.recv(65536)
                    there.sendall(b"HTTP/1.1 307 X\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        place = tmp_path / "address.secret"
        place.write_text(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
        place.chmod(0o600)
        fault = fault_of(crm, {"mcp_urls": [{"file": str(place)}], "answer_timeout_s": 5})
    assert fault.data["why"] == "redirects"


def test_an_address_that_is_none_or_not_safe_is_told_without_it(crm: Standing, tmp_path: Path) -> None:
    for address, why in [("mcp.example/canary", "not-an-address"), ("http://mcp.example/canary", "plain-http")]:
        place = tmp_path / "address.secret"
        place.write_text(address)
        place.chmod(0o600)
        with pytest.raises(ConfigFault) as caught, open_tools(crm.connection({"mcp_urls": [{"file": str(place)}]})):
            raise AssertionError
        assert caught.value.data["why"] == why
        assert "canary" not in repr(caught.value.data)


def test_the_command_lists_calls_and_refuses_and_no_secret_is_ever_told(
    crm: Standing, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    log = tmp_path / "log.jsonl"
    line = ["connect", "crm:standin", "--mcp", "--config", str(crm.config), "--log-file", str(log), "-v"]
    assert main(line, crm.environment) == 0
    listed = capsys.readouterr()
    assert "Crm_getRecords  (may be called)" in listed.out
    assert "Crm_createRecords  (refused: it may change something)" in listed.out
    assert main([*line, "--call", "Crm_getRecords", "--arguments", json.dumps(DEAL)], crm.environment) == 0
    called = capsys.readouterr()
    assert len(json.loads(called.out)["data"]) == 2
    assert main([*line, "--json", "--call", "Crm_deleteRecords"], crm.environment) == 2
    assert main([*line, "--call", "Crm_getRecords", "--arguments", "[1]"], crm.environment) == 2
    assert main(["connect", "crm:standin", "--call", "x", "--config", str(crm.config)], crm.environment) == 2
    crm.control("trouble", path="/mcp/", status=503, times=2, body="/mcp/data-insights/message")
    assert main(line, crm.environment) == 5
    refused = capsys.readouterr()
    # the stand-in runs in this process: what its own server logs is not ours
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("uvicorn")]
    told = "".join([*listed, *called, *refused, *ours, log.read_text() if log.exists() else ""])
    assert len(secrets_of(crm)) >= 10
    assert [secret for secret in secrets_of(crm) if secret in told] == []
    assert "/message" not in told
    assert "Bearer " not in told
