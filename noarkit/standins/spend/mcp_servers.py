"""The spend service's tool server for expenses: search, retrieve, complete, review, queue for export; never payments.

It takes a token of a person's consent alone, keeps the limit that all calls share, and acts on the same entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from noarkit.standins.mcp_gate import Gate

if TYPE_CHECKING:
    from noarkit.standins.spend.service import Spend

Json = dict[str, Any]
PATH = "/mcp"
_MOST = 100
_READS = ToolAnnotations(read_only_hint=True)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False)


def gate(spend: Spend, key: str) -> Gate:
    """The one server."""
    server = MCPServer("expenses", version="1", log_level="CRITICAL")
    desk = _Desk(spend)
    server.add_tool(desk.search, name="search_expenses", description="Expenses with a text.", annotations=_READS)
    server.add_tool(desk.retrieve, name="retrieve_expense", description="One expense.", annotations=_READS)
    for state in ("complete", "review", "queue"):
        name = f"{state}_expense" + ("_for_export" if state == "queue" else "")
        server.add_tool(desk.marking(state), name=name, description=f"Marks an expense: {state}.", annotations=_WRITES)
    made = Gate(key, spend.control.meets, spend.issuer.is_good)
    made.servers.append((PATH, server))
    return made


def address(url: str, key: str) -> str:
    """Where it is; the key is part of it."""
    return f"{url}{PATH}?key={key}"


class _Desk:
    def __init__(self, spend: Spend) -> None:
        self._spend = spend

    def search(self, context: Context, text: str = "", limit: int = 20) -> Json:
        """The first expenses whose record holds the text."""
        self._enter()
        store = self._spend.store
        found: list[Json] = []
        for one in store.entry_ids():
            entry = store.entry(one)
            if entry is not None and text.casefold() in str(entry).casefold():
                found.append(dict(entry))
            if len(found) >= max(1, min(limit, _MOST)):
                break
        return {"expenses": found}

    def retrieve(self, context: Context, id: str) -> Json:
        """One expense."""
        self._enter()
        return self._one(id)

    def marking(self, state: str) -> Any:  # a function of the library's own making of signatures
        """A tool that marks an expense."""

        def mark(context: Context, id: str) -> Json:
            self._enter()
            entry = {**self._one(id), "expenseState": state}
            self._spend.store.change(id, entry)
            return entry

        return mark

    def _one(self, entry_id: str) -> Json:
        entry = self._spend.store.entry(entry_id)
        if entry is None:
            raise ToolError("NOT_FOUND: there is no such expense")
        return dict(entry)

    def _enter(self) -> None:
        if self._spend.windows.enter() > 0:
            raise ToolError("TOO_MANY_REQUESTS: come later")
