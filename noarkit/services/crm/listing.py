"""Lists of CRM records: by page and token as far as tokens reach, by id where pages shift, by the ids of a bulk read
for very many. Records always have the form that lists give, with the names of look-ups; one with more fields than a
call takes is read in batches and merged."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal

from noarkit.errors import PackageFault, ServiceBroken, ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.safe.digest import buffered
from noarkit.safe.spill import KeySet
from noarkit.safe.unpack import UnpackLimits, members
from noarkit.services.crm.calls import Calls, busy_fault, is_expired
from noarkit.services.crm.fields import Fields, split_batches
from noarkit.services.crm.times import parse_time
from noarkit.services.paging import Page, Row, pages, rows
from noarkit.services.prefetch import in_order, prefetch

A_LOT = 100
_ATTEMPTS = 3
_MOST_ROWS = 2_000
_FIRST_ROWS = 200  # as many as cost one credit
_SAME_SECOND = timedelta(seconds=1)  # whether a time is taken with those after it is not published
_PAGES_REACH = 100_000
_BULK_WAITS_S = (1.0, 2.0, 5.0, 10.0, 15.0)
_BULK_LONGEST_S = 3_600.0
_COMPLETED_STATE, _FAILED_STATES = "COMPLETED", ("FAILURE", "FAILED", "SKIPPED")
_MOST_TABLE_BYTES = 4 * 2**30


def records_by_page(calls: Calls, module: str, fields: Fields, location: str) -> Iterator[Row]:
    """Lists every record of a module once, oldest change first; an expired token restarts the list."""
    first, *more = fields.batches()

    def complete_pages() -> Iterator[Sequence[Row]]:
        order: Literal["Modified_Time", "id"] = "Modified_Time" if "Modified_Time" in first else "id"
        listed_pages = pages(lambda cursor: calls.page(f"/{module}", first, cursor, order), location)
        source = _check_progress(listed_pages, location)
        return ([*_complete_rows(calls, module, page.rows, more)] for page in source)

    yield from _restarted(complete_pages)


def all_notes(calls: Calls, fields: Sequence[str], location: str) -> Iterator[Row]:
    """Lists every note once, by id; an expired token restarts the list."""

    def note_pages() -> Iterator[Sequence[Row]]:
        source = _check_progress(pages(lambda cursor: calls.page("/Notes", fields, cursor, "id"), location), location)
        return (page.rows for page in source)

    yield from _restarted(note_pages)


def _restarted(read: Callable[[], Iterator[Sequence[Row]]]) -> Iterator[Row]:
    """Yields the rows of all pages once; the list is begun anew where its token expires, three times at most."""
    with KeySet() as seen_ids:
        for attempt in range(_ATTEMPTS):
            try:
                for page_rows in prefetch(read()):
                    yield from (row for row in page_rows if seen_ids.add(str(row["id"])))
                return
            except ServiceRefused as fault:
                if not is_expired(fault) or attempt == _ATTEMPTS - 1:
                    raise


def all_records(calls: Calls, module: str, fields: Fields, location: str, bulk_from: int) -> Iterator[Row]:
    """Lists every record of a module once, with the same result either way: page by page, or by the ids of a bulk read
    if there are more than pages reach, or more than `bulk_from`. A record that moved from page to page while they were
    read is found by its id."""
    count = calls.count(module)
    with KeySet() as seen_ids:
        if count is None or count <= bulk_from:
            try:
                yield from (
                    row for row in records_by_page(calls, module, fields, location) if seen_ids.add(str(row["id"]))
                )
                by_id = listed_by_id(calls, module, (), location)
                missed_ids = (record_id for row in by_id if seen_ids.add(record_id := str(row["id"])))
                yield from records_by_ids(calls, module, fields, missed_ids)
                return
            except ServiceStrange as fault:
                if fault.data.get("why") != "list-incomplete" or seen_ids.count < _PAGES_REACH // 2:
                    raise
        listed_ids = (str(row["id"]) for row in records_in_bulk(calls, module, fields.only(())))
        yield from records_by_ids(
            calls, module, fields, (record_id for record_id in listed_ids if seen_ids.add(record_id))
        )


def listed_by_id(calls: Calls, module: str, more_fields: Sequence[str], location: str) -> Iterator[Row]:
    """Lists every record of a module once, with some of its fields: by id, so that no change can move one past what is
    being read. A module that cannot be queried is listed by page."""
    names = ("id", *more_fields)
    with KeySet() as seen_ids:
        try:
            yield from (row for row in _query_by_id(calls, module, names) if seen_ids.add(str(row["id"])))
        except (ServiceRefused, ServiceDenied):
            fields = Fields(names, frozenset(), {})
            yield from (row for row in records_by_page(calls, module, fields, location) if seen_ids.add(str(row["id"])))


def records_by_ids(calls: Calls, module: str, fields: Fields, ids: Iterator[str]) -> Iterator[Row]:
    """Reads records in the order of their ids; records that are gone are skipped."""
    first, *more = fields.batches()

    def read_lot(lot: tuple[str, ...]) -> list[Row]:
        rows_by_id = {str(row["id"]): row for row in calls.by_ids(module, first, lot)}
        return [
            *_complete_rows(
                calls, module, [rows_by_id[record_id] for record_id in lot if record_id in rows_by_id], more
            )
        ]

    for rows_by_id in in_order(split_batches(ids, most=A_LOT), read_lot):
        yield from rows_by_id


def _query_by_id(calls: Calls, module: str, names: Sequence[str]) -> Iterator[Row]:
    last_id, size = 0, _FIRST_ROWS
    while True:
        found_rows, has_more = calls.query(query_by_id(module, names, last_id, size), size)
        yield from found_rows
        if not found_rows or not (has_more or len(found_rows) == size):
            return
        newest_id = int(str(found_rows[-1]["id"]))
        if newest_id <= last_id:
            raise ServiceStrange(where=f"crm {module}", why="page-again")
        last_id, size = newest_id, _MOST_ROWS


def query_by_id(module: str, names: Sequence[str], last_id: int, size: int = _MOST_ROWS) -> str:
    """Builds the query for the records with the ids after a given one.

    >>> query_by_id("Deals", ("id", "Modified_Time"), 7, 200)
    'select id, Modified_Time from Deals where id > 7 order by id asc limit 200'
    """
    for name in (module, *names):
        if not name.replace("_", "").isalnum():
            raise ServiceStrange(where=name, why="not-an-object")
    return f"select {', '.join(names)} from {module} where id > {last_id} order by id asc limit {size}"  # noqa: S608  # names we judged


def records_in_bulk(calls: Calls, module: str, fields: Fields) -> Iterator[Row]:
    """Reads the table of a large module in parts. Cells are texts, and look-ups ids only, so it is used for ids
    alone."""
    token: str | None = None
    while True:
        job = calls.begin_bulk(module, fields.names, token)
        result = _wait_for_job(calls, job)
        yield from _read_table(calls, job)
        token = str(result.get("next_page_token") or "") or None
        if not result.get("more_records"):
            return
        if token is None:
            raise ServiceStrange(where=f"crm {module}", why="list-incomplete")


def deleted_records(calls: Calls, module: str, since: datetime, location: str) -> Iterator[Row]:
    """Lists records deleted since a time. Numbered pages end: a list in the order of time continues from its last
    deletion. Raises `ServiceStrange` if that leads no further, or the list is in another order."""
    with KeySet() as seen_ids:
        after = since
        while True:
            order, count = _TimeOrder(after), seen_ids.count
            try:
                for page in pages(lambda cursor, after=after: calls.deleted_page(module, cursor, after), location):  # type: ignore[misc]  # a default binds it
                    for row in page.rows:
                        order.add(row.get("deleted_time"))
                        if seen_ids.add(str(row["id"])):
                            yield row
                return
            except ServiceStrange as fault:
                if fault.data.get("why") != "list-incomplete" or not order.is_kept or seen_ids.count == count:
                    raise
                after = order.last - _SAME_SECOND


class _TimeOrder:
    """Whether the times of a list go up, and the last of them."""

    def __init__(self, start: datetime) -> None:
        self.last = start
        self.is_kept = True

    def add(self, value: object) -> None:
        """Adds the next time."""
        moment = parse_time(value)
        if moment is None or moment < self.last:
            self.is_kept = False
        else:
            self.last = moment


def related_records(calls: Calls, module: str, record_id: str, name: str, fields: Fields | None) -> Iterator[Row]:
    """Lists a related list of a record: quotes, invoices, products and so on. `fields` are those of its module, if it
    is one; a record with more fields than a call takes is read on its own."""
    path = f"/{module}/{record_id}/{name}"
    names, *more = fields.batches() if fields is not None else [("id", "Modified_Time", "Created_Time")]
    listing = pages(lambda cursor: calls.page(path, names, cursor, None), path)
    for row in rows(listing, lambda row: str(row.get("id")), path):
        full_record = calls.record(name, str(row["id"])) if more else None
        yield full_record if full_record is not None else row


def _check_progress(source: Iterator[Page], location: str) -> Iterator[Page]:
    """Yields the pages of a list that advances. Raises `ServiceStrange` for one that promises more but repeats itself
    or gives nothing."""
    before: list[object] = []
    idle = 0
    for page in source:
        ids: list[object] = [row.get("id") for row in page.rows]
        idle = 0 if ids and ids != before else idle + 1
        if page.next is not None and idle > 1:
            raise ServiceStrange(where=location, why="page-again")
        before = ids
        yield page


def _complete_rows(
    calls: Calls, module: str, found_rows: Sequence[Row], batches: list[tuple[str, ...]]
) -> Iterator[Row]:
    """Merges the fields of the other batches into rows. A record that changed in between is read on its own."""
    if not batches or not found_rows:
        yield from found_rows
        return
    ids = [str(row["id"]) for row in found_rows]
    more: dict[str, dict[str, object]] = {record_id: {} for record_id in ids}
    changed_ids: set[str] = set()
    times = {str(row["id"]): row.get("Modified_Time") for row in found_rows}
    for batch in batches:
        for lot in split_batches(iter(ids), most=A_LOT):
            for row in calls.by_ids(module, batch, lot):
                record_id = str(row["id"])
                more.setdefault(record_id, {}).update(row)
                if row.get("Modified_Time") != times.get(record_id):
                    changed_ids.add(record_id)
    for row in found_rows:
        record_id = str(row["id"])
        again = calls.record(module, record_id) if record_id in changed_ids else None
        yield again if again is not None else {**row, **more[record_id]}


def _wait_for_job(calls: Calls, job: str) -> Mapping[str, object]:
    """Waits for a bulk job and returns its result. Raises `ServiceBroken` if it failed, `ServiceBusy` if it does not
    end."""
    clock = calls.client.clock
    started_s = clock.now_s()
    for place in range(10_000):
        status = calls.bulk_state(job)
        state = str(status.get("state", "")).upper()
        if state == _COMPLETED_STATE:
            result = status.get("result")
            return result if isinstance(result, Mapping) else {}
        if state in _FAILED_STATES:
            raise ServiceBroken(where=f"bulk read {job}", why=state)
        if clock.now_s() - started_s > _BULK_LONGEST_S:
            break
        calls.client.pause(_BULK_WAITS_S[min(place, len(_BULK_WAITS_S) - 1)], "job")
    raise busy_fault(f"bulk read {job}")


def _read_table(calls: Calls, job: str) -> Iterator[Row]:
    """Reads the rows of a zipped table; the zip must hold one table and nothing else."""
    with NamedTemporaryFile(suffix=".zip") as zip_file:
        with calls.bulk_result(job) as reply:
            for block in reply.iter_bytes(1 << 20):
                zip_file.write(block)
        zip_file.flush()
        limits = UnpackLimits(members=1, total_bytes=_MOST_TABLE_BYTES)
        try:
            for member, content in members(Path(zip_file.name), limits=limits):
                if member.name != f"{job}.csv":
                    raise ServiceStrange(where=f"bulk read {job}", why="not-an-object")
                text = io.TextIOWrapper(buffered(content), "utf-8-sig", newline="")
                for row in csv.DictReader(text):
                    yield {"id" if name == "Id" else name: value or None for name, value in row.items()}
        except (csv.Error, UnicodeDecodeError, zipfile.BadZipFile) as error:
            raise PackageFault(where=f"bulk read {job}", why="not-a-table") from error
