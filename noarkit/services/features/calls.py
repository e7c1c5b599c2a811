"""The REST calls of a feature-management service, one method for each. Changes go through a client of their own, paced
by the service's two windows; the API keys and the people of segments have no method at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote

from noarkit.errors import ServiceRefused, ServiceStrange
from noarkit.safe.spill import KeySet
from noarkit.services.canonical import canonical
from noarkit.services.client import Client
from noarkit.services.paging import Page, Row, pages, rows
from noarkit.services.wire import Answer, Method, Request

PER_PAGE = 100
_LISTINGS = 3
_ROOT = "/console/v1"
_NOT_THERE = frozenset({404})


@dataclass(frozen=True, slots=True)
class Version:
    """The version of the console's interface, as the service will one day require it."""

    header: str
    value: str


class Calls:
    """The calls of one connection."""

    def __init__(self, read_client: Client, write_client: Client, version: Version) -> None:
        self.read_client = read_client
        self.write_client = write_client
        self._headers = {version.header: version.value} if version.value else {}

    @property
    def client(self) -> Client:
        """The client for reads."""
        return self.read_client

    def project(self) -> Row:
        """Reads the project of the key."""
        return _read_object(self._get("/project"))

    def company(self) -> Row:
        """Reads the company of the project."""
        return _read_object(self._get("/company"))

    def definitions(self, kind: str) -> Iterator[Row]:
        """Lists every definition of a kind, archived ones too, in the service's order."""
        archived = (("includeArchiveMetadata", "true"), ("includeArchived", "true"))
        more = archived if kind == "gates" else ()
        yield from self._list(f"/{kind}/list" if kind == "metrics" else f"/{kind}", more)

    def definition(self, kind: str, definition_id: str) -> Row | None:
        """Reads one definition; None if there is none."""
        answer = self._get(f"/{kind}/{_part(definition_id)}", accepts=_NOT_THERE)
        return None if answer.status in _NOT_THERE else _read_object(answer)

    def versions(self, kind: str, definition_id: str) -> Iterator[Row]:
        """Lists all whole versions of a definition; none if the service keeps none. Raises `ServiceRefused` for a
        deleted one."""
        yield from self._history(kind, definition_id, "versions", key="version")

    def reviews(self, kind: str, definition_id: str) -> Iterator[Row]:
        """Lists the reviews of a definition, newest first; none if the service is too old to have any. Raises
        `ServiceRefused` for a deleted definition."""
        yield from self._history(kind, definition_id, "reviews", key="review_id")

    def _history(self, kind: str, definition_id: str, part: str, key: str) -> Iterator[Row]:
        path, came = f"/{kind}/{_part(definition_id)}/{part}", False
        try:
            for row in self._list(path, key=key):
                came = True
                yield row
            return
        except ServiceRefused as fault:
            if fault.data.get("status") not in _NOT_THERE or came or self.definition(kind, definition_id) is None:
                raise
        try:  # the definition exists: a service without reviews or versions answers 404 again
            yield from self._list(path, key=key)
        except ServiceRefused as fault:
            if fault.data.get("status") not in _NOT_THERE:
                raise

    def pulse(self, experiment: str, control: str, group: str) -> Row | None:
        """Reads the results of an experiment for a group against its control; None if there are none."""
        path, groups = f"/experiments/{_part(experiment)}/pulse_results", (("control", control), ("test", group))
        answer = self._get(path, groups, accepts=_NOT_THERE)
        return None if answer.status in _NOT_THERE else _read_object(answer)

    def audit(self, begin: date | None, end: date) -> Iterator[Row]:
        """Reads the audit log of whole days, first and last included."""
        window = (("startDate", begin.isoformat()),) if begin is not None else ()
        yield from self._list("/audit_logs", (*window, ("endDate", end.isoformat())))

    def logs(self, query: str, begin_ms: int, end_ms: int) -> Iterator[Row]:
        """Reads application logs on request; they hold personal data, and no archive job reads them."""

        def page(cursor: str | None) -> Page:
            params = (("query", query), ("start_ts", str(begin_ms)), ("end_ts", str(end_ms)), ("limit", "1000"))
            answer = self._get("/logs", params if cursor is None else (*params, ("after", cursor)))
            members = answer.members()
            pagination = members.get("pagination")
            next_cursor = pagination.get("next_cursor") if isinstance(pagination, Mapping) else None
            return Page(_rows(answer, members), str(next_cursor) if next_cursor else None)

        yield from rows(pages(page, "logs"), lambda row: str(row.get("id")), "logs")

    def read(self, path: str) -> Row:
        """Reads one object of the console."""
        return _read_object(self._get(path))

    def write(
        self, method: Method, path: str, body: Row | Sequence[object] | None = None, *, repeatable: bool = False
    ) -> Row:
        """Sends a change and returns the object afterwards. It is not repeated when its fate is unknown, unless that is
        safe."""
        request = Request(
            method,
            self.write_client.url(_ROOT + path),
            headers=self._headers,
            body=None if body is None else canonical(body),
            media_type="application/json" if body is not None else "",
            repeatable=repeatable,
        )
        data = self.write_client.ask(request).members().get("data")
        return data if isinstance(data, Mapping) else {}

    def _get(
        self, path: str, params: tuple[tuple[str, str], ...] = (), *, accepts: frozenset[int] = frozenset()
    ) -> Answer:
        url = self.read_client.url(_ROOT + path)
        return self.read_client.ask(Request("GET", url, params, self._headers, accepts=accepts))

    def _list(self, path: str, params: tuple[tuple[str, str], ...] = (), key: str = "id") -> Iterator[Row]:
        def page(cursor: str | None) -> Page:
            number = int(cursor or "1")
            answer = self._get(path, (*params, ("limit", str(PER_PAGE)), ("page", str(number))))
            members = answer.members()
            found_rows, pagination = _rows(answer, members), members.get("pagination")
            # nextPage only says whether there is more; as an address it may lead anywhere
            more = isinstance(pagination, Mapping) and bool(pagination.get("nextPage")) and bool(found_rows)
            # only what existed when the list began: what is created meanwhile comes with the next run
            total = pagination.get("totalItems") if isinstance(pagination, Mapping) and number == 1 else None
            return Page(found_rows, str(number + 1) if more else None, total if isinstance(total, int) else None)

        with KeySet() as seen_ids:
            for remaining in reversed(range(_LISTINGS)):
                try:
                    for row in rows(pages(page, path), lambda row: _id(row, key, path), path, exact=True):
                        if seen_ids.add(_id(row, key, path)):
                            yield row
                    return
                except ServiceStrange as fault:
                    # a deletion while the list is read moves another row to the page before
                    if fault.data.get("why") != "list-incomplete" or not remaining:
                        raise


def _id(row: Row, key: str, location: str) -> str:
    value = row.get(key) if row.get(key) is not None else row.get("name")
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise ServiceStrange(where=location, why="no-id")
    return str(value)


def _rows(answer: Answer, members: Row) -> list[Row]:
    data = members.get("data")
    if isinstance(data, Mapping):
        return [data]
    if not isinstance(data, list) or not all(isinstance(row, Mapping) for row in data):
        raise ServiceStrange(where=answer.label, why="not-an-object")
    return data


def _read_object(answer: Answer) -> Row:
    data = answer.members().get("data")
    if not isinstance(data, Mapping):
        raise ServiceStrange(where=answer.label, why="not-an-object")
    return data


def _part(text: str) -> str:
    """Quotes an id as a path segment. One that would change the path is refused."""
    if text in ("", ".", ".."):
        raise ServiceRefused(where=text, why="no-id")
    return quote(text, safe="")
