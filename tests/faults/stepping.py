"""Commands that are killed before a chosen step: a process that has everything imported and forks for each of them.

Lines of JSON in, a line of JSON out. A step is whatever may leave a trace: the first byte of a request and the first
byte of its answer, a file that takes its place, and a transaction of SQLite on disk. Nothing of the product is changed
for it: the interpreter tells of files itself, databases of their statements, and sockets are counted where Python sends
and receives.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from noarkit.cli.main import main
from noarkit.server.run import Address, ServingInfo, serve

_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP")
# what differs from run to run: a UUID, a checksum or a time, and what tempfile appends or names a folder
_VARYING = re.compile(
    "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8,}|(?<![A-Za-z0-9_])[a-z0-9_]{8}(?![A-Za-z0-9_])"
)
SHARED = ("ask", "hear")
"""Steps of which a run may have fewer than the one before: threads share connections as they come."""
_NOT_STEPS = ("", ":memory:")  # databases of the system's own, gone with their process


class Steps:
    """Counts, and kills its own process before the step it was told: one of a name, by how many came before it."""

    def __init__(self, kill_at: tuple[str, int], names: int, *, with_removals: bool = False) -> None:
        self._kill_at = kill_at
        self._with_removals = with_removals
        self._names = names
        self._count: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._sent: WeakKeyDictionary[socket.socket, bool] = WeakKeyDictionary()

    def step(self, name: str) -> None:
        """One that is about to be taken."""
        name = _VARYING.sub("*", name)
        with self._lock:
            os.write(self._names, f"{name}\n".encode())
            self._count[name] += 1
            if (name, self._count[name]) == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
                signal.pause()

    def watch(self) -> None:
        """From now on."""
        sys.addaudithook(self._heard)
        self._count_databases()
        for name in ("send", "sendall", "recv", "recv_into"):
            self._count_socket(name)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "os.rename" or (self._with_removals and event == "os.link"):
            self.step(f"place {Path(os.fsdecode(arguments[1])).name}")
        elif self._with_removals and event in ("os.remove", "os.rmdir"):
            self.step(f"remove {Path(os.fsdecode(arguments[0])).name}")

    def _count_databases(self) -> None:
        original: Callable[..., sqlite3.Connection] = sqlite3.connect

        def counted(place: object, *given: object, **more: object) -> sqlite3.Connection:
            db = original(place, *given, **more)
            if str(place) not in _NOT_STEPS:
                self._watch_database(db, Path(str(place).partition("?")[0]).name)
            return db

        sqlite3.connect = counted  # type: ignore[assignment]  # it passes on whatever the original takes

    def _watch_database(self, db: sqlite3.Connection, name: str) -> None:
        def said(statement: str) -> None:
            words = statement.lstrip()[:10].upper()
            if words.startswith("COMMIT") or (words.startswith(_WRITES) and not db.in_transaction):
                self.step(f"write {name}")

        db.set_trace_callback(said)

    def _count_socket(self, name: str) -> None:
        original = getattr(socket.socket, name)
        sends = name.startswith("send")

        def counted(own: socket.socket, *given: Any, **more: Any) -> Any:
            if own.family in (socket.AF_INET, socket.AF_INET6) and self._sent.get(own) is not sends:
                self._sent[own] = sends
                self.step("ask" if sends else "hear")
            return original(own, *given, **more)

        setattr(socket.socket, name, counted)


def run(told: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a command in a child; its exit code (negative: the signal) and the names of the steps it came to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _command(told, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as names:
        steps = names.read().decode().splitlines()
    _, status = os.waitpid(child, 0)
    return {"code": os.waitstatus_to_exitcode(status), "steps": steps}


def _command(told: Mapping[str, Any], names: int) -> None:
    code = 70
    try:
        log = os.open(told["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number in (1, 2):
            os.dup2(log, number)
        Steps(tuple(told["kill_at"]), names, with_removals=told.get("with_removals", False)).watch()
        os.chdir(told.get("folder", "."))
        code = main(told["line"], told["environment"])
    except BaseException:  # noqa: BLE001  # a child of a fork never goes back into its parent's code
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def archive(told: Mapping[str, Any]) -> dict[str, Any]:
    """Serves an archive from a child; its address."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)

            def ready(found: ServingInfo) -> None:
                os.write(writing, found.url.encode())
                os.close(writing)

            serve(Path(told["archive"]), Address(port=0), ready=ready)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as address:
        return {"url": address.read().decode(), "pid": child}


def end(told: Mapping[str, Any]) -> dict[str, Any]:
    """Ends an archive as a loss of power would: it is looked at no more."""
    os.kill(told["pid"], signal.SIGKILL)
    os.waitpid(told["pid"], 0)
    return {}


def serve_lines() -> None:
    """Until standard input ends."""
    # what the interpreter compiles is kept by whoever came first: such a step does not come up a second time
    sys.dont_write_bytecode = True
    verbs = {"run": run, "archive": archive, "end": end}
    for line in sys.stdin:
        told = json.loads(line)
        print(json.dumps(verbs[told["verb"]](told)), flush=True)


if __name__ == "__main__":
    serve_lines()
