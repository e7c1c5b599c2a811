"""GET download: streams a file by its id, and POST light-pdf/set.

A file that a document version refers to has that version's access rules, and each download of it is logged; an upload
that nothing refers to yet can be read by its uploader only. A file that may not be read is answered with 404.

A call of our own, as the wire format has none: `POST light-pdf/set` with `{"dokumentversjonId": str,
"referanseDokumentfil"?: str}` gives a version the light PDF that was uploaded before, or takes it away where no file is
named. It asks for the service permission "Store light PDF" and for the right to change the version; 200, no body.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import BinaryIO
from urllib.parse import quote

from noarkit.server.calling import Call, Route
from noarkit.server.deadline import Deadline
from noarkit.server.exchange import Exchange
from noarkit.server.fair_queues import FairThreadPool
from noarkit.server.files import FileFacts
from noarkit.server.read_log import Download
from noarkit.server.service import Service
from noarkit.server.wire import Answer, Caller, Refusal

LIGHT_PDF_PERMISSION = "Store light PDF"

_BLOCK_BYTES = 256 * 1024
_VERSION = "Dokumentversjon"


def statements() -> list[str]:
    """None: the tables of files are the uploads'."""
    return []


def routes() -> list[Route]:
    """The call that stores a light PDF; a download itself streams."""
    return [Route("POST", "light-pdf/set", set_light_pdf, has_body=True)]


class DownloadCall:
    """The download call of one archive."""

    def __init__(self, service: Service, threads: FairThreadPool) -> None:
        self._service = service
        self._threads = threads
        self._idle_s = service.settings.body_idle_timeout_s
        self._limit_s = service.settings.call_limit_s

    async def __call__(self, exchange: Exchange, caller: Caller, query: Mapping[str, str]) -> None:
        """Sends one file."""
        account = caller.account
        facts, file, first = await self._threads.run(account, lambda: self._open(caller, query), self._limit_s)
        with file:
            await exchange.begin_answer(200, _headers(facts))
            sent_bytes = len(first)
            await exchange.send_piece(first, more=sent_bytes < facts.size_bytes, idle_s=self._idle_s)
            while sent_bytes < facts.size_bytes:
                block = await self._threads.run(account, lambda: file.read(_BLOCK_BYTES), self._idle_s)
                if not block:
                    raise OSError("a stored file is shorter than it was")
                sent_bytes += len(block)
                await exchange.send_piece(block, more=sent_bytes < facts.size_bytes, idle_s=self._idle_s)

    def _open(self, caller: Caller, query: Mapping[str, str]) -> tuple[FileFacts, BinaryIO, bytes]:
        with self._service.db.clock.within(Deadline(self._limit_s, caller.account)):
            facts = find_download(self._service, caller, query.get("id", ""), query.get("type", "original"))
        self._service.note_bulk_call()
        file: BinaryIO = self._service.files.store.path(facts.sha256).open("rb")
        return facts, file, file.read(min(facts.size_bytes + 1, _BLOCK_BYTES))


def find_download(service: Service, caller: Caller, file_id: str, kind: str) -> FileFacts:
    """Finds a file that the caller may read, and notes it in the download log. Refuses with 400 and 404."""
    if kind not in ("original", "lightpdf"):
        raise Refusal(400, "type must be original or lightpdf")
    number = int(file_id) if file_id.isascii() and file_id.isdigit() and len(file_id) < 19 else -1
    if number < 0:
        raise Refusal(400 if not file_id else 404, "id must be the id of a file" if not file_id else "no such file")
    with service.db.snapshot() as db:
        stored_facts = service.files.find_stored(db, number)
        if stored_facts is not None:
            uuid = _readable_version(db, caller, number)
            facts = stored_facts if kind == "original" else service.files.find_light_pdf(db, number)
            if uuid is not None and facts is not None:
                service.read_log.note_download(Download(service.now_ms(), caller.name, caller.account, uuid))
                return facts
            raise Refusal(404, "no such file")
        is_released = service.files.is_released(db, number)
    facts = service.files.find_own_upload(number, caller.account)
    if facts is None or is_released or kind != "original":
        raise Refusal(404, "no such file")
    return facts


def set_light_pdf(call: Call) -> Answer:
    """Gives a document version its light PDF, or takes it away."""
    body = call.body if isinstance(call.body, dict) else {}
    if LIGHT_PDF_PERMISSION not in call.caller.rights.service:
        raise Refusal(403, f'the service permission "{LIGHT_PDF_PERMISSION}" is missing')
    version_id, light_id = body.get("dokumentversjonId"), body.get("referanseDokumentfil")
    if not isinstance(version_id, str) or not version_id:
        raise Refusal(400, "dokumentversjonId must be the id of a Dokumentversjon")
    if light_id is not None and not isinstance(light_id, str):
        raise Refusal(400, "referanseDokumentfil must be the id of an uploaded file")
    service, rights = call.service, call.caller.rights
    with service.db.transaction() as db:
        number = int(version_id) if version_id.isascii() and version_id.isdigit() and len(version_id) < 19 else -1
        row = db.execute("SELECT referanseDokumentfil FROM o_dokumentversjon WHERE id = ?", (number,)).fetchone()
        if row is None or not rights.may_read(db, _VERSION, number):
            raise Refusal(404, f"there is no Dokumentversjon {version_id}")
        if not rights.may_change(db, "Update", _VERSION, number):
            raise Refusal(403, "the permission Update is missing")
        light = service.files.claim(db, light_id, call.caller.account) if light_id else None
        service.files.set_light_pdf(db, int(row[0]), light)
        service.files.make_durable([light] if light else [])
    return Answer()


def _readable_version(db: sqlite3.Connection, caller: Caller, number: int) -> str | None:
    """The uuid of a version that refers to the file and that the caller may read."""
    rows = db.execute(
        "SELECT id, uuid FROM o_dokumentversjon WHERE referanseDokumentfil = ?", (str(number),)
    ).fetchall()
    return next((uuid for version, uuid in rows if caller.rights.may_read(db, _VERSION, version)), None)


def _headers(facts: FileFacts) -> list[tuple[bytes, bytes]]:
    plain = "".join(
        character if " " <= character < "\x7f" and character not in '"\\%' else "_" for character in facts.name
    )
    disposition = f"attachment; filename=\"{plain}\"; filename*=utf-8''{quote(facts.name, safe='')}"
    return [
        (b"content-type", _safe_type(facts.media_type)),
        (b"content-length", str(facts.size_bytes).encode()),
        (b"content-disposition", disposition.encode("ascii")),
        (b"x-content-type-options", b"nosniff"),
    ]


def _safe_type(media_type: str) -> bytes:
    is_printable = media_type.isascii() and media_type.isprintable()
    return media_type.encode("ascii") if is_printable else b"application/octet-stream"
