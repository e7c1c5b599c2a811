"""The floors: at most thirty lines of standard library each, never tuned."""

from __future__ import annotations

import hashlib
import http.server
import multiprocessing
import os
import socketserver
import sqlite3
import threading
import time
from pathlib import Path


def raw_sqlite(folder: Path, archive: Path, actions: int) -> float:
    """The rows of an archive again, straight into SQLite with the same tables, in transactions of the same size."""
    tables = ("o_abstraktregistrering", "change_log")
    read = sqlite3.connect(archive)
    db = sqlite3.connect(folder / f"floor-{time.monotonic_ns()}.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    for (made,) in read.execute("SELECT sql FROM sqlite_master WHERE tbl_name IN (?, ?) AND sql IS NOT NULL", tables):
        db.execute(made)
    rows = {table: read.execute(f"SELECT * FROM {table}").fetchall() for table in tables}  # noqa: S608  # two fixed names
    count = len(rows[tables[0]])
    began = time.perf_counter()
    for first in range(0, count, actions // 2):
        db.execute("BEGIN")
        for table in tables:
            some = rows[table][first : first + actions // 2]
            db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(some[0]))})", some)  # noqa: S608  # as above
        db.execute("COMMIT")
    taken = time.perf_counter() - began
    db.close()
    return count * 2 / taken


def hash_and_write(source: Path, target: Path) -> float:
    """A file read, hashed and written by plain Python, made durable: MB a second."""
    began = time.perf_counter()
    whole = hashlib.sha256()
    with source.open("rb") as reader, target.open("wb") as writer:
        while block := reader.read(1024 * 1024):
            whole.update(block)
            writer.write(block)
        writer.flush()
        os.fsync(writer.fileno())
    taken = time.perf_counter() - began
    target.unlink()
    return source.stat().st_size / 1e6 / taken


class _Nothing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # the library's name
        self.rfile.read(int(self.headers["Content-Length"]))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + b'{"id":"1"}')

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


def do_nothing_server() -> tuple[multiprocessing.Process, int]:
    """A server that reads a body and answers, in a process of its own."""

    def serve(pipe: object) -> None:
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Nothing)
        pipe.send(server.server_address[1])  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever).start()

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    return process, ours.recv()  # type: ignore[return-value]


def bare_httpx(port: int, body: bytes, count: int) -> float:
    """httpx posting the same bodies to a server that does nothing: requests a second."""
    import httpx

    headers = {"Content-Type": "application/octet-stream", "Content-Disposition": 'attachment; filename="a.txt"'}
    with httpx.Client() as client:
        began = time.perf_counter()
        for _ in range(count):
            client.post(f"http://127.0.0.1:{port}/upload", content=body, headers=headers).raise_for_status()
        return count / (time.perf_counter() - began)
