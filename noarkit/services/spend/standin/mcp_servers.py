"""The spend service's MCP tool server for expenses: search, retrieve, complete, review, queue for export; never
payments.

It takes only a token of a person's consent, shares the rate limit of all calls, and acts on the same entries.
"""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from noarkit.services.spend.standin.data import Store
from noarkit.services.standins.windows import Windows

Json = dict[str, Any]
PATH = "/mcp"
_MOST = 100
_READS = ToolAnnotations(read_only_hint=True)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False)


def servers(store: Store, windows: Windows) -> dict[str, MCPServer]:
    """Builds the one server, by its path."""
    server = MCPServer("expenses", version="1", log_level="CRITICAL")
    tools = _Tools(store, windows)
    server.add_tool(tools.search, name="search_expenses", description="Expenses with a text.", annotations=_READS)
    server.add_tool(tools.retrieve, name="retrieve_expense", description="One expense.", annotations=_READS)
    for state in ("complete", "review", "queue"):
        name = f"{state}_expense" + ("_for_export" if state == "queue" else "")
        server.add_tool(tools.marking(state), name=name, description=f"Marks an expense: {state}.", annotations=_WRITES)
    return {PATH: server}


def address(url: str, key: str) -> str:
    """Returns its address; the key is part of it."""
    return f"{url}{PATH}?key={key}"


class _Tools:
    def __init__(self, store: Store, windows: Windows) -> None:
        self._store = store
        self._windows = windows

    def search(self, context: Context, text: str = "", limit: int = 20) -> Json:
        """Finds the first expenses whose record contains the text."""
        self._enter()
        matches: list[Json] = []
        for entry_id in self._store.entry_ids():
            entry = self._store.entry(entry_id)
            if entry is not None and text.casefold() in str(entry).casefold():
                matches.append(dict(entry))
            if len(matches) >= max(1, min(limit, _MOST)):
                break
        return {"expenses": matches}

    def retrieve(self, context: Context, id: str) -> Json:
        """Reads one expense."""
        self._enter()
        return self._find_entry(id)

    def marking(self, state: str) -> Any:  # a function of the library's own making of signatures
        """Makes a tool that marks an expense."""

        def mark(context: Context, id: str) -> Json:
            self._enter()
            entry = {**self._find_entry(id), "expenseState": state}
            self._store.change(id, entry)
            return entry

        return mark

    def _find_entry(self, entry_id: str) -> Json:
        entry = self._store.entry(entry_id)
        if entry is None:
            raise ToolError("NOT_FOUND: there is no such expense")
        return dict(entry)

    def _enter(self) -> None:
        if self._windows.enter() > 0:
            raise ToolError("TOO_MANY_REQUESTS: come later")
