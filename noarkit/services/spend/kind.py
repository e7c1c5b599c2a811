"""The spend service as a kind of service."""

from __future__ import annotations

from typing import Literal
from urllib.parse import unquote

from noarkit.services.kind import ServiceKind, ToolKind, WebhookKind
from noarkit.services.settings import Connection
from noarkit.services.spend.commands import COMMANDS
from noarkit.services.spend.service import open_login, open_service
from noarkit.services.spend.settings import KEYS

_TOOLS = (
    "search", "retrieve", "searchExpenses", "searchExpense", "expensesSearch", "expenseSearch",
    "retrieveExpenses", "retrieveExpense", "expensesRetrieve", "expenseRetrieve",
)  # fmt: skip


def _default_consent(connection: Connection) -> Literal["own", "connection"]:
    """Returns whose consent opens the tools: a key opens none, so a connection with one needs theirs."""
    return "own" if connection.text("auth", "oauth") == "key" else "connection"


def _again_id(key: str) -> tuple[str, str] | None:
    """Returns the id of an entry, which can be read by itself; all else is listed whole."""
    parts = key.split(":")
    return ("entries", unquote(parts[2])) if len(parts) == 3 and parts[1] == "entry" else None


SPEND = ServiceKind(
    name="spend",
    package="noarkit.services.spend",
    setting_keys=KEYS,
    open_service=open_service,
    open_login=open_login,
    commands=COMMANDS,
    webhooks=WebhookKind("standard"),
    tools=ToolKind(_TOOLS, guards_money=True, default_consent=_default_consent),
    standin="noarkit.services.spend.standin.service:standin",
    chances="noarkit.services.spend.standin.history:CHANCES",
    again_id=_again_id,
)
