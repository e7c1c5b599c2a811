"""Writing to a CRM: inserts, updates, upserts and deletions in batches, with a result for each record.

The service has no idempotency key: an insert whose answer is lost is not repeated, but looked up by a unique field.
Updates, upserts by such a field and deletions may be repeated. Inserts and changes trigger no workflows of the service;
for deletions it offers no such choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from noarkit.errors import ServiceAway, ServiceBroken, ServiceRefused, ServiceStrange
from noarkit.services.crm.calls import Calls
from noarkit.services.crm.fields import split_batches
from noarkit.services.port import WriteBackOutcome
from noarkit.services.wire import Answer

A_CALL = 100
Operation = Literal["insert", "update", "upsert", "delete"]
JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result for one record: its id if it exists, the service's code, and the field that was wrong."""

    place: int
    id: str
    good: bool
    code: str
    field: str = ""
    doubtful: bool = False


def insert(calls: Calls, module: str, records: Iterable[JsonObject], unique: str = "") -> Iterator[WriteResult]:
    """Adds records. A batch whose answer was lost is settled by the `unique` field; without one it is reported as
    doubtful."""
    for begin, batch in _batches(records):
        try:
            yield from _read_results(
                calls.write("POST", f"/{module}", _body(batch), repeatable=False), begin, len(batch)
            )
        except (ServiceAway, ServiceBroken) as fault:
            if isinstance(fault, ServiceAway) and not fault.data.get("sent"):
                raise
            yield from _settle_doubt(calls, module, begin, batch, unique)


def update(calls: Calls, module: str, records: Iterable[JsonObject]) -> Iterator[WriteResult]:
    """Changes records by id."""
    for begin, batch in _batches(records):
        yield from _read_results(calls.write("PUT", f"/{module}", _body(batch), repeatable=True), begin, len(batch))


def upsert(calls: Calls, module: str, records: Iterable[JsonObject], unique: Sequence[str]) -> Iterator[WriteResult]:
    """Adds records, or changes existing ones that match by unique fields."""
    for begin, batch in _batches(records):
        body = _body(batch) | {"duplicate_check_fields": list(unique)}
        yield from _read_results(
            calls.write("POST", f"/{module}/upsert", body, repeatable=bool(unique)), begin, len(batch)
        )


def delete(calls: Calls, module: str, ids: Iterable[str]) -> Iterator[WriteResult]:
    """Moves records to the recycle bin."""
    begin = 0
    for lot in split_batches(iter(ids), most=A_CALL):
        yield from _read_results(calls.delete(f"/{module}", ("ids", ",".join(lot))), begin, len(lot))
        begin += len(lot)


def write_values(calls: Calls, module: str, field: str, values: Mapping[str, str]) -> Iterator[WriteBackOutcome]:
    """Writes a value into a field of each of up to a hundred records, skipping those that have it already."""
    rows = (row for lot in split_batches(iter(values)) for row in calls.by_ids(module, ("id", field), lot))
    current = {str(row.get("id")): row.get(field) for row in rows}
    for record_id in values:
        if record_id not in current:
            yield WriteBackOutcome(module, record_id, "refused", "not-there")
        elif current[record_id] == values[record_id]:
            yield WriteBackOutcome(module, record_id, "same")
    changed_ids = [
        record_id for record_id in values if record_id in current and current[record_id] != values[record_id]
    ]
    for record_id, result in zip(
        changed_ids,
        update(calls, module, ({"id": record_id, field: values[record_id]} for record_id in changed_ids)),
        strict=True,
    ):
        yield WriteBackOutcome(
            module, record_id, "written" if result.good else "refused", "" if result.good else result.code
        )


def _body(batch: Sequence[JsonObject]) -> dict[str, object]:
    return {"data": list(batch), "trigger": []}


def _batches(records: Iterable[JsonObject]) -> Iterator[tuple[int, list[JsonObject]]]:
    source = iter(records)
    begin = 0
    while batch := list(islice(source, A_CALL)):
        yield begin, batch
        begin += len(batch)


def _read_results(answer: Answer, begin: int, count: int) -> Iterator[WriteResult]:
    """Reads the results of a batch, in the order of its records. Raises if the batch was refused as a whole."""
    members = answer.members()
    data = members.get("data")
    if not isinstance(data, list):
        raise ServiceRefused(where=answer.label, status=answer.status, why=str(members.get("code") or "refused"))
    if len(data) != count:
        raise ServiceStrange(where=answer.label, why="list-incomplete", found=len(data), total=count)
    for place, result in enumerate(data):
        yield _result(begin + place, result)


def _result(place: int, result: object) -> WriteResult:
    outcome = result if isinstance(result, Mapping) else {}
    details = outcome.get("details")
    detail_members = details if isinstance(details, Mapping) else {}
    good = outcome.get("status") == "success"
    return WriteResult(
        place,
        str(detail_members.get("id") or ""),
        good,
        str(outcome.get("code") or ""),
        str(detail_members.get("api_name") or ""),
    )


def _settle_doubt(
    calls: Calls, module: str, begin: int, batch: Sequence[JsonObject], unique: str
) -> Iterator[WriteResult]:
    """Finds out which records of a batch without an answer exist now."""
    ids_by_value: dict[str, str] = {}
    values = [str(record[unique]) for record in batch if unique and record.get(unique)]
    if values:
        quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
        text = f"select id, {unique} from {module} where {unique} in ({quoted}) limit {A_CALL}"  # noqa: S608  # quoted
        ids_by_value = {str(row.get(unique)): str(row["id"]) for row in calls.query(text, A_CALL)[0]}
    for place, record in enumerate(batch):
        record_id = ids_by_value.get(str(record.get(unique))) if unique else None
        yield WriteResult(
            begin + place,
            record_id or "",
            record_id is not None,
            "FOUND" if record_id else "LOST",
            "",
            record_id is None,
        )
