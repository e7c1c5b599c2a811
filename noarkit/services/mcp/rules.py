"""Which tools of a service may be called: those known to read; all others count as changing something.

A name is judged by its words, whatever the prefix: `Any_getRecords`, `any.get_records` and `getRecords` are the same
tool. `forgetRecords` is not. For services without prefixes, names are compared whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Judgement = Literal["reads", "writes", "never"]
Words = tuple[str, ...]
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

READ_WORDS: dict[str, tuple[str, ...]] = {
    "crm": (
        "getModules", "getModule", "getFields", "getField", "getCustomFields", "getLayouts", "getLayout", "getUsers",
        "getUser", "getOrganization", "getRecords", "getRecord", "getRelatedRecords", "getRelatedLists",
        "getDeletedRecords", "getRecordCount", "getTimelines", "getTimeline", "getNotes", "getAttachments", "getEmails",
        "getCustomViews",
        "searchRecords", "executeCOQLQuery", "getWorkflowRules", "getWorkflowRule", "getBulkReadJob",
    ),
    "spend": (
        "search", "retrieve", "searchExpenses", "searchExpense", "expensesSearch", "expenseSearch",
        "retrieveExpenses", "retrieveExpense", "expensesRetrieve", "expenseRetrieve",
    ),
    "appsec": (
        "listFindings", "getFindingDetails", "getTriageHistory", "getTenantVulnerabilitiesSummary", "listScans",
        "getLatestScans", "getScanDetails", "listProjects", "resolveProject", "getProjectConfig", "listApplications",
        "getApplicationDetails",
    ),
    "features": (
        "Get_List_of_Gates", "Get_Gate_Details_by_ID", "Get_Gate_Version_History", "Get_List_of_Experiments",
        "Get_Experiment_Details_by_ID", "Get_List_of_Dynamic_Configs", "Get_Dynamic_Config_Details_by_ID",
        "Get_Dynamic_Config_Version_History", "Get_List_of_Segments", "Get_Segment_Details_by_ID", "Get_List_of_Layers",
        "Get_Layer_Details_by_ID", "Get_List_of_Metrics", "Get_Metric_Details_by_ID", "Get_Audit_Logs", "gate_read",
        "experiment_read", "dynamic_config_read", "metric_read", "get_context", "discover_tools",
    ),
}  # fmt: skip
# services whose tool names have no prefix: names are compared whole
_WHOLE = frozenset({"features"})
# a changing word anywhere in a name outweighs its ending
CHANGE_WORDS = frozenset(
    {"add", "approve", "archive", "assign", "associate", "bulk", "cancel", "clear", "complete", "convert", "copy",
     "create", "delete", "disable", "edit", "enable", "execute", "forget", "import", "insert", "invite", "mass",
     "merge", "modify", "move", "patch", "post", "publish", "purge", "put", "queue", "reject", "remove", "rename",
     "replace", "restore", "review", "run", "send", "set", "share", "submit", "trigger", "undo", "update",
     "upload", "upsert", "write"}
)  # fmt: skip
# money is never moved, not even where writing is switched on
_MONEY = frozenset(
    {"deposit", "deposits", "disburse", "pay", "payment", "payments", "payout", "payouts", "refund", "refunds",
     "reimburse", "reimbursement", "reimbursements", "topup", "topups", "transfer", "transfers", "withdraw",
     "withdrawal", "withdrawals"}
)  # fmt: skip
_TOP_UP = (("top", "up"), ("top", "ups"), ("pay", "out"), ("pay", "outs"))


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints of a server about a tool. They can make us more careful, never less."""

    read_only: bool | None = None
    destructive: bool | None = None


def words_of(name: str) -> Words:
    """Splits a tool's name into words, in small letters."""
    return tuple(word.casefold() for word in _WORD.findall(name))


class Rules:
    """The tools that a connection may call. `more` are tools that its owner knows to read only."""

    def __init__(self, service: str, more: Iterable[str] = (), *, may_write: bool = False) -> None:
        self._read_names = {words_of(name) for name in (*READ_WORDS.get(service, ()), *more)} - {()}
        self._may_write = may_write
        self._guards_money = service == "spend"
        self._whole = service in _WHOLE

    def judge(self, name: str, hints: Hints | None = None) -> Judgement:
        """Judges whether a tool reads, (possibly) changes something, or is never called."""
        words, known_hints = words_of(name), hints or Hints()
        if self._guards_money and _moves_money(words):
            return "never"
        if known_hints.read_only is False or known_hints.destructive is True:
            return "writes"
        for length in range(len(words), len(words) - 1 if self._whole else 0, -1):
            if words[-length:] in self._read_names:
                return "writes" if CHANGE_WORDS.intersection(words[:-length]) else "reads"
        return "writes"

    def allows(self, judgement: Judgement) -> bool:
        """True if a tool with that judgement may be called."""
        return judgement == "reads" or (judgement == "writes" and self._may_write)


def _moves_money(words: Words) -> bool:
    pairs = pairwise(words)
    return bool(_MONEY.intersection(words)) or any(pair in _TOP_UP for pair in pairs)
