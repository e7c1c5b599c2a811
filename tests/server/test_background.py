"""What the archive does beside its calls leaves them the processor and the disk, and is done all the same."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.safe.connections import Message
from noarkit.server.areas import open_service
from noarkit.server.database import Database
from noarkit.server.downloads import DownloadCall
from noarkit.server.exchange import Exchange
from noarkit.server.fair_queues import FairThreadPool
from noarkit.server.files import UploadInfo
from noarkit.server.wire import Caller, Refusal
from tests.server.conftest import Archive
from tests.server.transaction.desk import Desk, FakeRights, save
from tests.server.wire import BASE
from tests.waiting import PATIENCE_S


def test_documents_are_read_when_nobody_loads_and_at_last_all_the_same(tmp_path: Path) -> None:
    now = [1_700_000_000.0]
    read_at: list[float] = []
    opened = open_service(tmp_path, now_s=lambda: now[0])
    service = replace(opened, read_documents=lambda _: read_at.append(now[0]))
    began = now[0]
    service._read_documents()
    for _ in range(200):
        service.note_bulk_call()
        service._read_documents()
        now[0] += 1.0
    assert read_at == [began], "it was being loaded"
    now[0] += 5.0
    service._read_documents()
    assert read_at[1:] == [now[0]], "nobody loads any more"
    began = now[0]
    while len(read_at) < 3:
        service.note_bulk_call()
        service._read_documents()
        now[0] += 1.0
    opened.close()
    assert 300.0 < read_at[2] - began < 310.0


def test_a_load_is_known_by_its_transactions(tmp_path: Path) -> None:
    now = [1_700_000_000.0]
    service = open_service(tmp_path, now_s=lambda: now[0])
    desk = Desk(service)
    assert not service.is_in_bulk_use
    desk.run(save("Klassifikasjonssystem", "k", tittel="system"))
    assert service.is_in_bulk_use
    now[0] += 5.0
    assert not service.is_in_bulk_use
    service.close()


def test_documents_that_are_fetched_keep_others_from_being_read(tmp_path: Path) -> None:
    service = open_service(tmp_path)
    caller = Caller("integration", "somebody", FakeRights())
    file_id = service.files.keep(b"a text", UploadInfo("a.txt", "text/plain", caller.account))
    download = DownloadCall(service, FairThreadPool("test", 1, 1))
    with pytest.raises(Refusal):
        download._open(caller, {"id": str(int(file_id) + 1)})
    assert not service.is_in_bulk_use
    _, file, content = download._open(caller, {"id": str(file_id)})
    file.close()
    assert content == b"a text"
    assert service.is_in_bulk_use
    service.close()


def rows_in_file_alone(path: Path, copy: Path) -> int:
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy)) as db:
        try:
            return int(db.execute("SELECT count(*) FROM t").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_what_was_committed_is_moved_from_the_log_into_the_file_beside_a_reader(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db")
    database.create_tables(["CREATE TABLE t (n)"])
    with database.transaction() as db:
        db.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(100)])
    assert rows_in_file_alone(tmp_path / "a.db", tmp_path / "before.db") == 0
    with database.snapshot() as db:
        assert db.execute("SELECT count(*) FROM t").fetchone() == (100,)
        database.checkpoint()
    assert rows_in_file_alone(tmp_path / "a.db", tmp_path / "after.db") == 100
    database.close()


def test_a_log_that_nobody_moves_away_does_not_grow_for_ever(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", checkpoint_pages=50)
    database.create_tables(["CREATE TABLE t (n)"])
    for _ in range(100):
        with database.transaction() as db:
            db.execute("INSERT INTO t VALUES (zeroblob(8000))")
    assert (tmp_path / "a.db-wal").stat().st_size < 100 * 4096
    database.close()


def test_the_head_of_a_document_waits_for_its_first_piece() -> None:
    sent: list[str] = []

    async def send(message: Message) -> None:
        sent.append(message["type"])

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def answer() -> None:
        exchange = Exchange({"type": "http", "method": "GET", "headers": []}, receive, send)
        await exchange.begin_answer(200, [])
        assert sent == []
        await exchange.send_piece(b"a", more=True, idle_s=1)
        assert sent == ["http.response.start", "http.response.body"]
        await exchange.send_piece(b"b", more=False, idle_s=1)
        assert sent == ["http.response.start", "http.response.body", "http.response.body"]

    asyncio.run(answer())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel of Linux counts them")
@pytest.mark.parametrize("call", ["query", "download"])
def test_an_answer_arrives_in_one_piece(call: str, fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    path = "query" if call == "query" else f"download?id={wire.upload(b'x' * 4_096).json()['id']}"
    head = f"GET {BASE}/{path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {wire.token}\r\n\r\n".encode()
    with socket.create_connection((wire.host, wire.port), timeout=PATIENCE_S) as connection:
        for calls in range(1, 51):
            connection.sendall(head)
            head_part, _, body = connection.recv(65_536).partition(b"\r\n\r\n")
            length = next(line for line in head_part.lower().split(b"\r\n") if line.startswith(b"content-length"))
            assert len(body) == int(length.split(b":")[1]) > 0
            assert _segments(connection) == calls


def _segments(connection: socket.socket) -> int:
    """How many pieces with content have come over a connection, as the kernel counts them: `tcpi_data_segs_in`."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
    return int.from_bytes(info[152:156], sys.byteorder)
