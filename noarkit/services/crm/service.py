"""A CRM as a `Service`: its organisation, its streams, and the items of each within a window."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from itertools import islice
from urllib.parse import unquote

from noarkit.errors import ServiceDenied, ServiceRefused
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable
from noarkit.services.access.authorization import Authorization, first_login, make_token_credential
from noarkit.services.access.credentials import Style, origin_of
from noarkit.services.access.grant_store import Grant
from noarkit.services.access.login import Login
from noarkit.services.access.oauth import ClientRegistration
from noarkit.services.blocks import Blocks
from noarkit.services.client import Client, Dialect
from noarkit.services.crm import calls as asked
from noarkit.services.crm.calls import Calls
from noarkit.services.crm.cases import Cases
from noarkit.services.crm.fields import Fields, readable_fields
from noarkit.services.crm.known_items import KnownItems
from noarkit.services.crm.reading import Reader
from noarkit.services.crm.settings import SCOPES, CrmSettings, read_settings
from noarkit.services.crm.streams import CrmItems, RecordOptions
from noarkit.services.crm.times import clock_lag
from noarkit.services.crm.write_calls import A_CALL, write_values
from noarkit.services.pace import Allowance, Clock, Pace, SharedLog
from noarkit.services.paging import Row
from noarkit.services.port import (
    FetchFailure,
    Introduction,
    Remark,
    ServiceItem,
    Stream,
    Window,
    WriteBackOutcome,
)
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire
from noarkit.services.wire import Answer

CASE_MODULES = ("Deals", "Cases")
PAPERS = ("Notes", "Attachments", "Emails")
_CREDITS = "x-api-credits-remaining"


def open_service(connection: Connection, clock: Clock | None = None) -> Crm:
    """Opens the CRM of a connection. Sends nothing yet. Raises `ConfigFault`, `SecretFault`."""
    return Crm(connection, clock or Clock())


def open_login(connection: Connection, clock: Clock | None = None) -> Login:
    """Builds the first consent to a CRM. Raises `ConfigFault`, `SecretFault`."""
    settings = read_settings(connection)
    wire = open_wire(connection, [settings.api_url, settings.accounts_url], Scrubber())
    return first_login(connection, _authorization(connection, settings), wire, clock or Clock())


def _authorization(connection: Connection, settings: CrmSettings) -> Authorization:
    url = f"{settings.accounts_url}/oauth/v2"
    registration = ClientRegistration(f"{url}/token", settings.client_id, connection.secret("client_secret"))
    origin = origin_of(registration.token_url, registration.client_id, connection.secret("refresh_token"))
    more = (("access_type", "offline"), ("prompt", "consent"))
    return Authorization(f"{url}/auth", registration, origin, SCOPES, ",", more)


class Crm:
    """One connection to a CRM."""

    look_back = timedelta(minutes=5)

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.settings: CrmSettings = read_settings(connection)
        self.allowance = Allowance(self.settings.credits_most, self.settings.credits_floor)
        wire = open_wire(connection, [self.settings.api_url, self.settings.accounts_url], Scrubber())
        self.credential = make_token_credential(
            connection, _authorization(connection, self.settings), wire, clock, Style(self.settings.prefix)
        )
        log = SharedLog(connection.state_file("pace.db")) if self.settings.rates else None
        pace = Pace(self.settings.rates, log, clock)
        dialect = Dialect(asked.judge, self._on_answer, asked.denies)
        client = Client(wire, self.settings.api_url, self.credential, pace, self.allowance, dialect, clock=clock)
        self.calls = Calls(client, self.settings.version)
        self._lock = threading.Lock()
        self._tenant = self.settings.org_id
        self._modules: tuple[Row, ...] | None = None
        self._fields: dict[str, Fields] = {}
        self._cases = Cases()
        self._known = KnownItems()
        self._clock_lag = timedelta()
        self.connection = connection

    @property
    def tenant(self) -> str:
        """The id of the organisation."""
        with self._lock:
            if not self._tenant:
                self._use_granted_domain()
                self._tenant = str(self.calls.organisation().get("zgid") or "")
            return self._tenant

    def introduce(self) -> Introduction:
        """Tries the connection."""
        self._use_granted_domain()
        organisation = self.calls.organisation()
        remaining = self.allowance.remaining
        remarks = () if remaining is None else (Remark("credits", {"left": remaining}),)
        return Introduction(str(organisation.get("zgid", "")), str(organisation.get("company_name", "")), (), remarks)

    def streams(self) -> tuple[Stream, ...]:
        """A stream for each module, then for what belongs to their records. Attachments and emails come last: the times
        of all the rest tell whether those of a closed case may have changed."""
        modules = tuple(str(module["api_name"]) for module in self.modules())
        case_streams = [Stream(name, name, (), None) for name in modules]
        related = (*self._related_modules(), *PAPERS)
        return (*case_streams, *(Stream(name, name, modules) for name in related))

    def modules(self) -> tuple[Row, ...]:
        """The modules to read: the configured ones, or else deals, cases and the tenant's own."""
        configured_names = set(self.settings.modules)
        return tuple(
            module
            for module in self._readable_modules()
            if (name := str(module["api_name"])) in configured_names
            or (not configured_names and (name in CASE_MODULES or module["generated_type"] == "custom"))
        )

    def _related_modules(self) -> tuple[str, ...]:
        """The modules whose records belong to cases."""
        cases = {str(module["api_name"]) for module in self.modules()}
        available = {str(module["api_name"]) for module in self._readable_modules()}
        return tuple(name for name in self.settings.related_modules if name in available and name not in cases)

    def _readable_modules(self) -> tuple[Row, ...]:
        """The modules that can be read, without the skipped ones."""
        if self._modules is None:
            self._modules = tuple(
                module
                for module in self.calls.modules()
                if module.get("api_supported") and module.get("viewable", True)
                if str(module.get("generated_type")) in ("default", "custom")
                if str(module["api_name"]) not in self.settings.skip_modules
            )
        return self._modules

    def fields(self, module: str) -> Fields:
        """The readable fields of a module."""
        if module not in self._fields:
            self._fields[module] = readable_fields(self.calls.fields(module))
        return self._fields[module]

    def shapes(self) -> Mapping[str, Mapping[str, str]]:
        """The fields of every module that was read, and their types."""
        return {module: fields.shape for module, fields in self._fields.items()}

    def items(self, stream: Stream, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Yields every item of a stream. A module that this user may not read is reported, and the rest goes on."""
        reader = self._reader(window)
        try:
            if stream.name == "Notes":
                yield from reader.read_notes()
            elif stream.name == "Attachments":
                yield from reader.read_papers(stream.name, reader.items.attachments)
            elif stream.name == "Emails":
                yield from reader.read_papers(stream.name, reader.items.emails)
            elif stream.name in self._related_modules():
                yield from reader.read_related(stream.name, self.fields(stream.name))
            else:
                yield from reader.read_cases(stream.name, self.fields(stream.name), emit)
        except (ServiceRefused, ServiceDenied) as fault:
            details = {"status": fault.data.get("status")}
            key = reader.items.key(stream.name)
            yield FetchFailure(stream.name, key, str(fault.data.get("why") or fault.code), details)

    def _reader(self, window: Window) -> Reader:
        options = RecordOptions(
            self.tenant,
            self.settings.title_fields,
            self.settings.closed_states,
            self.settings.parallel,
            self.settings.contact_roles,
        )
        if self._known.keys is not window.known_keys:
            self._known.close()
            self._known = KnownItems(window.known_keys, self.tenant)
        return Reader(
            self.calls,
            CrmItems(self.calls, options, keys_only=window.keys_only),
            self._cases,
            self._known,
            window,
            lambda name: f"{self.connection.full_name} {name}",
            self.settings.bulk_from,
            self._clock_lag,
        )

    def write_back(self, stream: str, field: str, values: Iterable[tuple[str, str]]) -> Iterator[WriteBackOutcome]:
        """Writes values into a field of a module's records, a hundred a call."""
        is_known = field in self.fields(stream).shape
        source = iter(values)
        while batch := dict(islice(source, A_CALL)):
            if is_known:
                yield from write_values(self.calls, stream, field, batch)
            else:
                yield from (WriteBackOutcome(stream, record_id, "refused", "no-such-field") for record_id in batch)

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """Opens the bytes of an attachment, of a record or of an email."""
        kind, _, locator_path = content.locator.partition(":")
        parts = [unquote(part) for part in locator_path.split("/")]
        if kind == "attachment":
            module, record, attachment = parts
            return self._bytes(f"/{module}/{record}/Attachments/{attachment}", content.locator)
        module, record, message, file, user, name = parts
        params = [("user_id", user), ("message_id", message), ("id", file), ("name", name)]
        return self._bytes(f"/{module}/{record}/Emails/actions/download_attachments", content.locator, *params)

    def close(self) -> None:
        """Ends all connections."""
        self._cases.close()
        self._known.close()
        self.calls.client.close()

    @contextmanager
    def _bytes(self, path: str, key: str, *params: tuple[str, str]) -> Iterator[Readable]:
        with self.calls.download(path, key, *params) as reply:
            if reply.status_code == asked.NO_CONTENT:
                raise asked.vanished_fault(key)
            yield Blocks(reply.iter_bytes(1 << 18))

    def _use_granted_domain(self) -> None:
        """Switches to the API domain that the token came with, if it is allowed."""
        domain = self._current_grant().api_domain.rstrip("/")
        if domain and domain != self.calls.client.base:
            self.calls.client.wire.settings.check(domain)
            self.calls.client.base = domain

    def _current_grant(self) -> Grant:
        return self.calls.client.wait_while_busy(self.credential.grant)

    def _on_answer(self, answer: Answer) -> None:
        remaining = answer.headers.get(_CREDITS, "")
        if remaining.isdigit():
            self.allowance.update(int(remaining))
        self._clock_lag = clock_lag(answer.headers.get("date", ""), self.calls.client.clock.now_s())
