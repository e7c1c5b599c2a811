"""A spend service: who we are, what can be read, and how each stream is read within a window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from urllib.parse import unquote

from noarkit.connectors.access.granting import Granting, first_login, granted
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.oauth import Registered
from noarkit.connectors.access.tokens import KeyPass, Style, origin_of
from noarkit.connectors.client import Client, Manner, Pass
from noarkit.connectors.pace import Clock, Pace, SharedLog
from noarkit.connectors.port import Introduction, Remark, ServiceItem, Stream, Window
from noarkit.connectors.reading import Blocks
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection, open_wire
from noarkit.connectors.spend.calls import Calls
from noarkit.connectors.spend.settings import RETIRING, SCOPES, SpendSettings, read
from noarkit.connectors.spend.streams import Books
from noarkit.connectors.wire import Wire
from noarkit.errors import ConfigFault, ServiceDenied, UsageFault
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable

_STREAMS = (Stream("entries", "entries"), Stream("jobs", "jobs"), Stream("registers", "registers"))


def open_service(to: Connection, clock: Clock | None = None) -> Spend:
    """The service behind a connection. Sends nothing yet. Raises `ConfigFault`, `SecretFault`."""
    return Spend(to, clock or Clock())


def open_login(to: Connection, clock: Clock | None = None) -> Login:
    """A first consent. Raises `UsageFault` for a connection that has a key instead, `ConfigFault`, `SecretFault`."""
    settings = read(to)
    if settings.auth == "key":
        raise UsageFault(what="no-consent-needed", where=to.where)
    wire = open_wire(to, [settings.api_url, settings.auth_url], Scrubber())
    return first_login(to, _granting(to, settings), wire, clock or Clock())


class Spend:
    """One connection to a spend service."""

    # receipts come late, and entries have no filter by change: two months are read again and compared
    look_back = timedelta(days=60)

    def __init__(self, to: Connection, clock: Clock) -> None:
        self.settings = read(to)
        self.to = to
        wire = open_wire(to, [self.settings.api_url, self.settings.auth_url], Scrubber())
        log = SharedLog(to.state_file("pace.db")) if self.settings.rates else None
        pace = Pace(self.settings.rates, log, clock)
        key = _pass(to, self.settings, wire, clock)
        client = Client(wire, self.settings.api_url, key, pace, manner=Manner(), clock=clock)
        scope = ("company_id", self.settings.company_id)
        if not self.settings.company_id:
            scope = ("organization_id", self.settings.organization_id)
        if not scope[1]:
            raise ConfigFault(where=f"connections.spend.{to.name}.company_id", why="not-set")
        self.calls = Calls(client, scope)
        self._books = Books(self.calls, self.settings, scope[1])

    @property
    def tenant(self) -> str:
        """The company, or the organisation, whose books are read."""
        return self.settings.company_id or self.settings.organization_id

    def introduce(self) -> Introduction:
        """Tries the connection."""
        found = self.calls.introspect()
        kind, _, one = str(found.get("subjectURN") or "").rpartition(":")
        if self.settings.company_id and kind.endswith(":company") and one != self.settings.company_id:
            raise ServiceDenied(where=self.to.where, why="other-company")
        remarks = (Remark("export-version-retires"),) if self.settings.export_version == RETIRING else ()
        rights = tuple(str(found.get("scope") or "").split())
        return Introduction(self.tenant, ", ".join(self._books.companies()), rights, remarks)

    def streams(self) -> tuple[Stream, ...]:
        """Entries with receipts, export jobs, registers."""
        return _STREAMS

    def items(self, stream: Stream, window: Window, tell: Listener) -> Iterator[ServiceItem]:
        """Every item of a stream."""
        if stream.name == "entries":
            return self._books.entries(window, tell)
        return self._books.jobs(window, tell) if stream.name == "jobs" else self._books.registers(window, tell)

    def again(self) -> Mapping[str, Sequence[str]]:
        """The entries that were met and are not final yet."""
        return {"entries": self._books.not_final()}

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """The bytes of a receipt."""
        entry, receipt = (unquote(part) for part in content.locator.removeprefix("receipt:").split("/"))
        return self._receipt(entry, receipt)

    def close(self) -> None:
        """Ends all connections."""
        self.calls.client.close()

    @contextmanager
    def _receipt(self, entry: str, receipt: str) -> Iterator[Readable]:
        with self.calls.receipt(entry, receipt) as reply:
            yield Blocks(reply.iter_bytes(1 << 18))


def _granting(to: Connection, settings: SpendSettings) -> Granting:
    url = f"{settings.auth_url}/oauth/token"
    registered = Registered(url, settings.client_id, to.secret("client_secret"), "basic")
    # the address is part of it: what was granted in staging never reaches production
    origin = origin_of(settings.auth_url, settings.api_url, settings.client_id, to.secret("refresh_token"))
    return Granting(f"{settings.auth_url}/oauth/authorize", registered, origin, SCOPES)


def _pass(to: Connection, settings: SpendSettings, wire: Wire, clock: Clock) -> Pass:
    if settings.auth == "key":
        key = to.secret("api_key")
        if key is None:
            raise ConfigFault(where=f"connections.spend.{to.name}.api_key", why="not-set")
        return KeyPass(key, wire.scrubber, Style("Basic"), basic=True)
    return granted(to, _granting(to, settings), wire, clock)
