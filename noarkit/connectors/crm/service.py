"""A CRM as a service: who we are, what can be read, and how each stream is read within a window."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from itertools import islice
from urllib.parse import unquote

from noarkit.connectors.access.granting import Granting, first_login, granted
from noarkit.connectors.access.keep import Grant
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.oauth import Registered
from noarkit.connectors.access.tokens import Style, origin_of
from noarkit.connectors.ahead import ahead
from noarkit.connectors.client import Client, Manner
from noarkit.connectors.crm import calls as asked
from noarkit.connectors.crm import listing
from noarkit.connectors.crm.calls import Calls
from noarkit.connectors.crm.fields import Fields, readable
from noarkit.connectors.crm.settings import SCOPES, CrmSettings, read
from noarkit.connectors.crm.streams import NOTE_FIELDS, Cases, Papers
from noarkit.connectors.crm.writing import A_CALL, write_values
from noarkit.connectors.pace import Allowance, Clock, Pace, SharedLog
from noarkit.connectors.paging import Row, pages, rows
from noarkit.connectors.port import Deleted, Introduction, NotFetched, Remark, ServiceItem, Stream, Window, WrittenBack
from noarkit.connectors.reading import Blocks
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection, open_wire
from noarkit.connectors.wire import Answer
from noarkit.errors import ServiceDenied, ServiceRefused
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable

CASE_MODULES = ("Deals", "Cases")
PAPERS = ("Notes", "Attachments", "Emails")
_CREDITS = "x-api-credits-remaining"


def open_service(to: Connection, clock: Clock | None = None) -> Crm:
    """The CRM behind a connection. Sends nothing yet. Raises `ConfigFault`, `SecretFault`."""
    return Crm(to, clock or Clock())


def open_login(to: Connection, clock: Clock | None = None) -> Login:
    """A first consent to a CRM. Raises `ConfigFault`, `SecretFault`."""
    settings = read(to)
    wire = open_wire(to, [settings.api_url, settings.accounts_url], Scrubber())
    return first_login(to, _granting(to, settings), wire, clock or Clock())


def _granting(to: Connection, settings: CrmSettings) -> Granting:
    url = f"{settings.accounts_url}/oauth/v2"
    registered = Registered(f"{url}/token", settings.client_id, to.secret("client_secret"))
    origin = origin_of(registered.token_url, registered.client_id, to.secret("refresh_token"))
    more = (("access_type", "offline"), ("prompt", "consent"))
    return Granting(f"{url}/auth", registered, origin, SCOPES, ",", more)


class Crm:
    """One connection to a CRM."""

    look_back = timedelta(minutes=5)

    def __init__(self, to: Connection, clock: Clock) -> None:
        self.settings: CrmSettings = read(to)
        self.allowance = Allowance(self.settings.credits_most, self.settings.credits_floor)
        wire = open_wire(to, [self.settings.api_url, self.settings.accounts_url], Scrubber())
        self.key = granted(to, _granting(to, self.settings), wire, clock, Style(self.settings.prefix))
        log = SharedLog(to.state_file("pace.db")) if self.settings.rates else None
        pace = Pace(self.settings.rates, log, clock)
        manner = Manner(asked.judge, self._heard, asked.denies)
        client = Client(wire, self.settings.api_url, self.key, pace, self.allowance, manner, clock=clock)
        self.calls = Calls(client, self.settings.version)
        self._lock = threading.Lock()
        self._tenant = self.settings.org_id
        self._modules: tuple[Row, ...] | None = None
        self._fields: dict[str, Fields] = {}
        self._cases = Cases()
        self.to = to

    @property
    def tenant(self) -> str:
        """The id of the organisation."""
        with self._lock:
            if not self._tenant:
                self._reach()
                self._tenant = str(self.calls.organisation().get("zgid") or "")
            return self._tenant

    def introduce(self) -> Introduction:
        """Tries the connection."""
        self._reach()
        found = self.calls.organisation()
        left = self.allowance.remaining
        remarks = () if left is None else (Remark("credits", {"left": left}),)
        return Introduction(str(found.get("zgid", "")), str(found.get("company_name", "")), (), remarks)

    def streams(self) -> tuple[Stream, ...]:
        """A stream for each module that is read, then what hangs on their records."""
        modules = [str(module["api_name"]) for module in self.modules()]
        found = [Stream(name, name, (), None) for name in modules]
        return (*found, *(Stream(name, name, tuple(modules)) for name in PAPERS))

    def modules(self) -> tuple[Row, ...]:
        """The modules that are read: those named, else deals, cases and the tenant's own."""
        if self._modules is None:
            wanted, unwanted = set(self.settings.modules), set(self.settings.skip_modules)
            found = [
                module
                for module in self.calls.modules()
                if module.get("api_supported") and module.get("viewable", True)
                if str(module.get("generated_type")) in ("default", "custom")
            ]
            self._modules = tuple(
                module
                for module in found
                if (name := str(module["api_name"])) not in unwanted
                and (name in wanted if wanted else name in CASE_MODULES or module["generated_type"] == "custom")
            )
        return self._modules

    def fields(self, module: str) -> Fields:
        """The fields of a module that can be read."""
        if module not in self._fields:
            self._fields[module] = readable(self.calls.fields(module))
        return self._fields[module]

    def shapes(self) -> Mapping[str, Mapping[str, str]]:
        """The fields of every module that was read, and their types."""
        return {module: fields.shape for module, fields in self._fields.items()}

    def items(self, stream: Stream, window: Window, tell: Listener) -> Iterator[ServiceItem]:
        """Every item of a stream. A module that this user may not read is told, and the rest goes on."""
        papers = Papers(self.calls, self.tenant, self.settings.titles, self.settings.parallel)
        if stream.name == "Notes":
            yield from self._notes(papers, window)
        elif stream.name == "Attachments":
            yield from papers.each(self._cases.to_visit(), papers.attachments)
        elif stream.name == "Emails":
            yield from papers.each(self._cases.to_visit(), papers.emails)
        else:
            try:
                yield from self._records(papers, stream.name, window)
            except (ServiceRefused, ServiceDenied) as fault:
                told = {"status": fault.data.get("status")}
                yield NotFetched(stream.name, papers.key(stream.name), str(fault.data.get("why") or fault.code), told)

    def write_back(self, stream: str, field: str, values: Iterable[tuple[str, str]]) -> Iterator[WrittenBack]:
        """Writes values into a field of a module's records, a hundred a call."""
        known = field in self.fields(stream).shape
        source = iter(values)
        while batch := dict(islice(source, A_CALL)):
            if known:
                yield from write_values(self.calls, stream, field, batch)
            else:
                yield from (WrittenBack(stream, one, "refused", "no-such-field") for one in batch)

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """The bytes of an attachment, or of what hangs on an email."""
        kind, _, rest = content.locator.partition(":")
        parts = [unquote(part) for part in rest.split("/")]
        if kind == "attachment":
            module, record, attachment = parts
            return self._bytes(f"/{module}/{record}/Attachments/{attachment}", content.locator)
        module, record, message, file, user = parts
        params = [("message_id", message), ("id", file), ("name", content.name), *([("user_id", user)] if user else [])]
        return self._bytes(f"/{module}/{record}/Emails/actions/download_attachments", content.locator, *params)

    def close(self) -> None:
        """Ends all connections."""
        self._cases.close()
        self.calls.client.close()

    def _records(self, papers: Papers, module: str, window: Window) -> Iterator[ServiceItem]:
        fields = self.fields(module)
        for record in self._listed(module, fields, window):
            moment = datetime.fromisoformat(str(record.get("Modified_Time")))
            if moment >= window.until:
                continue  # the next run takes it
            fresh = window.since is None or moment >= window.since
            self._cases.add(module, papers.facts(module, record), fresh=fresh)
            if fresh:
                yield papers.record(module, module, record, fields)
        if window.since is not None:
            where = f"{self.to.where} {module}"
            for row in listing.deleted(self.calls, module, window.since, where):
                when = datetime.fromisoformat(str(row["deleted_time"]))
                yield Deleted(module, papers.key(module, row["id"], "deleted"), when)

    def _listed(self, module: str, fields: Fields, window: Window) -> Iterator[Row]:
        """All records where all are wanted; else the changed ones, and what must be known of the others."""
        where = f"{self.to.where} {module}"
        if window.since is None:
            many = self.calls.count(module) > self.settings.bulk_from
            found = listing.in_bulk(self.calls, module, fields) if many else None
            yield from found or listing.everything(self.calls, module, fields, where)
            return
        names = ("id", "Modified_Time", "Created_Time", *(name for name in _FACTS if name in fields.names))
        slim = Fields(names, fields.private, fields.shape)
        changed: set[str] = set()
        for record in listing.changed(self.calls, module, fields, window.since, window.until):
            changed.add(str(record["id"]))
            yield record
        for record in listing.everything(self.calls, module, slim, where):
            if str(record["id"]) not in changed and datetime.fromisoformat(str(record["Modified_Time"])) < window.since:
                yield record

    def _notes(self, papers: Papers, window: Window) -> Iterator[ServiceItem]:
        where = f"{self.to.where} Notes"
        listed = pages(lambda cursor: self.calls.page("/Notes", NOTE_FIELDS, cursor, window.since), where)
        for note in rows(ahead(listed), lambda row: str(row.get("id")), where):
            parent = note.get("Parent_Id")
            case = self._cases.facts(str(parent.get("id"))) if isinstance(parent, Mapping) else None
            if case is None:
                continue  # it hangs on something that is not archived
            if datetime.fromisoformat(str(note.get("Modified_Time"))) < window.until:
                yield papers.note(note, case)

    @contextmanager
    def _bytes(self, path: str, key: str, *params: tuple[str, str]) -> Iterator[Readable]:
        with self.calls.download(path, key, *params) as reply:
            if reply.status_code == asked.NOTHING:
                raise asked.vanished(key)
            yield Blocks(reply.iter_bytes(1 << 18))

    def _reach(self) -> None:
        """Takes the address that the token came with, where it may be asked."""
        domain = self._granted().api_domain.rstrip("/")
        if domain and domain != self.calls.client.base:
            self.calls.client.wire.line.check(domain)
            self.calls.client.base = domain

    def _granted(self) -> Grant:
        return self.calls.client.patiently(self.key.grant)

    def _heard(self, answer: Answer) -> None:
        left = answer.headers.get(_CREDITS, "")
        if left.isdigit():
            self.allowance.told(int(left))


_FACTS = (
    "Deal_Name", "Subject", "Name", "Owner", "Account_Name", "Stage", "Status", "Contract_Number", "Case_Number", "Tag",
)  # fmt: skip
