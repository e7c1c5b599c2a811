"""Writing to a CRM: inserts, updates, upserts and deletions in batches, with a result for each record.

The service knows no idempotency key: an insert whose answer is lost is not sent again, but looked for by a field that
is unique. Updates, upserts by such a field and deletions may be sent twice. Inserts and changes set off no workflows of
the service; for deletions it offers no such choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from noarkit.connectors.crm.calls import Calls
from noarkit.connectors.crm.fields import parted
from noarkit.connectors.port import WrittenBack
from noarkit.connectors.wire import Answer
from noarkit.errors import ServiceAway, ServiceBroken, ServiceRefused, ServiceStrange

A_CALL = 100
Operation = Literal["insert", "update", "upsert", "delete"]
Told = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one record: its id where it is there, the service's code, and the field that was wrong."""

    place: int
    id: str
    good: bool
    code: str
    field: str = ""
    doubtful: bool = False


def insert(calls: Calls, module: str, records: Iterable[Told], unique: str = "") -> Iterator[Written]:
    """Adds records. A batch whose answer was lost is settled by `unique`; without one it is told as doubtful."""
    for begin, batch in _batches(records):
        try:
            yield from _written(calls.write("POST", f"/{module}", _body(batch), repeatable=False), begin, len(batch))
        except (ServiceAway, ServiceBroken) as fault:
            if isinstance(fault, ServiceAway) and not fault.data.get("sent"):
                raise
            yield from _settled(calls, module, begin, batch, unique)


def update(calls: Calls, module: str, records: Iterable[Told]) -> Iterator[Written]:
    """Changes records by their id."""
    for begin, batch in _batches(records):
        yield from _written(calls.write("PUT", f"/{module}", _body(batch), repeatable=True), begin, len(batch))


def upsert(calls: Calls, module: str, records: Iterable[Told], unique: Sequence[str]) -> Iterator[Written]:
    """Adds records or changes those that are there, found by fields that are unique."""
    for begin, batch in _batches(records):
        body = _body(batch) | {"duplicate_check_fields": list(unique)}
        yield from _written(calls.write("POST", f"/{module}/upsert", body, repeatable=bool(unique)), begin, len(batch))


def delete(calls: Calls, module: str, ids: Iterable[str]) -> Iterator[Written]:
    """Puts records in the bin."""
    begin = 0
    for lot in parted(iter(ids), most=A_CALL):
        yield from _written(calls.delete(f"/{module}", ("ids", ",".join(lot))), begin, len(lot))
        begin += len(lot)


def write_values(calls: Calls, module: str, field: str, values: Mapping[str, str]) -> Iterator[WrittenBack]:
    """Writes a value into a field of each of up to a hundred records, but where it stands there already."""
    rows = (row for lot in parted(iter(values)) for row in calls.by_ids(module, ("id", field), lot))
    standing = {str(row.get("id")): row.get(field) for row in rows}
    for one in values:
        if one not in standing:
            yield WrittenBack(module, one, "refused", "not-there")
        elif standing[one] == values[one]:
            yield WrittenBack(module, one, "same")
    wanted = [one for one in values if one in standing and standing[one] != values[one]]
    for one, result in zip(
        wanted, update(calls, module, ({"id": one, field: values[one]} for one in wanted)), strict=True
    ):
        yield WrittenBack(module, one, "written" if result.good else "refused", "" if result.good else result.code)


def _body(batch: Sequence[Told]) -> dict[str, object]:
    return {"data": list(batch), "trigger": []}


def _batches(records: Iterable[Told]) -> Iterator[tuple[int, list[Told]]]:
    source = iter(records)
    begin = 0
    while batch := list(islice(source, A_CALL)):
        yield begin, batch
        begin += len(batch)


def _written(answer: Answer, begin: int, count: int) -> Iterator[Written]:
    """The results of a batch, in the order of its records. Raises where the batch was refused as a whole."""
    members = answer.members()
    data = members.get("data")
    if not isinstance(data, list):
        raise ServiceRefused(where=answer.where, status=answer.status, why=str(members.get("code") or "refused"))
    if len(data) != count:
        raise ServiceStrange(where=answer.where, why="list-incomplete", found=len(data), total=count)
    for place, result in enumerate(data):
        yield _result(begin + place, result)


def _result(place: int, result: object) -> Written:
    told = result if isinstance(result, Mapping) else {}
    details = told.get("details")
    known = details if isinstance(details, Mapping) else {}
    good = told.get("status") == "success"
    return Written(
        place, str(known.get("id") or ""), good, str(told.get("code") or ""), str(known.get("api_name") or "")
    )


def _settled(calls: Calls, module: str, begin: int, batch: Sequence[Told], unique: str) -> Iterator[Written]:
    """Which records of a batch without an answer are there now."""
    found: dict[str, str] = {}
    values = [str(record[unique]) for record in batch if unique and record.get(unique)]
    if values:
        quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
        text = f"select id, {unique} from {module} where {unique} in ({quoted}) limit {A_CALL}"  # noqa: S608  # quoted
        found = {str(row.get(unique)): str(row["id"]) for row in calls.query(text, A_CALL)}
    for place, record in enumerate(batch):
        known = found.get(str(record.get(unique))) if unique else None
        yield Written(begin + place, known or "", known is not None, "FOUND" if known else "LOST", "", known is None)
