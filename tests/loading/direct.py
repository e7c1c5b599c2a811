"""The embedded archive without a socket: the real service, called through its handlers, behind the archive port."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from noarkit.archive import wire
from noarkit.archive.answers import CallContext, Refusal, refused_answer
from noarkit.archive.values import (
    Action,
    Call,
    Downloaded,
    Json,
    Page,
    Query,
    Rendition,
    SavedObject,
    Upload,
    Uploaded,
)
from noarkit.errors import ArchiveNotFound, ArchiveRefused, ChecksumDiffers, ItemChanged
from noarkit.server import calling
from noarkit.server import wire as served
from noarkit.server.files import UploadInfo
from noarkit.server.query import routes as query_routes
from noarkit.server.service import Service
from noarkit.server.transaction import routes as transaction_routes


class DirectArchive:
    """One account's way into a service in this process. Nothing is lost on the way, because there is none."""

    def __init__(self, service: Service, account: str = "admin") -> None:
        caller = service.identity.background_caller(account)
        assert caller is not None
        self._service = service
        self._caller = caller
        self._handlers = {route.path: route.handler for route in (*transaction_routes(), *query_routes())}

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        asked = CallContext("transaction", changes=True)
        return wire.saved_of(self._post("/transaction", wire.transaction_body(actions), asked), asked)

    def query(self, query: Query) -> Page:
        asked = CallContext("query")
        return wire.page_of(self._post("/query", wire.query_body(query), asked), asked)

    def upload(self, content: Upload) -> Uploaded:
        with content.open() as stream:
            whole = b"".join(iter(lambda: stream.read(65536), b""))
        if content.size_bytes is not None and len(whole) != content.size_bytes:
            raise ItemChanged(key=content.name, why="size")
        if not self._service.files.remaining_ids():
            self._service.files.reserve_ids()
        number = self._service.files.keep(whole, UploadInfo(content.name, content.media_type, self._caller.account))
        return Uploaded(str(number), hashlib.sha256(whole).hexdigest(), len(whole))

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        with self._service.db.snapshot() as db:
            facts = self._service.files.find_stored(db, int(file_id))
        if facts is None:
            raise ArchiveNotFound(call="download", status=404)
        whole = self._service.files.store.path(facts.sha256).read_bytes()
        sha256 = hashlib.sha256(whole).hexdigest()
        if expected_sha256 not in (None, sha256):
            raise ChecksumDiffers(key=file_id, ours=expected_sha256, theirs=sha256)
        target.write_bytes(whole)
        return Downloaded(target, sha256, len(whole), facts.name, facts.media_type)

    def call(self, call: Call) -> Json:
        raise ArchiveRefused(call=call.name, description="not spoken here")

    def close(self) -> None:
        """There is nothing to close."""

    def _post(self, path: str, body: bytes, asked: CallContext) -> dict[str, object]:
        try:
            answer = self._handlers[path](calling.Call(self._service, self._caller, body=orjson.loads(body)))
        except served.Refusal as refusal:
            told = refusal.description.encode()
            raise refused_answer(Refusal(refusal.status, told), asked, self._service.now_s()) from refusal
        members: dict[str, object] = orjson.loads(answer.raw if answer.raw is not None else orjson.dumps(answer.body))
        return members
