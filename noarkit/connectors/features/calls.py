"""One method for each call we make of a feature-management service. What changes something goes through a client of
its own, paced by the service's two windows; `keys` and the people of segments have no method at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote

from noarkit.connectors.canonical import canonical
from noarkit.connectors.client import Client
from noarkit.connectors.paging import KeySet, Page, Row, pages, rows
from noarkit.connectors.wire import Answer, Method, Request
from noarkit.errors import ServiceRefused, ServiceStrange

PER_PAGE = 100
_LISTINGS = 3
_ROOT = "/console/v1"
_NOT_THERE = frozenset({404})


@dataclass(frozen=True, slots=True)
class Version:
    """Which version of the console's interface is spoken; the service will ask for it one day."""

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
        """The client that reads."""
        return self.read_client

    def project(self) -> Row:
        """Whose key this is."""
        return _read_object(self._get("/project"))

    def company(self) -> Row:
        """Whose project it is."""
        return _read_object(self._get("/company"))

    def definitions(self, kind: str) -> Iterator[Row]:
        """Every definition of a kind, archived ones too, in the service's own order."""
        archived = (("includeArchiveMetadata", "true"), ("includeArchived", "true"))
        more = archived if kind == "gates" else ()
        yield from self._list(f"/{kind}/list" if kind == "metrics" else f"/{kind}", more)

    def definition(self, kind: str, definition_id: str) -> Row | None:
        """One definition; None where there is none."""
        answer = self._get(f"/{kind}/{_part(definition_id)}", accepts=_NOT_THERE)
        return None if answer.status in _NOT_THERE else _read_object(answer)

    def versions(self, kind: str, definition_id: str) -> Iterator[Row]:
        """All versions of a definition, whole; none where the service keeps none. Raises `ServiceRefused` for one that
        was deleted."""
        yield from self._history(kind, definition_id, "versions", key="version")

    def reviews(self, kind: str, definition_id: str) -> Iterator[Row]:
        """The reviews of a definition, newest first; none where the service is too old to have any. Raises
        `ServiceRefused` for one that was deleted."""
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
        try:  # the definition stands: a service that keeps none says so twice
            yield from self._list(path, key=key)
        except ServiceRefused as fault:
            if fault.data.get("status") not in _NOT_THERE:
                raise

    def pulse(self, experiment: str, control: str, group: str) -> Row | None:
        """What an experiment found out about a group beside its control; None where it keeps nothing."""
        path, groups = f"/experiments/{_part(experiment)}/pulse_results", (("control", control), ("test", group))
        answer = self._get(path, groups, accepts=_NOT_THERE)
        return None if answer.status in _NOT_THERE else _read_object(answer)

    def audit(self, begin: date | None, end: date) -> Iterator[Row]:
        """The audit log of whole days, both ends too."""
        window = (("startDate", begin.isoformat()),) if begin is not None else ()
        yield from self._list("/audit_logs", (*window, ("endDate", end.isoformat())))

    def logs(self, query: str, begin_ms: int, end_ms: int) -> Iterator[Row]:
        """Log exploration, for a person who asks; people stand in it, and no archive job reads it."""

        def page(cursor: str | None) -> Page:
            params = (("query", query), ("start_ts", str(begin_ms)), ("end_ts", str(end_ms)), ("limit", "1000"))
            answer = self._get("/logs", params if cursor is None else (*params, ("after", cursor)))
            members = answer.members()
            pagination = members.get("pagination")
            next_cursor = pagination.get("next_cursor") if isinstance(pagination, Mapping) else None
            return Page(_rows(answer, members), str(next_cursor) if next_cursor else None)

        yield from rows(pages(page, "logs"), lambda row: str(row.get("id")), "logs")

    def read(self, path: str) -> Row:
        """One thing of the console."""
        return _read_object(self._get(path))

    def write(
        self, method: Method, path: str, body: Row | Sequence[object] | None = None, *, repeatable: bool = False
    ) -> Row:
        """A change; what is there afterwards. It is not sent again where its fate is unknown, unless that is safe."""
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
            # nextPage says whether there is more; as an address it leads anywhere
            more = isinstance(pagination, Mapping) and bool(pagination.get("nextPage")) and bool(found_rows)
            # what was there when the list began: what is made meanwhile comes first or last, and another time
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
                    # what is deleted while a list is read makes another slip from one page to the one before
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
    """An id as a part of a path. One that would be read as a path of its own is refused."""
    if text in ("", ".", ".."):
        raise ServiceRefused(where=text, why="no-id")
    return quote(text, safe="")
