"""Which tools may be called: those known to read, matched by the words a name ends with, never one that moves money."""

from __future__ import annotations

import pytest

from noarkit.services.kind import ToolKind
from noarkit.services.mcp.rules import Hints, Rules, words_of
from noarkit.services.registry import find_kind


def tools_of(service: str) -> ToolKind:
    """The tools that a service offers."""
    tools = find_kind(service).tools if service != "other" else ToolKind(())
    assert tools is not None
    return tools


@pytest.mark.parametrize(
    ("service", "name", "judged"),
    [
        ("crm", "Crm_getRecords", "reads"),
        ("crm", "crm.get_records", "reads"),
        ("crm", "getRecords", "reads"),
        ("crm", "Crm_executeCOQLQuery", "reads"),
        ("crm", "forgetRecords", "writes"),
        ("crm", "delete_then_getRecords", "writes"),
        ("crm", "massGetRecords", "writes"),
        ("crm", "Crm_createRecords", "writes"),
        ("crm", "Crm_getRecordsAndDelete", "writes"),
        ("crm", "Crm_frobnicate", "writes"),
        ("crm", "", "writes"),
        ("spend", "search", "reads"),
        ("spend", "search_expenses", "reads"),
        ("spend", "expenses.retrieve", "reads"),
        ("spend", "complete_expense", "writes"),
        ("spend", "review_expense", "writes"),
        ("spend", "queue_expense_for_export", "writes"),
        ("spend", "top_up_wallet", "never"),
        ("spend", "walletTopUp", "never"),
        ("spend", "createPayout", "never"),
        ("spend", "search_payments", "never"),
        ("spend", "pay_out", "never"),
        ("other", "getRecords", "writes"),
    ],
)
def test_a_tool_reads_only_where_its_name_is_known_to(service: str, name: str, judged: str) -> None:
    assert Rules(tools_of(service)).judge(name) == judged


def test_what_may_change_something_is_called_only_where_writing_is_switched_on_and_money_never_moves() -> None:
    for may_write in (False, True):
        rules = Rules(tools_of("spend"), may_write=may_write)
        assert rules.allows(rules.judge("search_expenses"))
        assert rules.allows(rules.judge("complete_expense")) is may_write
        assert not rules.allows(rules.judge("create_payout"))


def test_a_server_can_make_us_more_careful_and_never_less() -> None:
    rules = Rules(tools_of("crm"))
    assert rules.judge("getRecords", Hints(read_only=False)) == "writes"
    assert rules.judge("getRecords", Hints(destructive=True)) == "writes"
    assert rules.judge("createRecords", Hints(read_only=True)) == "writes"


def test_more_tools_can_be_named_as_reading() -> None:
    assert Rules(tools_of("crm"), ["getForecasts"]).judge("Crm_getForecasts") == "reads"
    assert Rules(tools_of("spend"), ["get_payouts"]).judge("get_payouts") == "never"
    assert words_of("Crm_executeCOQLQuery2") == ("crm", "execute", "coql", "query", "2")
