"""POST upload: stores the bytes of a request body and answers a file id.

A small body is stored on the event loop itself, in one go; a large one is hashed and written in a thread, a block at a
time, while the next block arrives. An upload that breaks off leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from urllib.parse import unquote_to_bytes

from noarkit.server import files
from noarkit.server.calling import Route
from noarkit.server.exchange import BodyLimits, Exchange
from noarkit.server.fair_queues import FairThreadPool
from noarkit.server.file_store import IncomingFile
from noarkit.server.files import UploadInfo
from noarkit.server.service import Service
from noarkit.server.wire import Caller, Refusal

PERMISSION = "Store documents"

_SMALL_BYTES = 256 * 1024
_BLOCK_BYTES = 1024 * 1024
_FLUSH_BYTES = 64 * 1024 * 1024
_IDS_LOW = 8 * 1024
_MAX_NAME = 1024
_JSON = b"application/json"
_PARAMETER = re.compile(r""";\s*([!#$%&'*+.^_`|~\w-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)""")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def statements() -> Iterator[str]:
    """The tables of files."""
    return files.statements()


def routes() -> list[Route]:
    """None: an upload streams."""
    return []


class UploadCall:
    """The upload call of one archive."""

    def __init__(self, service: Service, threads: FairThreadPool) -> None:
        self._service = service
        self._files = service.files
        self._threads = threads
        self._max_bytes = service.settings.max_upload_bytes
        self._trim_names = service.settings.trim_file_names
        self._limits = BodyLimits(self._max_bytes, service.settings.body_idle_timeout_s)
        self._refill: asyncio.Task[None] | None = None

    async def __call__(self, exchange: Exchange, caller: Caller, query: Mapping[str, str]) -> None:
        """Takes one upload."""
        if PERMISSION not in caller.rights.service:
            raise Refusal(403, f'the service permission "{PERMISSION}" is missing')
        self._service.note_bulk_call()
        exchange.refuse_encoded()
        name = file_name(exchange.header(b"content-disposition"), trim=self._trim_names)
        upload_info = UploadInfo(name, exchange.media_type(), caller.account)
        self._check_length(exchange)
        first = await exchange.next_piece(self._limits)
        pieces, length = [first], len(first)
        while not exchange.body_ended and length <= _SMALL_BYTES:
            pieces.append(await exchange.next_piece(self._limits))
            length += len(pieces[-1])
        await self._ids_ready()
        if exchange.body_ended and length <= _SMALL_BYTES:
            self._check_size(length)
            file_id = self._files.keep(b"".join(pieces), upload_info)
        else:
            file_id = await self._take_large(exchange, pieces, upload_info)
        await exchange.send(200, b'{"id":"%d"}' % file_id, _JSON)

    async def _take_large(self, exchange: Exchange, pieces: list[bytes], upload_info: UploadInfo) -> int:
        incoming_file = self._files.store.begin()
        try:
            await self._write_all(exchange, pieces, incoming_file, upload_info.account)
            return await self._threads.run(upload_info.account, partial(self._files.finish, incoming_file, upload_info))
        except BaseException:
            incoming_file.discard()
            raise

    async def _write_all(
        self, exchange: Exchange, pieces: list[bytes], incoming_file: IncomingFile, account: str
    ) -> None:
        def in_thread(work: Callable[[], None]) -> asyncio.Task[None]:
            return asyncio.create_task(self._threads.run(account, work))

        length, total = sum(map(len, pieces)), 0
        write_task: asyncio.Task[None] | None = None
        flush_task: asyncio.Task[None] | None = None
        flushed_bytes = 0
        try:
            while pieces:
                while length < _BLOCK_BYTES and not exchange.body_ended:
                    pieces.append(await exchange.next_piece(self._limits))
                    length += len(pieces[-1])
                total += length
                self._check_size(total)
                if write_task is not None:
                    await write_task
                write_task = in_thread(partial(incoming_file.write, pieces))
                pieces, length = [b""] if not exchange.body_ended else [], 0
                if total - flushed_bytes > _FLUSH_BYTES and (flush_task is None or flush_task.done()):
                    flush_task, flushed_bytes = in_thread(incoming_file.flush), total
        finally:
            tasks = [task for task in (write_task, flush_task) if task is not None]
            if tasks:
                await asyncio.wait(tasks)
        for task in tasks:
            task.result()

    async def _ids_ready(self) -> None:
        """Sees to it that file ids are at hand, so that taking one need not wait for the archive's database."""
        while (remaining := self._files.remaining_ids()) < _IDS_LOW:
            if self._refill is None:
                self._refill = asyncio.create_task(self._threads.run("", self._files.reserve_ids))
                self._refill.add_done_callback(self._refilled)
            if remaining:
                return
            await asyncio.wait([self._refill])

    def _refilled(self, refill: asyncio.Task[None]) -> None:
        self._refill = None

    def _check_length(self, exchange: Exchange) -> None:
        content_length = exchange.header(b"content-length")
        if self._max_bytes and content_length and content_length.isdigit():
            self._check_size(int(content_length))

    def _check_size(self, size_bytes: int) -> None:
        if 0 < self._max_bytes < size_bytes:
            raise Refusal(413, f"the file is over the limit of {self._max_bytes} bytes")


def file_name(disposition: bytes | None, *, trim: bool = True) -> str:
    """The name that a Content-Disposition gives; `filename*` wins. Refuses with 400 what is no name.

    Of a path only the last part is kept, and with `trim` no blanks around it.
    """
    if disposition is None:
        raise Refusal(400, "Content-Disposition: a filename or filename* is needed")
    parameters = {name.lower(): value.strip() for name, value in _PARAMETER.findall(disposition.decode("latin-1"))}
    if "filename*" in parameters:
        name = _extended(parameters["filename*"].strip('"'))
    elif "filename" in parameters:
        name = _plain(parameters["filename"])
    else:
        raise Refusal(400, "Content-Disposition: a filename or filename* is needed")
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    name = name.strip() if trim else name
    if name.strip() in ("", ".", "..") or len(name) > _MAX_NAME or _FORBIDDEN.search(name):
        raise Refusal(400, "Content-Disposition: the file name is empty, too long or holds control characters")
    return name


def _extended(value: str) -> str:
    charset, quote, remainder = value.partition("'")
    _, second, encoded = remainder.partition("'")
    if not quote or not second or charset.lower() not in ("utf-8", "utf8") or not encoded.isascii():
        raise Refusal(400, "Content-Disposition: filename* must be utf-8''percent-encoded")
    try:
        return unquote_to_bytes(encoded).decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(400, "Content-Disposition: filename* must be utf-8''percent-encoded") from None


def _plain(value: str) -> str:
    if value.startswith('"'):
        value = re.sub(r"\\(.)", r"\1", value[1:-1])
    if not value.isascii():
        raise Refusal(400, "Content-Disposition: filename must be ASCII; use filename* for other names")
    return value
