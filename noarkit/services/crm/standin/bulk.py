"""Bulk reads: jobs that pass through their states, with zipped tables as results."""

from __future__ import annotations

import csv
import io
import json
import threading
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.services.crm.standin.data import Store, by_name, user
from noarkit.services.crm.standin.refusal import Refusal
from noarkit.services.standins.call import Call, read_number

_ROWS = 200_000


@dataclass(slots=True)
class _Job:
    id: str
    module: str
    fields: tuple[str, ...]
    begin: int
    created_at: str
    poll_count: int = 0
    since: float = field(default_factory=time.monotonic)


class Bulk:
    """Answers calls below /crm/bulk/v8. The option `bulk` makes jobs fail or never end;
    they end after `bulk-polls` polls."""

    def __init__(self, store: Store, url: str, options: Mapping[str, str]) -> None:
        self._store = store
        self._url = url
        store.bulk_fate = options.get("bulk", "")
        self._polls = int(options.get("bulk-polls", "3"))
        self._rows = int(options.get("bulk-rows", str(_ROWS)))
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def answer(self, call: Call) -> Response:
        """Answers a call. Raises `Refusal`."""
        parts = call.path.removeprefix("/crm/bulk/v8/").strip("/").split("/")
        if parts[0] != "read":
            raise Refusal("INVALID_URL_PATTERN", 404)
        if call.method == "POST":
            return self._begin(call)
        job = self._jobs.get(parts[1] if len(parts) > 1 else "")
        if job is None:
            raise Refusal("RESOURCE_NOT_FOUND", 404)
        return self._result(job) if parts[2:] == ["result"] else self._state(job)

    def _begin(self, call: Call) -> Response:
        query: Mapping[str, Any] = json.loads(call.body).get("query", {})
        module = str(query.get("module", {}).get("api_name", ""))
        if module not in self._store.holdings or not self._store.holdings[module].count:
            raise Refusal("INVALID_MODULE")
        names = tuple(name for name, _ in self._store.holdings[module].module.all_fields)
        token = str(query.get("page_token") or "")
        begin = (
            read_number("page_token", token.removeprefix("b"), 0)
            if token
            else (read_number("page", query.get("page"), 1, least=1) - 1) * self._rows
        )
        with self._lock:
            job = _Job(self._store.new_id(), module, tuple(query.get("fields") or names), begin, self._store.now())
            self._jobs[job.id] = job
        details = {
            "id": job.id,
            "operation": "read",
            "state": "ADDED",
            "created_by": by_name(user(0)),
            "created_time": job.created_at,
        }
        result = {"status": "success", "code": "ADDED_SUCCESSFULLY", "message": "added", "details": details}
        return JSONResponse({"data": [result], "info": {}}, 201)

    def _state(self, job: _Job) -> Response:
        job.poll_count += 1
        has_ended = job.poll_count > self._polls
        state = "COMPLETED" if has_ended else ("ADDED", "QUEUED", "IN PROGRESS")[min(job.poll_count - 1, 2)]
        if self._store.bulk_fate == "fails" and job.poll_count >= self._polls:
            state = "FAILURE"
        if self._store.bulk_fate == "never":
            state = "IN PROGRESS"
        place = self._store.holdings[job.module].module.place
        job_state: dict[str, object] = {
            "id": job.id,
            "operation": "read",
            "state": state,
            "query": {
                "module": {"api_name": job.module, "id": str(4_150_868_000_000_000_000 + place)},
                "fields": list(job.fields),
                "page": job.begin // self._rows + 1,
            },
            "created_by": by_name(user(0)),
            "created_time": job.created_at,
            "file_type": "csv",
            "Attachment_Source__s": "custom_file",
            "File_Id__s": None,
        }
        if state == "COMPLETED":
            total = len(self._store.holdings[job.module].ordered_ids())
            more = total > job.begin + self._rows
            job_state["result"] = {
                "page": job.begin // self._rows + 1,
                "per_page": self._rows,
                "count": max(0, min(self._rows, total - job.begin)),
                "download_url": f"/crm/bulk/v8/read/{job.id}/result",
                "more_records": more,
                "next_page_token": f"b{job.begin + self._rows}" if more else None,
            }
        return JSONResponse({"data": [job_state]})

    def _result(self, job: _Job) -> Response:
        holdings = self._store.holdings[job.module]
        text = io.StringIO()
        writer = csv.writer(text)
        names = ("Id", *(name for name in job.fields if name != "id"))
        writer.writerow(names)
        with self._store.lock:
            for record_id in holdings.ordered_ids()[job.begin : job.begin + self._rows]:
                record = holdings.get(record_id) or {}
                writer.writerow([record_id, *(_flat(record.get(name)) for name in names[1:])])
        zip_bytes = io.BytesIO()
        with zipfile.ZipFile(zip_bytes, "w", zipfile.ZIP_DEFLATED) as file:
            name = "../evil.csv" if self._store.bulk_fate == "climbs" else f"{job.id}.csv"
            file.writestr(name, ("\ufeff" if self._store.bulk_fate == "bom" else "") + text.getvalue())
            if self._store.bulk_fate == "two":
                file.writestr("other.csv", "Id\n")
        return Response(zip_bytes.getvalue(), media_type="application/zip")


def _flat(value: object) -> str:
    if isinstance(value, Mapping):
        return str(value.get("id", ""))
    if isinstance(value, list):
        return ";".join(map(str, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
