"""Lists of CRM records: by page and token as far as tokens reach, by keyset for changes, and by the ids of a bulk read
for very many. Records always have the form that lists give, with the names of look-ups; one with more fields than a
call takes is read in batches and merged."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from noarkit.errors import PackageFault, ServiceBroken, ServiceRefused, ServiceStrange
from noarkit.safe.digest import buffered
from noarkit.safe.unpack import UnpackLimits, members
from noarkit.services.crm.calls import Calls, busy_fault, is_expired
from noarkit.services.crm.fields import Fields, split_batches
from noarkit.services.paging import KeySet, Page, Row, pages, rows
from noarkit.services.prefetch import in_order, prefetch

A_LOT = 100
_KEYSET_ROWS = 2_000
_FIRST_ROWS = 200  # as many as cost one credit: mostly few have changed
_PAGES_REACH = 100_000
_BULK_WAITS_S = (1.0, 2.0, 5.0, 10.0, 15.0)
_BULK_LONGEST_S = 3_600.0
_COMPLETED_STATE, _FAILED_STATES = "COMPLETED", ("FAILURE", "FAILED", "SKIPPED")
_MOST_TABLE_BYTES = 4 * 2**30


def records_by_page(calls: Calls, module: str, fields: Fields, location: str) -> Iterator[Row]:
    """Lists every record of a module once, oldest change first; an expired token restarts the list."""
    first, *more = fields.batches()
    with KeySet() as seen_ids:
        for attempt in range(3):
            try:
                page_source = _check_progress(
                    pages(lambda cursor: calls.page(f"/{module}", first, cursor), location), location
                )
                for complete_rows in prefetch(
                    [*_complete_rows(calls, module, page.rows, more)] for page in page_source
                ):
                    yield from (row for row in complete_rows if seen_ids.add(str(row["id"])))
                return
            except ServiceRefused as fault:
                if not is_expired(fault) or attempt == 2:
                    raise


def all_records(calls: Calls, module: str, fields: Fields, location: str, bulk_from: int) -> Iterator[Row]:
    """Lists every record of a module once, with the same result either way: page by page, or by the ids of a bulk read
    if there are more than pages reach, or more than `bulk_from`."""
    count = calls.count(module)
    with KeySet() as seen_ids:
        if count is None or count <= bulk_from:
            try:
                yield from (
                    row for row in records_by_page(calls, module, fields, location) if seen_ids.add(str(row["id"]))
                )
                return
            except ServiceStrange as fault:
                if fault.data.get("why") != "list-incomplete" or seen_ids.count < _PAGES_REACH // 2:
                    raise
        listed_ids = (str(row["id"]) for row in records_in_bulk(calls, module, fields.only(())))
        yield from records_by_ids(
            calls, module, fields, (record_id for record_id in listed_ids if seen_ids.add(record_id))
        )


def changed_records(calls: Calls, module: str, fields: Fields, since: datetime, until: datetime) -> Iterator[Row]:
    """Lists the records changed from `since` to before `until`, by keyset, so that no concurrent change is missed or
    doubled.

    The keyset query gives ids; the records are then read whole, as many per call as possible.
    """
    yield from records_by_ids(calls, module, fields, _changed_ids(calls, module, since, until))


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


def _changed_ids(calls: Calls, module: str, since: datetime, until: datetime) -> Iterator[str]:
    last_time, last_id = since, 0
    size = _FIRST_ROWS
    while True:
        rows = calls.query(keyset(module, last_time, last_id, until, size), size)
        yield from (str(row["id"]) for row in rows)
        if len(rows) < size:
            return
        moment, number = datetime.fromisoformat(str(rows[-1]["Modified_Time"])), int(str(rows[-1]["id"]))
        if (moment, number) <= (last_time, last_id):
            raise ServiceStrange(where=f"crm {module}", why="page-again")
        last_time, last_id, size = moment, number, _KEYSET_ROWS


def keyset(module: str, since: datetime, last_id: int, until: datetime, size: int = _KEYSET_ROWS) -> str:
    """Builds the query for the records after a given one. Criteria are joined pairwise, as the service requires.

    >>> keyset("Deals", datetime(2026, 1, 1, tzinfo=UTC), 7, datetime(2026, 1, 2, tzinfo=UTC)).split(" where ")[0]
    'select id, Modified_Time from Deals'
    """
    if not module.replace("_", "").isalnum():
        raise ServiceStrange(where=module, why="not-an-object")
    begin, end = (moment.astimezone(UTC).isoformat(timespec="seconds") for moment in (since, until))
    window = f"(Modified_Time >= '{begin}' and Modified_Time < '{end}')"
    beyond = f"(Modified_Time > '{begin}' or id > {last_id})"
    order = f"order by Modified_Time asc, id asc limit {size}"
    return f"select id, Modified_Time from {module} where ({window} and {beyond}) {order}"  # noqa: S608  # a name we judged


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
    """Lists records deleted since a time. Numbered pages end: the list continues from the last deletion, and raises
    `ServiceStrange` if that leads no further."""
    with KeySet() as seen_ids:
        while True:
            last, count = since, seen_ids.count
            try:
                for page in pages(lambda cursor, after=last: calls.deleted_page(module, cursor, after), location):  # type: ignore[misc]  # a default binds it
                    for row in page.rows:
                        last = max(last, datetime.fromisoformat(str(row["deleted_time"])))
                        if seen_ids.add(str(row["id"])):
                            yield row
                return
            except ServiceStrange as fault:
                if fault.data.get("why") != "list-incomplete" or last <= since or seen_ids.count == count:
                    raise
                since = last


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
        clock.sleep_s(_BULK_WAITS_S[min(place, len(_BULK_WAITS_S) - 1)])
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
