"""A scheduler and workers as real processes on this machine, over TLS, and a proxy that sees what workers send."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from noarkit.loading.engines.cluster.tls import write_certificates
from tests.faults.network import Cable, Loopback, Network
from tests.faults.world import World
from tests.forked import PIPE, Forked
from tests.processes import children
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
LEASE_S = 1.5
TIMING = (LEASE_S, 0.3, 0.1, 0.2)
HOSTS = ("archive", "scheduler", "run", "worker1", "worker2", "worker3")


@dataclass
class Machine:
    """`noarkit worker` with its slots."""

    process: Forked
    log: Path
    addresses: list[str]
    host: str

    def slots(self) -> list[int]:
        """The processes of its slots."""
        return children(self.process.pid)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to all of its processes at once."""
        for pid in [self.process.pid, *self.slots()]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def strike_slot(self, pid: int) -> None:
        """Ends one of its slots as a loss of memory would."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def end(self) -> int:
        """Ends it in order; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)

    def kill(self) -> None:
        """Ends it as a loss of power would."""
        if self.process.poll() is None:
            for pid in [*self.slots(), self.process.pid]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait(PATIENCE_S)


@dataclass
class Cluster:
    """A scheduler and its machines. `close` ends them all."""

    root: Path
    secrets: dict[str, str]
    network: Network = field(default_factory=Loopback)
    beat_s: str = "0.1"
    port: int = 0
    scheduler: Forked | None = None
    machines: list[Machine] = field(default_factory=list)
    processes: list[Forked] = field(default_factory=list)

    def __post_init__(self) -> None:
        hosts = {self.network.address(host) for host in HOSTS}
        write_certificates(self.tls, (*sorted(hosts), "localhost"), datetime.now(UTC))

    @property
    def tls(self) -> Path:
        return self.root / "tls"

    @property
    def address(self) -> str:
        return f"dask://{self.network.address('scheduler')}:{self.port}"

    def start_scheduler(self) -> None:
        """Starts it, at the same port as before."""
        listen = f"{self.network.address('scheduler')}:{self.port}"
        line = ["noarkit", "scheduler", "--tls", self.tls, "--listen", listen, "--json"]
        self.scheduler, ready = self._start(line, "scheduler.log", "scheduler")
        self.port = int(str(ready["address"]).rpartition(":")[2])

    def start_machine(
        self,
        slots: int = 1,
        *,
        program: str = "noarkit",
        archive: str = "",
        port: int = 0,
        account: str = "admin",
        host: str = "worker1",
        archive_ca: Path | None = None,
        more: Sequence[str] = (),
    ) -> Machine:
        """Starts a worker command, and waits until it is at the scheduler."""
        address = f"dask://{self.network.address('scheduler')}:{port or self.port}"
        line = [program, "worker", address, "--tls", self.tls, "--slots", slots, "--json", *more]
        log = f"worker{len(self.processes)}.log"
        environment = {
            "NOARKIT_CLIENT_ID": account,
            "NOARKIT_CLIENT_SECRET": self.secrets[account],
            **({"NOARKIT_ARCHIVE": archive} if archive else {}),
            **({"NOARKIT_ARCHIVE_CA": str(archive_ca)} if archive_ca else {}),
        }
        process, ready = self._start(line, log, host, environment)
        addresses = [str(address) for address in ready["addresses"]]  # type: ignore[attr-defined]  # a list
        machine = Machine(process, self.root / log, addresses, host)
        self.machines.append(machine)
        return machine

    def kill_scheduler(self) -> None:
        """Ends it as a loss of power would."""
        if self.scheduler is not None:
            self.scheduler.kill()
            self.scheduler.wait(PATIENCE_S)
            self.scheduler = None

    def worker_port(self) -> int:
        """The port of a worker of the first machine."""
        return int(self.machines[0].addresses[0].rpartition(":")[2])

    def job(self, **more: object) -> dict[str, object]:
        """What a load is told to use this cluster."""
        return {"engine": self.address, "tls": str(self.tls), "timing": TIMING, **more}

    def close(self) -> None:
        """Ends every process."""
        for machine in self.machines:
            machine.kill()
        self.kill_scheduler()
        for process in self.processes:
            if process.stdout is not None:
                process.stdout.close()

    def _start(
        self, line: Sequence[object], log: str, host: str, own: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[Forked, dict[str, object]]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("NOARKIT_")}
        environment = {**kept, "HOME": str(self.root), "NOARKIT_WORKER_BEAT_S": self.beat_s, **own}
        place = self.network.namespace(host)
        with (self.root / log).open("a") as errors:
            process = Forked(
                line, cwd=ROOT, env=environment, stdout=PIPE, stderr=errors, new_session=True, namespace=place
            )
        self.processes.append(process)
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, (line, (self.root / log).read_text()[-3000:])
        return process, json.loads(first)


class CountingProxy(Cable):
    """Between workers and the archive: counts the requests that leave."""

    def __init__(self, world: World) -> None:
        self.sent: list[tuple[float, bytes]] = []
        super().__init__(world.port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/rms/api/public"

    def count(self, word: bytes) -> int:
        """How many requests with that word left."""
        return sum(word in block for _, block in self.sent)

    def note(self, block: bytes) -> None:
        """Keeps when a request left, and its first line."""
        self.sent.append((time.monotonic(), block[:60]))


def journal_rows(run: Path) -> dict[str, list[tuple[object, ...]]]:
    """What a journal says, apart from ids of the archive, attempts and times."""
    queries = {
        "shard": "SELECT n, kind, state FROM shard ORDER BY n",
        "chunk": "SELECT key, shard, state, code FROM chunk ORDER BY key",
        "entity": "SELECT n, state, sha256, bytes FROM entity ORDER BY n",
        "left_out": "SELECT bundle, state, code FROM left_out ORDER BY bundle",
    }
    with closing(sqlite3.connect(run / "run.db")) as db:
        return {name: db.execute(query).fetchall() for name, query in queries.items()}
