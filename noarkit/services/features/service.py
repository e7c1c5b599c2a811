"""A feature-management service as a `Service`: its project, its streams, and the items of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cached_property

from noarkit.errors import ConfigFault, ItemVanished
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable
from noarkit.secrets import Secret
from noarkit.services.access.credentials import KeyCredential, Style
from noarkit.services.access.login import Login
from noarkit.services.client import Client, Credential, Persistence
from noarkit.services.features import consent
from noarkit.services.features.calls import Calls, Version
from noarkit.services.features.definitions import Redaction
from noarkit.services.features.known_definitions import KnownDefinitions
from noarkit.services.features.settings import read_settings
from noarkit.services.features.streams import LOOK_BACK, REVIEWED, ProjectItems
from noarkit.services.pace import Clock, MemoryLog, Pace, Rate, SharedLog
from noarkit.services.port import Introduction, ServiceItem, Stream, Window
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire

# 429 comes without Retry-After: ten seconds, thirty, … up to a quarter of an hour
_PERSISTENCE = Persistence(attempts=7, busy_s=10.0, longest_busy_s=900.0, total_s=3_600.0)


def open_service(connection: Connection, clock: Clock | None = None) -> Features:
    """Opens the service of a connection. Sends nothing yet. Raises `ConfigFault`, `SecretFault`."""
    return Features(connection, clock or Clock())


def open_login(connection: Connection, clock: Clock | None = None) -> Login:
    """Builds the first consent to the tools for assistants. Raises `UsageFault` for a connection with a key alone."""
    return consent.login(connection, read_settings(connection), clock or Clock())


class Features:
    """One connection to a feature-management service."""

    look_back = LOOK_BACK

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.connection = connection
        self.settings = read_settings(connection)
        self.scrubber = Scrubber()
        self.clock = clock
        urls = [self.settings.console_url, self.settings.http_url, self.settings.auth_url]
        self.wire = open_wire(connection, urls, self.scrubber)
        key = connection.secret("api_key")
        if key is None:
            raise ConfigFault(where=f"connections.features.{connection.name}.api_key", why="not-set")
        self.key = self._key_credential(key)
        # reads need no writing key: that one is sent only with changes
        write_key = connection.secret("write_key")
        self.write_key = self.key if write_key is None else self._key_credential(write_key)
        write_pace = self._pace(self.settings.rates, "pace.db")
        read_rates = self.settings.read_rates
        read_pace = write_pace if read_rates is None else self._pace(read_rates, "pace-reads.db")
        version = Version(self.settings.version_header, self.settings.api_version)
        self.calls = Calls(self._client(read_pace, self.key), self._client(write_pace, self.write_key), version)

    @cached_property
    def tenant(self) -> str:
        """The id of the project, as configured or as the service tells it."""
        return self.settings.project_id or str(self.calls.project().get("id") or "")

    def introduce(self) -> Introduction:
        """Tries the connection."""
        project, company = self.calls.project(), self.calls.company()
        account = " / ".join(str(name) for name in (company.get("companyName"), project.get("id")) if name)
        return Introduction(self.tenant, account)

    def streams(self) -> tuple[Stream, ...]:
        """Definitions by their kind, reviews, the audit log."""
        kinds = tuple(Stream(kind, kind) for kind in self.settings.kinds)
        reviews = (Stream("reviews", "reviews", self._reviewed_kinds),) if self._reviewed_kinds else ()
        return (*kinds, *reviews, Stream("audit", "audit"))

    def items(self, stream: Stream, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Yields every item of a stream."""
        if stream.name == "reviews":
            return self._book.reviews(self._reviewed_kinds, window)
        return self._book.audit(window) if stream.name == "audit" else self._book.definitions(stream.name, window)

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """Raises: every document was made of a listing; there is nothing to open later."""
        raise ItemVanished(key=content.locator, why="not-there")

    def close(self) -> None:
        """Ends all connections."""
        self.wire.close()

    @property
    def tools_url(self) -> str:
        """The URL of the tools for assistants, if the connection does not configure one."""
        return f"{self.settings.http_url}/v1/mcp" if self.settings.http_url else ""

    def tools_client(self) -> Client:
        """Builds the client for the tools: with a person's consent if configured, or else with a key, which writes only
        if writing is switched on. A tool may change something, so calls count with the changes."""
        if self.settings.mcp_auth == "oauth":
            credential: Credential = consent.make_consent_credential(
                self.connection, self.settings, self.wire, self.clock
            )
        else:
            credential = self.write_key if self.connection.flag("mcp_write") else self.key
        return self._client(self.calls.write_client.pace, credential)

    @cached_property
    def _book(self) -> ProjectItems:
        secret = self.connection.secret("pseudonym_key")
        key = secret.reveal().encode() if secret is not None else b""
        redaction = Redaction(self.settings.volatile, self.settings.drop, key)
        known_definitions = KnownDefinitions(self.connection.state_file("known.db"), self.tenant)
        return ProjectItems(
            self.calls, redaction, self.tenant, known_definitions, all_reviews=self.settings.all_reviews
        )

    @property
    def _reviewed_kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in REVIEWED if kind in self.settings.kinds)

    def _pace(self, rates: tuple[Rate, ...], tail: str) -> Pace:
        log = SharedLog(self.connection.state_file(tail)) if rates else MemoryLog()
        return Pace(rates, log, self.clock, longest_wait_s=self.settings.wait_most_s)

    def _key_credential(self, key: Secret) -> KeyCredential:
        return KeyCredential(key, self.scrubber, Style("", self.settings.key_header))

    def _client(self, pace: Pace, key: Credential) -> Client:
        return Client(self.wire, self.settings.console_url, key, pace, persistence=_PERSISTENCE, clock=self.clock)
