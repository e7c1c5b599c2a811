"""A cluster whose every role is a machine of its own, all over TLS, and what may befall them during a load.

Whatever befalls them, the same command again and again ends the load, each key is in the archive once, and the journal
is that of one machine that loaded alone.
"""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from noarkit.loading.engines.cluster.tls import write_certificates
from noarkit.loading.engines.remote import Timing
from noarkit.server.areas import open_service
from noarkit.server.clients import ClientsFile
from tests.faults.cluster import HOSTS, TIMING, Cluster, Machine, journal_rows
from tests.faults.network import Loopback, Namespaces, Network
from tests.faults.world import Command, Line, World
from tests.loading.journey import add_plain_account, copied

WORKERS = ("worker1", "worker2", "worker3")
ROLES = ("slot", "worker", "scheduler", "coordinator", "archive")
SLOW = {"call": "POST transaction", "kind": "delay", "seconds": 0.1}
_ACTIONS = 16
_REAL = astuple(Timing())


@dataclass
class Machines:
    """The machines, and what a load on them must come to. With `real_times` leases last as long as outside of tests."""

    root: Path
    network: Network
    files: int = 40
    real_times: bool = False
    rule: dict[str, object] = field(default_factory=lambda: dict(SLOW))
    honours_versions: bool = True
    account: str = "admin"
    loads: int = 0

    def __post_init__(self) -> None:
        self.template = make_template(self.root / "template")
        accounts = ClientsFile(self.template / "clients.toml").current().accounts
        (self.root / "cluster").mkdir()
        secrets = {name: account.secret for name, account in accounts.items()}
        self.cluster = Cluster(self.root / "cluster", secrets, self.network, "2" if self.real_times else "0.1")
        self._expected = self._load_alone()

    def job(self, **more: object) -> dict[str, object]:
        """What a load is told."""
        times: dict[str, object] = {"timing": TIMING}
        if self.real_times:
            times = {"timing": _REAL, "deadline_s": 60.0, "patience_s": 15.0, "worker_patience_s": 60.0}
        return {
            "engine": self.cluster.address,
            "tls": str(self.cluster.tls),
            "chunk_actions": _ACTIONS,
            **times,
            **more,
        }

    @contextmanager
    def load(self) -> Iterator[tuple[World, Command]]:
        """A load that has begun, on machines that are all there."""
        with self.world() as world:
            yield world, world.start(**self.job())

    @contextmanager
    def world(self) -> Iterator[World]:
        """What is to be loaded, an archive for it, and machines that are all there."""
        self.loads += 1
        with closing(self._world(f"world{self.loads}")) as world:
            world.take_tls()
            world.serve(self.rule)
            self._start_missing(world)
            yield world

    def finish(self, world: World, load: Command) -> Line:
        """Goes on until all is loaded, with whatever machines are needed, and holds it to what it must come to."""
        end = load.end()
        calls = 0
        while end.get("state") != "done":
            calls += 1
            assert calls < 12 and end["exit"] in (5, 9, -signal.SIGKILL), (end, world.log(), self.logs())
            if world.server is None:
                world.serve(self.rule)
            if self.cluster.scheduler is None:
                self.cluster.start_scheduler()
            end = world.load(**self.job())
        world.check(end)
        found = journal_rows(world.run)
        assert found == self._expected, [
            (name, sorted(set(map(str, rows)) ^ set(map(str, self._expected[name]))))
            for name, rows in found.items()
            if rows != self._expected[name]
        ]
        return end

    def kill(self, role: str, world: World, load: Command, chance: random.Random) -> None:
        """Ends one of the roles as SIGKILL does; what others would start again is started again."""
        machine = chance.choice(self.cluster.machines)
        if role == "slot":
            for pid in machine.slots()[:1]:
                machine.strike_slot(pid)
        elif role == "worker":
            machine.kill()
            self.cluster.machines.remove(machine)
            self._start_worker(world, machine.host)
        elif role == "scheduler":
            self.cluster.kill_scheduler()
            self.cluster.start_scheduler()
        elif role == "coordinator":
            load.kill()
        else:
            world.kill_server()
            world.serve(self.rule)

    def pause(self, seconds: float, chance: random.Random) -> None:
        """Stops a worker for a while."""
        machine = chance.choice(self.cluster.machines)
        machine.signal(signal.SIGSTOP)
        time.sleep(seconds)
        machine.signal(signal.SIGCONT)

    def cut(self, host: str, seconds: float) -> None:
        """Pulls a cable for a while."""
        self.network.cut(host)
        time.sleep(seconds)
        self.network.mend(host)

    def cut_what_leaves(self, seconds: float, chance: random.Random) -> None:
        """Pulls the cable of a worker just before it sends: it hears the answer to its last request, and what it sends
        next waits in its machine until the cable is back."""
        machine = chance.choice(self.cluster.machines)
        machine.signal(signal.SIGSTOP)
        time.sleep(0.3)
        self.network.cut(machine.host)
        machine.signal(signal.SIGCONT)
        time.sleep(seconds)
        self.network.mend(machine.host)

    def end_others(self, host: str) -> None:
        """Ends the other workers, where the machine is a worker."""
        for machine in [machine for machine in self.cluster.machines if host in WORKERS and machine.host != host]:
            machine.end()
            self.cluster.machines.remove(machine)

    def logs(self) -> str:
        """What the workers wrote to their standard error."""
        return "\n".join(machine.log.read_text()[-1000:] for machine in self.cluster.machines)

    def close(self) -> None:
        """Ends all processes."""
        self.cluster.close()

    def _load_alone(self) -> dict[str, list[tuple[object, ...]]]:
        with closing(self._world("alone", Loopback())) as world:
            world.serve()
            world.check(world.load(workers=0, chunk_actions=_ACTIONS))
            return journal_rows(world.run)

    def _world(self, name: str, network: Network | None = None) -> World:
        root = self.root / name
        copied(self.template, root / "archive")
        (root / "archive" / "server.toml").write_text(f"honours_versions = {str(self.honours_versions).lower()}\n")
        world = World(root, self.account, network=network or self.network)
        world.grow(self.files)
        return world

    def _start_missing(self, world: World) -> None:
        """Starts what is not there; each world has an archive of its own, so that workers are begun anew."""
        if self.cluster.scheduler is None:
            self.cluster.start_scheduler()
        for machine in self.cluster.machines:
            machine.kill()
        self.cluster.machines.clear()
        for host in WORKERS:
            self._start_worker(world, host)

    def _start_worker(self, world: World, host: str) -> Machine:
        _, port = self.network.route(host, "scheduler", self.cluster.port)
        return self.cluster.start_machine(1, host=host, port=port, account=self.account, archive_ca=world.authority)


