"""Lists of records: by page and token as far as tokens reach, by keyset where only changes are wanted, by a bulk read's
ids where they are many. Whichever way, a record is read as lists tell it, with the names of what it points to; one with
more fields than a call takes is read in batches and put together."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from noarkit.connectors.ahead import ahead, in_order
from noarkit.connectors.crm.calls import Calls, busy, is_expired
from noarkit.connectors.crm.fields import Fields, parted
from noarkit.connectors.paging import Page, Row, Seen, pages, rows
from noarkit.errors import PackageFault, ServiceBroken, ServiceRefused, ServiceStrange
from noarkit.safe.digest import buffered
from noarkit.safe.unpack import UnpackLimits, members

A_LOT = 100
_KEYSET_ROWS = 2_000
_FIRST_ROWS = 200  # as many as cost one credit: mostly few have changed
_PAGES_REACH = 100_000
_BULK_WAITS_S = (1.0, 2.0, 5.0, 10.0, 15.0)
_BULK_LONGEST_S = 3_600.0
_DONE, _FAILED = "COMPLETED", ("FAILURE", "FAILED", "SKIPPED")
_MOST_TABLE_BYTES = 4 * 2**30


def everything(calls: Calls, module: str, fields: Fields, where: str) -> Iterator[Row]:
    """Every record of a module once, oldest change first; a token that lived too long begins the list anew."""
    first, *more = fields.batches()
    with Seen() as seen:
        for attempt in range(3):
            try:
                found = _advancing(pages(lambda cursor: calls.page(f"/{module}", first, cursor), where), where)
                for whole in ahead([*_whole(calls, module, page.rows, more)] for page in found):
                    yield from (row for row in whole if seen.first(str(row["id"])))
                return
            except ServiceRefused as fault:
                if not is_expired(fault) or attempt == 2:
                    raise


def all_records(calls: Calls, module: str, fields: Fields, where: str, bulk_from: int) -> Iterator[Row]:
    """Every record of a module once, the same whichever way it is read: page by page, or by the ids of a bulk read
    where there are more than pages reach, or more than `bulk_from`."""
    count = calls.count(module)
    with Seen() as seen:
        if count is None or count <= bulk_from:
            try:
                yield from (row for row in everything(calls, module, fields, where) if seen.first(str(row["id"])))
                return
            except ServiceStrange as fault:
                if fault.data.get("why") != "list-incomplete" or seen.count < _PAGES_REACH // 2:
                    raise
        told = (str(row["id"]) for row in in_bulk(calls, module, fields.some(())))
        yield from by_ids(calls, module, fields, (one for one in told if seen.first(one)))


def changed(calls: Calls, module: str, fields: Fields, since: datetime, until: datetime) -> Iterator[Row]:
    """Records that changed from `since` to before `until`: by keyset, so that no change under way is missed or doubled.

    The keyset gives ids; the records are then read whole, as many a call as fit in one.
    """
    yield from by_ids(calls, module, fields, _changed_ids(calls, module, since, until))


def by_ids(calls: Calls, module: str, fields: Fields, ids: Iterator[str]) -> Iterator[Row]:
    """These records, in the order of their ids; those that are gone meanwhile are passed over."""
    first, *more = fields.batches()

    def whole(lot: tuple[str, ...]) -> list[Row]:
        found = {str(row["id"]): row for row in calls.by_ids(module, first, lot)}
        return [*_whole(calls, module, [found[one] for one in lot if one in found], more)]

    for found in in_order(parted(ids, most=A_LOT), whole):
        yield from found


def _changed_ids(calls: Calls, module: str, since: datetime, until: datetime) -> Iterator[str]:
    last_time, last_id = since, 0
    size = _FIRST_ROWS
    while True:
        found = calls.query(keyset(module, last_time, last_id, until, size), size)
        yield from (str(row["id"]) for row in found)
        if len(found) < size:
            return
        moment, number = datetime.fromisoformat(str(found[-1]["Modified_Time"])), int(str(found[-1]["id"]))
        if (moment, number) <= (last_time, last_id):
            raise ServiceStrange(where=f"crm {module}", why="page-again")
        last_time, last_id, size = moment, number, _KEYSET_ROWS


def keyset(module: str, since: datetime, last_id: int, until: datetime, size: int = _KEYSET_ROWS) -> str:
    """The query for what comes after a record. Criteria are joined pairwise, as the service wants them.

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


def in_bulk(calls: Calls, module: str, fields: Fields) -> Iterator[Row]:
    """The table of a large module, in parts. Its cells are texts and look-ups ids alone: good for ids, no more."""
    token: str | None = None
    while True:
        job = calls.begin_bulk(module, fields.names, token)
        result = _finished(calls, job)
        yield from _table(calls, job)
        token = str(result.get("next_page_token") or "") or None
        if not result.get("more_records"):
            return
        if token is None:
            raise ServiceStrange(where=f"crm {module}", why="list-incomplete")


