"""A CRM as a service: who we are, what can be read, and how each stream is read within a window."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal
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
from noarkit.connectors.crm.streams import NOTE_FIELDS, Cases, Papers, Reading
from noarkit.connectors.crm.writing import A_CALL, write_values
from noarkit.connectors.pace import Allowance, Clock, Pace, SharedLog
from noarkit.connectors.paging import Page, Row, pages, rows
from noarkit.connectors.port import Deleted, Introduction, NotFetched, Remark, ServiceItem, Stream, Window, WrittenBack
from noarkit.connectors.reading import Blocks
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection, open_wire
from noarkit.connectors.wire import Answer
from noarkit.errors import ServiceDenied, ServiceRefused, ServiceStrange
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
        """A stream for each module that is read, then what hangs on their records. Attachments and emails come last:
        the times of all else that hangs on a closed case tell whether they may have changed."""
        modules = tuple(str(module["api_name"]) for module in self.modules())
        found = [Stream(name, name, (), None) for name in modules]
        hanging = (*self._related(), *PAPERS)
        return (*found, *(Stream(name, name, modules) for name in hanging))

    def modules(self) -> tuple[Row, ...]:
        """The modules that are read: those named, else deals, cases and the tenant's own."""
        wanted = set(self.settings.modules)
        return tuple(
            module
            for module in self._listed_modules()
            if (name := str(module["api_name"])) in wanted
            or (not wanted and (name in CASE_MODULES or module["generated_type"] == "custom"))
        )

    def _related(self) -> tuple[str, ...]:
        """The modules whose records hang on cases."""
        cases = {str(module["api_name"]) for module in self.modules()}
        there = {str(module["api_name"]) for module in self._listed_modules()}
        return tuple(name for name in self.settings.related if name in there and name not in cases)

    def _listed_modules(self) -> tuple[Row, ...]:
        """The modules that there are to be read, less those that are not wanted."""
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
        """The fields of a module that can be read."""
        if module not in self._fields:
            self._fields[module] = readable(self.calls.fields(module))
        return self._fields[module]

    def shapes(self) -> Mapping[str, Mapping[str, str]]:
        """The fields of every module that was read, and their types."""
        return {module: fields.shape for module, fields in self._fields.items()}

    def items(self, stream: Stream, window: Window, tell: Listener) -> Iterator[ServiceItem]:
        """Every item of a stream. A module that this user may not read is told, and the rest goes on."""
        reading = Reading(
            self.tenant, self.settings.titles, self.settings.closed, self.settings.parallel, self.settings.contact_roles
        )
        papers = Papers(self.calls, reading, keys_only=window.keys_only)
        if stream.name == "Notes":
            yield from self._notes(papers, window)
        elif stream.name == "Attachments":
            yield from papers.each(self._cases.to_visit(sweep=window.sweep), papers.attachments)
        elif stream.name == "Emails":
            yield from papers.each(self._cases.to_visit(sweep=window.sweep), papers.emails)
        else:
            hanging = stream.name in self._related()
            try:
                yield from (self._hanging if hanging else self._records)(papers, stream.name, window)
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
        module, record, message, file, user, name = parts
        params = [("user_id", user), ("message_id", message), ("id", file), ("name", name)]
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
            stirred = fresh or str(record["id"]) in window.hinted or _stirred(record, window.since)
            facts = papers.facts(module, record, fields, asks=fresh and not window.keys_only)
            self._cases.add(module, facts, fresh=stirred)
            if fresh:
                yield papers.record(module, record, fields, facts)
        if window.since is not None:
            yield from self._deleted(papers, module, window.since)

    def _deleted(self, papers: Papers, module: str, since: datetime) -> Iterator[ServiceItem]:
        """What was deleted since. The bin lists no more than it lists: what it does not tell is told."""
        try:
            for row in listing.deleted(self.calls, module, since, f"{self.to.where} {module}"):
                when = datetime.fromisoformat(str(row["deleted_time"]))
                yield Deleted(module, papers.key(module, row["id"], "deleted"), when)
        except ServiceStrange as fault:
            if fault.data.get("why") != "list-incomplete":
                raise
            yield NotFetched(module, papers.key(module, "deleted"), "list-incomplete")

    def _hanging(self, papers: Papers, module: str, window: Window) -> Iterator[ServiceItem]:
        """The records of a module that hang on cases, with the case that each names."""
        fields, where = self.fields(module), f"{self.to.where} {module}"
        if window.since is None:
            found = listing.all_records(self.calls, module, fields, where, self.settings.bulk_from)
        else:
            found = listing.changed(self.calls, module, fields, window.since, window.until)
        for record in found:
            case = self._cases.parent_of(record)
            if case is None or datetime.fromisoformat(str(record.get("Modified_Time"))) >= window.until:
                continue  # it hangs on nothing that is archived, or the next run takes it
            self._cases.touch(str(case["id"]))
            yield papers.related(module, record, fields, case)

    def _listed(self, module: str, fields: Fields, window: Window) -> Iterator[Row]:
        """All records where all are wanted; else the changed ones, and what must be known of the others."""
        where = f"{self.to.where} {module}"
        bulk_from = self.settings.bulk_from
        if window.since is None:
            yield from listing.all_records(self.calls, module, fields, where, bulk_from)
            return
        slim = fields.some((*_FACTS, *self.settings.titles, *fields.titles()))
        changed: set[str] = set()
        for record in listing.changed(self.calls, module, fields, window.since, window.until):
            changed.add(str(record["id"]))
            yield record
        for record in listing.all_records(self.calls, module, slim, where, bulk_from):
            if str(record["id"]) not in changed and datetime.fromisoformat(str(record["Modified_Time"])) < window.since:
                yield record

    def _notes(self, papers: Papers, window: Window) -> Iterator[ServiceItem]:
        """Every note, or those that changed, judged by their own times: the list cannot be asked for changes alone."""
        where = f"{self.to.where} Notes"
        order: Literal["asc", "desc"] = "asc" if window.since is None else "desc"
        listed = pages(lambda cursor: self.calls.page("/Notes", NOTE_FIELDS, cursor, order), where)
        for note in rows(ahead(_until_older(listed, window.since)), lambda row: str(row.get("id")), where):
            parent = note.get("Parent_Id")
            case = self._cases.facts(str(parent.get("id"))) if isinstance(parent, Mapping) else None
            moment = _changed(note)
            if case is None or moment >= window.until or (window.since is not None and moment < window.since):
                continue  # it hangs on something that is not archived, or is another run's
            self._cases.touch(str(case["id"]))
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


def _until_older(listed: Iterator[Page], since: datetime | None) -> Iterator[Page]:
    """Pages of a list that has the newest first, as far as there is something newer; all of one that does not keep to
    that order."""
    newest_first = True
    for page in listed:
        yield page
        times = [_changed(row) for row in page.rows]
        newest_first = newest_first and times == sorted(times, reverse=True)
        if since is not None and newest_first and times and times[-1] < since:
            return


def _changed(row: Row) -> datetime:
    return datetime.fromisoformat(str(row.get("Modified_Time")))


def _stirred(record: Row, since: datetime | None) -> bool:
    """True where a record's own time of last activity, which what hangs on it moves, lies within the window."""
    when = record.get(_ACTIVITY)
    return since is None or (isinstance(when, str) and datetime.fromisoformat(when) >= since)


_ACTIVITY = "Last_Activity_Time"
_FACTS = (
    "Owner", "Created_By", "Account_Name", "Contact_Name", "Stage", "Status", "Contract_Number", "Case_Number", "Tag",
    _ACTIVITY,
)  # fmt: skip