@contextmanager
def machines_in_namespaces(root: Path, **more: object) -> Iterator[Machines]:
    """Machines in namespaces of their own, which are removed at the end."""
    root.mkdir(parents=True)
    with closing(Namespaces(HOSTS)) as network, closing(Machines(root, network, **more)) as machines:  # type: ignore[arg-type]  # fields of Machines
        yield machines


def make_template(path: Path) -> Path:
    """An archive that has been started once."""
    service = open_service(path)
    add_plain_account(service)
    service.close()
    return path


def until_line(load: Command, number: int) -> bool:
    """Waits until a load has said so many lines; False where it ended before."""
    seen = iter(range(number, 0, -1))
    return load.until(lambda line: next(seen) == 1) is not None


def refuse_strangers(machines: Machines) -> str:
    """Another authority, another version and another plan are refused, and send nothing."""
    other = machines.root / "other-ca"
    if not other.exists():
        write_certificates(other, tuple(machines.network.address(host) for host in HOSTS), datetime.now(UTC))
    with machines.world() as world:
        end = world.load(**machines.job(tls=str(other)))
        assert (end["exit"], end["code"]) == (6, "F445"), end
        end = world.load(**machines.job(plan_named="0" * 64))
        assert (end["exit"], world.commands[-1].events("shard_stopped")[0]["code"]) == (2, "F402"), end
        stranger = machines.cluster.start_machine(
            1, host="worker1", program="tests.programs.other_version", archive_ca=world.authority
        )
        end = world.load(**machines.job())
        assert (end["exit"], end["code"]) == (2, "F444"), end
        stranger.kill()
        machines.cluster.machines.remove(stranger)
        keys, _ = world.held()
        assert not keys, keys
        machines.finish(world, world.start(**machines.job()))
    return "another authority F445, another plan F402, another version F444; nothing was sent"


def shake(machines: Machines, seed: int) -> str:
    """A random schedule of one to three blows."""
    chance = random.Random(seed)
    machines.honours_versions = chance.random() < 0.5
    machines.account = "admin" if machines.honours_versions else chance.choice(("admin", "plain"))
    lease_s = TIMING[0]
    told = []
    with machines.load() as (world, load):
        for _ in range(chance.randint(1, 3)):
            until_line(load, chance.randint(1, 12))
            kind = chance.choice((*ROLES, "stop", "cut", "cut", "stuck", "stuck"))
            seconds = lease_s * chance.choice((0.3, 0.9, 1.5, 2.0, 2.5))
            if kind == "stop":
                machines.pause(seconds, chance)
            elif kind == "cut":
                host = chance.choice(HOSTS)
                machines.cut(host, seconds)
                kind = f"cut {host}"
            elif kind == "stuck":
                machines.cut_what_leaves(seconds, chance)
            else:
                machines.kill(kind, world, load, chance)
            told.append(kind if kind in ROLES else f"{kind} {seconds:.2f} s")
        machines.finish(world, load)
        shutil.rmtree(world.root, ignore_errors=True)
    return f"{', '.join(told)}{'' if machines.honours_versions else f'; no versions, {machines.account}'}"
