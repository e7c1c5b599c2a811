"""A feature-management service: who we are, what can be read, and how each stream is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cached_property

from noarkit.connectors.access.login import Login
from noarkit.connectors.access.tokens import KeyPass, Style
from noarkit.connectors.client import Client, Pass, Persistence
from noarkit.connectors.features import consent
from noarkit.connectors.features.calls import Calls, Version
from noarkit.connectors.features.definitions import Manner
from noarkit.connectors.features.known import Known
from noarkit.connectors.features.settings import read
from noarkit.connectors.features.streams import LOOK_BACK, REVIEWED, Book
from noarkit.connectors.pace import Clock, MemoryLog, Pace, Rate, SharedLog
from noarkit.connectors.port import Introduction, ServiceItem, Stream, Window
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection, open_wire
from noarkit.errors import ConfigFault, ItemVanished
from noarkit.events import Event, Listener, nobody
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable
from noarkit.secrets import Secret

# 429 says nothing: ten seconds, thirty, … up to a quarter of an hour
_PERSISTENCE = Persistence(attempts=7, busy_s=10.0, longest_busy_s=900.0, total_s=3_600.0)


def open_service(to: Connection, clock: Clock | None = None) -> Features:
    """The service behind a connection. Sends nothing yet. Raises `ConfigFault`, `SecretFault`."""
    return Features(to, clock or Clock())


def open_login(to: Connection, clock: Clock | None = None) -> Login:
    """A first consent to the tools for agents. Raises `UsageFault` for a connection that has a key alone."""
    return consent.login(to, read(to), clock or Clock())


class Features:
    """One connection to a feature-management service."""

    look_back = LOOK_BACK

    def __init__(self, to: Connection, clock: Clock) -> None:
        self.to = to
        self.settings = read(to)
        self.scrubber = Scrubber()
        self.clock = clock
        self._tell: Listener = nobody
        urls = [self.settings.console_url, self.settings.http_url, self.settings.auth_url]
        self.wire = open_wire(to, urls, self.scrubber)
        key = to.secret("api_key")
        if key is None:
            raise ConfigFault(where=f"connections.features.{to.name}.api_key", why="not-set")
        self.key = self._shown(key)
        # whoever reads needs no key that writes: one that does is shown only where something is changed
        writing = to.secret("write_key")
        self.write_key = self.key if writing is None else self._shown(writing)
        changing = self._pace(self.settings.rates, "pace.db")
        own = self.settings.read_rates
        reading = changing if own is None else self._pace(own, "pace-reads.db")
        version = Version(self.settings.version_header, self.settings.api_version)
        self.calls = Calls(self._client(reading, self.key), self._client(changing, self.write_key), version)

    @cached_property
    def tenant(self) -> str:
        """The project, as it is configured or as the service tells it."""
        return self.settings.project_id or str(self.calls.project().get("id") or "")

    def introduce(self) -> Introduction:
        """Tries the connection."""
        project, company = self.calls.project(), self.calls.company()
        account = " / ".join(str(one) for one in (company.get("companyName"), project.get("id")) if one)
        return Introduction(self.tenant, account)

    def streams(self) -> tuple[Stream, ...]:
        """Definitions by their kind, reviews, the audit log."""
        kinds = tuple(Stream(kind, kind) for kind in self.settings.kinds)
        reviews = (Stream("reviews", "reviews", self._reviewed),) if self._reviewed else ()
        return (*kinds, *reviews, Stream("audit", "audit"))

    def items(self, stream: Stream, window: Window, tell: Listener) -> Iterator[ServiceItem]:
        """Every item of a stream. A wait for the service's limits is told."""
        self._tell = tell
        if stream.name == "reviews":
            return self._book.reviews(self._reviewed, window)
        return self._book.audit(window) if stream.name == "audit" else self._book.definitions(stream.name, window)

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """Every document was made of a listing; there is nothing to open later."""
        raise ItemVanished(key=content.locator, why="not-there")

    def close(self) -> None:
        """Ends all connections."""
        self.wire.close()

    @property
    def tools_at(self) -> str:
        """Where the tools for assistants are, where the connection does not say."""
        return f"{self.settings.http_url}/v1/mcp" if self.settings.http_url else ""

    def tools_client(self) -> Client:
        """What lets us in to them: a person's consent where that is configured, else a key; one that writes only where
        writing is switched on. A tool may change something, so that their calls count with the changes."""
        if self.settings.mcp_auth == "oauth":
            shown: Pass = consent.token_pass(self.to, self.settings, self.wire, self.clock)
        else:
            shown = self.write_key if self.to.flag("mcp_write") else self.key
        return self._client(self.calls.writing.pace, shown)

    @cached_property
    def _book(self) -> Book:
        secret = self.to.secret("pseudonym_key")
        key = secret.reveal().encode() if secret is not None else b""
        manner = Manner(self.settings.volatile, self.settings.drop, key)
        known = Known(self.to.state_file("known.db"), self.tenant)
        return Book(self.calls, manner, self.tenant, known, all_reviews=self.settings.all_reviews)

    @property
    def _reviewed(self) -> tuple[str, ...]:
        return tuple(kind for kind in REVIEWED if kind in self.settings.kinds)

    def _pace(self, rates: tuple[Rate, ...], tail: str) -> Pace:
        log = SharedLog(self.to.state_file(tail)) if rates else MemoryLog()
        return Pace(rates, log, self.clock, longest_wait_s=self.settings.wait_most_s, told=self._waits)

    def _waits(self, wait_s: float) -> None:
        self._tell(Event("remark", {"stream": "", "why": "limit-waits", "count": round(wait_s)}))

    def _shown(self, key: Secret) -> KeyPass:
        return KeyPass(key, self.scrubber, Style("", self.settings.key_header))

    def _client(self, pace: Pace, key: Pass) -> Client:
        return Client(self.wire, self.settings.console_url, key, pace, persistence=_PERSISTENCE, clock=self.clock)
