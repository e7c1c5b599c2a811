"""An application security service as a `Service`: its tenant, its streams, and the items of each within a window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta

from noarkit.errors import ItemVanished, ServiceFault, ServiceRefused
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable
from noarkit.services.appsec.access import make_token_credential, make_tools_credential, settings_of
from noarkit.services.appsec.calls import Calls
from noarkit.services.appsec.findings import Finding
from noarkit.services.appsec.papers import DocumentCache, Papers
from noarkit.services.appsec.sarif import write_sarif
from noarkit.services.appsec.states import WITH_FINDINGS, has_ended, key_in
from noarkit.services.appsec.streams import ScanItems, scan_origin
from noarkit.services.appsec.trail import Audit, Decisions
from noarkit.services.client import Client, Dialect
from noarkit.services.pace import Clock, Pace, SharedLog
from noarkit.services.paging import Row
from noarkit.services.port import Introduction, Remark, ServiceItem, Stream, Window
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire

_REMARKS = tuple(map(Remark, ("containers-apart", "scans-are-forgotten", "key-dies")))
_STREAMS = (
    Stream("projects", "projects"),
    Stream("scans", "scans", ("projects",)),
    Stream("decisions", "decisions", ("projects",)),
    Stream("audit", "audit"),
)


def open_service(connection: Connection, clock: Clock | None = None) -> AppSec:
    """Opens the service of a connection. Sends nothing yet. Raises `ConfigFault`, `SecretFault`."""
    return AppSec(connection, clock or Clock())


class AppSec:
    """One connection to an application security service."""

    # longer than any scan takes, by its start; scans that have not ended by then are remembered by id
    look_back = timedelta(days=7)

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.settings = settings_of(connection)
        self.connection = connection
        wire = open_wire(connection, [self.settings.api_url, self.settings.auth_url], Scrubber())
        key = make_token_credential(connection, self.settings, wire, clock)
        log = SharedLog(connection.state_file("pace.db")) if self.settings.rates else None
        pace = Pace(self.settings.rates, log, clock)
        client = Client(wire, self.settings.api_url, key, pace, dialect=Dialect(), clock=clock)
        self.calls = Calls(client, self.settings.accept, self.settings.results_a_page)
        self.papers = Papers(self.calls, self.settings.poll_s, self.settings.job_timeout_s)
        self._shelf = DocumentCache(connection.state_file("shelf.db"), clock.now_s)
        self._key = key_in(self.settings.tenant)
        self._scans = ScanItems(self.calls, self.papers, self._shelf, self.settings, self._key)
        self._decisions = Decisions(self.calls, self._shelf, self._key)

    @property
    def tenant(self) -> str:
        """The id of the tenant."""
        return self.settings.tenant

    def introduce(self) -> Introduction:
        """Tries the connection."""
        names = [str(row.get("name")) for row in self.calls.applications()]
        remarks = _REMARKS if self.settings.auth == "key" else _REMARKS[:-1]
        return Introduction(self.tenant, ", ".join(names[:5]), (), remarks)

    def streams(self) -> tuple[Stream, ...]:
        """Projects, scans, decisions and the audit trail, as far as they are switched on."""
        is_wanted = {"decisions": self.settings.decisions, "audit": self.settings.audit}
        return tuple(stream for stream in _STREAMS if is_wanted.get(stream.name, True))

    def items(self, stream: Stream, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Every item of a stream."""
        if stream.name == "scans":
            return self._scans.scans(window, self.look_back, emit, self._decisions.note)
        if stream.name == "decisions":
            return self._decisions.items(window)
        return self._scans.projects(window) if stream.name == "projects" else Audit(self.calls, self._key).items(window)

    def results(self, scan: str) -> list[Finding]:
        """Reads all findings of a scan, secrets removed. Raises `ServiceRefused` for a scan that is unknown or cannot
        have any, `ServiceFault` for one that has not ended."""
        self._scan_with_findings(scan)
        return self._scans.findings(scan)

    def sarif(self, scan: str) -> bytes:
        """Returns the findings of a scan as SARIF. Raises what `results` raises."""
        return write_sarif(scan_origin(self._scan_with_findings(scan)), self._scans.findings(scan))

    @property
    def tools_url(self) -> str:
        """The URL of the tools for assistants."""
        return self.settings.tools_at

    def tools_client(self) -> Client:
        """Builds the client for the tools. Raises `SecretFault`."""
        client = self.calls.client
        return replace(
            client,
            credential=make_tools_credential(self.connection, self.settings, client.credential, client.wire.scrubber),
        )

    def _scan_with_findings(self, scan: str) -> Row:
        """Reads a scan whose findings may be shown: an empty list would say of any other that nothing was found."""
        row, where = self.calls.scan(scan), f"{self.connection.full_name} {scan}"
        if row is None:
            raise ServiceRefused(where=where, why="not-there", status=404)
        if not has_ended(row):
            raise ServiceFault(where=where, why="scan-not-ended")
        if str(row.get("status")).casefold() not in WITH_FINDINGS:
            raise ServiceRefused(where=where, why="scan-without-results")
        return row

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """Raises: all documents are made when they are listed, for the service soon forgets them."""
        raise ItemVanished(key=content.locator, why="not-there")

    def close(self) -> None:
        """Ends all connections."""
        self.calls.client.close()
