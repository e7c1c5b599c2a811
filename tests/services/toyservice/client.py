"""The connector of the toy: one stream of letters, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

from noarkit.errors import ConfigFault, ItemVanished
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable
from noarkit.services.access.credentials import KeyCredential, Style
from noarkit.services.canonical import canonical
from noarkit.services.client import Client
from noarkit.services.pace import Pace
from noarkit.services.port import GeneratedDocument, Introduction, Item, ServiceItem, Stream, Window
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire
from noarkit.services.wire import Request

KEYS = frozenset({"api_url", "api_key"})


class Toy:
    """One connection to the toy."""

    look_back = timedelta(0)

    def __init__(self, connection: Connection) -> None:
        connection.refuse_unknown(KEYS)
        url, key, self.scrubber = connection.url("api_url"), connection.secret("api_key"), Scrubber()
        if not url or key is None:
            raise ConfigFault(where=f"connections.toy.{connection.name}", why="not-set")
        wire = open_wire(connection, [url], self.scrubber)
        self.client = Client(wire, url, KeyCredential(key, self.scrubber, Style("", "X-Key")), Pace())

    @property
    def tenant(self) -> str:
        """The owner of the letters."""
        return "toybox"

    def introduce(self) -> Introduction:
        """Tries the connection."""
        return Introduction(self.tenant, f"{len(self.letters())} letters")

    def streams(self) -> tuple[Stream, ...]:
        """The letters."""
        return (Stream("letters", "letters"),)

    def letters(self) -> list[Mapping[str, object]]:
        """Lists all letters."""
        rows = self.client.ask(Request("GET", self.client.url("/letters"))).members()["letters"]
        assert isinstance(rows, list)
        return rows

    def add(self, title: str) -> Mapping[str, object]:
        """Adds a letter."""
        body = canonical({"title": title})
        request = Request("POST", self.client.url("/letters"), body=body, media_type="application/json")
        return self.client.ask(request).members()

    def items(self, stream: Stream, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Every letter that changed within the window."""
        for row in self.letters():
            modified = datetime.fromisoformat(str(row["modified"]))
            if modified < window.until and (window.since is None or modified >= window.since):
                paper = GeneratedDocument("letter.txt", "text/plain", str(row["text"]).encode(), str(row["title"]))
                yield Item("letters", f"toy:{row['id']}", row, modified, (paper,))

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """Raises: every document was made of the listing."""
        raise ItemVanished(key=content.locator, why="not-there")

    def close(self) -> None:
        """Ends all connections."""
        self.client.close()
