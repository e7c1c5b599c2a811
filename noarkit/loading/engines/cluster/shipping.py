"""Bytes that a worker does not have and gets from the coordinator: the frozen plan, and contents where it is so wished.

A worker asks by a message; the coordinator sends pieces, each only once the one before was taken, so that neither side
holds more than a few of them. The plan is proven by its sha256 and a content is hashed as it is uploaded, like any
other.
"""

from __future__ import annotations

import asyncio
import queue
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from noarkit.errors import NoarkitError, fault_from_code
from noarkit.graph.entity import Content
from noarkit.loading.contents import OpenContent
from noarkit.loading.engines.cluster.messages import encode
from noarkit.safe.atomic import open_atomic

WANTS = "noarkit-wants"
_PIECE_BYTES = 1024 * 1024
_PIECES_WAITING = 4
_LOOK_S = 0.5
_NAP_S = 0.005
_THREADS = 4


@dataclass(frozen=True, slots=True)
class Want:
    """What a worker asks for: a content, or the plan where there is none."""

    id: str
    key: str
    content: Content | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """What a coordinator sends beside bytes: whether they are the last, whether all were as planned, or a fault."""

    id: str
    is_last: bool = False
    is_same: bool = True
    code: str = ""
    data: object = None


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class PieceSender:
    """The coordinator's side. `send` delivers a piece to a worker and says whether that took it."""

    def __init__(self, plan: Path, open_content: OpenContent, send: Callable[[str, bytes, bytes], bool]) -> None:
        self._plan = plan
        self._open_content = open_content
        self._send = send
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="noarkit-ship")

    def serve(self, want: Want, address: str) -> None:
        """Sends what a worker asks for, in a thread of its own."""
        self._pool.submit(self._serve, want, address)

    def close(self) -> None:
        """Ends; what is under way ends with its worker."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _serve(self, want: Want, address: str) -> None:
        try:
            if want.content is None:
                with self._plan.open("rb") as file:
                    self._send_all(want, address, file, lambda: True)
            else:
                with self._open_content(want.content) as stream:
                    self._send_all(want, address, stream, stream.still_the_same)
        except NoarkitError as fault:
            self._send(address, encode(Piece(want.id, True, code=fault.code, data=dict(fault.data))), b"")
        except OSError as error:
            self._send(address, encode(Piece(want.id, True, code="F431", data={"error": type(error).__name__})), b"")

    def _send_all(self, want: Want, address: str, stream: _Readable, is_same: Callable[[], bool]) -> None:
        while block := stream.read(_PIECE_BYTES):
            if not self._send(address, encode(Piece(want.id)), block):
                return
        self._send(address, encode(Piece(want.id, True, is_same())), b"")


class PieceReceiver:
    """A worker's side. `ask` sends a message; `check` raises once the worker has nothing to send any more."""

    def __init__(self, ask: Callable[[str, bytes], None], check: Callable[[], None]) -> None:
        self._ask = ask
        self._check = check
        self._waiting: dict[str, queue.Queue[tuple[Piece, bytes]]] = {}

    async def take(self, piece: Piece, data: bytes) -> bool:
        """Takes a piece, once there is room; False where nobody waits for it."""
        pieces = self._waiting.get(piece.id)
        while pieces is not None and pieces.full():
            await asyncio.sleep(_NAP_S)
            pieces = self._waiting.get(piece.id)
        if pieces is None:
            return False
        pieces.put_nowait((piece, data))
        return True

    def open(self, key: str, content: Content) -> AbstractContextManager[ShippedStream]:
        """A content, as the coordinator opens it. Raises what its source raises there, while it is read."""
        return self._open(Want(uuid.uuid4().hex, key, content))

    def fetch_plan(self, key: str, target: Path) -> None:
        """The plan, as a file that appears whole."""
        with self._open(Want(uuid.uuid4().hex, key)) as stream, open_atomic(target, mode=0o600) as file:
            while block := stream.read(_PIECE_BYTES):
                file.write(block)

    @contextmanager
    def _open(self, want: Want) -> Iterator[ShippedStream]:
        pieces: queue.Queue[tuple[Piece, bytes]] = queue.Queue(_PIECES_WAITING)
        self._waiting[want.id] = pieces
        try:
            self._ask(WANTS, encode(want))
            yield ShippedStream(pieces, self._check)
        finally:
            del self._waiting[want.id]


class ShippedStream:
    """The bytes of a content that come from the coordinator, piece by piece."""

    def __init__(self, pieces: queue.Queue[tuple[Piece, bytes]], check: Callable[[], None]) -> None:
        self._pieces = pieces
        self._check = check
        self._rest = b""
        self._last: Piece | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PIECE_BYTES), b""))
        while not self._rest and self._last is None:
            self._next()
        block, self._rest = self._rest[:size], self._rest[size:]
        return block

    def still_the_same(self) -> bool:
        """As the coordinator's source says."""
        return self._last is not None and self._last.is_same

    def _next(self) -> None:
        while True:
            self._check()
            try:
                piece, self._rest = self._pieces.get(timeout=_LOOK_S)
                break
            except queue.Empty:
                continue
        if piece.is_last:
            self._last = piece
        if piece.code:
            data = piece.data if isinstance(piece.data, dict) else {}
            raise fault_from_code(piece.code, data)