def deleted(calls: Calls, module: str, since: datetime, where: str) -> Iterator[Row]:
    """What was deleted since, as the bin tells it. Its pages end: what lies beyond is asked for from the last on, and
    where that leads no further the list is told to be incomplete (`ServiceStrange`)."""
    with Seen() as seen:
        while True:
            last, count = since, seen.count
            try:
                for page in pages(lambda cursor, after=last: calls.deleted_page(module, cursor, after), where):  # type: ignore[misc]  # a default binds it
                    for row in page.rows:
                        last = max(last, datetime.fromisoformat(str(row["deleted_time"])))
                        if seen.first(str(row["id"])):
                            yield row
                return
            except ServiceStrange as fault:
                if fault.data.get("why") != "list-incomplete" or last <= since or seen.count == count:
                    raise
                since = last


def related(calls: Calls, module: str, record_id: str, name: str, fields: Fields | None) -> Iterator[Row]:
    """What stands in a related list of a record: quotes, invoices, products and whatever else hangs on it. `fields` are
    those of its module, where it is one; a record with more than a call takes is read on its own."""
    path = f"/{module}/{record_id}/{name}"
    names, *more = fields.batches() if fields is not None else [("id", "Modified_Time", "Created_Time")]
    listed = pages(lambda cursor: calls.page(path, names, cursor, None), path)
    for row in rows(listed, lambda row: str(row.get("id")), path):
        whole = calls.record(name, str(row["id"])) if more else None
        yield whole if whole is not None else row


def _advancing(found: Iterator[Page], where: str) -> Iterator[Page]:
    """The pages of a list that gets on. Raises `ServiceStrange` for one that promises more again and again and gives
    nothing, or what it gave already."""
    before: list[object] = []
    idle = 0
    for page in found:
        ids: list[object] = [row.get("id") for row in page.rows]
        idle = 0 if ids and ids != before else idle + 1
        if page.next is not None and idle > 1:
            raise ServiceStrange(where=where, why="page-again")
        before = ids
        yield page


def _whole(calls: Calls, module: str, found: Sequence[Row], batches: list[tuple[str, ...]]) -> Iterator[Row]:
    """Rows with the fields of the other batches. A record that changed in between is read on its own."""
    if not batches or not found:
        yield from found
        return
    ids = [str(row["id"]) for row in found]
    more: dict[str, dict[str, object]] = {one: {} for one in ids}
    moved: set[str] = set()
    times = {str(row["id"]): row.get("Modified_Time") for row in found}
    for batch in batches:
        for lot in parted(iter(ids), most=A_LOT):
            for row in calls.by_ids(module, batch, lot):
                one = str(row["id"])
                more.setdefault(one, {}).update(row)
                if row.get("Modified_Time") != times.get(one):
                    moved.add(one)
    for row in found:
        one = str(row["id"])
        again = calls.record(module, one) if one in moved else None
        yield again if again is not None else {**row, **more[one]}


def _finished(calls: Calls, job: str) -> Mapping[str, object]:
    """What a job came to. Raises `ServiceBroken` for one that failed, `ServiceBusy` for one without end."""
    clock = calls.client.clock
    begun_s = clock.now_s()
    for place in range(10_000):
        told = calls.bulk_state(job)
        state = str(told.get("state", "")).upper()
        if state == _DONE:
            result = told.get("result")
            return result if isinstance(result, Mapping) else {}
        if state in _FAILED:
            raise ServiceBroken(where=f"bulk read {job}", why=state)
        if clock.now_s() - begun_s > _BULK_LONGEST_S:
            break
        clock.sleep_s(_BULK_WAITS_S[min(place, len(_BULK_WAITS_S) - 1)])
    raise busy(f"bulk read {job}")


def _table(calls: Calls, job: str) -> Iterator[Row]:
    """The rows of a zipped table; it must hold one table and nothing else."""
    with NamedTemporaryFile(suffix=".zip") as packed:
        with calls.bulk_result(job) as reply:
            for block in reply.iter_bytes(1 << 20):
                packed.write(block)
        packed.flush()
        limits = UnpackLimits(members=1, total_bytes=_MOST_TABLE_BYTES)
        try:
            for member, content in members(Path(packed.name), limits=limits):
                if member.name != f"{job}.csv":
                    raise ServiceStrange(where=f"bulk read {job}", why="not-an-object")
                text = io.TextIOWrapper(buffered(content), "utf-8-sig", newline="")
                for row in csv.DictReader(text):
                    yield {"id" if name == "Id" else name: value or None for name, value in row.items()}
        except (csv.Error, UnicodeDecodeError, zipfile.BadZipFile) as error:
            raise PackageFault(where=f"bulk read {job}", why="not-a-table") from error
