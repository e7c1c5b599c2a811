"""One source tree, one archive served by a process of its own, and the command that loads the one into the other."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import random
import shutil
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from noarkit.archive.http import connect
from noarkit.archive.paging import objects
from noarkit.archive.retry import RetryingArchive, RetryPolicy
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Query
from noarkit.errors import RunLocked
from noarkit.safe import atomic
from noarkit.safe.authority import CertificateAuthority
from noarkit.safe.tls import Trust
from noarkit.secrets import Secret
from noarkit.server.clients import ClientsFile
from tests.faults.loader import SYSTEM, Job
from tests.faults.network import Loopback, Network
from tests.forked import DEVNULL, PIPE, Forked
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
DEEP = os.environ.get("NOARKIT_DEEP") == "1"

Line = dict[str, object]


@dataclass
class Command:
    """A running load: what it said so far, and how to end it."""

    process: Forked
    lines: list[Line] = field(default_factory=list)
    _said: queue.Queue[Line | None] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n") and line.startswith("{"):
                self._said.put(json.loads(line))
        self._said.put(None)

    def until(self, wanted: Callable[[Line], bool]) -> Line | None:
        """Waits for a line; None where the command ended without it."""
        while True:
            line = self._said.get(timeout=PATIENCE_S)
            if line is None:
                self._said.put(None)
                return None
            self.lines.append(line)
            if wanted(line):
                return line

    def until_event(self, name: str, times: int = 1) -> Line | None:
        """Waits until an event was told that often."""
        found: Line | None = None
        for _ in range(times):
            found = self.until(lambda line: line["event"] == name)
        return found

    def end(self) -> Line:
        """Waits for the end; what the last line said, with the exit code."""
        self.until(lambda line: False)
        code = self.process.wait(PATIENCE_S)
        last = self.lines[-1] if self.lines and self.lines[-1]["event"] == "end" else {}
        return {**last, "exit": code}

    def kill(self) -> bool:
        """Kills the coordinator; False where it had ended before."""
        alive = self.process.poll() is None
        self.process.kill()
        return self.process.wait() == -signal.SIGKILL and alive

    def events(self, name: str) -> list[Line]:
        """The lines of one kind."""
        return [line for line in self.lines if line["event"] == name]


@dataclass
class World:
    """Everything that one scenario needs; close() ends what was started."""

    root: Path
    account: str = "admin"
    port: int = 0
    kills: int = 0
    run_name: str = "run"
    contents: dict[str, bytes] = field(default_factory=dict)
    network: Network = field(default_factory=Loopback)
    has_tls: bool = False
    server: Forked | None = None
    commands: list[Command] = field(default_factory=list)

    @property
    def source(self) -> Path:
        return self.root / "source"

    @property
    def archive(self) -> Path:
        return self.root / "archive"

    @property
    def run(self) -> Path:
        return self.root / self.run_name

    @property
    def url(self) -> str:
        scheme = "https" if self.has_tls else "http"
        return f"{scheme}://{self.network.address('archive')}:{self.port}/rms/api/public"

    @property
    def authority(self) -> Path | None:
        """Who signed the archive's certificate, where it has one."""
        return self.root / "archive-ca.pem" if self.has_tls else None

    def take_tls(self) -> None:
        """From its next start on, the archive speaks TLS."""
        authority = CertificateAuthority("archive", datetime.now(UTC), timedelta(days=2))
        pair = authority.issue("archive", [self.network.address("archive")], serves=True)
        self.root.mkdir(parents=True, exist_ok=True)
        for name, content in (("archive-ca.pem", authority.pair.certificate), ("archive.pem", pair.certificate)):
            (self.root / name).write_bytes(content)
        atomic.write_bytes(self.root / "archive.key", pair.key, mode=0o600)
        self.has_tls = True

    def grow(self, count: int, size_bytes: int = 300) -> None:
        """Puts so many more files into the source, ten a folder."""
        chance = random.Random(len(self.contents))
        for _ in range(count):
            number = len(self.contents)
            key = f"folder{number // 10:03}/file{number:04}.bin"
            content = number.to_bytes(4, "big") + chance.randbytes(max(0, size_bytes - 4))
            path = self.source / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            os.utime(path, (1_600_000_000, 1_600_000_000))
            self.contents[key] = content

    def serve(self, *rules: Mapping[str, object]) -> None:
        """Starts the archive; with rules it misbehaves as they say. Its port stays the same."""
        if not self.port:
            with self.network.inside("archive"), closing(socket.socket()) as free:
                free.bind((self.network.address("archive"), 0))
                self.port = free.getsockname()[1]
        script = []
        if rules:
            path = self.root / "faults.json"
            path.write_text(json.dumps({"rule": rules}))
            script = [str(path)]
        line = ["tests.faults.archive_server", self.archive, self.network.address("archive"), self.port, *script]
        place = self.network.namespace("archive")
        self.server = Forked(line, cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, namespace=place)
        assert self.server.stdout is not None
        assert self.server.stdout.readline().startswith("http"), "the archive does not come up"

    def stop(self) -> None:
        """Ends the archive in order."""
        if self.server is not None and self.server.stdin is not None:
            self.server.stdin.close()
            self.server.wait(PATIENCE_S)
            self._let_go()

    def kill_server(self) -> None:
        """Ends the archive as a loss of power would."""
        assert self.server is not None
        self.server.kill()
        self.server.wait()
        self._let_go()
        self.kills += 1

    def died(self) -> bool:
        """Waits for an archive that kills itself; True where it did."""
        assert self.server is not None
        killed = self.server.wait(PATIENCE_S) == -signal.SIGKILL
        self._let_go()
        self.kills += killed
        return killed

    def _let_go(self) -> None:
        if self.server is not None:
            for pipe in (self.server.stdin, self.server.stdout):
                if pipe is not None:
                    pipe.close()
        self.server = None

    def job(self, **more: object) -> Job:
        """What the command is told."""
        secret = ClientsFile(self.archive / "clients.toml").current().accounts[self.account].secret
        settled: dict[str, object] = {
            "source": str(self.source),
            "run": str(self.run),
            "url": self.url,
            "account": self.account,
            "secret": secret,
            "ca": str(self.authority or ""),
            **more,
        }
        return Job(**settled)  # type: ignore[arg-type]  # a wrong name or kind fails in the command

    def start(self, **more: object) -> Command:
        """Starts the load, or goes on with it."""
        line = ["tests.faults.loader", json.dumps(asdict(self.job(**more)))]
        with (self.root / "loader.log").open("a") as log:
            process = Forked(line, cwd=ROOT, stdout=PIPE, stderr=log, namespace=self.network.namespace("run"))
        started = Command(process)
        self.commands.append(started)
        return started

    def start_until(self, event: str, **more: object) -> Command:
        """A load that told an event and goes on; where all was loaded before it came to that, one of more in a new run.

        So what is struck after that event is struck however quick the machine is.
        """
        while True:
            command = self.start(**more)
            if command.until_event(event) is not None:
                return command
            end = command.end()
            # workers hold the lock of a killed coordinator until they have died with it
            assert end["exit"] in (0, RunLocked.exit_code), (end, self.log())
            if end["exit"] == 0:
                self.begin_next_run()

    def begin_next_run(self) -> None:
        """There is more to load, by a run of its own."""
        self.grow(20)
        self.run_name = f"run{len(self.contents)}"

    def load(self, **more: object) -> Line:
        """The same command again, to its end."""
        return self.start(**more).end()

    def until_done(self, most: int = 8, /, **more: object) -> Line:
        """The same command again and again until nothing is left to do."""
        for _ in range(most):
            end = self.load(**more)
            if end.get("state") == "done":
                return end
        raise AssertionError(f"not done after {most} calls: {end} {self.log()}")

    def log(self) -> str:
        """What the commands wrote to their standard error."""
        return (self.root / "loader.log").read_text()[-3000:]

    def check(self, end: Line, *, aside: int = 0, folders_aside: int = 0) -> None:
        """The archive holds each key once and every byte; the sums of the last run add up."""
        assert end["add_up"], end
        assert end["open"] == end["in_doubt"] == 0, end
        archived = int(str(end["archived"])) + int(str(end["already_there"]))
        assert (archived, end["set_aside"]) == (len(self.contents) - aside, aside), (end, self.log())
        keys, versions = self.held()
        assert {key: count for key, count in keys.items() if count != 1} == {}
        folders = {f"folder:{key.split('/')[0]}" for key in self.contents}
        assert len(keys) == len(self.contents) - aside + len(folders) - folders_aside
        sums = Counter(hashlib.sha256(content).hexdigest() for content in self.contents.values())
        assert sum(versions.values()) == len(self.contents) - aside
        assert versions <= sums

    def held(self) -> tuple[Counter[str], Counter[str]]:
        """How often the archive holds each key, and each checksum."""
        secret = ClientsFile(self.archive / "clients.toml").current().accounts["admin"].secret
        settings = ArchiveSettings(self.url, Credentials("admin", Secret(secret)), trust=Trust(self.authority))
        session = connect(settings)
        with self.network.inside("run"), closing(RetryingArchive(session, RetryPolicy(first_s=0.02))) as archive:
            asked = Query("EksternId", "eksterntSystem = @s", {"@s": SYSTEM}, order=(("id", "asc"),))
            keys = Counter(str(one.fields["eksternID"]) for one in objects(archive, asked))
            versions = objects(archive, Query("Dokumentversjon", order=(("id", "asc"),)))
            return keys, Counter(str(one.fields["sjekksum"]).lower() for one in versions)

    def close(self) -> None:
        """Ends every process and lets go of the folder."""
        for command in self.commands:
            command.kill()
            if command.process.stdout is not None:
                command.process.stdout.close()
        if self.server is not None:
            self.kill_server()
        shutil.rmtree(self.root, ignore_errors=True)
