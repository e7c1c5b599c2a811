"""A spend service as a `Service`: its company, its streams, and the items of each within a window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from urllib.parse import unquote

from noarkit.errors import ConfigFault, ServiceDenied, UsageFault
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable
from noarkit.services.access.authorization import Authorization, first_login, make_token_credential
from noarkit.services.access.credentials import KeyCredential, Style, origin_of
from noarkit.services.access.login import Login
from noarkit.services.access.oauth import ClientRegistration
from noarkit.services.blocks import Blocks
from noarkit.services.client import Client, Credential, Dialect
from noarkit.services.pace import Clock, Pace, SharedLog
from noarkit.services.port import Introduction, Remark, ServiceItem, Stream, Window
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire
from noarkit.services.spend.calls import Calls
from noarkit.services.spend.settings import RETIRING, SCOPES, SpendSettings, read_settings
from noarkit.services.spend.streams import CompanyItems
from noarkit.services.wire import Wire

_STREAMS = (Stream("entries", "entries"), Stream("jobs", "jobs"), Stream("registers", "registers"))


def open_service(connection: Connection, clock: Clock | None = None) -> Spend:
    """Opens the service of a connection. Sends nothing yet. Raises `ConfigFault`, `SecretFault`."""
    return Spend(connection, clock or Clock())


def open_login(connection: Connection, clock: Clock | None = None) -> Login:
    """Builds the first consent. Raises `UsageFault` for a connection with a key instead, `ConfigFault`,
    `SecretFault`."""
    settings = read_settings(connection)
    if settings.auth == "key":
        raise UsageFault(what="no-consent-needed", where=connection.full_name)
    wire = open_wire(connection, [settings.api_url, settings.auth_url], Scrubber())
    return first_login(connection, _authorization(connection, settings), wire, clock or Clock())


class Spend:
    """One connection to a spend service."""

    # receipts come late, and entries cannot be filtered by change: two months are read again and compared
    look_back = timedelta(days=60)

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.settings = read_settings(connection)
        self.connection = connection
        wire = open_wire(connection, [self.settings.api_url, self.settings.auth_url], Scrubber())
        log = SharedLog(connection.state_file("pace.db")) if self.settings.rates else None
        pace = Pace(self.settings.rates, log, clock)
        key = _make_credential(connection, self.settings, wire, clock)
        client = Client(wire, self.settings.api_url, key, pace, dialect=Dialect(), clock=clock)
        scope = ("company_id", self.settings.company_id)
        if not self.settings.company_id:
            scope = ("organization_id", self.settings.organization_id)
        if not scope[1]:
            raise ConfigFault(where=f"connections.spend.{connection.name}.company_id", why="not-set")
        self.calls = Calls(client, scope)
        self._books = CompanyItems(self.calls, self.settings, scope[1])

    @property
    def tenant(self) -> str:
        """The id of the company or organisation."""
        return self.settings.company_id or self.settings.organization_id

    def introduce(self) -> Introduction:
        """Tries the connection."""
        identity = self.calls.introspect()
        kind, _, subject_id = str(identity.get("subjectURN") or "").rpartition(":")
        if self.settings.company_id and kind.endswith(":company") and subject_id != self.settings.company_id:
            raise ServiceDenied(where=self.connection.full_name, why="other-company")
        remarks = (Remark("export-version-retires"),) if self.settings.export_version == RETIRING else ()
        rights = tuple(str(identity.get("scope") or "").split())
        return Introduction(self.tenant, ", ".join(self._books.companies()), rights, remarks)

    def streams(self) -> tuple[Stream, ...]:
        """Entries with receipts, export jobs, registers."""
        return _STREAMS

    def items(self, stream: Stream, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Every item of a stream."""
        if stream.name == "entries":
            return self._books.entries(window, emit)
        return self._books.jobs(window, emit) if stream.name == "jobs" else self._books.registers(window, emit)

    def again(self) -> Mapping[str, Sequence[str]]:
        """The entries that were seen and are not final yet."""
        return {"entries": self._books.not_final()}

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """Opens the bytes of a receipt."""
        entry, receipt = (unquote(part) for part in content.locator.removeprefix("receipt:").split("/"))
        return self._receipt(entry, receipt)

    def close(self) -> None:
        """Ends all connections."""
        self.calls.client.close()

    @contextmanager
    def _receipt(self, entry: str, receipt: str) -> Iterator[Readable]:
        with self.calls.receipt(entry, receipt) as reply:
            yield Blocks(reply.iter_bytes(1 << 18))


def _authorization(connection: Connection, settings: SpendSettings) -> Authorization:
    url = f"{settings.auth_url}/oauth/token"
    registration = ClientRegistration(url, settings.client_id, connection.secret("client_secret"), "basic")
    # the address is part of the origin: a grant from staging is never used in production
    origin = origin_of(settings.auth_url, settings.api_url, settings.client_id, connection.secret("refresh_token"))
    return Authorization(f"{settings.auth_url}/oauth/authorize", registration, origin, SCOPES)


def _make_credential(connection: Connection, settings: SpendSettings, wire: Wire, clock: Clock) -> Credential:
    if settings.auth == "key":
        key = connection.secret("api_key")
        if key is None:
            raise ConfigFault(where=f"connections.spend.{connection.name}.api_key", why="not-set")
        return KeyCredential(key, wire.scrubber, Style("Basic"), basic=True)
    return make_token_credential(connection, _authorization(connection, settings), wire, clock)
